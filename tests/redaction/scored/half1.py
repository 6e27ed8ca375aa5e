"""Test data for a redactor of secrets, written without knowledge of its rules.

Interface:

* ``Case(kind, language, surrounding, text, secrets)``: a text in which every member of ``secrets`` occurs literally
  and must be gone after redaction. For a private key every base64 line is one (PGP checksum lines excepted); escaped
  newlines (``\\n``, ``\\\\n``, ``&#10;``) count as line ends. A secret is listed in the form it has in the text, that
  is JSON-, XML-, CSV- or percent-escaped where the surrounding escapes. Seed phrases also list both halves, JWTs also
  list the signature.
* ``cases(seed)``: every kind in every language in 20 surroundings, drawn so that each surrounding comes up equally
  often for a kind. Same seed, same cases.
* ``stays(seed)``: about 1,000 different lines which must come through unchanged.

All values are random draws from ``random.Random(seed)``; none is real. Prefixes of tokens are written in pieces so that
scanners of repositories do not take this file for a leak.

Surroundings ``csv_header_row`` and ``markdown_header_row`` are the hard ones: the name of the secret stands in the
header row, its value in a row below.
"""

# ruff: noqa: RUF001  # quotes and signs of eight languages

from __future__ import annotations

import base64
import html
import json
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote

from tests.redaction.scored.half1_data import (
    FIXED_STAYS,
    LANGUAGES,
    NOUNS,
    PASSWORD_WORDS,
    SAYINGS,
    SEED_WORDS,
    made_stays,
)

ALNUM = string.ascii_letters + string.digits
LOWER_ALNUM = string.ascii_lowercase + string.digits
UPPER_ALNUM = string.ascii_uppercase + string.digits
URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
PER_KIND_AND_LANGUAGE = 20


@dataclass(frozen=True)
class Case:
    """A text with secrets in it; ``secrets`` are substrings of ``text`` that must not survive redaction."""

    kind: str
    language: str
    surrounding: str
    text: str
    secrets: tuple[str, ...]


@dataclass(frozen=True)
class Leak:
    """A secret with the name and the wording that belong to it, before it is put into a surrounding.

    how: "named" (only the name tells that the value is secret), "token" (recognisable form), "header" (name is that of
    an HTTP header), "command" (value is a shell command), "text" (value is any text that holds the secret
    and its name).
    cut: "start" or "end" for a private key of which that side is missing.
    """

    how: str
    name: str
    value: str
    line: str
    secrets: tuple[str, ...]
    art: str
    label: str
    cut: str = ""

    @property
    def multi(self) -> bool:
        """True when the value has several lines."""
        return "\n" in self.value


Escape = Callable[[str], str]
Out = tuple[str, Escape]


@dataclass
class Scene:
    """All that a surrounding needs to render a leak; ``extra`` collects further secrets it adds, as they stand."""

    r: Random
    lang: str
    leak: Leak
    extra: list[str] = field(default_factory=list)

    def say(self, sort: str) -> str:
        """A template or sentence of the given sort in the language of the scene."""
        return self.r.choice(SAYINGS[self.lang][sort])


# ---------------------------------------------------------------------------------------------------------- helpers


def same(s: str) -> str:
    """No escaping."""
    return s


def js(s: str) -> str:
    """Escaping inside a JSON string."""
    return json.dumps(s, ensure_ascii=False)[1:-1]


def js_ascii(s: str) -> str:
    """Escaping inside a JSON string that is kept in ASCII."""
    return json.dumps(s)[1:-1]


def js2(s: str) -> str:
    """Escaping inside JSON inside a JSON string."""
    return js(js(s))


def xml(s: str) -> str:
    """Escaping inside XML text or an attribute; newlines become character references."""
    return html.escape(s, quote=True).replace("\n", "&#10;")


def pct(s: str) -> str:
    """Percent-encoding."""
    return quote(s, safe="")


def csvq(s: str) -> str:
    """Escaping inside a quoted CSV field."""
    return s.replace('"', '""').replace("\n", "\\n")


def draw(r: Random, alphabet: str, n: int) -> str:
    """Random string of n characters."""
    return "".join(r.choice(alphabet) for _ in range(n))


def b64(data: bytes) -> str:
    """Standard base64 as text."""
    return base64.b64encode(data).decode("ascii")


def b64url(data: bytes) -> str:
    """URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def words_of(name: str) -> list[str]:
    """Words of a name, whatever joins them."""
    humps = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [w for w in re.split(r"[^\w]+|_", humps) if w]


def upper(name: str) -> str:
    """Name in upper snake case."""
    return "_".join(words_of(name)).upper()


def snake(name: str) -> str:
    """Name in lower snake case."""
    return "_".join(words_of(name)).lower()


def camel(name: str) -> str:
    """Name in camel case."""
    first, *rest = words_of(name)
    return first.lower() + "".join(w[:1].upper() + w[1:].lower() for w in rest)


def kebab(name: str) -> str:
    """Name in kebab case."""
    return "-".join(words_of(name)).lower()


def is_plain(v: str) -> bool:
    """True when a value needs no quotes in shell, YAML or TOML."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_./+=%-]*", v) is not None


def sh(v: str) -> str:
    """Value quoted for a shell without changing its characters."""
    if is_plain(v):
        return v
    return f"'{v}'" if "'" not in v else f'"{v}"'


def one(v: str) -> str:
    """Value on a single line, newlines escaped as backslash n."""
    return js(v) if "\n" in v else v


def inside(text: str, secret: str, kind: str) -> None:
    """Raises ValueError when a secret does not occur in its text."""
    if not secret or secret not in text:
        raise ValueError(f"{kind}: secret {secret!r} is not in {text!r}")


# ----------------------------------------------------------------------------------------------------- random values


def password(r: Random, lang: str, specials: bool = True) -> str:
    """Password as people or generators make them."""
    style = r.randrange(8 if specials else 4)
    word = r.choice(PASSWORD_WORDS[lang])
    if style == 0:
        return draw(r, ALNUM, r.randint(12, 28))
    if style == 1:
        return draw(r, HEX, r.choice((16, 24, 32, 40)))
    if style == 2:
        return f"{word}{r.randint(1950, 2026)}{r.choice(string.ascii_letters)}{r.randint(0, 99)}"
    if style == 3:
        return "-".join(draw(r, ALNUM, r.choice((4, 5, 6))) for _ in range(r.choice((3, 4))))
    if style == 4:
        leet = word.translate(str.maketrans("aeiosAEIO", "@310$@310"))
        return f"{leet}{r.choice('#_-*+')}{r.randint(10, 9999)}{r.choice(('', '!', '!!', 'x'))}"
    if style == 5:
        return f"{word}{r.choice('!#*+-_@$%')}{r.randint(1000, 99999)}"
    if style == 6:
        return r.choice(ALNUM) + draw(r, ALNUM + "!#$%*+-.:=?@^_~", r.randint(10, 22)) + r.choice(ALNUM)
    return r.choice(ALNUM) + draw(r, ALNUM + '!#$%&*+-./:;=?@^_~(){}[]<>,"', r.randint(10, 22)) + r.choice(ALNUM)


def opaque(r: Random) -> str:
    """Key or token without a form that could be recognised."""
    style = r.randrange(5)
    if style == 0:
        return draw(r, HEX, r.choice((32, 40, 64)))
    if style == 1:
        return draw(r, ALNUM, r.randint(24, 48))
    if style == 2:
        return b64(r.randbytes(r.choice((24, 32, 48))))
    if style == 3:
        return draw(r, URLSAFE, 42) + r.choice(ALNUM)
    parts = (8, 4, 4, 4, 12)
    return "-".join(draw(r, HEX, n) for n in parts)


def jwt(r: Random) -> str:
    """JSON web token with a random signature."""
    head = json.dumps({"alg": r.choice(("HS256", "RS256")), "typ": "JWT"}, separators=(",", ":"))
    body = json.dumps(
        {
            "sub": str(r.randint(1000, 10**9)),
            "name": "Test User",
            "iat": r.randint(16 * 10**8, 18 * 10**8),
            "scope": r.choice(("admin", "read write", "openid")),
        },
        separators=(",", ":"),
    )
    return f"{b64url(head.encode())}.{b64url(body.encode())}.{b64url(r.randbytes(r.choice((32, 64, 256))))}"


def noun(r: Random, lang: str, category: str) -> tuple[str, str]:
    """A noun with article and the bare noun."""
    return r.choice(NOUNS[lang][category])


def as_line(r: Random, name: str, label: str, value: str) -> str:
    """Name and value on a line in one of the usual ways."""
    v = one(value)
    quoted = f'"{v}"' if '"' not in v else f"'{v}'"
    return r.choice(
        (
            f"{upper(name)}={sh(v)}",
            f"{snake(name)}: {v if is_plain(v) else quoted}",
            f"{snake(name)} = {quoted}",
            f"{label}: {v}",
            f"{snake(name)}={v}",
            f'"{camel(name)}": "{js(v)}"',
            f"{kebab(name)}: {v}",
            f"export {upper(name)}={sh(v)}",
        )
    )


def named(
    r: Random,
    lang: str,
    category: str,
    names: tuple[str, ...],
    value: str,
    secrets: tuple[str, ...] = (),
    how: str = "named",
    local: float = 0.6,
) -> Leak:
    """Leak of a value behind a name, which outside English is in the language with the probability ``local``."""
    art, label = noun(r, lang, category)
    name = r.choice(names)
    if lang != "en" and r.random() < local:
        name = r.choice(("", "", "db_", "app_", "smtp_")) + "_".join(words_of(label.lower()))
        name = name if category in ("password", "passphrase") else "_".join(words_of(label.lower()))
    line = as_line(r, name, label, value)
    if '"' in value and js(value) != value and js(value) in line and value not in line:
        line = f"{snake(name)}: '{value}'"
    return Leak(how, name, value, line, secrets or (value,), art, label)


def token(
    r: Random, lang: str, category: str, names: tuple[str, ...], value: str, secrets: tuple[str, ...] = ()
) -> Leak:
    """Leak of a value with a recognisable form, half the time without a name on its line."""
    leak = named(r, lang, category, names, value, secrets, "token", 0.25)
    line = leak.value if r.random() < 0.5 else leak.line
    return Leak("token", leak.name, leak.value, line, leak.secrets, leak.art, leak.label)


def text_leak(
    r: Random, lang: str, category: str, value: str, secrets: tuple[str, ...], how: str = "text", name: str = ""
) -> Leak:
    """Leak of a text that holds the secret together with all that marks it as one."""
    art, label = noun(r, lang, category)
    name = name or r.choice(
        ("command", "run", "script") if how == "command" else ("note", "message", "content", "text")
    )
    return Leak(how, name, value, f"{name}: {value}" if how == "header" else value, secrets, art, label)


# ------------------------------------------------------------------------------------------------------------- kinds


def kind_named_password(r: Random, lang: str) -> Leak:
    """Password behind an English name."""
    names = (
        "DB_PASSWORD",
        "POSTGRES_PASSWORD",
        "MYSQL_ROOT_PASSWORD",
        "ADMIN_PASS",
        "smtp_password",
        "password",
        "passwd",
        "redis.password",
        "spring.datasource.password",
        "SUDO_PASS",
        "userPassword",
        "ftp_pwd",
        "LDAP_BIND_PW",
        "KEYSTORE_PASSWORD",
        "sa_password",
        "ansible_become_pass",
        "ES_PASSWORD",
        "dbPassword",
    )
    return named(r, lang, "password", names, password(r, lang), local=0.0)


def kind_local_password(r: Random, lang: str) -> Leak:
    """Password, passphrase or PIN behind a name in the language."""
    category = r.choice(("password", "password", "password", "passphrase", "pin"))
    value = draw(r, string.digits, r.choice((6, 8))) if category == "pin" else password(r, lang)
    names = {
        "password": ("user_password", "login password", "pw", "pwd"),
        "passphrase": ("passphrase", "key_passphrase"),
        "pin": ("pin", "pin_code", "CARD_PIN"),
    }[category]
    return named(r, lang, category, names, value, local=1.0)


def kind_named_secret(r: Random, lang: str) -> Leak:
    """Key, token or secret without recognisable form behind a name."""
    category = r.choice(("api_key", "token", "secret"))
    names = {
        "api_key": ("API_KEY", "apiKey", "weather_api_key", "x-api-key", "MAPS_APIKEY", "ALGOLIA_ADMIN_KEY"),
        "token": ("ACCESS_TOKEN", "auth_token", "refreshToken", "DEPLOY_TOKEN", "VAULT_TOKEN", "token"),
        "secret": (
            "CLIENT_SECRET",
            "SECRET_KEY",
            "JWT_SECRET",
            "clientSecret",
            "SESSION_SECRET",
            "app.secret",
            "WEBHOOK_SECRET",
            "ENCRYPTION_KEY",
        ),
    }[category]
    return named(r, lang, category, names, opaque(r))


def kind_flag(r: Random, lang: str) -> Leak:
    """Secret behind a long flag of a command."""
    if r.random() < 0.6:
        value, flag = (
            password(r, lang),
            r.choice(("--password", "--db-password", "--passwd", "--admin-password", "--pass")),
        )
    else:
        value, flag = opaque(r), r.choice(("--token", "--api-key", "--secret-key", "--client-secret", "--auth-token"))
    tool = r.choice(
        (
            "./deploy.sh --env prod",
            "docker login -u ci registry.example.com",
            "helm upgrade app ./chart",
            "python manage.py sync --user admin",
            "java -jar app.jar --server.port=8080",
            "mytool push --user bot",
            "mongodump --host db1 --username root",
            "az login --service-principal -u 1c2d",
        )
    )
    join = r.choice((" ", "="))
    return text_leak(
        r,
        lang,
        "password",
        f"{tool} {flag}{join}{sh(value)}{r.choice(('', ' --verbose', ' --dry-run'))}",
        (value,),
        "command",
    )


def kind_header_key(r: Random, lang: str) -> Leak:
    """Key in an HTTP header of its own."""
    value = opaque(r)
    name = r.choice(
        (
            "X-Api-Key",
            "X-Auth-Token",
            "Private-Token",
            "X-Vault-Token",
            "api-key",
            "Ocp-Apim-Subscription-Key",
            "X-Access-Token",
            "apikey",
            "X-Shopify-Access-Token",
            "DD-API-KEY",
        )
    )
    return text_leak(r, lang, "api_key", value, (value,), "header", name)


def kind_url_userinfo(r: Random, lang: str) -> Leak:
    """Password in the user info of a URL."""
    value = pct(password(r, lang))
    user = r.choice(("admin", "deploy", "ci-bot", "oauth2", "jenkins", "alice%40example.com"))
    rest = r.choice(
        (
            "git.example.com/team/app.git",
            "nexus.example.com:8443/repository/npm/",
            "10.0.3.7/share/a.zip",
            "example.org/api?page=2",
            "proxy.corp.example:3128",
            "user.example.net",
        )
    )
    scheme = r.choice(("https", "http", "ftp", "sftp", "socks5", "git+https", "rtsp"))
    names = ("REPO_URL", "remote", "HTTPS_PROXY", "endpoint", "url", "index_url")
    leak = token(r, "en", "password", names, f"{scheme}://{user}:{value}@{rest}", (value,))
    art, label = noun(r, lang, "password")
    return Leak("token", leak.name, leak.value, leak.line, leak.secrets, art, label)


def kind_connection_string(r: Random, lang: str) -> Leak:
    """Password in a connection string or database URL."""
    raw = re.sub(r"[;\"'{}=]", "x", password(r, lang))
    enc = pct(raw)
    form = r.randrange(8)
    host = r.choice(("db.internal", "10.1.2.3", "cluster0.ab1cd.example.net", "localhost"))
    if form == 0:
        value, secret = f"postgresql://app:{enc}@{host}:5432/shop?sslmode=require", enc
    elif form == 1:
        value, secret = f"mongodb+srv://root:{enc}@{host}/test?retryWrites=true&w=majority", enc
    elif form == 2:
        value, secret = f"amqp://worker:{enc}@{host}:5672/%2F", enc
    elif form == 3:
        value, secret = f"redis://:{enc}@{host}:6379/0", enc
    elif form == 4:
        value, secret = f"Server={host},1433;Database=Shop;User Id=sa;Password={raw};Encrypt=True;", raw
    elif form == 5:
        value, secret = f"jdbc:mysql://{host}:3306/shop?user=app&password={enc}&useSSL=false", enc
    elif form == 6:
        value, secret = f"mysql+pymysql://app:{enc}@{host}/shop?charset=utf8mb4", enc
    else:
        raw = re.sub(r"[^\w-]", "x", raw)
        value, secret = f"host={host} port=5432 dbname=shop user=app password={raw} sslmode=disable", raw
    names = (
        "DATABASE_URL",
        "ConnectionString",
        "MONGO_URI",
        "SQLALCHEMY_DATABASE_URI",
        "DefaultConnection",
        "BROKER_URL",
    )
    leak = token(r, "en", "password", names, value, (secret,))
    art, label = noun(r, lang, "password")
    return Leak("token", leak.name, leak.value, leak.line, leak.secrets, art, label)


def kind_prose_password(r: Random, lang: str) -> Leak:
    """Secret stated in a sentence."""
    template = r.choice(SAYINGS[lang]["states"])
    value = password(r, lang)
    if any(w in template.lower() for w in ("api", "tok", "jeton", "токен", "令牌")):
        value = opaque(r)
    return text_leak(r, lang, "password", template.format(v=value), (value,))


def kind_cloud_access_key(r: Random, lang: str) -> Leak:
    """AWS-like access key id, secret access key or both."""
    key_id = r.choice(("AK" + "IA", "AS" + "IA")) + draw(r, BASE32, 16)
    secret = draw(r, ALNUM + "/+", 39) + r.choice(ALNUM)
    form = r.randrange(4)
    if form == 0:
        return token(r, lang, "api_key", ("AWS_ACCESS_KEY_ID", "accessKeyId", "s3_key"), key_id)
    if form == 1:
        return named(
            r, lang, "secret", ("AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "secretAccessKey"), secret, local=0.2
        )
    if form == 2:
        text = f"aws_access_key_id = {key_id}\naws_secret_access_key = {secret}"
    else:
        text = f"AWS_ACCESS_KEY_ID={key_id} AWS_SECRET_ACCESS_KEY={secret} aws s3 ls s3://backup-{r.randint(1, 99)}/"
    return text_leak(r, lang, "secret", text, (key_id, secret), "text" if form == 2 else "command")


def kind_github(r: Random, lang: str) -> Leak:
    """GitHub-like tokens."""
    if r.random() < 0.35:
        value = "github" + "_pat_" + draw(r, ALNUM, 22) + "_" + draw(r, ALNUM, 59)
    else:
        value = "gh" + r.choice("pousr") + "_" + draw(r, ALNUM, 36)
    if r.random() < 0.2:
        url = f"https://x-access-token:{value}@github.com/acme/app-{r.randint(1, 99)}.git"
        return text_leak(r, lang, "token", f"git clone {url}", (value,), "command")
    return token(r, lang, "token", ("GITHUB_TOKEN", "GH_TOKEN", "github_pat", "githubToken", "auth"), value)


def kind_gitlab(r: Random, lang: str) -> Leak:
    """GitLab-like tokens."""
    value = r.choice(
        (
            "gl" + "pat-" + draw(r, URLSAFE, 19) + r.choice(ALNUM),
            "gl" + "dt-" + draw(r, ALNUM, 20),
            "gl" + "rt-" + draw(r, ALNUM, 20),
            "gl" + "ptt-" + draw(r, HEX, 40),
        )
    )
    return token(r, lang, "token", ("GITLAB_TOKEN", "CI_DEPLOY_TOKEN", "gitlabToken", "PRIVATE_TOKEN"), value)


def kind_slack(r: Random, lang: str) -> Leak:
    """Slack-like tokens and webhooks."""
    form = r.randrange(4)
    num = draw(r, "123456789", 12)
    if form == 0:
        tail = draw(r, ALNUM, 24)
        value = "https://hooks." + "slack.com/services/T" + draw(r, UPPER_ALNUM, 10) + "/B" + draw(r, UPPER_ALNUM, 10)
        return token(r, lang, "secret", ("SLACK_WEBHOOK_URL", "slackWebhook", "webhook"), f"{value}/{tail}", (tail,))
    if form == 1:
        value = "xo" + "xb-" + num + "-" + draw(r, "123456789", 13) + "-" + draw(r, ALNUM, 24)
    elif form == 2:
        value = "xo" + "xp-" + "-".join((num, num[::-1], draw(r, "123456789", 13), draw(r, HEX, 32)))
    else:
        value = "xa" + "pp-1-A" + draw(r, UPPER_ALNUM, 10) + "-" + draw(r, "123456789", 13) + "-" + draw(r, HEX, 64)
    return token(r, lang, "token", ("SLACK_BOT_TOKEN", "SLACK_TOKEN", "slackToken", "bot_token"), value)


def kind_discord(r: Random, lang: str) -> Leak:
    """Discord-like webhooks and bot tokens."""
    number = draw(r, "123456789", 18)
    if r.random() < 0.6:
        tail = draw(r, URLSAFE, 67) + r.choice(ALNUM)
        host = r.choice(("discord", "discordapp")) + ".com"
        return token(
            r,
            lang,
            "secret",
            ("DISCORD_WEBHOOK", "webhookUrl"),
            f"https://{host}/api/" + f"webhooks/{number}/{tail}",
            (tail,),
        )
    value = ".".join((b64url(number.encode()), draw(r, URLSAFE, 6), draw(r, URLSAFE, 37) + r.choice(ALNUM)))
    return token(r, lang, "token", ("DISCORD_TOKEN", "DISCORD_BOT_TOKEN", "botToken"), value)


def kind_stripe(r: Random, lang: str) -> Leak:
    """Stripe-like keys."""
    value = r.choice(("sk" + "_live_", "rk" + "_live_", "sk" + "_test_")) + draw(r, ALNUM, r.choice((24, 99)))
    if r.random() < 0.25:
        value = "wh" + "sec_" + draw(r, ALNUM, 32)
    return token(
        r, lang, "secret", ("STRIPE_SECRET_KEY", "STRIPE_API_KEY", "stripeKey", "STRIPE_WEBHOOK_SECRET"), value
    )


def kind_openai_like(r: Random, lang: str) -> Leak:
    """Keys in the manner of OpenAI and its kin."""
    mark = "T3Blbk" + "FJ"
    value = r.choice(
        (
            "sk" + "-" + draw(r, ALNUM, 20) + mark + draw(r, ALNUM, 20),
            "sk" + "-proj-" + draw(r, URLSAFE, 74) + mark + draw(r, URLSAFE, 73) + r.choice(ALNUM),
            "sk" + "-svcacct-" + draw(r, URLSAFE, 58) + mark + draw(r, URLSAFE, 57) + r.choice(ALNUM),
            "sk" + "-or-v1-" + draw(r, HEX, 64),
            "gs" + "k_" + draw(r, ALNUM, 52),
            "xa" + "i-" + draw(r, ALNUM, 80),
        )
    )
    return token(
        r, lang, "api_key", ("OPENAI_API_KEY", "openaiApiKey", "LLM_API_KEY", "api_key", "openai.api_key"), value
    )


def kind_anthropic_like(r: Random, lang: str) -> Leak:
    """Keys in the manner of Anthropic."""
    middle = r.choice(("api03-", "api03-", "admin01-", "oat01-"))
    value = "sk" + "-ant-" + middle + draw(r, URLSAFE, 93) + "AA"
    return token(r, lang, "api_key", ("ANTHROPIC_API_KEY", "CLAUDE_API_KEY", "anthropicKey", "x-api-key"), value)


def kind_google(r: Random, lang: str) -> Leak:
    """Google-like API keys, client secrets and access tokens."""
    value = r.choice(
        (
            "AI" + "za" + draw(r, URLSAFE, 34) + r.choice(ALNUM),
            "AI" + "za" + draw(r, URLSAFE, 34) + "k",
            "GOC" + "SPX-" + draw(r, URLSAFE, 27) + r.choice(ALNUM),
            "ya" + "29.a0A" + draw(r, URLSAFE, 160) + r.choice(ALNUM),
        )
    )
    return token(
        r, lang, "api_key", ("GOOGLE_API_KEY", "MAPS_KEY", "firebaseApiKey", "GEMINI_API_KEY", "client_secret"), value
    )


def kind_mail_sms(r: Random, lang: str) -> Leak:
    """SendGrid-, Mailgun- and Twilio-like keys."""
    form = r.randrange(4)
    if form == 0:
        value = "S" + "G." + draw(r, URLSAFE, 21) + "x." + draw(r, URLSAFE, 42) + r.choice(ALNUM)
        return token(r, lang, "api_key", ("SENDGRID_API_KEY", "sendgridKey"), value)
    if form == 1:
        return token(r, lang, "api_key", ("MAILGUN_API_KEY", "mailgun_private_key"), "key" + "-" + draw(r, HEX, 32))
    if form == 2:
        return token(r, lang, "api_key", ("TWILIO_API_KEY", "twilioSid"), "S" + "K" + draw(r, HEX, 32))
    return named(
        r, lang, "token", ("TWILIO_AUTH_TOKEN", "twilio_auth_token", "twilioAuthToken"), draw(r, HEX, 32), local=0.2
    )


def kind_registry_token(r: Random, lang: str) -> Leak:
    """npm-, PyPI- and Hugging-Face-like tokens."""
    form = r.randrange(4)
    npm = "np" + "m_" + draw(r, ALNUM, 36)
    if form == 0:
        return token(r, lang, "token", ("NPM_TOKEN", "NODE_AUTH_TOKEN"), npm)
    if form == 1:
        return text_leak(r, lang, "token", f"//registry.example.com/:_authToken={npm}", (npm,))
    if form == 2:
        value = "py" + "pi-" + "AgEIcHlwaS5vcmc" + draw(r, URLSAFE, r.randint(140, 170)) + r.choice(ALNUM)
        return token(r, lang, "token", ("PYPI_TOKEN", "TWINE_PASSWORD", "UV_PUBLISH_TOKEN"), value)
    return token(
        r,
        lang,
        "token",
        ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "hfToken"),
        "h" + "f_" + draw(r, string.ascii_letters, 34),
    )


def kind_telegram(r: Random, lang: str) -> Leak:
    """Telegram-like bot tokens."""
    tail = "AA" + draw(r, URLSAFE, 32) + r.choice(ALNUM)
    number = r.choice("123456789") + draw(r, string.digits, r.choice((8, 9)))
    if r.random() < 0.3:
        url = "https://api.tele" + f"gram.org/bot{number}:{tail}/" + r.choice(("getUpdates", "sendMessage", "getMe"))
        return text_leak(r, lang, "token", f"curl -s {url}", (tail,), "command")
    return token(r, lang, "token", ("TELEGRAM_BOT_TOKEN", "BOT_TOKEN", "tgToken"), f"{number}:{tail}", (tail,))


def kind_sentry_dsn(r: Random, lang: str) -> Leak:
    """Sentry DSN in the new or, with two keys, the old form."""
    public, private = draw(r, HEX, 32), draw(r, HEX, 32)
    org = draw(r, "123456789", 6)
    if r.random() < 0.5:
        value, secrets = f"https://{public}@o{org}.ingest.sentry.io/{draw(r, '123456789', 16)}", (public,)
    else:
        value, secrets = f"https://{public}:{private}@sentry.example.com/{r.randint(1, 99)}", (private,)
    return token(r, lang, "secret", ("SENTRY_DSN", "sentryDsn", "dsn"), value, secrets)


def kind_azure_storage(r: Random, lang: str) -> Leak:
    """Azure-like storage account key, bare or in a connection string."""
    key = b64(r.randbytes(64))
    if r.random() < 0.5:
        value = (
            f"DefaultEndpointsProtocol=https;AccountName=acct{r.randint(1, 999)};Account" + f"Key={key};"
            "EndpointSuffix=core.windows.net"
        )
        return token(r, lang, "account_key", ("AZURE_STORAGE_CONNECTION_STRING", "AzureWebJobsStorage"), value, (key,))
    return named(r, lang, "account_key", ("AZURE_STORAGE_KEY", "AccountKey", "storageAccountKey"), key, local=0.2)


def kind_bearer_jwt(r: Random, lang: str) -> Leak:
    """Bearer token or JWT."""
    form = r.randrange(3)
    if form == 0:
        value = jwt(r)
        return token(
            r,
            lang,
            "token",
            ("ID_TOKEN", "jwt", "access_token", "accessToken"),
            value,
            (value, value.rsplit(".", 1)[1]),
        )
    value = jwt(r) if form == 1 else opaque(r)
    return text_leak(
        r, lang, "token", f"Bearer {value}", (value,), "header", r.choice(("Authorization", "authorization"))
    )


def kind_basic_auth(r: Random, lang: str) -> Leak:
    """Basic authentication header."""
    value = b64(f"{r.choice(('admin', 'svc-deploy', 'alice'))}:{password(r, lang)}".encode())
    return text_leak(
        r,
        lang,
        "password",
        f"Basic {value}",
        (value,),
        "header",
        r.choice(("Authorization", "Proxy-Authorization", "authorization")),
    )


def kind_docker_auth(r: Random, lang: str) -> Leak:
    """Authentication in the config file of Docker."""
    value = b64(f"{r.choice(('robot', 'ci', 'alice'))}:{password(r, lang)}".encode())
    server = r.choice(("https://index.docker.io/v1/", "ghcr.io", "registry.example.com:5000"))
    text = json.dumps({"auths": {server: {"auth": value}}}, indent=r.choice((None, 2, 4)))
    return text_leak(r, lang, "password", text, (value,), "text", "dockerconfigjson")


def pem(r: Random) -> tuple[list[str], list[str], list[str]]:
    """Header lines, base64 lines and footer lines of a made-up private key."""
    sort = r.choice(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED ", "PGP", "DSA "))
    size, width, start = {
        "RSA ": (608, 64, b"\x30\x82\x02\x5c"),
        "EC ": (121, 64, b"\x30\x77\x02\x01"),
        "OPENSSH ": (274, 70, b"openssh-key-v1\0"),
        "": (1218, 64, b"\x30\x82\x04\xbe"),
        "ENCRYPTED ": (361, 64, b"\x30\x82\x01\x65"),
        "PGP": (500, 64, b"\x95\x03\x98\x04"),
        "DSA ": (447, 64, b"\x30\x82\x01\xbb"),
    }[sort]
    data = b64(start + r.randbytes(size - len(start)))
    lines = [data[i : i + width] for i in range(0, len(data), width)]
    if len(lines[-1]) < 8:
        lines.pop()
    begin, end = "-----" + "BEGIN ", "-----" + "END "
    if sort == "PGP":
        kind = "PGP PRIVATE" + " KEY BLOCK-----"
        version = r.choice((["Version: GnuPG v2"], []))
        return [begin + kind, *version, ""], lines, ["=" + draw(r, ALNUM, 4), end + kind]
    kind = sort + "PRIVATE" + " KEY-----"
    head = [begin + kind]
    if sort == "RSA " and r.random() < 0.25:
        head += ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC," + draw(r, "0123456789ABCDEF", 32), ""]
    return head, lines, [end + kind]


def key_leak(r: Random, lang: str, value: str, secrets: list[str], cut: str = "") -> Leak:
    """Leak of a private key."""
    art, label = noun(r, lang, "private_key")
    name = r.choice(("PRIVATE_KEY", "SSH_KEY", "privateKey", "tls.key", "deploy_key", "JWT_PRIVATE_KEY", "key"))
    return Leak("token", name, value, value, tuple(secrets), art, label, cut)


def kind_private_key(r: Random, lang: str) -> Leak:
    """Whole private key."""
    head, body, foot = pem(r)
    return key_leak(r, lang, "\n".join(head + body + foot), body)


def kind_private_key_cut(r: Random, lang: str) -> Leak:
    """Private key of which the start or the end is missing."""
    head, body, foot = pem(r)
    keep = r.randint(3, len(body)) if len(body) > 3 else len(body)
    if r.random() < 0.5:
        body = body[:keep]
        if len(body[-1]) > 30:
            body[-1] = body[-1][: r.randint(20, len(body[-1]))]
        return key_leak(r, lang, "\n".join(head + body), body, "end")
    body = body[-keep:]
    if len(body[0]) > 30:
        body[0] = body[0][-r.randint(20, len(body[0])) :]
    return key_leak(r, lang, "\n".join(body + foot), body, "start")


def kind_service_account(r: Random, lang: str) -> Leak:
    """Service account file with a private key as JSON string."""
    data = b64(b"\x30\x82\x04\xbe" + r.randbytes(r.choice((605, 1213))))
    lines = [data[i : i + 64] for i in range(0, len(data), 64)]
    lines = lines[:-1] if len(lines[-1]) < 8 else lines
    mark = "PRIVATE" + " KEY-----\n"
    key = "-----BEGIN " + mark + "\n".join(lines) + "\n-----END " + mark
    project = f"acme-{draw(r, LOWER_ALNUM, 6)}"
    text = json.dumps(
        {
            "type": "service_" + "account",
            "project_id": project,
            "private_key_id": draw(r, HEX, 40),
            "private_key": key,
            "client_email": f"bot@{project}.iam.gserviceaccount.com",
            "client_id": draw(r, "123456789", 21),
            "token_uri": "https://oauth2.googleapis.com/token",
        },
        indent=r.choice((None, 2, 2, 4)),
    )
    return text_leak(
        r, lang, "private_key", text, tuple(lines), "text", r.choice(("credentials", "GOOGLE_CREDENTIALS"))
    )


def kind_session_cookie(r: Random, lang: str) -> Leak:
    """Session cookie as header, or a session id behind a name."""
    name = r.choice(
        (
            "sessionid",
            "PHPSESSID",
            "JSESSIONID",
            "connect.sid",
            "_app_session",
            "laravel_session",
            "auth_session",
            "session",
            "ASP.NET_SessionId",
            "__Secure-next-auth.session-token",
        )
    )
    value = r.choice(
        (
            draw(r, LOWER_ALNUM, 32),
            draw(r, HEX, 40),
            "s%3A" + draw(r, URLSAFE, 32) + "." + draw(r, ALNUM, 43),
            draw(r, URLSAFE, 79) + r.choice(ALNUM),
        )
    )
    form = r.randrange(3)
    if form == 0:
        text = f"theme=dark; {name}={value}; lang={lang}"
        return text_leak(r, lang, "cookie", text, (value,), "header", r.choice(("Cookie", "cookie")))
    if form == 1:
        text = f"{name}={value}; Path=/; HttpOnly; Secure; SameSite=Lax"
        return text_leak(r, lang, "cookie", text, (value,), "header", r.choice(("Set-Cookie", "set-cookie")))
    return named(r, lang, "cookie", ("SESSION_ID", "session_cookie", "sessionId", "SESSION_COOKIE"), value, local=0.4)


def kind_wifi_psk(r: Random, lang: str) -> Leak:
    """Password of a wireless network."""
    value = re.sub(r"[;\":]", "x", password(r, lang))
    form = r.randrange(6)
    if form == 0:
        return text_leak(
            r, lang, "wifi", f'network={{\n    ssid="Home-{r.randint(1, 99)}"\n    psk="{value}"\n}}', (value,)
        )
    if form == 1:
        return text_leak(r, lang, "wifi", f"WIFI:T:WPA;S:Office-{r.randint(1, 99)};P:{value};;", (value,))
    if form == 2:
        return text_leak(
            r,
            lang,
            "wifi",
            f"nmcli dev wifi connect Office-{r.randint(1, 99)} password {sh(value)}",
            (value,),
            "command",
        )
    if form == 3:
        psk = draw(r, HEX, 64)
        return text_leak(r, lang, "wifi", f"ssid=Lab\nkey_mgmt=WPA-PSK\npsk={psk}", (psk,))
    return named(r, lang, "wifi", ("WIFI_PASSWORD", "wpa_passphrase", "wifi_psk", "WIFI_PASS", "wlan_key"), value)


def kind_client_command(r: Random, lang: str) -> Leak:
    """Password in a short option of a client program."""
    value = password(r, lang)
    v = sh(value)
    bind = "cn=admin,dc=example,dc=org"
    key = r.randint(1, 99)
    text = r.choice(
        (
            f"mysql -u root -p{v} shop{key}",
            f"mysqldump -h db{key} -uroot -p{v} --all-databases",
            f"ldapsearch -x -D {bind} -w {v} -b dc=example,dc=org uid=u{key}",
            f"curl -u admin:{v} https://example.com/api/{key}",
            f"curl -s --user deploy:{v} -X POST https://ci.example.com/job/{key}",
            f"sshpass -p {v} ssh root@10.0.0.{key}",
            f"redis-cli -h cache{key} -a {v} ping",
            f"PGPASSWORD={v} psql -h db{key} -U app shop",
            f"echo {v} | sudo -S systemctl restart app{key}",
            f"sqlcmd -S db{key} -U sa -P {v} -Q 'select 1'",
            f"openssl rsa -in k{key}.pem -passin pass:{value if is_plain(value) else sh(value)}",
            f"smbclient //nas{key}/share -U alice%{v}",
            f"rabbitmqctl add_user app{key} {v}",
            f"net use Z: \\\\nas{key}\\share {v} /user:alice",
            f"wget --user=bot --password={v} https://example.com/f{key}.zip",
            f"mongosh db{key} -u root -p {v} --authenticationDatabase admin",
        )
    )
    return text_leak(r, lang, "password", text, (value,), "command")


def kind_seed_phrase(r: Random, lang: str) -> Leak:
    """Seed phrase of 12 or 24 words."""
    words = r.sample(SEED_WORDS, r.choice((12, 24)))
    half = len(words) // 2
    value = " ".join(words)
    names = ("SEED_PHRASE", "MNEMONIC", "recoveryPhrase", "wallet_mnemonic", "seed_phrase", "walletSeed")
    return named(r, lang, "seed", names, value, (value, " ".join(words[:half]), " ".join(words[half:])))


def kind_otpauth(r: Random, lang: str) -> Leak:
    """Secret of one-time passwords, as URL or behind a name."""
    secret = draw(r, BASE32, r.choice((16, 32)))
    if r.random() < 0.6:
        value = f"otpauth://totp/Acme:alice{r.randint(1, 99)}@example.com?secret={secret}&issuer=Acme&digits=6"
        return token(r, lang, "otp", ("OTP_URL", "otpauth", "mfaUri"), value, (secret,))
    return named(r, lang, "otp", ("TOTP_SECRET", "mfa_secret", "otpSecret", "TWO_FACTOR_SECRET"), secret, local=0.4)


def kind_password_hash(r: Random, lang: str) -> Leak:
    """Password hash of htpasswd, shadow or an application."""
    crypt = "./" + ALNUM
    value = r.choice(
        (
            "$6$" + draw(r, crypt, 16) + "$" + draw(r, crypt, 86),
            "$5$" + draw(r, crypt, 16) + "$" + draw(r, crypt, 43),
            "$apr1$" + draw(r, crypt, 8) + "$" + draw(r, crypt, 22),
            "$2y$10$" + draw(r, crypt, 53),
            "$y$j9T$" + draw(r, crypt, 22) + "$" + draw(r, crypt, 43),
            "$argon2id$v=19$m=65536,t=3,p=4$" + draw(r, ALNUM, 22) + "$" + draw(r, ALNUM, 43),
        )
    )
    form = r.randrange(4)
    user = r.choice(("root", "alice", "deploy", "postgres"))
    if form == 0:
        return text_leak(
            r, lang, "hash", f"{user}:{value}:{r.randint(18000, 20000)}:0:99999:7:::", (value,), "text", "shadow"
        )
    if form == 1:
        return text_leak(r, lang, "hash", f"{user}:{value}", (value,), "text", "htpasswd")
    return named(
        r, lang, "hash", ("password_hash", "ADMIN_PASSWORD_HASH", "passwordHash", "hashed_password"), value, local=0.3
    )


KINDS: dict[str, Callable[[Random, str], Leak]] = {
    name.removeprefix("kind_"): value for name, value in list(globals().items()) if name.startswith("kind_")
}


# ------------------------------------------------------------------------------------------------------ surroundings


def pair_line(s: Scene) -> str:
    """Name and value for a shell-like file; texts and commands go into a variable."""
    leak = s.leak
    v = one(leak.value)
    if '"' in v and "'" in v and js(v) != v:
        return leak.line
    return f"{upper(leak.name)}={sh(v)}"


def sentence(s: Scene, sort: str) -> str:
    """Sentence of the language with the value in its middle or at its end."""
    leak = s.leak
    if leak.how in ("text", "command"):
        return s.say("text_" + sort).format(v=leak.value)
    value = f"{leak.name}: {leak.value}" if leak.how == "header" and s.r.random() < 0.5 else leak.value
    art = leak.art
    return s.say(sort).format(v=value, art=art, Art=art[:1].upper() + art[1:])


def in_alone(s: Scene) -> Out:
    """Nothing else around."""
    return s.leak.line, same


def in_shell_session(s: Scene) -> Out:
    """Prompt and output."""
    leak = s.leak
    prompt = s.r.choice(("$ ", "root@web1:~# ", "dev@box:~/app$ ", "PS C:\\app> ", "% "))
    if leak.how == "command":
        return f"{prompt}{leak.value}\nERROR: {s.say('note')} (exit code 1)\n{prompt}", same
    if leak.multi or leak.how in ("text", "header"):
        return f"{prompt}cat {snake(leak.name)}.txt\n{leak.line}\n{prompt}ls\nREADME.md  src", same
    return f"{prompt}export {upper(leak.name)}={sh(leak.value)}\n{prompt}make deploy\n# {s.say('note')}\n", same


def in_heredoc(s: Scene) -> Out:
    """Here document of a shell."""
    end = s.r.choice(("EOF", "END", "YAML"))
    body = f"HOST=localhost\n{s.leak.line}\nPORT=8080"
    return f"cat > config/app.conf <<'{end}'\n{body}\n{end}\nchmod 600 config/app.conf", same


def in_cat_file(s: Scene) -> Out:
    """Content of a file right behind other output."""
    first = s.r.choice(
        ("Already up to date.", "-rw------- 1 app app 412 Mai  3 09:12 .env", "total 12", "==> .env <==")
    )
    return f"{first}\nAPP_ENV=production\n{s.leak.line}\nLOG_LEVEL=info\n", same


def json_object(s: Scene) -> dict[str, object]:
    """Object in which the leak is one of several members."""
    leak = s.leak
    name = leak.name if leak.how == "header" else s.r.choice((camel, snake, kebab, upper, str))(leak.name)
    value: object = leak.value
    return {"host": "db.internal", "user": "app", name: value, "port": s.r.randint(1000, 9999), "debug": False}


def in_json_pretty(s: Scene) -> Out:
    """JSON with indentation."""
    return json.dumps(json_object(s), indent=s.r.choice((2, 4)), ensure_ascii=False), js


def in_json_minified(s: Scene) -> Out:
    """JSON without blanks, in a quarter of cases in ASCII."""
    ascii_only = s.r.random() < 0.25
    return json.dumps(json_object(s), separators=(",", ":"), ensure_ascii=ascii_only), js_ascii if ascii_only else js


def in_json_in_json(s: Scene) -> Out:
    """JSON as a string of other JSON."""
    inner = json.dumps(json_object(s), ensure_ascii=False, indent=s.r.choice((None, 2)))
    outer = {"type": "tool_result", "tool_use_id": f"toolu_{s.r.randint(1000, 9999)}", "content": inner}
    return json.dumps(outer, ensure_ascii=False), js2


def yaml_value(s: Scene, flow: bool) -> Out:
    """Scalar of YAML."""
    v = s.leak.value
    if is_plain(v):
        return v, same
    if s.r.random() < 0.4 and "'" not in v and "\n" not in v:
        return f"'{v}'", same
    return f'"{js(v)}"', js


def in_yaml_block(s: Scene) -> Out:
    """YAML in block style."""
    leak = s.leak
    key = leak.name if leak.how == "header" else s.r.choice((snake, camel, kebab))(leak.name)
    if leak.multi or s.r.random() < 0.2:
        body = leak.value.replace("\n", "\n    ")
        mark = s.r.choice(("|", "|-", ">-"))
        return f"database:\n  host: db.internal\n  {key}: {mark}\n    {body}\n  port: 5432\n", same
    value, esc = yaml_value(s, False)
    return f"database:\n  host: db.internal\n  {key}: {value}\n  port: 5432\n", esc


def in_yaml_flow(s: Scene) -> Out:
    """YAML in flow style."""
    v = one(s.leak.value)
    text, esc = (v, same) if is_plain(v) else (f'"{js(s.leak.value)}"', js)
    return f"database: {{host: db.internal, {snake(s.leak.name)}: {text}, port: {s.r.randint(1000, 9999)}}}", esc


def in_markdown_table(s: Scene) -> Out:
    """Row of a Markdown table, name and value in cells."""
    leak = s.leak
    tick = s.r.choice(("", "`"))
    label = leak.label if leak.how == "named" else leak.name
    return f"| Name | Value |\n|------|-------|\n| Host | db1 |\n| {label} | {tick}{one(leak.value)}{tick} |\n", same


def in_markdown_header_row(s: Scene) -> Out:
    """Markdown table with the name of the secret in the header row."""
    leak = s.leak
    host = f"db{s.r.randint(1, 99)}"
    return f"| Host | User | {leak.label} |\n|---|---|---|\n| {host} | app | {one(leak.value)} |\n", same


def in_fenced_code(s: Scene) -> Out:
    """Fenced code within prose."""
    fence = s.r.choice(("```", "~~~", "````"))
    lang = s.r.choice(("", "bash", "ini", "text"))
    return f"{s.say('intro')}\n\n{fence}{lang}\n{s.leak.line}\n{fence}\n\n{s.say('after')}", same


def in_inline_code(s: Scene) -> Out:
    """Inline code within prose."""
    return f"{s.say('intro')} `{s.leak.line}` {s.say('after')}", same


def quoted_with(s: Scene, left: str, right: str) -> Out:
    """Sentence in which the value is quoted."""
    leak = s.leak
    if leak.how in ("text", "command"):
        return s.say("text_end").format(v=f"{left}{leak.value}{right}"), same
    if leak.how == "header":
        return f"{s.say('intro')} {leak.name}: {left}{leak.value}{right}", same
    art = leak.art
    return s.say("quoted").format(q=f"{left}{leak.value}{right}", art=art, Art=art[:1].upper() + art[1:]), same


def in_quotes_curly(s: Scene) -> Out:
    """Curly quotation marks."""
    return quoted_with(s, *s.r.choice((("“", "”"), ("„", "“"), ("‘", "’"))))


def in_quotes_guillemets(s: Scene) -> Out:
    """Guillemets, French ones with blanks."""
    return quoted_with(s, *s.r.choice((("« ", " »"), ("«", "»"), ("»", "«"))))


def in_quotes_corner(s: Scene) -> Out:
    """Corner brackets."""
    return quoted_with(s, *s.r.choice((("「", "」"), ("『", "』"))))


def in_xml_attribute(s: Scene) -> Out:
    """XML attribute."""
    leak, v = s.leak, xml(s.leak.value)
    if s.r.random() < 0.5:
        return f'<config>\n  <property name="{leak.name}" value="{v}"/>\n</config>', xml
    return f'<dataSource host="db1" user="app" {camel(leak.name)}="{v}" pool="{s.r.randint(2, 50)}"/>', xml


def in_xml_element(s: Scene) -> Out:
    """XML element."""
    tag = camel(s.leak.name)
    v = html.escape(s.leak.value, quote=False)
    return f"<server>\n  <id>main</id>\n  <{tag}>{v}</{tag}>\n</server>", lambda t: html.escape(t, quote=False)


def in_diff(s: Scene) -> Out:
    """Unified diff; the secret is added, removed or both."""
    sign = s.r.choice("+-")
    body = "\n".join(sign + line for line in s.leak.line.split("\n"))
    other = "-LOG=1" if sign == "+" else "+LOG=0"
    head = f"diff --git a/.env b/.env\nindex {draw(s.r, HEX, 7)}..{draw(s.r, HEX, 7)} 100644\n--- a/.env\n+++ b/.env"
    return f"{head}\n@@ -1,4 +1,4 @@\n HOST=db\n{other}\n{body}\n PORT=1\n", same


def in_python_assignment(s: Scene) -> Out:
    """Assignment in Python."""
    leak = s.leak
    if leak.multi and '"""' not in leak.value and "\\" not in leak.value:
        return f'import os\n\n{upper(leak.name)} = """{leak.value}"""\n', same
    lit = f'"{js(leak.value)}"'
    text = s.r.choice(
        (
            f"{snake(leak.name)} = {lit}",
            f"{upper(leak.name)}: str = {lit}  # {s.say('note')}",
            f'config["{leak.name}"] = {lit}',
            f"client = Client(user='app', {snake(leak.name)}={lit})",
            f'os.environ["{upper(leak.name)}"] = {lit}',
            f'x = os.getenv("{upper(leak.name)}", {lit})',
        )
    )
    return f"import os\n\n{text}\n", js


def in_js_assignment(s: Scene) -> Out:
    """Assignment in JavaScript."""
    leak = s.leak
    if leak.multi and "\\" not in leak.value:
        return f"const {camel(leak.name)} = `{leak.value}`;\n", same
    lit, name = f'"{js(leak.value)}"', camel(leak.name)
    if "'" not in leak.value and js(leak.value) == leak.value:
        lit = f"'{leak.value}'"
    return s.r.choice(
        (
            f"const {name} = {lit};",
            f"let {name} = process.env.{upper(name)} || {lit};",
            f"axios.create({{ baseURL, {name}: {lit} }});",
            f"process.env.{upper(leak.name)} = {lit};",
        )
    ), js


def in_java_assignment(s: Scene) -> Out:
    """Assignment in Java, several lines joined by a plus sign."""
    leak = s.leak
    name, lit = camel(leak.name), f'"{js(leak.value)}"'
    if leak.multi:
        lit = " +\n        ".join(f'"{js(line)}\\n"' for line in leak.value.split("\n"))
    return s.r.choice(
        (
            f"private static final String {upper(leak.name)} = {lit};",
            f"String {name} = {lit};",
            f'props.setProperty("{leak.name}", {lit});',
        )
    ), js


def in_go_assignment(s: Scene) -> Out:
    """Assignment in Go."""
    leak = s.leak
    if leak.multi:
        return f"var {camel(leak.name)} = []byte(`{leak.value}`)\n", same
    lit, name = f'"{js(leak.value)}"', camel(leak.name)
    return s.r.choice(
        (
            f"const {name} = {lit}",
            f"\t{name} := {lit}",
            f'cfg := Config{{Host: "db", {name}: {lit}}}',
            f'os.Setenv("{upper(leak.name)}", {lit})',
        )
    ), js


def in_dockerfile(s: Scene) -> Out:
    """Dockerfile."""
    leak = s.leak
    if leak.how == "command":
        return f'FROM debian:12\nRUN {leak.value}\nCMD ["/app"]', same
    v = leak.value
    if not is_plain(v):
        v = f'"{js(v)}"' if leak.multi or '"' not in v else f"'{v}'"
    esc = js if v.startswith('"') else same
    line = s.r.choice((f"ENV {upper(leak.name)}={v}", f"ENV {upper(leak.name)} {v}", f"ARG {upper(leak.name)}={v}"))
    return f"FROM python:3.12-slim\n{line}\nWORKDIR /app\nCOPY . .", esc


def in_ci_config(s: Scene) -> Out:
    """Configuration of continuous integration."""
    leak = s.leak
    if leak.how == "command":
        return f"jobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n      - run: {leak.value}\n", same
    value, esc = yaml_value(s, False)
    key = s.r.choice(("env", "variables"))
    return f"deploy:\n  stage: deploy\n  {key}:\n    {upper(leak.name)}: {value}\n  script:\n    - make deploy\n", esc


def stamp(r: Random) -> str:
    """Timestamp as logs have it."""
    day = f"2024-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
    time = f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}"
    return r.choice((f"{day}T{time}.{r.randint(100, 999)}Z", f"{day} {time},{r.randint(100, 999)}", f"[{day} {time}]"))


def in_log_line(s: Scene) -> Out:
    """Line of a log with a timestamp."""
    leak, v = s.leak, one(s.leak.value)
    level = s.r.choice(("INFO", "DEBUG", "WARN", "ERROR"))
    head = f"{stamp(s.r)} {level} {s.r.choice(('[main]', 'app.db:', 'worker-3'))}"
    if leak.how == "command":
        return f"{head} exec: {v}", same
    if leak.how in ("text", "header"):
        return f"{head} {s.say('note')}: {leak.name}: {v}", same
    return f"{head} {s.say('note')} host=db1 {snake(leak.name)}={v} retries=3", same


def in_stack_trace(s: Scene) -> Out:
    """Stack trace in which the secret is an argument."""
    leak = s.leak
    head = f'Traceback (most recent call last):\n  File "/srv/app/main.py", line {s.r.randint(1, 999)}, in <module>\n'
    if leak.how in ("text", "command"):
        error = f"subprocess.CalledProcessError: Command '{one(leak.value)}' returned exit status 1."
        return f"{head}    run(cmd)\n{error}", same
    if leak.how == "header":
        lit = f'"{leak.name}": "{js(leak.value)}"'
        return f"{head}    get(url, headers={{{lit}}})\nrequests.exceptions.HTTPError: 401 Client Error", js
    return f'{head}    connect("db1", {snake(leak.name)}="{js(leak.value)}")\nOperationalError: timeout expired', js


def in_prose_middle(s: Scene) -> Out:
    """Middle of a sentence."""
    if s.leak.multi:
        return f"{s.say('intro')}\n{s.leak.value}\n{s.say('after')}", same
    return f"{sentence(s, 'middle')} {s.say('after')}", same


def in_prose_end(s: Scene) -> Out:
    """End of a sentence, followed by its full stop."""
    if s.leak.multi:
        return f"{s.say('after')} {s.say('intro')} {s.leak.value}.", same
    return f"{s.say('after')} {sentence(s, 'end')}", same


def in_csv(s: Scene) -> Out:
    """CSV with names and values in columns."""
    leak, sep = s.leak, s.r.choice((",", ",", ";"))
    v = f'"{csvq(leak.value)}"' if not is_plain(leak.value) or s.r.random() < 0.3 else leak.value
    return f"key{sep}value\nhost{sep}db1\n{leak.name}{sep}{v}\nport{sep}{s.r.randint(1000, 9999)}\n", csvq


def in_csv_header_row(s: Scene) -> Out:
    """CSV with the name of the secret in the header row."""
    leak = s.leak
    v = leak.value if is_plain(leak.value) else f'"{csvq(leak.value)}"'
    return f"host,user,{snake(leak.name)},port\ndb1,app,{v},{s.r.randint(1000, 9999)}\n", csvq


def in_http_dump(s: Scene) -> Out:
    """Dump of an HTTP request."""
    leak = s.leak
    head = f"POST /v1/login?try={s.r.randint(1, 99)} HTTP/1.1\nHost: api.example.com\nUser-Agent: curl/8.5.0\n"
    mark = s.r.choice(("", "> "))
    if leak.how == "header":
        text = f"{head}{leak.name}: {leak.value}\nAccept: */*\n\n"
        return "".join(f"{mark}{line}\n" for line in text.split("\n")), same
    if leak.how == "token" and not leak.multi and "://" not in leak.value and s.r.random() < 0.5:
        return f"{head}Authorization: Bearer {leak.value}\nAccept: */*\n\n", same
    if leak.how == "named" and s.r.random() < 0.4:
        form = f"user=app&{snake(leak.name)}={pct(leak.value)}"
        return f"{head}Content-Type: application/x-www-form-urlencoded\n\n{form}", pct
    return f"{head}Content-Type: application/json\n\n{json.dumps(json_object(s), ensure_ascii=False)}", js


def in_url_query(s: Scene) -> Out:
    """Query of a URL."""
    name = s.r.choice((snake, camel))(s.leak.name)
    page = s.r.randint(1, 99)
    return f"GET https://api.example.com/v2/items?page={page}&{name}={pct(s.leak.value)}&sort=asc 200", pct


def in_two_secrets(s: Scene) -> Out:
    """A second secret on the same line, before or behind."""
    second = password(s.r, s.lang, specials=False)
    _, label = noun(s.r, s.lang, s.r.choice(("password", "token", "secret")))
    name = s.r.choice((label, "token", "password", "api_key"))
    other = f"{name}{s.r.choice((': ', '=', ' = '))}{second}"
    s.extra.append(second)
    if s.r.random() < 0.5 and s.leak.how not in ("text", "command", "header"):
        return f"{s.leak.line} {other}", same
    return f"{other} {s.leak.line}", same


def in_after_harmless(s: Scene) -> Out:
    """A harmless value that looks sensitive right before the secret."""
    before = s.r.choice(
        (
            f"PASSWORD_MIN_LENGTH={s.r.randint(8, 20)}",
            f"commit {draw(s.r, HEX, 40)}",
            "password_required=true",
            f"sha256:{draw(s.r, HEX, 64)}",
            f"request_id={draw(s.r, HEX, 32)}",
            f"max_tokens={s.r.randint(1, 9)}00",
            "token_type=bearer",
            "password: string,",
            "api_key=${API_KEY}",
        )
    )
    return f"{before}{s.r.choice((chr(10), ' ')) if not s.leak.multi else chr(10)}{s.leak.line}", same


def in_crlf(s: Scene) -> Out:
    """Windows line ends."""
    return f"HOST=db1\n{s.leak.line}\nPORT={s.r.randint(1000, 9999)}\n".replace("\n", "\r\n"), same


def in_tabs(s: Scene) -> Out:
    """Tabs between and before."""
    leak = s.leak
    if leak.multi or leak.how in ("text", "command"):
        return "\t" + leak.value.replace("\n", "\n\t"), same
    return s.r.choice(
        (
            f"\t{leak.name}\t=\t{leak.value}",
            f"host\tdb1\n{leak.name}\t{leak.value}\n",
            f"\t\t{leak.name}:\t{leak.value}\t# {s.say('note')}",
        )
    ), same


def in_indented(s: Scene) -> Out:
    """Deep indentation."""
    pad = " " * s.r.choice((3, 8, 20))
    return f"{pad}# {s.say('note')}\n" + "\n".join(pad + line for line in s.leak.line.split("\n")) + f"\n{pad}end", same


def in_very_long_line(s: Scene) -> Out:
    """Line of some thousand characters."""

    def filler(n: int) -> str:
        """Minified code of n functions."""
        return "".join(f"function f{i}(a,b){{return a.p{s.r.randint(1, 999)}(b)+{i}}};" for i in range(n))

    leak = s.leak
    name = leak.name if leak.how == "header" else camel(leak.name)
    return f'{filler(s.r.randint(30, 90))}var cfg={{host:"db1","{name}":"{js(leak.value)}",n:1}};{filler(40)}', js


def in_binaryish(s: Scene) -> Out:
    """Control characters and replacement characters around, but no NUL."""

    def noise() -> str:
        """Some control and replacement characters."""
        return "".join(
            chr(s.r.choice((1, 2, 3, 5, 6, 14, 15, 16, 27, 127, 0xFFFD, 0xFFFD))) for _ in range(s.r.randint(4, 20))
        )

    return f"\x7fELF{noise()}.rodata{noise()}\n{noise()}{s.leak.line}{noise()}GCC: (GNU) 13.2{noise()}", same


def in_trailing_punctuation(s: Scene) -> Out:
    """Punctuation directly behind."""
    return f"({s.leak.line}" + s.r.choice((").", "),", ");", ")!", ")?", ")…", ")。", ")，", ")：")), same


def in_ini_toml(s: Scene) -> Out:
    """INI or TOML file."""
    leak = s.leak
    if leak.multi and "\\" not in leak.value and s.r.random() < 0.5:
        return f"[server]\nport = {s.r.randint(1000, 9999)}\n{snake(leak.name)} = '''\n{leak.value}\n'''\n", same
    if s.r.random() < 0.5 or leak.multi:
        entry = f'{snake(leak.name)} = "{js(leak.value)}"'
        return f'[database]\nhost = "db1"\n{entry}\npool = {s.r.randint(2, 50)}\n', js
    entry = f"{snake(leak.name)}={leak.value}"
    return f"[client]\nuser={s.r.choice(('root', 'app'))}\n; {s.say('note')}\n{entry}\nport=1\n", same


def in_env_file(s: Scene) -> Out:
    """Env file with comments."""
    return f"# {s.say('note')}\nAPP_ENV=prod\n{pair_line(s)}\nPORT={s.r.randint(1000, 9999)}\n", same


SURROUNDINGS: dict[str, Callable[[Scene], Out]] = {
    name.removeprefix("in_"): value for name, value in list(globals().items()) if name.startswith("in_")
}

NOT_FOR_MULTI = {
    "url_query",
    "two_secrets",
    "inline_code",
    "trailing_punctuation",
    "csv_header_row",
    "tabs",
    "quotes_curly",
    "quotes_guillemets",
    "quotes_corner",
    "markdown_header_row",
}
ONLY_FOR_PAIRS = {"url_query", "csv_header_row", "markdown_header_row"}


def fits(surrounding: str, leak: Leak) -> bool:
    """False for combinations that nobody would write."""
    if surrounding in NOT_FOR_MULTI and leak.multi:
        return False
    return not (surrounding in ONLY_FOR_PAIRS and leak.how not in ("named", "token"))


def cut_off(text: str, leak: Leak, secrets: tuple[str, ...], r: Random) -> str:
    """Text that ends or starts with the cut key itself, as cut output does, in two thirds of such cases."""
    if not leak.cut or r.random() < 0.33:
        return text
    if leak.cut == "end":
        return text[: text.rindex(secrets[-1]) + len(secrets[-1])]
    return text[text.index(secrets[0]) :]


def cases(seed: int = 0) -> Iterator[Case]:
    """All cases, in an order and with values that depend on the seed only."""
    r = Random(seed)
    seen: set[str] = set()
    for kind, make in KINDS.items():
        deck: list[str] = []
        for lang in LANGUAGES:
            used: set[str] = set()
            while len(used) < PER_KIND_AND_LANGUAGE:
                free = [name for name in deck if name not in used]
                if not free:
                    deck += r.sample(list(SURROUNDINGS), len(SURROUNDINGS))
                    continue
                surrounding = free[0]
                deck.remove(surrounding)
                leak = next((x for x in (make(r, lang) for _ in range(40)) if fits(surrounding, x)), None)
                if leak is None:
                    continue
                scene = Scene(r, lang, leak)
                text, esc = SURROUNDINGS[surrounding](scene)
                secrets = tuple(dict.fromkeys((*(esc(x) for x in leak.secrets), *scene.extra)))
                text = cut_off(text, leak, secrets, r)
                for secret in secrets:
                    inside(text, secret, f"{kind}/{surrounding}/{lang}")
                if text in seen:
                    raise ValueError(f"text occurs twice: {text!r}")
                seen.add(text)
                used.add(surrounding)
                yield Case(kind, lang, surrounding, text, secrets)


def stays(seed: int = 0) -> Iterator[str]:
    """Different lines without secrets, which must stay as they are."""
    r = Random(f"stays {seed}")
    yield from dict.fromkeys((*FIXED_STAYS, *made_stays(r)))
