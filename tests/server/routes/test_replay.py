"""Sessions played again through the API."""

from __future__ import annotations

from typing import Any

import pytest

from compact.app import write_transcript
from compact.app.recipes import resolve_recipe
from compact.lab.replaying import NOTHING, Terms, choose_window, replay, terms_for
from compact.models import find_model
from compact.providers import Recipe
from tests.lab.test_replaying import session
from tests.server.conftest import Serve, Served


@pytest.fixture(scope="module")
def served(serve: Serve) -> Served:
    return serve()


@pytest.fixture(scope="module")
def upload(served: Served) -> str:
    headers = {"content-type": "application/json"}
    data = write_transcript(session(20)).encode()
    return str(served.ask("POST", "/api/inspect?name=s.json", content=data, headers=headers).json()["id"])


def test_a_recipe_comes_to_what_the_lab_says(served: Served, upload: str) -> None:
    wish = {"upload": upload, "model": "claude-sonnet-4-5", "ways": [NOTHING, "v2"], "window": 8_000}
    answer = served.ask("POST", "/api/replay", json=wish)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["model"], found["window"], found["summarizer"]) == ("claude-sonnet-4-5", 8_000, "claude-haiku-4-5")
    terms = Terms(find_model("claude-sonnet-4-5"), 8_000, summarizer=find_model("claude-haiku-4-5"))
    chosen: list[Recipe | str] = [NOTHING, resolve_recipe("v2")]
    for told, expected in zip(found["ways"], chosen, strict=True):
        played = replay(session(20), expected, terms)
        assert told["way"] == played.recipe
        assert told["dollars"] == format(played.dollars, "f")
        assert told["sizes"] == [one.tokens for one in played.sent]
        assert [told["sizes"][at] for at in told["compacted"]] == [one.tokens for one in played.sent if one.before]
        assert (told["peak"], told["overflows"]) == (played.peak, played.overflows)


def test_without_a_window_the_page_gets_the_one_that_the_command_line_chooses(served: Served, upload: str) -> None:
    answer = served.ask("POST", "/api/replay", json={"upload": upload, "ways": [NOTHING]}).json()
    chosen = choose_window(terms_for("gpt-4o"), session(20))
    assert (answer["window"], answer["unseen"], answer["logged_dollars"]) == (chosen, 0, None)
    assert answer["unknown"][0] == "the file does not say what its requests took"


def test_with_no_way_named_all_of_them_are_played(served: Served, upload: str) -> None:
    answer = served.ask("POST", "/api/replay", json={"upload": upload, "window": 8_000})
    ways = served.ask("GET", "/api/replay/ways").json()
    assert [told["way"] for told in answer.json()["ways"]] == [each["name"] for each in ways]
    assert [each["kind"] for each in ways[:3]] == ["plain", "plain", "preset"]


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"upload": "gone"}, 404, "transcript"),
        ({"ways": ["nothing of the kind"]}, 400, "recipe"),
        ({"target": 0.9}, 400, "target"),
        ({"window": 10}, 400, "window"),
        ({"ways": ["v2"] * 41}, 400, "ways"),
    ],
)
def test_what_cannot_be_played_is_told_by_name(
    served: Served, upload: str, change: dict[str, Any], status: int, field: str
) -> None:
    answer = served.ask("POST", "/api/replay", json={"upload": upload, **change})
    assert answer.status_code == status
    assert answer.json()["error"]["field"] == field


def test_strangers_play_nothing(served: Served, upload: str) -> None:
    assert served.strange("POST", "/api/replay", json={"upload": upload}).status_code == 401
