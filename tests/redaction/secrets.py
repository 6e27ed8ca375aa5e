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
STRONG = ALNUM + "!^*_-+."
ALPHABETS = {
    "alnum": ALNUM,
    "azure": ALNUM + "_~.-",
    "base64": BASE64,
    "digits": string.digits,
    "hex": HEX,
    "letters": string.ascii_letters,
    "run": RUN,
    "upper": UPPER,
}
LEADS = ("the key is {}", "{}", "use {} for this.", "export KEY={}", "({})", "url?x={}&y=1", "x\n{}\ny")


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret, and the text it stands in."""

    secret: str
    text: str


Make = Callable[[random.Random], Planted]


def some(rng: random.Random, alphabet: str, size: int) -> str:
    return "".join(rng.choices(alphabet, k=size))


def _named(row: str) -> Make:
    """A secret as a row tells it: words that stand for themselves, or an alphabet and how much of it (hex*64)."""
    words = [word.replace("|", "").partition("*") for word in row.split()]

    def make(rng: random.Random) -> Planted:
        secret = "".join(some(rng, ALPHABETS[word], int(size)) if star else word for word, star, size in words)
        return Planted(secret, rng.choice(LEADS).format(secret))

    return make


def _framed(frame: str, alphabet: str = ALNUM, sizes: tuple[int, int] = (8, 24)) -> Make:
    def make(rng: random.Random) -> Planted:
        # Starts and ends like a password people pick, and is never a mere word.
        secret = f"{rng.choice(string.ascii_letters)}{some(rng, alphabet, rng.randint(*sizes))}{rng.randrange(10)}"
        return Planted(secret, frame.replace("{}", secret))

    return make


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


def _numbered_pem(rng: random.Random) -> Planted:
    """A private key as a tool shows a file: with the numbers of its lines."""
    planted = _pem("RSA PRIVATE KEY")(rng)
    lines = enumerate(planted.text.split("\n"), 1)
    return Planted(planted.secret, "\n".join(f"{number:6}\t{line}" for number, line in lines))


def _block(rng: random.Random) -> Planted:
    secret = some(rng, ALNUM, 20)
    return Planted(secret, f"db:\n  password: |\n    {secret}\n    {some(rng, ALNUM, 20)}\n  user: me")


def _manifest(rng: random.Random) -> Planted:
    secret = base64.b64encode(rng.randbytes(18)).decode()
    return Planted(
        secret, f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  tls.crt: {secret}\n  user: bWU=\n"
    )


_TABLE = """
openai: sk- alnum*20 T3Blbk|FJ alnum*20
openai proj: sk-|proj- run*74 T3Blbk|FJ run*74
openai svcacct: sk-|svcacct- run*60 T3Blbk|FJ run*60
openai admin: sk-|admin- run*60 T3Blbk|FJ run*60
anthropic api03: sk-|ant-api03- run*93 AA
anthropic admin01: sk-|ant-admin01- run*93 AA
anthropic oat01: sk-|ant-oat01- run*93 AA
anthropic ort01: sk-|ant-ort01- run*93 AA
anthropic sid01: sk-|ant-sid01- run*93 AA
openrouter: sk-|or-v1- hex*64
google key: AI|za run*35
google access: ya|29. run*120
google client: GOC|SPX- run*28
google refresh: 1/|/0 run*60
groq: gs|k_ alnum*52
xai: xa|i- alnum*80
perplexity: ppl|x- alnum*48
huggingface: h|f_ letters*34
huggingface org: api_|org_ letters*34
replicate: r|8_ alnum*37
tavily: tv|ly- alnum*32
langsmith: ls|v2_pt_ hex*32 _ hex*10
langfuse secret: sk-|lf- hex*8 - hex*4 - hex*4 - hex*4 - hex*12
langfuse public: pk-|lf- hex*8 - hex*4 - hex*4 - hex*4 - hex*12
bedrock: AB|SK base64*128 =
bedrock short: bedrock-|api-key- base64*200
aws AKIA: AK|IA upper*16
aws ASIA: AS|IA upper*16
aws ABIA: AB|IA upper*16
aws ACCA: AC|CA upper*16
aws a3t: A3|T upper*17
azure client 8: alnum*3 8|Q~ azure*33 a
azure client 7: alnum*3 7|Q~ azure*30 a
github p: gh|p_ alnum*36
github o: gh|o_ alnum*36
github u: gh|u_ alnum*36
github s: gh|s_ alnum*36
github r: gh|r_ alnum*36
github fine: github|_pat_ alnum*22 _ alnum*59
gitlab pat: gl|pat- run*20
gitlab dt: gl|dt- run*20
gitlab rt: gl|rt- run*20
gitlab cbt: gl|cbt- run*20
gitlab ptt: gl|ptt- run*20
gitlab ft: gl|ft- run*20
gitlab imt: gl|imt- run*20
gitlab agent: gl|agent- run*20
gitlab soat: gl|soat- run*20
slack a: xo|xa- digits*12 - alnum*24
slack b: xo|xb- digits*12 - alnum*24
slack e: xo|xe- digits*12 - alnum*24
slack o: xo|xo- digits*12 - alnum*24
slack p: xo|xp- digits*12 - alnum*24
slack r: xo|xr- digits*12 - alnum*24
slack s: xo|xs- digits*12 - alnum*24
slack app: xa|pp-1- upper*11 - digits*13 - hex*64
slack webhook: https://hooks.slack|.com/services/T upper*8 /B upper*8 / alnum*24
stripe slive: sk_|live_ alnum*24
stripe stest: sk_|test_ alnum*24
stripe rlive: rk_|live_ alnum*24
stripe rtest: rk_|test_ alnum*24
stripe plive: pk_|live_ alnum*24
stripe ptest: pk_|test_ alnum*24
stripe webhook: wh|sec_ alnum*32
sendgrid: S|G. run*22 . run*43
twilio: S|K hex*32
npm: np|m_ alnum*36
pypi: pypi-|AgEIcHlwaS5vcmc run*120
digitalocean: dop|_v1_ hex*64
databricks: da|pi hex*32
vault service: hv|s. run*90
vault batch: hv|b. run*140
terraform: alnum*14 .atlas|v1. run*67
atlassian: ATA|TT3 run*180
shopify at: shp|at_ hex*32
shopify ss: shp|ss_ hex*32
shopify ca: shp|ca_ hex*32
shopify pa: shp|pa_ hex*32
grafana service: gl|sa_ alnum*32 _ hex*8
grafana cloud: gl|c_eyJ alnum*100
newrelic: NR|AK- upper*27
postman: PM|AK- hex*24 - hex*34
pulumi: pu|l- hex*40
doppler: dp|.pt. alnum*43
notion: nt|n_ digits*11 alnum*35
notion old: sec|ret_ alnum*43
linear: lin|_api_ alnum*40
figma: fi|gd_ run*40
planetscale: psc|ale_tkn_ run*43
supabase: sb|p_ hex*40
docker: dckr|_pat_ run*27
age: AGE-SECRET-|KEY-1 upper*58
telegram: 7 digits*9 :A|A run*33
"""

PREFIXED: Mapping[str, Make] = {
    **{name: _named(row) for name, _, row in (line.partition(": ") for line in _TABLE.strip().splitlines())},
    "jwt": _jwt,
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
    "pem numbered": _numbered_pem,
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
