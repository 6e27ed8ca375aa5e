"""Made-up secrets of every kind that must be found, built at run time so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import json
import random
import shlex
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
RUN = ALNUM + "_-"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret, and the text it stands in."""

    secret: str
    text: str


Make = Callable[[random.Random], Planted]


def some(rng: random.Random, alphabet: str, size: int) -> str:
    return "".join(rng.choices(alphabet, k=size))


def _prefixed(prefix: str, alphabet: str, size: int, after: str = "") -> Make:
    def make(rng: random.Random) -> Planted:
        secret = prefix + some(rng, alphabet, size) + after
        lead = rng.choice(
            ["the key is {}", "{}", "use {} for this.", "export KEY={}", "({})", "url?x={}&y=1", "x\n{}\ny"]
        )
        return Planted(secret, lead.format(secret))

    return make


def _parts(*parts: str | tuple[str, int]) -> Make:
    def make(rng: random.Random) -> Planted:
        secret = "".join(part if isinstance(part, str) else some(rng, *part) for part in parts)
        return Planted(secret, f"found {secret} there")

    return make


def _framed(frame: str, alphabet: str = ALNUM, sizes: tuple[int, int] = (8, 24)) -> Make:
    def make(rng: random.Random) -> Planted:
        # Starts and ends like a password people pick, and is never a mere word.
        secret = f"{rng.choice(string.ascii_letters)}{some(rng, alphabet, rng.randint(*sizes))}{rng.randrange(10)}"
        return Planted(secret, frame.replace("{}", secret))

    return make


STRONG = ALNUM + "!^*_-+."


def _base64(frame: str) -> Make:
    def make(rng: random.Random) -> Planted:
        secret = base64.b64encode(rng.randbytes(rng.randint(15, 48))).decode()
        return Planted(secret, frame.replace("{}", secret))

    return make


def _jwt(rng: random.Random) -> Planted:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head, body = part({"alg": "HS256", "typ": "JWT"}), part({"sub": some(rng, ALNUM, 10), "iat": rng.randrange(10**9)})
    secret = f"{head}.{body}.{some(rng, RUN, 43)}"
    return Planted(secret, f"token {secret} expired")


def _pem(kind: str, *, newline: str = "\n", end: bool = True) -> Make:
    def make(rng: random.Random) -> Planted:
        lines = [some(rng, BASE64, 64) for _ in range(rng.randint(4, 12))] + [some(rng, BASE64, 38) + "=="]
        dashes = "-" * 5
        tail = f"{newline}{dashes}END {kind}{dashes}" if end else ""
        return Planted(lines[2], f"{dashes}BEGIN {kind}{dashes}{newline}{newline.join(lines)}{tail}")

    return make


def _block(rng: random.Random) -> Planted:
    secret = some(rng, ALNUM, 20)
    return Planted(secret, f"db:\n  password: |\n    {secret}\n    {some(rng, ALNUM, 20)}\n  user: me")


def _manifest(rng: random.Random) -> Planted:
    secret = base64.b64encode(rng.randbytes(18)).decode()
    return Planted(
        secret, f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  tls.crt: {secret}\n  user: bWU=\n"
    )


PREFIXED: Mapping[str, Make] = {
    "openai": _parts("sk-", (ALNUM, 20), "T3Blbk" + "FJ", (ALNUM, 20)),
    "openai proj": _parts("sk-" + "proj-", (RUN, 74), "T3Blbk" + "FJ", (RUN, 74)),
    "openai svcacct": _parts("sk-" + "svcacct-", (RUN, 60), "T3Blbk" + "FJ", (RUN, 60)),
    "openai admin": _parts("sk-" + "admin-", (RUN, 60), "T3Blbk" + "FJ", (RUN, 60)),
    **{
        f"anthropic {kind}": _parts(f"sk-ant-{kind}-", (RUN, 93), "AA")
        for kind in ("api03", "admin01", "oat01", "ort01", "sid01")
    },
    "openrouter": _prefixed("sk-" + "or-v1-", HEX, 64),
    "google key": _prefixed("AI" + "za", RUN, 35),
    "google access": _prefixed("ya" + "29.", RUN, 120),
    "google client": _prefixed("GOC" + "SPX-", RUN, 28),
    "google refresh": _prefixed("1/" + "/0", RUN, 60),
    "groq": _prefixed("gs" + "k_", ALNUM, 52),
    "xai": _prefixed("xa" + "i-", ALNUM, 80),
    "perplexity": _prefixed("ppl" + "x-", ALNUM, 48),
    "huggingface": _prefixed("h" + "f_", string.ascii_letters, 34),
    "huggingface org": _prefixed("api_" + "org_", string.ascii_letters, 34),
    "replicate": _prefixed("r" + "8_", ALNUM, 37),
    "tavily": _prefixed("tv" + "ly-", ALNUM, 32),
    "langsmith": _parts("ls" + "v2_pt_", (HEX, 32), "_", (HEX, 10)),
    "langfuse secret": _parts("sk-" + "lf-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12)),
    "langfuse public": _parts("pk-" + "lf-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12)),
    "bedrock": _prefixed("AB" + "SK", BASE64, 128, "="),
    "bedrock short": _prefixed("bedrock-" + "api-key-", BASE64, 200),
    **{f"aws {kind}": _prefixed(kind[:2] + kind[2:], UPPER, 16) for kind in ("AKIA", "ASIA", "ABIA", "ACCA")},
    "aws a3t": _prefixed("A3" + "T", UPPER, 17),
    "azure client 8": _parts((ALNUM, 3), "8" + "Q~", (ALNUM + "_~.-", 33), "a"),
    "azure client 7": _parts((ALNUM, 3), "7" + "Q~", (ALNUM + "_~.-", 30), "a"),
    **{f"github {kind}": _prefixed(f"gh{kind}_", ALNUM, 36) for kind in "pousr"},
    "github fine": _parts("github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    **{
        f"gitlab {kind}": _prefixed(f"gl{kind}-", RUN, 20)
        for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "soat")
    },
    **{f"slack {kind}": _parts(f"xox{kind}-", (string.digits, 12), "-", (ALNUM, 24)) for kind in "abeoprs"},
    "slack app": _parts("xa" + "pp-1-", (UPPER, 11), "-", (string.digits, 13), "-", (HEX, 64)),
    **{f"stripe {kind}{mode}": _prefixed(f"{kind}k_{mode}_", ALNUM, 24) for kind in "srp" for mode in ("live", "test")},
    "stripe webhook": _prefixed("wh" + "sec_", ALNUM, 32),
    "sendgrid": _parts("S" + "G.", (RUN, 22), ".", (RUN, 43)),
    "twilio": _prefixed("S" + "K", HEX, 32),
    "npm": _prefixed("np" + "m_", ALNUM, 36),
    "pypi": _prefixed("pypi-" + "AgEIcHlwaS5vcmc", RUN, 120),
    "digitalocean": _prefixed("dop" + "_v1_", HEX, 64),
    "databricks": _prefixed("da" + "pi", HEX, 32),
    "vault service": _prefixed("hv" + "s.", RUN, 90),
    "vault batch": _prefixed("hv" + "b.", RUN, 140),
    "terraform": _parts((ALNUM, 14), ".atlas" + "v1.", (RUN, 67)),
    "atlassian": _prefixed("ATA" + "TT3", RUN, 180),
    **{f"shopify {kind}": _prefixed(f"shp{kind}_", HEX, 32) for kind in ("at", "ss", "ca", "pa")},
    "grafana service": _parts("gl" + "sa_", (ALNUM, 32), "_", (HEX, 8)),
    "grafana cloud": _prefixed("gl" + "c_eyJ", ALNUM, 100),
    "newrelic": _prefixed("NR" + "AK-", UPPER, 27),
    "postman": _parts("PM" + "AK-", (HEX, 24), "-", (HEX, 34)),
    "pulumi": _prefixed("pu" + "l-", HEX, 40),
    "doppler": _prefixed("dp" + ".pt.", ALNUM, 43),
    "notion": _parts("nt" + "n_", (string.digits, 11), (ALNUM, 35)),
    "notion old": _prefixed("sec" + "ret_", ALNUM, 43),
    "linear": _prefixed("lin" + "_api_", ALNUM, 40),
    "figma": _prefixed("fi" + "gd_", RUN, 40),
    "planetscale": _prefixed("psc" + "ale_tkn_", RUN, 43),
    "supabase": _prefixed("sb" + "p_", HEX, 40),
    "docker": _prefixed("dckr" + "_pat_", RUN, 27),
    "age": _prefixed("AGE-SECRET-" + "KEY-1", UPPER, 58),
    "telegram": _parts((string.digits[1:], 10), ":A" + "A", (RUN, 33)),
    "jwt": _jwt,
    "slack webhook": _parts("https://hooks.slack" + ".com/services/T", (UPPER, 8), "/B", (UPPER, 8), "/", (ALNUM, 24)),
}
"""Kinds that name their maker: none may be missed."""

STRUCTURES: Mapping[str, Make] = {
    "aws secret": _framed("aws_secret_access_key = {}", BASE64, (38, 38)),
    "aws session": _framed("AWS_SESSION_TOKEN={}", BASE64, (200, 300)),
    "azure account": _base64(
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net"
    ),
    "azure sas": _framed("https://x.blob.core.windows.net/c?sv=2024&sp=r&sig={}&se=2030", ALNUM, (40, 44)),
    "api key": _framed("api_key={}"),
    "seed": _framed("api_key=sk-{}", ALNUM, (6, 6)),
    **{f"pem {kind}": _pem(f"{kind} PRIVATE KEY".strip()) for kind in ("", "RSA", "EC", "OPENSSH", "ENCRYPTED")},
    "pem escaped": _pem("RSA PRIVATE KEY", newline="\\n"),
    "pem twice escaped": _pem("PRIVATE KEY", newline="\\\\n"),
    "pem truncated": _pem("RSA PRIVATE KEY", end=False),
    "bearer": _framed("Authorization: Bearer {}", RUN, (20, 60)),
    "basic": _base64("authorization: Basic {}"),
    "digest": _framed('Authorization: Digest username="me", realm="r", response="{}"', HEX, (30, 30)),
    "token header": _framed("Authorization: Token {}", HEX, (38, 38)),
    "x-api-key": _framed("x-api-key: {}", ALNUM, (20, 40)),
    "cookie": _framed("Cookie: theme=dark; sid={}; n=1", ALNUM, (20, 40)),
    "set-cookie": _framed("Set-Cookie: sid={}; Path=/; HttpOnly", ALNUM, (20, 40)),
    "url": _framed("postgresql://app:{}@db.example.com:5432/main", ALNUM + "!*_-."),
    "connection": _framed("Server=db;Database=main;User Id=sa;Password={};Encrypt=true", STRONG),
    "odbc": _framed("Driver={x};Server=db;UID=sa;PWD={};", STRONG),
    "option": _framed("tool --user me --password {} run", STRONG),
    "option equals": _framed("tool --password={} run", STRONG),
    "short option": _framed("mysql -u root -p'{}' main", STRONG),
    "curl": _framed("curl -u me:{} https://example.com", STRONG),
    "sshpass": _framed("sshpass -p {} ssh me@example.com", STRONG),
    "pgpassword": _framed("PGPASSWORD={} psql -h db", STRONG),
    "passin": _framed("openssl rsa -in k.pem -passin pass:{} -out o.pem", STRONG),
    "sql": _framed("CREATE USER 'me'@'%' IDENTIFIED BY '{}';", STRONG),
    "sql role": _framed("ALTER ROLE me WITH PASSWORD '{}';", STRONG),
    "xml": _framed("<server><password>{}</password></server>", STRONG),
    "yaml": _framed("db:\n  password: {}\n  user: me", STRONG),
    "yaml block": _block,
    "kubernetes": _manifest,
    "netrc": _framed("machine example.com\n  login me\n  password {}\n", STRONG),
    "npmrc": _framed("//registry.example.com/:_authToken={}", HEX + "-", (30, 36)),
    "npmrc basic": _base64("_auth={}"),
    "pypirc": _framed("[testing]\nusername = me\npassword = {}\n", STRONG),
    "docker auths": _base64('{"auths": {"https://example.com/v1/": {"auth": "{}"}}}'),
    "json in a log": _framed('12:00 POST /login {"user": "me", "password": "{}"} 200', STRONG),
    "python": _framed('client = Client(user="me", password="{}")', STRONG),
    "env": _framed("export CLIENT_SECRET={}", ALNUM),
}
"""Kinds told by what stands around them."""

KINDS: Mapping[str, Make] = {**PREFIXED, **STRUCTURES}


def nested(text: str, depth: int) -> str:
    """The text as a string of JSON, of JSON within JSON, and so on."""
    for _ in range(depth):
        text = json.dumps({"id": 7, "arguments": text, "tags": ["a", "b"]})
    return text


FORMS: Mapping[str, Callable[[Planted], str]] = {
    "plain": lambda planted: planted.text,
    "json": lambda planted: nested(planted.text, 1),
    "json²": lambda planted: nested(planted.text, 2),
    "json³": lambda planted: nested(planted.text, 3),
    "json field": lambda planted: json.dumps({"config": [{"client_secret": {"now": [planted.secret]}}]}),
    "url-encoded": lambda planted: f"https://example.com/?q={quote(planted.text, safe='')}&page=2",
    "shell": lambda planted: f"echo {shlex.quote(planted.text)} > out && cat out",
}


def survives(planted: Planted, redacted: str) -> bool:
    """Whether the secret can still be read in what is left of a text, or of JSON within JSON."""
    secret = planted.secret
    while '\\"' in redacted and secret not in redacted:
        redacted = redacted.replace('\\"', '"').replace("\\\\", "\\")
    return secret in redacted or quote(secret, safe="") in redacted
