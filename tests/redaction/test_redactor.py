"""What is redacted, what is left alone, and what users may add."""

from __future__ import annotations

import copy
import json
import time

import pytest

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.redaction import MARK, Finding, Redactor

REDACTOR = Redactor()


def test_redaction_applied_before_export() -> None:
    message = {"role": "user", "content": "use api_key=sk-abc123"}
    assert REDACTOR.message(message) == {"role": "user", "content": "use api_key=<REDACTED>"}
    assert message == {"role": "user", "content": "use api_key=sk-abc123"}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("api_key=sk-abc123", "api_key=<REDACTED>"),
        ('{"api_key": "abc", "n": 1.50}', '{"api_key": "<REDACTED>", "n": 1.50}'),
        ('{"api_key":"abc","x":"y"}', '{"api_key":"<REDACTED>","x":"y"}'),
        ("password=hunter2", "password=<REDACTED>"),
        ("Password : hunter2", "Password : <REDACTED>"),
        ("DB_PASSWORD=letmein", "DB_PASSWORD=<REDACTED>"),
        ('"auth_token" => "a1b2c3d4e5"', '"auth_token" => "<REDACTED>"'),
        ("https://me:s3cret@example.com/x", "https://me:<REDACTED>@example.com/x"),
        ("password%3Dhunter2%26page%3D1", "password%3D<REDACTED>%26page%3D1"),
        ("q=password%253Dhunter2", "q=password%253D<REDACTED>"),
    ],
)
def test_only_the_secret_is_replaced(text: str, redacted: str) -> None:
    assert REDACTOR.text(text) == redacted


def test_a_secret_beside_another_is_replaced_too() -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    text = f"git clone https://{token}:s3cret@example.com/x"
    assert [text[found.start : found.end] for found in REDACTOR.findings(text)] == [token, "s3cret"]
    assert REDACTOR.text(text) == "git clone https://<REDACTED>:<REDACTED>@example.com/x"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password=a1x", "password=<REDACTED>"),  # the shortest password
        ("password=a1", "password=a1"),
        ("auth_token = qw+XzRt/YpLkJhGf", "auth_token = <REDACTED>"),  # the shortest that is dense without a digit
        ("auth_token = qw+XzRt/YpLkJhG", "auth_token = qw+XzRt/YpLkJhG"),
    ],
)
def test_a_secret_has_a_length_from_which_on_it_is_one(text: str, redacted: str) -> None:
    assert REDACTOR.text(text) == redacted


@pytest.mark.parametrize("sample", ["default", "const", "example", "examples", "enum"])
def test_samples_in_a_schema_are_values_and_what_describes_them_is_not(sample: str) -> None:
    def schema(value: str) -> Json:
        field = {"type": "string", "description": "The password", sample: [value, {"nested": value}]}
        return {"type": "object", "properties": {"password": field}}

    assert REDACTOR.json(schema("letmein")) == schema(MARK)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096, total_tokens: 12345678",
        "tokenizer = AutoTokenizer.from_pretrained(name)",
        "def login(user: str, password: str = None) -> Token:",
        "connect(user=user, password=password, token=self.token)",
        'api_key = os.environ["API_KEY"]',
        "apiKey: process.env.API_KEY",
        "export TOKEN=$CI_TOKEN PASSWORD=${DB_PASSWORD}",
        "password: <your password>",
        "Authorization: Bearer ${token}",
        "git@github.com:owner/name.git and http://localhost:8080/x@y",
        "docker run -u 1000:1000 -p 8080:80 image",
        "mkdir -p build && ssh -p 22 host",
        "The password is required. Passwords: see the manual.",
        "task-management-and-scheduling sk-learn disk-encryption-key",
        '{"type": "object", "properties": {"api_key": {"type": "string", "description": "The key"}}}',
        '{"usage": {"input_tokens": 5}, "next_page_token": "abc"}',
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END CERTIFICATE-----",
    ],
)
def test_what_only_talks_of_secrets_is_the_very_same_text(text: str) -> None:
    assert REDACTOR.text(text) is text


def test_every_string_below_a_sensitive_name_is_replaced() -> None:
    value = {"dbPassword": "x", "secrets": {"a": ["b", {"c": "d"}], "n": 5, "empty": ""}, "other": "b"}
    before = copy.deepcopy(value)
    assert REDACTOR.json(value) == {
        "dbPassword": MARK,
        "secrets": {"a": [MARK, {"c": MARK}], "n": 5, "empty": ""},
        "other": "b",
    }
    assert value == before


@pytest.mark.parametrize(
    ("value", "redacted"),
    [
        ({"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_PASSWORD", "value": MARK}),
        ({"kind": "Secret", "data": {"a": "Yg=="}}, {"kind": "Secret", "data": {"a": MARK}}),
        (["mysql", "--password", "x", "main"], ["mysql", "--password", MARK, "main"]),
        (
            {"api_key": {"type": "string", "default": "x", "description": "d"}},
            {"api_key": {"type": "string", "default": MARK, "description": "d"}},
        ),
        (
            {"kind": "Secret", "data": {"a": "b"}, "stringData": {"a": "b"}, "other": "c"},
            {"kind": "Secret", "data": {"a": MARK}, "stringData": {"a": MARK}, "other": "c"},
        ),
        ({"kind": "ConfigMap", "data": {"a": "b"}}, {"kind": "ConfigMap", "data": {"a": "b"}}),
        (
            {"key": "password", "Value": "x", "value": "y", "v": "z"},
            {"key": "password", "Value": MARK, "value": MARK, "v": "z"},
        ),
        ({"Name": "DB_PASSWORD", "Value": "x"}, {"Name": "DB_PASSWORD", "Value": MARK}),
        ({"Key": "DB_PASSWORD", "value": "x"}, {"Key": "DB_PASSWORD", "value": MARK}),
        ({"name": 5, "value": "x"}, {"name": 5, "value": "x"}),
        ({"name": "a", "value": "x"}, {"name": "a", "value": "x"}),
        (("-password", "x", "y"), ("-password", MARK, "y")),
        (["--password", ["x", {"a": "y"}], "z"], ["--password", [MARK, {"a": MARK}], "z"]),
        (["password", "x", "--password!", "x"], ["password", "x", "--password!", "x"]),
        ({"password": {"type": "strings", "title": "t"}}, {"password": {"type": MARK, "title": MARK}}),
        ({"password": {"type": ["string"], "title": "t"}}, {"password": {"type": [MARK], "title": MARK}}),
        ({"password": {"$ref": "x"}}, {"password": {"$ref": "x"}}),
        (
            {"password": {"anyOf": [{"type": "null"}], "default": "x"}},
            {"password": {"anyOf": [{"type": "null"}], "default": MARK}},
        ),
        ({"api_key": [1, None, True, "x", " ", MARK]}, {"api_key": [1, None, True, MARK, " ", MARK]}),
    ],
)
def test_what_stands_beside_a_string_may_make_it_a_secret(value: object, redacted: object) -> None:
    assert REDACTOR.json(value) == redacted


def test_a_value_without_secrets_is_returned_itself() -> None:
    value = {"role": "user", "content": [{"type": "text", "text": "hello"}], "meta": {"max_tokens": 5}}
    assert REDACTOR.json(value) is value


def test_only_what_changed_is_copied() -> None:
    untouched = {"role": "user", "content": "hello"}
    messages = [untouched, {"role": "user", "content": "password=hunter2"}]
    assert REDACTOR.json(messages)[0] is untouched


def test_arguments_keep_their_bytes_around_a_secret() -> None:
    arguments = '{ "password" : "x",\t"n": 1e400, "big": 123456789012345678901, "u": "\\u00e9é" }'
    assert REDACTOR.text(arguments) == arguments.replace('"x"', f'"{MARK}"')


def test_a_name_that_occurs_twice_hides_no_secret() -> None:
    redacted = REDACTOR.text('{"password": "first", "password": "second", "a": 1}')
    assert json.loads(redacted) == {"password": MARK, "a": 1}
    assert "first" not in redacted


def test_a_secret_in_a_name_is_replaced_and_names_stay_different() -> None:
    keys = [f"ghp_{letter * 36}" for letter in "ab"]
    redacted = REDACTOR.json(dict.fromkeys(keys, 1))
    assert len(redacted) == 2
    assert not any(key in name for key in keys for name in redacted)


def test_a_value_nested_too_deep_to_walk_is_replaced_whole() -> None:
    value: object = "password=hunter2"
    for _ in range(5000):
        value = [value]
    assert "hunter2" not in repr(REDACTOR.json({"a": 1, "deep": value}))


def test_values_that_are_no_json_pass_through() -> None:
    value = {1: "hello", None: (object, b"x"), "t": ("password=hunter2",)}
    assert REDACTOR.json(value) == {1: "hello", None: (object, b"x"), "t": (f"password={MARK}",)}


def test_findings_tell_kind_and_place() -> None:
    assert REDACTOR.findings("a password=hunter2 b") == (Finding("password", 11, 18),)
    assert REDACTOR.findings("nothing") == ()


def test_own_keys_are_added() -> None:
    redactor = Redactor(keys=["badgeNumber"])
    assert redactor.json({"badge_number": "12", "password": "x", "n": "12"}) == {
        "badge_number": MARK,
        "password": MARK,
        "n": "12",
    }


@pytest.mark.parametrize(
    ("name", "is_sensitive"),
    [
        *(
            (name, True)
            for name in ("apiKey", "API-KEY", "APIKey", "api key", "HTTPPassword", "dbpassword", "x_access_key")
        ),
        *((name, True) for name in ("password1", "password_123", "token", "auth_token", "x_token", "set_cookie2")),
        *(
            (name, False)
            for name in ("password1234", "page_token", "my_page_token", "pageToken", "token_page", "xtoken")
        ),
        *((name, False) for name in ("dbpasswordx", "key", "access", "", "_", 5, None)),
        ("x" * 191 + "_password", True),
        ("x" * 192 + "_password", False),
    ],
)
def test_which_names_of_fields_are_sensitive(name: object, is_sensitive: bool) -> None:
    assert REDACTOR.json({name: "value"}) == {name: MARK if is_sensitive else "value"}


def test_a_name_that_is_taken_already_gets_a_sign_more() -> None:
    first, second = (f"ghp_{pair * 18}" for pair in ("a1", "b1"))
    assert REDACTOR.json({first: "x", "b": "y"}) == {MARK: "x", "b": "y"}
    assert REDACTOR.json({first: "x", second: "y", MARK: "z"}) == {f"{MARK}+": "x", f"{MARK}++": "y", MARK: "z"}


def test_what_is_nested_too_deep_to_be_read_is_replaced_whole() -> None:
    def nested(depth: int, value: Json) -> Json:
        return nested(depth - 1, [value]) if depth else value

    assert REDACTOR.json(nested(100, "hello")) == nested(100, "hello")
    assert REDACTOR.json(nested(101, "hello")) == nested(100, MARK)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('  {"password": "x"} \n', f'  {{"password": "{MARK}"}} \n'),
        ('{"password":"\\u00e9 \\"x", "b": "\\u00e9"}', f'{{"password":"{MARK}", "b": "\\u00e9"}}'),
        ('["--password","x"]', f'["--password","{MARK}"]'),
        ('{"n": NaN, "password":"x"}', f'{{"n": NaN, "password":"{MARK}"}}'),
        ('"password=hunter2"', f'"password={MARK}"'),
        ('{"a":"b","a":"é password=hunter2"}', f'{{"a":"b","a":"é password={MARK}"}}'),
        ('{"a":"password=x1y2","a":"b","a":1}', f'{{"a":"password={MARK}","a":"b","a":1}}'),
        ('{"password":"x", "password":"y"}', f'{{"password":"{MARK}", "password":"{MARK}"}}'),
        ('{"password":"x"]', '{"password":"x"]'),
        ('{"password":"é1y"]', f'{{"password":"{MARK}"]'),
        (" \t ", " \t "),
    ],
)
def test_json_text_is_redacted_in_its_own_spelling(text: str, redacted: str) -> None:
    assert REDACTOR.text(text) == redacted


def test_own_patterns_are_added() -> None:
    redactor = Redactor([r"EMP-[0-9]{6}", r"badge (\w{4,8})"])
    assert redactor.text("EMP-123456, badge ab12cd, password=hunter2") == f"{MARK}, badge {MARK}, password={MARK}"


def test_the_patterns_of_the_specification_are_accepted_and_keep_the_name() -> None:
    redactor = Redactor([r"(?i)api[_-]?key\s*[:=]\s*\S+", r"(?i)password\s*[:=]\s*\S+"])
    assert redactor.text("api_key=sk-abc123 and password: x") == f"api_key={MARK} and password: {MARK}"


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "'\\(' is no regular expression: .*"),
        ("a*", "'a\\*' matches where there is nothing"),
        (r"\s", "matches where there is nothing"),
        ("(?=a)b", "lookahead"),
        ("(?<!a)b", "lookbehind"),
        (r"(a)\1", "backreference"),
        ("(?P<a>b)(?P=a)", "backreference"),
        ("(a)?(?(1)b|c)", "condition"),
        ("(?>a)b", "atomic"),
        ("a++b", "possessive"),
        ("(a+)+$", "takes more than 50 ms on [0-9]{2} characters"),  # exponential: on any machine
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_by_its_place(pattern: str, problem: str) -> None:
    with pytest.raises(InvalidConfiguration, match=rf"redaction\.patterns\[1\]: .*{problem}"):
        Redactor(["fine", pattern])


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"EMP-\d+", "EMP-1 and EMP-22", [(0, 5), (10, 16)]),
        (r"(badge) (\w+)", "badge ab12", [(0, 5)]),
        (r"badge(x?)", "badge badgex", [(11, 12)]),
        (r"code\s?=\s?\S+", "code = a1, code=", [(7, 10)]),
        (r"code=\S*", "code=", [(0, 5)]),
        (r"code=\S+", 'code="a"', [(6, 8)]),
    ],
)
def test_of_a_match_of_an_own_pattern_the_group_or_the_value_is_the_secret(
    pattern: str, text: str, found: list[tuple[int, int]]
) -> None:
    assert Redactor([pattern]).findings(text) == tuple(Finding("pattern", *place) for place in found)


@pytest.mark.clock
@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(a+)+$", "takes more than 50 ms"),
        (r"(\w+\s?)+:", "takes more than 50 ms"),
        (r"\w+@\w+\.x", "takes more than 50 ms"),
    ],
)
def test_a_bad_or_dangerous_pattern_is_refused_by_its_place(pattern: str, problem: str) -> None:
    start = time.process_time()
    with pytest.raises(InvalidConfiguration, match=rf"redaction\.patterns\[1\]: .*{problem}"):
        Redactor(["fine", pattern])
    assert time.process_time() - start < 10


@pytest.mark.parametrize("pattern", [r"[(?=]x", r"\(\?=x", r"[*+]\+x", "a[]+]+b"])
def test_signs_that_mean_themselves_are_no_structure(pattern: str) -> None:
    assert Redactor([pattern]).findings("") == ()
