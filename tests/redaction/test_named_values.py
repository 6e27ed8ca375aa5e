"""Passwords and keys of interfaces are found behind their names; code, placeholders and sentences stay."""

from __future__ import annotations

import json
import random
import string
from itertools import product

import pytest

from compact.redaction import MARK, Redactor

REDACTOR = Redactor()
NAMES = (
    "password",
    "Password",
    "passwd",
    "passphrase",
    "Passwort",
    "pwd",
    "db_password",
    "DB_PASSWORD",
    "dbPassword",
    "spring.datasource.password",
    "api_key",
    "api-key",
    "apikey",
    "apiKey",
    "OPENAI_API_KEY",
)
SYNTAXES = {
    "yaml": "db:\n  {name}: {value}\n  port: 5432\n",
    "yaml list": "- {name}: {value}\n- port: 5432\n",
    "yaml quoted": 'db:\n  {name}: "{value}"\n',
    "env": "USER=me\n{name}={value}\nPORT=5432\n",
    "ini": "[db]\n{name} = {value}\nport = 5432\n",
    "prose colon": "Log in as admin with {name}: {value} and go on.",
    "prose end": "The {name}: {value}.",
    "prose brackets": "Log in as admin ({name}: {value}) first.",
    "prose equals": "It says {name}={value}, port=5432 there.",
    "markdown": "**{name}:** {value}\n\n**port:** 5432",
    "json": '{{"user": "me", "{name}": "{value}", "port": 5432}}',
    "json in a log": '12:00 POST {{"user": "me", "text": "{name}: {value}"}} 200',
    "shell": "export {name}={value} && run",
    "shell quoted": "export {name}='{value}'; run",
    "docker": "docker run -e {name}={value} image",
    "url": "https://example.com/login?user=me&{name}={value}&port=5432",
    "connection": "Server=db;{name}={value};Encrypt=true",
}
ALPHABETS = {
    "lower case": string.ascii_lowercase,
    "mixed case": string.ascii_letters,
    "with digits": string.ascii_letters + string.digits,
}
PER_CASE = 5


def generated(alphabet: str, seed: str) -> str:
    rng = random.Random(seed)
    return "".join(rng.choices(ALPHABETS[alphabet], k=rng.randint(6, 20)))


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_every_generated_password_is_found_behind_every_name(alphabet: str, syntax: str) -> None:
    missed = []
    for name, number in product(NAMES, range(PER_CASE)):
        value = generated(alphabet, f"{alphabet} {name} {number}")
        text = SYNTAXES[syntax].format(name=name, value=value)
        if REDACTOR.text(text) != text.replace(value, MARK):
            missed.append(text)
    assert missed == []


def test_at_least_two_thousand_generated_cases_are_tried() -> None:
    assert len(NAMES) * len(SYNTAXES) * len(ALPHABETS) * PER_CASE >= 2_000


@pytest.mark.parametrize("depth", range(4))
def test_a_generated_password_is_found_in_json_within_json(depth: int) -> None:
    text, value = "db:\n  password: Sommerregen\n  port: 5432\n", "Sommerregen"
    for _ in range(depth):
        text = json.dumps({"content": text})
    assert REDACTOR.text(text) == text.replace(value, MARK)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password: ", "Sommerregen"),
        ("DB_PASSWORD: ", "Sommerregen"),
        ("password = ", "hunter"),
        ("password=", "monkey"),
        ("password: ", "secret"),
        ("password = ", "welcome"),
        ("password: ", "0000"),
        ("password: ", "zebra!"),
        ("password: ", "password123"),
        ("PASSWORD=", "SuperSecretPassword"),
        ("api_key=", "1234567890"),
        ("api_key: ", "mykey"),
        ("apikey=", "zzz"),
        ('password="', "secret"),
        ('password: "', "0000"),
        ('api_key: "', "mykey"),
        ("postgres://me:", "secret"),
    ],
)
def test_a_weak_password_is_a_password(name: str, value: str) -> None:
    end = {'"': '"', ":": "@db/main"}.get(name[-1], "")
    assert REDACTOR.text(f"{name}{value}{end}") == f"{name}{MARK}{end}"
    assert REDACTOR.text(f"Use {name}{value}{end} here.") == f"Use {name}{MARK}{end} here."


@pytest.mark.parametrize(
    "text",
    [
        'log("the password: hunter works")',
        '{"content": "log in with password: hunter"} and more',
        "const hint = 'the password = hunter'",
        "(password=hunter)",
        "password = hunter and user = bob",
        "Server = db; Password = hunter;",
        "Login: admin, password = hunter",
        "password: hunter is my password",
        "| password: hunter | Admin |",
    ],
)
def test_a_sentence_or_a_string_around_it_does_not_make_a_password_code(text: str) -> None:
    assert "hunter" not in REDACTOR.text(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: str",
        "password: SecretStr",
        "password: Option<String>",
        "password: String!",
        "password: Foo = field()",
        "password: Foo | None",
        "def login(user: User, password: Phrase) -> None:",
        "password=password",
        "login(user=user, password=given)",
        "login(\n    user=user,\n    password=typed,\n)",
        "{ email, password: typed }",
        "  password: typed,\n",
        "password = user_password",
        "password = pw",
        'password = os.environ["DB_PASSWORD"]',
        "password = get_password()",
        "self.password = typed",
        "const password = typed",
        "user.password = typed;",
        "user, password = pair",
        "user = password = other = None",
        "if password == typed:",
        "password := typed",
        "password: required",
        "password: see the wiki",
        "password: ask Bob",
        "Password: must have 12 characters",
        "password: ********",
        "password: xxxx",
        "password: ${DB_PASSWORD}",
        "password: !vault |",
        "API_KEY=your_api_key",
        "OPENAI_API_KEY=sk-...",
        "api_key: Mistral API key",
        "const apiKey = await readKey()",
        "{ 'X-Api-Key': adminKey }",
        "PWD=/home/me/project",
    ],
)
def test_code_placeholders_and_sentences_stay(text: str) -> None:
    assert REDACTOR.text(text) is text
