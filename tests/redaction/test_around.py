"""A secret is found whatever stands before it, behind it and around it."""

from __future__ import annotations

import json
import random
import shlex
import string
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.redaction import MARK, Redactor
from tests.redaction.secrets import KINDS, some, survives
from tests.redaction.test_laws import texts

REDACTOR = Redactor()
SETTINGS = ("api_key={}", "api-key: {}", "apikey = {}", "API_KEY={}", "password={}", "password: {}", "Password = {}")
"""What the two patterns of the specification match."""
NEIGHBOURS = (
    *("token: y", "token: tok_123", "key: v", "token=abc", "secret: x", "user=bob", "port 5432", "password: str"),
    *("a key", "the token", "api_key=", "(see below)", "-----BEGIN", "https://example.com", "{}", '"', "kind: Secret"),
)
WEAK = ("hunter2", "monkey", "mykey", "letmein", "Sommerregen", "abc", "0000")
values = st.builds(
    lambda seed: (
        f"{some(random.Random(seed), string.ascii_letters, 3)}{some(random.Random(-seed), '0123456789aZ!^*+-', 8)}7"
    ),
    st.integers(1, 10_000),
)
INSIDE: Mapping[str, Callable[[str], str]] = {
    "json": lambda text: json.dumps({"role": "tool", "content": text}),
    "json behind a line": lambda text: f"Ran it.\n{json.dumps({'content': text})}\nok",
    "json in json behind a line": lambda text: f"Ran it.\n{json.dumps({'a': json.dumps({'content': text})})}\nok",
    "heredoc": lambda text: f"cat > config <<'EOF'\n{text}\nEOF\n",
    "heredoc in json": lambda text: json.dumps({"command": f"cat <<E\n{text}\nE"}),
    "markdown": lambda text: f"Here it is:\n\n```\n{text}\n```\n",
    "shell": lambda text: f"echo {shlex.quote(text)} > out && cat out",
    "added lines": lambda text: "\n".join(f"+{line}" for line in text.split("\n")),
}


@given(texts, st.sampled_from(SETTINGS), values, texts)
def test_what_the_patterns_of_the_specification_match_is_found_between_any_lines(
    before: str, setting: str, value: str, behind: str
) -> None:
    assert value not in REDACTOR.text(f"{before}\n{setting.format(value)}\n{behind}")


@given(
    st.sampled_from(NEIGHBOURS), st.sampled_from(SETTINGS), values | st.sampled_from(WEAK), st.sampled_from(NEIGHBOURS)
)
def test_another_name_beside_a_value_takes_nothing_from_it(before: str, setting: str, value: str, behind: str) -> None:
    text = setting.format(value)
    assert MARK in REDACTOR.text(f"{text} {behind}")
    assert not REDACTOR.text(f"{text} {behind}").startswith(text)
    assert text not in REDACTOR.text(f"{before} {text} {behind}")


@given(texts, st.sampled_from(sorted(KINDS)), st.integers(0, 99), texts)
def test_every_kind_is_found_between_any_lines(before: str, kind: str, seed: int, behind: str) -> None:
    planted = KINDS[kind](random.Random(seed))
    assert not survives(planted, REDACTOR.text(f"x {before}\n\n{planted.text}\n\n{behind}"))


@pytest.mark.parametrize("inside", INSIDE)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 99))
def test_every_kind_is_found_inside_anything(inside: str, kind: str, seed: int) -> None:
    planted = KINDS[kind](random.Random(seed))
    assert not survives(planted, REDACTOR.text(INSIDE[inside](planted.text)))


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password=hunter2 token: tok_123", f"password={MARK} token: tok_123"),
        ("api_key=mykey token: abc", f"api_key={MARK} token: abc"),
        ("password=monkey key: v", f"password={MARK} key: v"),
        ("password: token: ab12cd34ef", f"password: token: {MARK}"),
        ("password=a1b,c2d;e3f|g4 x", f"password={MARK} x"),
        ("password=a1b&c2d&user=bob", f"password={MARK}&user=bob"),
        ("postgres://me:p@ssw0rd@db/main", f"postgres://me:{MARK}@db/main"),
        ('log("password: ", given)', 'log("password: ", given)'),
    ],
)
def test_a_value_is_matched_whole_before_the_next_is_looked_for(text: str, redacted: str) -> None:
    assert REDACTOR.text(text) == redacted


BODY = [some(random.Random(number), string.ascii_letters + string.digits + "+/", 64) for number in range(24)]
DASHES = "-" * 5
KEY = "\n".join([f"{DASHES}BEGIN PRIVATE KEY{DASHES}", *BODY, "abc=", f"{DASHES}END PRIVATE KEY{DASHES}", ""])
ACCOUNT = json.dumps({"type": "service_account", "private_key": KEY, "client_email": "a@b"})


@pytest.mark.parametrize(
    "text",
    [
        f"Ran it.\n{ACCOUNT}\nok",
        f"cat > k.json <<'E'\n{ACCOUNT}\nE",
        json.dumps({"command": f"cat <<E\n{ACCOUNT}\nE"}),
        f"x {json.dumps(json.dumps(ACCOUNT))}",
        f"x\n{KEY}",
        f"x\n{KEY[: len(KEY) // 2]}",
        f"x\n{KEY[len(KEY) // 2 :]}",
        "\n".join(f"{number:4}→{line}" for number, line in enumerate(KEY.split("\n"), 1)),
        "\n".join(f"+    {line}" for line in KEY.split("\n")),
        "\n".join(f'    "{line}\\n" +' for line in KEY.strip().split("\n")),
        KEY.replace("\n", " "),
        KEY.replace("\n", ""),
        KEY.replace("\n", "\\\\n"),
        "key: |\n" + "\n".join(f"  {line}" for line in KEY.split("\n")),
    ],
)
def test_no_line_of_a_private_key_is_left(text: str) -> None:
    pieces = [line[:20] for line in BODY] + [line[-20:] for line in BODY]
    assert [piece for piece in pieces if piece in text and piece in REDACTOR.text(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "the password is {}",
            "My password is: {}",
            "DB_PASS={}",
            "smtp_pass: {}",
            "ansible_become_pass: {}",
            'psk="{}"',
        ),
        *(
            "Kennwort: {}",
            "mot de passe : {}",
            "contraseña: {}",
            "пароль: {}",
            "密码:{}",
            "密码是{}",
            "the api key is {}",
        ),
        *("ldapsearch -D cn=admin -w {}", "use {} as the password", "das Passwort für die Datenbank lautet {}"),
        *('{{"contrase\\u00f1a": "{}"}} x', "| user | password |\n|---|---|\n| bob | {} |", "user,password\nbob,{}\n"),
        *(
            "INSERT INTO u (name, password) VALUES ('bob', '{}');",
            "- name: DB_PASSWORD\n  value: {}",
            "<x name='token'>{}</x>",
        ),
    ],
)
def test_a_value_is_found_behind_words_of_eight_languages_and_in_tables(text: str) -> None:
    assert "x7Qw9" not in REDACTOR.text(text.format("x7Qw9LmP2vTz"))
