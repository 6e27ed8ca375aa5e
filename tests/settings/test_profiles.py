"""Profiles and prompts as files: read safely, written whole, never with a key in them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConfiguration
from compact.policies import Profile, Profiles
from compact.settings import profiles as settings

SECRET = "sk-proj-" + "a1B2" * 12
YAML = """
profiles:
  - name: cheap
    vendor: anthropic
    model: claude-haiku-4-5
    key: env:MY_KEY
    priority: 1
  - name: main
    vendor: openai
    model: gpt-5
    use: conversation
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    return tmp_path


def test_without_a_file_there_are_none(home: Path) -> None:
    assert settings.load_profiles() == Profiles()
    assert list(home.iterdir()) == []


def test_yaml_and_json_say_the_same(home: Path) -> None:
    (home / "profiles.yaml").write_text(YAML)
    found = settings.load_profiles()
    assert [profile.name for profile in found.for_condensation()] == ["cheap", "main"]
    assert found.for_condensation()[0].key == "env:MY_KEY"
    (home / "profiles.yaml").unlink()
    (home / "profiles.json").write_text(found.model_dump_json())
    assert settings.load_profiles() == found


@pytest.mark.parametrize("name", ["profiles.yaml", "profiles.yml", "profiles.json"])
def test_what_is_saved_is_read_back_and_private(home: Path, name: str) -> None:
    (home / name).write_text('{"profiles": []}')
    (home / name).chmod(0o644)
    one = Profile(name="mine", vendor="compatible", model="small", url="http://localhost:8080/v1", prompt="Be brief: ü")
    path = settings.save_profiles(Profiles(profiles=(one,)))
    assert path == home / name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert settings.load_profiles() == Profiles(profiles=(one,))
    assert [each.name for each in home.iterdir()] == [name]
    assert "temperature" not in path.read_text()


def test_two_files_are_one_too_many(home: Path) -> None:
    (home / "profiles.yaml").write_text(YAML)
    (home / "profiles.json").write_text('{"profiles": []}')
    with pytest.raises(InvalidConfiguration, match=r"profiles.yaml and profiles.json both exist. Keep one"):
        settings.load_profiles()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("profiles:\n - name: x\n   vendor: nobody\n   model: m\n", r"profiles\.yaml: profiles\.0\.vendor: "),
        ("profiles:\n - name: x\n   vendor: openai\n", r"profiles\.0\.model: .*A profile may have: name, vendor"),
        ("profiles:\n - {name: x, vendor: openai, model: m, speed: 3}\n", r"profiles\.0\.speed: "),
        ("profile: []\n", r"profiles\.yaml: profile: .*below it a list"),
        ("- name: x\n", r"profiles\.yaml: must be an object with profiles"),
        ("profiles: [\n", r"profiles\.yaml: is not valid YAML.* at line 2"),
        ("profiles: &a [*a]\n", r"holds an alias, which is not allowed at line 1"),
        ("profiles: " + "[" * 100, r"is nested too deeply"),
        ("profiles: !!python/object/apply:os.getcwd []\n", r"holds a tag or a key that is not allowed at line 1"),
        ("profiles: \x00\n", r"is not valid YAML"),
        ("profiles:\n - &x {name: a, vendor: openai, model: m}\n - {name: a, vendor: openai, model: m}\n", "called a"),
    ],
)
def test_mistakes_are_told_with_the_file_the_field_and_the_remedy(home: Path, text: str, told: str) -> None:
    (home / "profiles.yaml").write_text(text)
    with pytest.raises(InvalidConfiguration, match=told) as caught:
        settings.load_profiles()
    assert str(home) in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        f"profiles:\n - {{name: x, vendor: openai, model: m, key: {SECRET}}}\n",
        f"profiles:\n - {{name: x, vendor: openai, model: {SECRET}}}\n",
        f"profiles:\n - key: {SECRET}: :\n  - [",
        f"key: {SECRET}\nprofiles: []\n",
        f"profiles: {SECRET}\n",
        f"{SECRET}",
        f"profiles: !{SECRET} x",
        f"profiles: *{SECRET}",
        f"? [{SECRET}]\n: x",
    ],
)
def test_no_error_repeats_a_key(home: Path, text: str) -> None:
    (home / "profiles.yaml").write_text(text)
    with pytest.raises(InvalidConfiguration) as caught:
        settings.load_profiles()
    assert SECRET not in str(caught.value)


def test_json_mistakes_name_the_line(home: Path) -> None:
    (home / "profiles.json").write_text('{\n"profiles": [}')
    with pytest.raises(InvalidConfiguration, match=r"is not valid JSON: .* at line 2"):
        settings.load_profiles()
    (home / "profiles.json").write_text("[" * 200_000)
    with pytest.raises(InvalidConfiguration, match="nested too deeply"):
        settings.load_profiles()
    (home / "profiles.json").write_bytes(b"\xff")
    with pytest.raises(InvalidConfiguration, match="is not UTF-8 text"):
        settings.load_profiles()
    (home / "profiles.json").write_text(" " * 1_000_001)
    with pytest.raises(InvalidConfiguration, match="more than 1,000,000 bytes"):
        settings.load_profiles()


def test_a_home_that_cannot_be_written_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("COMPACT_HOME", str(home / "file"))
    with pytest.raises(InvalidConfiguration, match="Set COMPACT_HOME"):
        settings.save_profiles(Profiles())


def test_prompts_are_files(home: Path) -> None:
    assert settings.list_prompts() == ()
    path = settings.save_prompt("handover", "Write a handover.\n")
    assert path == home / "prompts" / "handover.md"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert settings.load_prompt("handover") == "Write a handover.\n"
    assert settings.list_prompts() == ("handover",)
    with pytest.raises(InvalidConfiguration, match="Known prompts: handover;"):
        settings.load_prompt("other")


@given(st.text(max_size=80))
def test_no_name_leads_out_of_the_folder_of_prompts(name: str) -> None:
    try:
        path = settings.prompt_path(name)
    except InvalidConfiguration:
        return
    assert path.parent.name == "prompts"
    assert path.stem == name


def test_a_profile_has_its_prompt_in_place_or_in_a_file() -> None:
    def having(prompt: str) -> Profile:
        return Profile(name="p", vendor="openai", model="gpt-4o-mini", prompt=prompt)

    settings.save_prompt("handover", "Write a handover.")
    assert settings.prompt_of(having("")) == ""
    assert settings.prompt_of(having("Say what is open.")) == "Say what is open."
    assert settings.prompt_of(having("file:handover")) == "Write a handover."
    with pytest.raises(InvalidConfiguration, match="no name for a prompt"):
        settings.prompt_of(having("file:../../etc/passwd"))


def test_a_saved_file_holds_only_what_was_said(home: Path) -> None:
    one = Profile(name="a", vendor="openai", model="gpt-4o-mini")
    (home / "profiles.json").write_text("{}")
    settings.save_profiles(Profiles(profiles=(one,)))
    assert json.loads((home / "profiles.json").read_text()) == {
        "profiles": [{"name": "a", "vendor": "openai", "model": "gpt-4o-mini"}]
    }


def test_a_value_that_was_given_stays_also_where_it_is_the_default(home: Path) -> None:
    (home / "profiles.yaml").write_text("profiles:\n - {name: a, vendor: openai, model: m, temperature: 0}\n")
    settings.save_profiles(settings.load_profiles())
    assert "temperature" in settings.load_profiles().profiles[0].model_fields_set


def test_a_file_that_a_person_wrote_is_kept_beside_the_new_one(home: Path) -> None:
    written = "# Ask Jane before you change this.\nprofiles:\n - {name: a, vendor: openai, model: m}\n"
    (home / "profiles.yaml").write_text(written)
    settings.change_profiles(lambda known: known)
    assert (home / "profiles.yaml.bak").read_text() == written
    assert stat.S_IMODE((home / "profiles.yaml.bak").stat().st_mode) == 0o600
    settings.change_profiles(lambda known: known)
    assert (home / "profiles.yaml.bak").read_text() == written
