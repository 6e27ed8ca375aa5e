"""A second set of test data for a redactor of secrets, written without knowledge of its rules.

``cases(seed)`` gives texts with secrets, ``stays(seed)`` lines which must come through unchanged, as in ``half1``.
A fragment (the native form of a leak) is a template in which ``§`` and a letter stand for a drawn value; a surrounding
wraps the fragment line by line and gives the escape that its secrets undergo. A repeated ``§p`` is the same value;
``§p1`` and ``§p2`` are different ones. Nothing here is real: all values come from ``random.Random(seed)``.

``secrets`` lists what must not survive: values as written in the text (escaped or percent-encoded where the text is),
every base64 line of a private key, JWTs whole and their signatures, seed phrases whole and in halves.
``python half2.py`` checks the data and prints counts.
"""

# ruff: noqa: ISC004, PLR0911, PLR0912, RUF001  # as its author wrote it, with signs of eight languages

from __future__ import annotations

import base64
import html
import json
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from urllib.parse import quote

ALNUM = string.ascii_letters + string.digits
LOWNUM = string.ascii_lowercase + string.digits
UPNUM = string.ascii_uppercase + string.digits
B64 = ALNUM + "+/"
URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "ru", "zh")
PER_KIND_AND_LANGUAGE = 10


@dataclass(frozen=True)
class Case:
    """A text with secrets in it; ``secrets`` are substrings of ``text`` that must not survive redaction."""

    kind: str
    language: str
    surrounding: str
    text: str
    secrets: tuple[str, ...]


Fragment = tuple[str, list[str]]
Escape = Callable[[str], str]

# ---------------------------------------------------------------------------------------------------------- drawing

WORDS = [
    "Gletscher",
    "Laterne",
    "Hummel",
    "Kolibri",
    "Zimt",
    "Marder",
    "Brombeere",
    "Pfeffer",
    "Schotter",
    "Kupfer",
    "Wacholder",
    "otter",
    "harbor",
    "velvet",
    "maple",
    "quartz",
    "pickle",
    "thunder",
    "cobalt",
    "walnut",
    "Sherpa",
    "bison",
    "mango",
    "Cactus",
    "Lavande",
    "Cerise",
    "Moulin",
    "papillon",
    "Tortue",
    "Girasol",
    "Naranja",
    "ballena",
    "Tomillo",
    "cigarra",
    "Farfalla",
    "Zucchero",
    "Lucciola",
    "Gelato",
    "cachorro",
    "Jabuti",
    "pipoca",
    "Abacaxi",
    "Samovar",
    "matryoshka",
    "Vorobey",
    "Sirenev",
    "Taiga",
    "baikal",
    "Panda",
    "dumpling",
    "Jasmin",
    "longjing",
    "Tofu",
    "lychee",
    "Nimbus",
    "Pelikan",
    "Falcon",
    "Magpie",
    "kettle",
    "Bravo",
    "Norte",
    "Aurora",
    "Fjord",
    "Saffron",
    "Tundra",
    "Comet",
]
USERS = (
    "svc_batch",
    "mkowalski",
    "root",
    "reporting",
    "dba",
    "j.ferrand",
    "etl",
    "lchen",
    "grafana_ro",
    "sa",
    "oksana",
    "deployer",
    "pi",
    "backup",
    "nightly",
    "t.weber",
    "integration",
    "webapp",
    "rsouza",
    "postmaster",
)
HOSTS = (
    "db7.lan",
    "10.20.4.17",
    "mq.corp.example",
    "nas.local",
    "pg-replica-2",
    "bastion.example.org",
    "172.18.0.9",
    "smtp.posta.example",
    "wiki.intra",
    "prod-eu-3.example.net",
    "ldap01",
    "build-box",
    "192.168.178.44",
    "vpn.filiale.example",
    "edge-42.example.com",
)
DATABASES = ("ledger", "crm", "warehouse", "bookings", "telemetry", "payroll", "shop_v2", "catalogue", "auditlog")
FILES = (
    "deploy/site.cfg",
    "ops/notes.txt",
    "conf/local.yml",
    "scripts/seed.sh",
    "infra/vars.tf",
    "src/boot.rs",
    "README.old",
    "docker/run.env",
    "etl/job_17.sql",
    "app/settings_prod.py",
    "web/.config",
    "tests/data/in.txt",
)
SEED_LISTS = (
    "abandon abstract acoustic advice airport album amateur anchor antique apple arctic arrange artwork asthma atom "
    "auction autumn bachelor balcony bamboo banner barrel beach bicycle biology blanket blossom bonus bracket breeze "
    "bronze bubble buffalo burger cabbage canoe canyon carbon castle cereal chapter cherry chimney cinnamon citizen "
    "clarify clinic coconut column copper coral cradle crater cricket crystal cushion dawn deer dentist desert diagram "
    "dinosaur dolphin donkey dragon dutch eagle echo elbow elder ember engine escape evoke exotic fabric "
    "falcon fatigue "
    "ferry fiction flock fossil fringe gadget galaxy garlic gasp ghost giraffe glimpse goddess gospel grape gravity "
    "hamster harvest hazard hedgehog helmet hockey hybrid iceberg indoor inhale island jaguar jelly kangaroo ketchup "
    "kidney kiwi ladder laptop lemon lizard lobster lunar magnet mango marble meadow melody mimic mosquito "
    "napkin nephew "
    "oblige olive orbit orchard oyster paddle panther peanut pelican pigeon pluck pottery pumpkin puzzle "
    "quantum raccoon",
    "abaisser abandon abdiquer abeille abolir aborder aboutir aboyer abrasif abreuver abriter abroger abrupt absence "
    "absolu absurde abusif abyssal acajou acarien accabler accepter acclamer accolade accroche accuser acerbe achat",
    "abdomen abeja abierto abogado abono abrazo abrir abuelo abuso acabar academia acceso aceite acelga acento aceptar "
    "aclarar acoger acoso activo acto actriz actuar acudir acuerdo acusar adicto admitir adoptar adorno aduana adulto",
)


def draw(r: Random, alphabet: str, low: int, high: int = 0) -> str:
    """Gives random characters of an alphabet; with ``high``, between ``low`` and ``high`` of them."""
    return "".join(r.choices(alphabet, k=r.randint(low, high) if high else low))


def has_digit(text: str) -> bool:
    """Tells whether a text holds a digit and a letter."""
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def mixed(r: Random, alphabet: str, low: int, high: int = 0) -> str:
    """Gives random characters with at least a digit and a letter among them, beginning with neither ``-`` nor ``_``."""
    while True:
        text = draw(r, alphabet, low, high)
        if has_digit(text) and text[0].isalnum():
            return text


def b64(r: Random, size: int) -> str:
    """Gives the base64 of random bytes."""
    return base64.b64encode(r.randbytes(size)).decode()


def plain_password(r: Random) -> str:
    """Gives a password of letters, digits, hyphens and underscores."""
    a, b, c = r.sample(WORDS, 3)
    style = r.randrange(6)
    if style == 0:
        return f"{a.lower()}-{b}-{c.lower()}-{r.randint(2, 98)}"
    if style == 1:
        return f"{draw(r, LOWNUM[:26], 6)}-{r.randint(2, 9)}{draw(r, LOWNUM[:26], 5)}-{draw(r, LOWNUM[:26], 5)}Q"
    if style == 2:
        return f"{a}_{b.lower()}{r.randint(100, 9999)}"
    if style == 3:
        return mixed(r, ALNUM, 10, 18)
    if style == 4:
        return a.translate(str.maketrans("aeiotl", "431071")) + b.capitalize() + str(r.randint(10, 99))
    return mixed(r, LOWNUM, 16, 32)


def password(r: Random) -> str:
    """Gives a password with symbols in four cases of five."""
    a, b, c = r.sample(WORDS, 3)
    style = r.randrange(7)
    if style == 0:
        return f"{a}{r.choice('!#$%&@')}{r.randint(10, 2031)}"
    if style == 1:
        return f"{r.randint(3, 99)}{a}{r.choice('&+*')}{b}{r.choice('!?')}"
    if style == 2:
        return f"{a.lower()}@{b.lower()}{r.choice('#$%')}{r.randint(10, 99)}"
    if style == 3:
        return f"{a[:3]}{r.choice('$%')}{draw(r, string.digits, 3)}{b[-3:]}{r.choice('#!')}{c[:2]}x"
    if style == 4:
        return draw(r, ALNUM, 1) + mixed(r, ALNUM + "!$%&#@*+?^=~", 10, 21) + draw(r, ALNUM, 1)
    if style == 5:
        return f"{a.translate(str.maketrans('aeios', '@3!0$'))}{b.capitalize()}{r.randint(1, 99)}{r.choice('!%&')}"
    return plain_password(r)


def jwt(r: Random) -> str:
    """Gives a JSON web token with a random signature."""
    head = {"alg": r.choice(("RS256", "HS512", "ES256", "EdDSA")), "kid": draw(r, HEX, 8), "typ": "JWT"}
    body = {
        "iss": f"https://id.{draw(r, LOWNUM, 6)}.example",
        "sub": draw(r, string.digits, 9),
        "exp": r.randint(17 * 10**8, 19 * 10**8),
        "scope": r.choice(("read write", "admin", "repo:push")),
    }
    parts = [
        base64.urlsafe_b64encode(json.dumps(p, separators=(",", ":")).encode()).decode().rstrip("=")
        for p in (head, body)
    ]
    return ".".join((*parts, draw(r, URLSAFE, r.choice((43, 86, 342)) - 1) + "A"))


def ai_key(r: Random) -> str:
    """Gives a key in the form of a vendor of language models."""
    return r.choice(
        (
            lambda: "sk-" + "ant-api03-" + draw(r, URLSAFE, 93) + "AA",
            lambda: "sk-" + "proj-" + draw(r, URLSAFE, 74) + "T3Blbk" + "FJ" + draw(r, URLSAFE, 73) + "A",
            lambda: "h" + "f_" + draw(r, string.ascii_letters, 34),
            lambda: "gs" + "k_" + draw(r, ALNUM, 52),
            lambda: "r8" + "_" + draw(r, ALNUM, 37),
            lambda: "pp" + "lx-" + draw(r, ALNUM, 48),
            lambda: "xa" + "i-" + draw(r, ALNUM, 80),
            lambda: "AI" + "zaSy" + draw(r, ALNUM, 33),
            lambda: "sk-" + "or-v1-" + draw(r, HEX, 64),
            lambda: "sk-" + draw(r, HEX, 32),
            lambda: "nv" + "api-" + draw(r, URLSAFE, 63) + "x",
        )
    )()


def cloud_key(r: Random) -> str:
    """Gives a secret in the form of a cloud or its tools."""
    return r.choice(
        (
            lambda: "GOC" + "SPX-" + draw(r, URLSAFE, 27) + "k",
            lambda: "do" + "p_v1_" + draw(r, HEX, 64),
            lambda: draw(r, ALNUM, 3) + "8" + "Q~" + draw(r, ALNUM + "_-.", 33) + "b",
            lambda: "HR" + "KU-AA" + draw(r, ALNUM, 58),
            lambda: "hv" + "s." + draw(r, URLSAFE, 91) + "g",
            lambda: draw(r, ALNUM, 14) + ".atla" + "sv1." + draw(r, ALNUM, 67),
            lambda: "AQ" + "VN" + draw(r, URLSAFE, 35) + "1",
            lambda: "dap" + "i" + draw(r, HEX, 32),
            lambda: "ps" + "cale_tkn_" + draw(r, URLSAFE, 43) + "c",
            lambda: "sb" + "p_" + draw(r, HEX, 40),
            lambda: "pu" + "l-" + draw(r, HEX, 40),
            lambda: "dp" + ".pt." + draw(r, ALNUM, 43),
            lambda: "ya29" + ".a0" + draw(r, URLSAFE, 120) + "2",
            lambda: "1/" + "/0" + draw(r, URLSAFE, 60) + "s",
            lambda: "fl" + "y_pat_" + draw(r, ALNUM, 43),
            lambda: "AGE-SECRET" + "-KEY-1" + draw(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        )
    )()


def dev_key(r: Random) -> str:
    """Gives a token in the form of a service for developers."""
    return r.choice(
        (
            lambda: "gh" + r.choice("pousr") + "_" + draw(r, ALNUM, 36),
            lambda: "github" + "_pat_11" + draw(r, UPNUM, 20) + "_" + draw(r, ALNUM, 59),
            lambda: "gl" + "pat-" + draw(r, URLSAFE, 19) + "7",
            lambda: "np" + "m_" + draw(r, ALNUM, 36),
            lambda: "py" + "pi-AgEIcHlwaS5vcmc" + draw(r, URLSAFE, 150) + "Q",
            lambda: "dck" + "r_pat_" + draw(r, URLSAFE, 26) + "w",
            lambda: (
                "xo" + "xb-" + draw(r, string.digits, 12) + "-" + draw(r, string.digits, 13) + "-" + draw(r, ALNUM, 24)
            ),
            lambda: "shp" + "at_" + draw(r, HEX, 32),
            lambda: "S" + "G." + draw(r, ALNUM, 22) + "." + draw(r, URLSAFE, 42) + "M",
            lambda: r.choice("sr") + "k_li" + "ve_" + draw(r, ALNUM, 24, 99),
            lambda: "wh" + "sec_" + draw(r, ALNUM, 32),
            lambda: draw(r, "123456789", 10) + ":AA" + draw(r, URLSAFE, 32) + "o",
            lambda: "ATA" + "TT3xFfGF0" + draw(r, URLSAFE, 170) + "=" + draw(r, HEX.upper(), 8),
            lambda: "li" + "n_api_" + draw(r, ALNUM, 40),
            lambda: "nt" + "n_" + draw(r, ALNUM, 46),
            lambda: "PM" + "AK-" + draw(r, HEX, 24) + "-" + draw(r, HEX, 34),
            lambda: "gl" + "sa_" + draw(r, ALNUM, 32) + "_" + draw(r, HEX, 8),
            lambda: "fi" + "gd_" + draw(r, URLSAFE, 39) + "e",
            lambda: "NR" + "AK-" + draw(r, UPNUM, 27),
            lambda: "dt0" + "c01." + draw(r, BASE32, 24) + "." + draw(r, BASE32, 64),
            lambda: "rub" + "ygems_" + draw(r, HEX, 48),
            lambda: "sn" + "tryu_" + draw(r, HEX, 64),
            lambda: "ke" + "y-" + draw(r, HEX, 32),
            lambda: "pa" + "t" + draw(r, ALNUM, 14) + "." + draw(r, HEX, 64),
            lambda: "M" + draw(r, ALNUM, 25) + "." + draw(r, ALNUM, 6) + "." + draw(r, URLSAFE, 37) + "1",
            lambda: "tskey" + "-auth-k" + draw(r, ALNUM, 10) + "CNTRL-" + draw(r, ALNUM, 32),
        )
    )()


def seed_phrase(r: Random) -> str:
    """Gives the words of a wallet."""
    words = r.choice((SEED_LISTS[0], SEED_LISTS[0], *SEED_LISTS)).split()
    return " ".join(r.sample(words, r.choice((12, 12, 24))))


def wifi_phrase(r: Random) -> str:
    """Gives a passphrase of a wireless network, at times of words with spaces."""
    if r.random() < 0.2:
        return " ".join(w.lower() for w in r.sample(WORDS, 3)) + f" {r.randint(10, 9999)}"
    return r.choice((password, plain_password))(r)


SECRET_DRAWS: dict[str, Callable[[Random], str]] = {
    "p": password,
    "q": plain_password,
    "f": wifi_phrase,
    "m": seed_phrase,
    "j": jwt,
    "e": lambda r: quote(password(r), safe=""),
    "k": lambda r: mixed(r, ALNUM, 28, 44),
    "x": lambda r: mixed(r, HEX, r.choice((32, 40, 64))),
    "b": lambda r: b64(r, r.choice((20, 32, 48))),
    "z": lambda r: mixed(r, URLSAFE, 30, 64) + "4",
    "a": lambda r: base64.b64encode(f"{r.choice(USERS)}:{password(r)}".encode()).decode(),
    "G": lambda r: "-".join(draw(r, HEX, n) for n in (8, 4, 4, 4, 12)),
    "o": lambda r: draw(r, BASE32, r.choice((16, 26, 32))),
    "O": lambda r: " ".join(draw(r, BASE32.lower(), 4) for _ in range(8)),
    "A": ai_key,
    "C": cloud_key,
    "D": dev_key,
    "K": lambda r: b64(r, 64),
    "S": lambda r: mixed(r, B64, 39) + "q",
    "N": lambda r: base64.b64encode(password(r).encode() + draw(r, ALNUM, 6).encode()).decode(),
    "Q": lambda r: "-".join(draw(r, LOWNUM, 5) for _ in range(2)),
    "L": lambda r: base64.b64encode(("-----BEGIN " + "EC PRIVATE KEY-----\n" + b64(r, 90)).encode()).decode(),
}
OPEN_DRAWS: dict[str, Callable[[Random], str]] = {
    "u": lambda r: r.choice(USERS),
    "h": lambda r: r.choice(HOSTS),
    "d": lambda r: r.choice(DATABASES),
    "y": lambda r: r.choice(FILES),
    "n": lambda r: str(r.randint(2, 998)),
    "g": lambda r: "-".join(draw(r, HEX, n) for n in (8, 4, 4, 4, 12)),
    "v": lambda r: f"20{r.randint(19, 26)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
    "i": lambda r: "AK" + "IA" + draw(r, BASE32, 16),
    "H": lambda r: draw(r, HEX, 40),
    "X": lambda r: draw(r, HEX, 64),
    "Y": lambda r: draw(r, HEX, 7, 10),
    "B": lambda r: b64(r, 64),
    "F": lambda r: b64(r, 32).rstrip("="),
    "R": lambda r: str(r.randint(1000, 999999)),
    "M": lambda r: draw(r, HEX, 32),
    "V": lambda r: f"{r.randint(0, 9)}.{r.randint(0, 40)}.{r.randint(0, 20)}",
}


def fill(r: Random, language: str, template: str) -> Fragment:
    """Puts drawn values into a template and gives the text with the secrets among them."""
    known: dict[str, str] = {}
    secrets: list[str] = []

    def value(match: re.Match[str]) -> str:
        name = match[0]
        letter = match[1]
        if name in known:
            return known[name]
        if letter in SECRET_DRAWS:
            text = SECRET_DRAWS[letter](r)
            secrets.append(text)
            if letter == "j":
                secrets.append(text.rsplit(".", 1)[1])
            if letter == "m":
                words = text.split()
                half = len(words) // 2
                secrets.extend((" ".join(words[:half]), " ".join(words[half:])))
        elif letter == "c":
            text = r.choice(REMARKS[language])
        elif letter == "w":
            text = r.choice(LABELS[language])
        elif letter == "W":
            text = r.choice(NAMES[language])
        else:
            text = OPEN_DRAWS[letter](r)
        known[name] = text
        return text

    return re.sub(r"§([a-zA-Z])\d?", value, template), secrets


# --------------------------------------------------------------------------------------------------------- languages

LABELS = {
    "en": ("Password", "pass phrase", "PW", "passcode"),
    "de": ("Passwort", "Kennwort", "PW", "Zugangskennwort"),
    "fr": ("Mot de passe", "mdp", "MDP", "mot de passe"),
    "es": ("Contraseña", "clave", "contraseña", "Clave de acceso"),
    "it": ("Password", "parola d'ordine", "pwd", "Parola chiave"),
    "pt": ("Senha", "palavra-passe", "senha", "Senha de acesso"),
    "ru": ("Пароль", "пароль", "Пасс", "Кодовая фраза"),
    "zh": ("密码", "口令", "登录密码", "访问密码"),
}
NAMES = {
    "en": ("db_passwd", "adminPassword", "ROOT_PW", "master_passphrase"),
    "de": ("kennwort", "db_passwort", "PASSWORT_PROD"),
    "fr": ("mot_de_passe", "MDP_BASE", "motDePasse"),
    "es": ("contrasena", "CLAVE_BD", "contraseña"),
    "it": ("password_db", "parolaChiave", "PWD_ADMIN"),
    "pt": ("senha", "SENHA_BANCO", "senhaAdmin"),
    "ru": ("parol", "DB_PAROL", "пароль"),
    "zh": ("mima_password", "密码", "DB_MIMA_PWD"),
}
REMARKS = {
    "en": ("rotated in spring, still valid", "ask Dana before touching", "same one on both nodes", "shared box, sorry"),
    "de": (
        "gilt auch für die Zweigstelle",
        "nach dem Umzug prüfen",
        "bitte nicht im Wiki ablegen",
        "Übergabe an Jonas",
    ),
    "fr": ("valable jusqu'à la migration", "à changer après la démo", "compte partagé, hélas", "vu avec Éloïse"),
    "es": ("vale también para la sucursal", "cambiar tras la auditoría", "cuenta compartida", "hablar con Íñigo"),
    "it": ("vale fino al collaudo", "da cambiare dopo la demo", "conto condiviso, purtroppo", "chiedere a Niccolò"),
    "pt": ("vale até à migração", "trocar depois da auditoria", "conta compartilhada", "falar com a Conceição"),
    "ru": ("действует до переезда", "сменить после проверки", "общая учётка, увы", "уточнить у Фёдора"),
    "zh": ("迁移之前有效", "演示之后要换", "共用账号,抱歉", "先问一下小林"),
}
BEFORE = {
    "en": (
        "The job dies at step four, this is all I have:",
        "Can you see what's off here?",
        "Pasting what ops sent me.",
        "Don't rewrite it, just tell me why it fails.",
    ),
    "de": (
        "Der Lauf bricht bei Schritt vier ab, mehr habe ich nicht:",
        "Siehst du hier den Fehler?",
        "Das hat mir der Betrieb geschickt.",
        "Bitte nur erklären, nicht umbauen.",
    ),
    "fr": (
        "Ça plante à la quatrième étape, voici tout ce que j'ai :",
        "Tu vois ce qui cloche ?",
        "Je colle ce que l'exploitation m'a envoyé.",
        "Ne réécris rien, explique seulement.",
    ),
    "es": (
        "Se cae en el cuarto paso, esto es lo que tengo:",
        "¿Ves qué está mal?",
        "Pego lo que me mandó sistemas.",
        "No lo reescribas, solo explícame el fallo.",
    ),
    "it": (
        "Si ferma al quarto passo, ecco quello che ho:",
        "Vedi cosa non va?",
        "Incollo ciò che mi ha mandato il reparto.",
        "Non riscriverlo, dimmi solo perché fallisce.",
    ),
    "pt": (
        "Cai no quarto passo, é tudo o que tenho:",
        "Consegue ver o que está errado?",
        "Colo o que a operação me mandou.",
        "Não reescreva, só explique a falha.",
    ),
    "ru": (
        "Падает на четвёртом шаге, вот всё, что есть:",
        "Видишь, что здесь не так?",
        "Вставляю то, что прислали админы.",
        "Не переписывай, просто объясни, почему падает.",
    ),
    "zh": ("第四步就挂了,手头只有这些:", "你看看哪里不对?", "这是运维发给我的。", "不用重写,告诉我原因就行。"),
}
AFTER = {
    "en": ("Same on my laptop.", "It worked on Friday.", "Thanks a lot!"),
    "de": ("Auf meinem Rechner genauso.", "Am Freitag lief es noch.", "Danke dir!"),
    "fr": ("Pareil sur mon portable.", "Vendredi ça marchait.", "Merci d'avance !"),
    "es": ("En mi portátil pasa igual.", "El viernes funcionaba.", "¡Mil gracias!"),
    "it": ("Sul mio portatile è uguale.", "Venerdì funzionava.", "Grazie mille!"),
    "pt": ("No meu portátil é igual.", "Na sexta funcionava.", "Muito obrigado!"),
    "ru": ("На моём ноутбуке то же самое.", "В пятницу работало.", "Заранее спасибо!"),
    "zh": ("我电脑上也一样。", "周五还好好的。", "多谢!"),
}
WROTE = {
    "en": "On Tue, 4 Mar, Priya wrote:",
    "de": "Am Di., 4. März schrieb Anke:",
    "fr": "Le mar. 4 mars, Solène a écrit :",
    "es": "El mar, 4 mar, Begoña escribió:",
    "it": "Il giorno mar 4 mar Ilaria ha scritto:",
    "pt": "Em ter., 4 de mar., Thaís escreveu:",
    "ru": "вт, 4 мар., Зоя пишет:",
    "zh": "3月4日周二,文静写道:",
}
PROSE = {
    "en": (
        "For §h you log on as §u and the password there is §p, nothing else needed.",
        "I reset it this morning, so from now on use §p as the password for §u.",
        "heads up: admin pw on §h got changed to §p",
        "The passphrase of the §d archive is “§p”.",
        "Just type `§p` when it asks you for the password.",
        "Our database password (§p) has been the same since §v.",
        "password → §p",
        "My root password's §p, be careful.",
        "It wants a password: give it §p and press enter.",
        "the old password was §q1 and the new one is §p2",
        "user §u, password §p, host §h — that's the whole secret handshake",
        "sudo pw on §h = §p",
    ),
    "de": (
        "Auf §h meldest du dich als §u an, das Kennwort lautet §p, mehr braucht es nicht.",
        "Ich habe heute früh zurückgesetzt, ab jetzt gilt für §u das Passwort §p.",
        "Achtung, das Admin-Passwort von §h heißt jetzt §p",
        "Die Passphrase fürs Archiv §d ist „§p“.",
        "Wenn er nach dem Passwort fragt, tipp einfach `§p` ein.",
        "Unser Datenbankpasswort (§p) gilt seit §v.",
        "Passwort ist: §p",
        "Als Passwort habe ich §p vergeben.",
        "Altes Kennwort: §q1, neues Kennwort: §p2",
        "Das WLAN-, VPN- und Mailpasswort ist überall §p.",
        "Zugang: §u, PW: §p, Rechner §h",
        "mit dem Passwort »§p« komme ich nicht rein",
    ),
    "fr": (
        "Sur §h tu te connectes en §u, le mot de passe est §p, rien d'autre.",
        "Je l'ai réinitialisé ce matin : désormais le mot de passe de §u, c'est §p.",
        "Attention, le mdp admin de §h est devenu §p",
        "La phrase secrète de l'archive §d est « §p ».",
        "Tape `§p` quand il demande le mot de passe.",
        "Notre mot de passe de base (§p) n'a pas bougé depuis §v.",
        "mdp : §p",
        "Comme mot de passe j'ai mis §p.",
        "ancien mot de passe §q1, nouveau mot de passe §p2",
        "Identifiant §u, mot de passe §p, machine §h",
        'Je n\'arrive pas à entrer avec le mot de passe "§p"',
    ),
    "es": (
        "En §h entras como §u y la contraseña es §p, nada más.",
        "La restablecí esta mañana; desde ahora la contraseña de §u es §p.",
        "ojo: la clave de admin de §h pasó a ser §p",
        "La frase de paso del archivo §d es «§p».",
        "Escribe `§p` cuando pida la contraseña.",
        "Nuestra contraseña de la base (§p) es la misma desde §v.",
        "clave: §p",
        "Le puse como contraseña §p.",
        "contraseña vieja §q1, contraseña nueva §p2",
        "usuario §u, contraseña §p, máquina §h",
        'No me deja entrar con la contraseña "§p"',
    ),
    "it": (
        "Su §h entri come §u e la password è §p, nient'altro.",
        "L'ho reimpostata stamattina, d'ora in poi la password di §u è §p.",
        "attenzione: la pwd di admin su §h è diventata §p",
        "La passphrase dell'archivio §d è «§p».",
        "Scrivi `§p` quando chiede la password.",
        "La nostra password del database (§p) è la stessa dal §v.",
        "parola d'ordine: §p",
        "Come password ho messo §p.",
        "vecchia password §q1, nuova password §p2",
        "utente §u, password §p, macchina §h",
        'Con la password "§p" non mi fa entrare',
    ),
    "pt": (
        "Em §h você entra como §u e a senha é §p, mais nada.",
        "Redefini hoje cedo; de agora em diante a senha de §u é §p.",
        "atenção: a senha do admin em §h virou §p",
        "A frase secreta do arquivo §d é “§p”.",
        "Digite `§p` quando pedir a senha.",
        "A nossa senha do banco (§p) é a mesma desde §v.",
        "palavra-passe: §p",
        "Coloquei como senha §p.",
        "senha antiga §q1, senha nova §p2",
        "usuário §u, senha §p, máquina §h",
        'Não entra com a senha "§p"',
    ),
    "ru": (
        "На §h заходишь под §u, пароль там §p, больше ничего не нужно.",
        "Утром сбросил, теперь пароль для §u — §p.",
        "внимание: пароль админа на §h теперь §p",
        "Парольная фраза архива §d: «§p».",
        "Когда спросит пароль, введи `§p`.",
        "Наш пароль от базы (§p) не менялся с §v.",
        "пароль такой: §p",
        "В качестве пароля я поставил §p.",
        "старый пароль §q1, новый пароль §p2",
        "логин §u, пароль §p, машина §h",
        'С паролем "§p" не пускает',
    ),
    "zh": (
        "在 §h 上用 §u 登录,密码是 §p,别的不用。",
        "早上重置过了,现在 §u 的密码是§p。",
        "注意:§h 的管理员密码改成了 §p",
        "§d 压缩包的口令是「§p」。",
        "提示输入密码时,填 `§p` 就行。",
        "我们的数据库密码(§p)从 §v 起没变过。",
        "密码:§p",
        "我把密码设成了 §p。",
        "旧密码 §q1,新密码 §p2",
        "账号 §u,密码 §p,机器 §h",
        "用密码“§p”进不去",
    ),
}
DIALOG = {
    "en": (
        "Nils: what's the password for §d again?\nPriya: §p",
        "> password?\n§p\n> thanks, I'm in",
        "ME  which login do I use\nBOT user and password please\nME  §u\nME  §p",
        "Q. Password of §u?\nA. It's §p",
    ),
    "de": (
        "Nils: wie war noch mal das Passwort für §d?\nAnke: §p",
        "> Kennwort?\n§p\n> danke, bin drin",
        "ICH  welchen Zugang nehme ich\nBOT  bitte Benutzer und Kennwort\nICH  §u\nICH  §p",
        "F: Passwort von §u?\nA: Na §p",
    ),
    "fr": (
        "Marc : c'est quoi déjà le mot de passe de §d ?\nSolène : §p",
        "> mot de passe ?\n§p\n> merci, c'est bon",
        "MOI quel compte ?\nBOT identifiant et mot de passe svp\nMOI §u\nMOI §p",
        "Q : mot de passe de §u ?\nR : c'est §p",
    ),
    "es": (
        "Iker: ¿cuál era la contraseña de §d?\nBegoña: §p",
        "> ¿contraseña?\n§p\n> gracias, ya entré",
        "YO qué cuenta uso\nBOT usuario y contraseña, por favor\nYO §u\nYO §p",
        "P: ¿clave de §u?\nR: es §p",
    ),
    "it": (
        "Luca: qual era la password di §d?\nIlaria: §p",
        "> password?\n§p\n> grazie, sono dentro",
        "IO quale utente uso\nBOT utente e password per favore\nIO §u\nIO §p",
        "D: password di §u?\nR: è §p",
    ),
    "pt": (
        "Caio: qual era mesmo a senha do §d?\nThaís: §p",
        "> senha?\n§p\n> valeu, entrei",
        "EU qual conta uso\nBOT usuário e senha, por favor\nEU §u\nEU §p",
        "P: senha de §u?\nR: é §p",
    ),
    "ru": (
        "Глеб: какой там пароль от §d?\nЗоя: §p",
        "> пароль?\n§p\n> спасибо, зашёл",
        "Я  под кем входить\nБОТ логин и пароль, пожалуйста\nЯ  §u\nЯ  §p",
        "В: пароль от §u?\nО: §p",
    ),
    "zh": (
        "小林:§d 的密码是多少来着?\n文静:§p",
        "> 密码?\n§p\n> 谢谢,进去了",
        "我 用哪个账号\n机器人 请发账号和密码\n我 §u\n我 §p",
        "问:§u 的密码?\n答:§p",
    ),
}
KEYSAY = {
    "en": (
        "this is the key I was given, §T, does it look expired to you?",
        "use my token §T for the upload",
        "Here you go: §T (§c)",
        "The request with §T gets a 403.",
    ),
    "de": (
        "das ist der Schlüssel, den ich bekam, §T, ist der abgelaufen?",
        "nimm mein Token §T fürs Hochladen",
        "Bitte sehr: §T (§c)",
        "Die Anfrage mit §T bekommt 403.",
    ),
    "fr": (
        "voici la clé qu'on m'a donnée, §T, elle a expiré ?",
        "prends mon jeton §T pour l'envoi",
        "Tiens : §T (§c)",
        "La requête avec §T renvoie 403.",
    ),
    "es": (
        "esta es la llave que me dieron, §T, ¿caducó?",
        "usa mi token §T para subirlo",
        "Aquí va: §T (§c)",
        "La petición con §T da 403.",
    ),
    "it": (
        "questa è la chiave che mi hanno dato, §T, è scaduta?",
        "usa il mio token §T per il caricamento",
        "Ecco: §T (§c)",
        "La richiesta con §T risponde 403.",
    ),
    "pt": (
        "esta é a chave que me deram, §T, expirou?",
        "usa o meu token §T para enviar",
        "Aqui está: §T (§c)",
        "O pedido com §T devolve 403.",
    ),
    "ru": (
        "вот ключ, который мне дали, §T, он истёк?",
        "возьми мой токен §T для загрузки",
        "Держи: §T (§c)",
        "Запрос с §T отвечает 403.",
    ),
    "zh": ("这是他们给我的密钥 §T ,过期了吗?", "上传就用我的令牌 §T", "给你:§T (§c)", "带着 §T 请求返回403。"),
}
SEED_SAYS = {
    "en": ("recovery phrase, keep it safe: §m", "my wallet's seed words are\n§m"),
    "de": ("Wiederherstellungsphrase, gut aufheben: §m", "Die Seed-Wörter meiner Wallet:\n§m"),
    "fr": ("phrase de récupération : §m", "les mots de la seed de mon portefeuille :\n§m"),
    "es": ("frase de recuperación: §m", "las palabras semilla de mi monedero:\n§m"),
    "it": ("frase di recupero: §m", "le parole del seed del mio wallet:\n§m"),
    "pt": ("frase de recuperação: §m", "as palavras-semente da minha carteira:\n§m"),
    "ru": ("фраза восстановления: §m", "сид-фраза моего кошелька:\n§m"),
    "zh": ("助记词:§m", "我的钱包助记词如下\n§m"),
}
WIFI_SAYS = {
    "en": "guest wifi is Fritz-§n and the wifi password is §f",
    "de": "das WLAN heißt Fritz-§n, WLAN-Passwort: §f",
    "fr": "le wifi s'appelle Livebox-§n, clé wifi : §f",
    "es": "la red es MOVISTAR_§n y la clave del wifi es §f",
    "it": "la rete è Vodafone-§n, password del wifi: §f",
    "pt": "a rede é MEO-§n e a senha do wi-fi é §f",
    "ru": "сеть Keenetic-§n, пароль от вайфая: §f",
    "zh": "无线网是 TP-LINK_§n ,WiFi密码:§f",
}

# -------------------------------------------------------------------------------------------------------- fragments

TEMPLATES: dict[str, tuple[str, ...]] = {
    "env_lines": (
        "export PGPASSWORD='§p' PGUSER=§u  # §c",
        "set REDIS_AUTH=§q\nset REDIS_HOST=§h",
        "$env:SMTP_PASS = '§p'",
        "set -gx LEDGER_DB_PASSPHRASE '§p'",
        '[Service]\nEnvironment="ADMIN_PASSWD=§p"\nEnvironment=TZ=UTC',
        "FROM mariadb:11\nENV MARIADB_ROOT_PASSWORD §q\nEXPOSE 3306",
        "# §c\n§W=§p",
        'setx ORACLE_PWD "§p" /M',
        "docker run -d -e POSTGRES_PASSWORD=§q -e POSTGRES_DB=§d postgres:16",
        "APP_SECRET=§x\nAPP_ENV=prod\nDJANGO_SECRET_KEY='§k'",
        'declare -x MQ_PASSCODE="§p"\ndeclare -x PWD="/srv/§d"',
        "env ES_JAVA_OPTS=-Xmx2g ELASTIC_PASSWORD=§q ./start",
    ),
    "yaml_settings": (
        "database:\n  host: §h\n  user: §u\n  password: '§p'   # §c",
        'ansible_user: §u\nansible_become_pass: "§p"',
        "apiVersion: v1\nkind: Secret\nmetadata: {name: §d}\nstringData:\n  pgpass: §q",
        "kind: Secret\ntype: Opaque\ndata:\n  username: cm9vdA==\n  password: §N",
        "smtp: {user: §u, pass: '§p', tls: true}",
        "services:\n  db:\n    environment:\n      - MYSQL_PASSWORD=§q\n      - MYSQL_DATABASE=§d",
        "auth:\n  passphrase: >-\n    §q\n  realm: §d",
        '§W: "§p"\nport: 5432',
        "users:\n- name: §u\n  §W: '§p'\n- name: guest\n  roles: []",
        "jwt:\n  signing_secret: §b\n  ttl: 3600",
        'env:\n- name: BROKER_PASSWORD\n  value: "§p"\n- name: LOG\n  value: info',
    ),
    "json_settings": (
        '{"ConnectionStrings": {}, "Smtp": {"UserName": "§u", "smtpPassword": "§p"}}',
        '{"u":"§u","pwd":"§p","keep":true}',
        '{\n  "name": "DB_PASSWORD",\n  "value": "§p"\n}',
        '{"credentials": {"clientId": "§g", "clientSecret": "§z"}}',
        '{\n  "§W": "§p",\n  "_": "§c"\n}',
        '[{"host":"§h","login":["§u"],"passwd":"§p"}]',
        "{ user: '§u', pass: '§p', }",
        '{"username":"§u","password":"§p","remember":false,"otp":null}',
        '{"session_secret" : "§k", "port" : 8080}',
        '{"environment":[{"name":"LOG","value":"1"},{"name":"API_SECRET","value":"§x"}]}',
    ),
    "ini_toml_properties": (
        "spring.datasource.username=§u\nspring.datasource.password=§q",
        "[§d]\nuser = §u\npasswd = §q\n; §c",
        '[database]\nurl = "§h"\npassword = "§p"',
        "requirepass §q\nmaxmemory 2gb",
        "default_user = §u\ndefault_pass = §q",
        "[sasl]\nmech=plain\nsecret: §q",
        "masterauth §q\nreplicaof §h 6379",
        "auth = { user = \"§u\", pass = '§p' }",
        '[remote]\n§W = "§p"',
        'sasl.jaas.config=org.apache.kafka.Login required username="§u" password="§p";',
        "quarkus.datasource.password = §q",
        '[auth.ldap]\nbind_dn = cn=§u\nbind_password = """§p"""',
        "ssl.keystore.password=§q1\nssl.key.password=§q2",
        "MYSQL_PWD : §q",
    ),
    "command_flags": (
        "mysql -h §h -u §u -p'§p' §d < dump.sql",
        "mongosh --host §h --username §u --password '§p'",
        "sshpass -p '§p' ssh §u@§h uptime",
        "curl -sS -u '§u:§p' https://§h/api/v2/jobs",
        "ldapsearch -x -D cn=§u -w '§p' -b dc=corp",
        "redis-cli -h §h -a §q ping",
        "smbclient //§h/§d -U '§u%§q'",
        "openssl pkcs12 -in a.p12 -passin pass:§q -nodes",
        "unzip -P §q §d.zip",
        "kubectl create secret generic §d --from-literal=password='§p'",
        "docker login §h -u §u -p §q",
        'sqlcmd -S §h -U §u -P "§p" -Q "select 1"',
        "xfreerdp /v:§h /u:§u /p:'§p'",
        "rabbitmqctl add_user §u '§p'",
        "keytool -list -keystore k.jks -storepass §q",
        "echo '§p' | sudo -S systemctl restart §d",
        "wget --user=§u --password='§p' https://§h/x",
        "helm upgrade §d ./chart --set auth.rootPassword=§q",
        "net use Z: \\\\§h\\share §q /user:§u",
        'echo "§u:§q" | chpasswd',
        "az login --service-principal -u §g -p §k --tenant §g2",
        "lftp -u §u,§q sftp://§h",
        "htpasswd -nb §u '§p'",
    ),
    "http_headers": (
        "GET /v1/items HTTP/1.1\r\nHost: §h\r\nX-Api-Key: §k".replace("\r", ""),
        "Authorization: Token §x",
        "PRIVATE-TOKEN: §z",
        "X-Vault-Token: §C",
        "curl -H 'X-Auth-Token: §z' https://§h/v3/auth",
        "Ocp-Apim-Subscription-Key: §x",
        "fetch(u, {headers: {'x-functions-key': '§b'}})",
        'r = requests.get(url, headers={"apikey": "§k", "Accept": "*/*"})',
        "> X-Gitlab-Token: §z\n> Accept: */*\n< HTTP/1.1 401",
        "http GET §h/me Authorization:'ApiKey §z'",
        "x-amz-security-token: §b",
        "Proxy-Authorization: Basic §a",
        'req.Header.Set("X-Shopify-Access-Token", "§D")',
        "DD-API-KEY: §x1\nDD-APPLICATION-KEY: §x2",
        'proxy_set_header X-Internal-Secret "§k";',
    ),
    "url_userinfo": (
        "postgresql+asyncpg://§u:§e@§h:5432/§d",
        "DATABASE_URL=mysql://§u:§q@§h/§d?charset=utf8mb4",
        "mongodb+srv://§u:§e@cluster0.§d.example/?w=majority",
        "redis://:§q@§h:6379/0",
        "amqps://§u:§e@§h/%2Fvhost",
        "git clone https://§u:§D@git.example.org/§d.git",
        "ftp://§u:§q@§h/pub/",
        "HTTPS_PROXY=http://§u:§e@§h:3128",
        "broker_url = 'amqp://§u:§q@§h//'",
        "rtsp://admin:§q@§h:554/Streaming/Channels/101",
        "origin\thttps://oauth2:§D@git.example.org/x/y (fetch)",
        "could not connect to ldap://cn=§u:§e@§h:389",
        "nats://§u:§q@§h:4222",
        "sentry dsn http://§x:§x2@§h/4",
        "clickhouse://§u:§e@§h:9000/§d",
    ),
    "url_query": (
        "https://§h/export?format=csv&api_key=§k",
        "GET /feed?access_token=§z&limit=20 200 14ms",
        "https://§h/reset-password?uid=77&token=§z",
        "https://acct.blob.core.example/c/f.parquet?sv=2022-11-02&sr=b&sp=r&sig=§e",
        "wss://§h/socket?auth_token=§x",
        "https://maps.example/js?v=3&key=§A&libraries=places",
        "POST https://§h/login?user=§u&password=§e",
        "callback: https://§h/cb#access_token=§z&token_type=bearer&state=§n",
        '"url": "https://§h/hook?secret=§q"',
        "curl 'https://§h/v2/geo?appid=§x&q=Lyon'",
        "https://§h/oauth/token?grant_type=client_credentials&client_secret=§z",
    ),
    "connection_strings": (
        "Server=tcp:§h,1433;Database=§d;User Id=§u;Password=§p;Encrypt=True;",
        "Driver={ODBC Driver 18};Server=§h;UID=§u;PWD={§p};",
        "jdbc:oracle:thin:§u/§q@//§h:1521/§d",
        "jdbc:postgresql://§h/§d?user=§u&password=§e&ssl=true",
        "host=§h dbname=§d user=§u password='§p'",
        "sqlplus §u/§q@§h:1521/§d @load.sql",
        "Endpoint=sb://§d.servicebus.example/;SharedAccessKeyName=Root;SharedAccessKey=§b",
        "jdbc:sqlserver://§h;databaseName=§d;user=§u;password=§q;",
        '<add name="Main" connectionString="Data Source=§h;Pwd=§q;Uid=§u" />',
        "user id=§u;password=§q;data source=§h",
        'psycopg2.connect("dbname=§d user=§u password=§q")',
        "HostName=§h;DeviceId=d§n;SharedAccessKey=§b",
        "SQLCONNSTR_X=\"Initial Catalog=§d;Password='§p';User ID=§u\"",
        "jdbc:mysql://§u:§q@§h:3306/§d",
    ),
    "ai_keys": (
        "OPENAI_API_KEY=§A",
        'client = Client(api_key="§A")  # §c',
        "  key: §A\n  model: large",
        "SAY",
        "SAY",
        "SAY",
        "openai.error.AuthenticationError: Incorrect API key provided: §A.",
        '{"apiKey":"§A"}',
        "§A",
        '~/.config/llm/keys.json\n{"x": "§A"}',
    ),
    "cloud_keys": (
        "[default]\naws_access_key_id = §i\naws_secret_access_key = §S\nregion = eu-west-3",
        "AWS_SECRET_ACCESS_KEY=§S aws s3 ls",
        "SAY",
        "SAY",
        "SAY",
        'provider "x" {\n  token = "§C"\n}',
        "aws configure\nAWS Access Key ID [None]: §i\nAWS Secret Access Key [None]: §S",
        "§c\n§C",
        "doctl auth init -t §C",
        "AZURE_CLIENT_SECRET: '§k'",
        "LTAI" + "5t§n\naccessKeySecret = '§k'",
        "Access key ID,Secret access key\n§i,§S",
        "ARM_CLIENT_SECRET=§C",
        '{"AccessKeyId":"§i","SecretAccessKey":"§S","SessionToken":"§b"}',
    ),
    "developer_tokens": (
        "SAY",
        "SAY",
        "SAY",
        "//npm.example.org/:_authToken=§D",
        "twine upload -u __token__ -p §D dist/*",
        "- run: gh auth login --with-token <<< §D",
        "bot = Bot('§D')",
        "§D",
        "STRIPE_KEY=§D",
        "glab auth login --token §D",
        "{'token': '§D', 'ok': False}",
        "remote: invalid credentials §D",
        'const slack = new WebClient("§D");',
        "TWILIO_ACCOUNT_SID=AC§M\nTWILIO_AUTH_TOKEN=§x",
    ),
    "jwt": (
        "Authorization: Bearer §j",
        "localStorage.setItem('id_token', '§j')",
        "Set-Cookie: session=§j; HttpOnly; Path=/",
        '{"id_token":"§j","expires_in":300}',
        "token expired: §j",
        "kubectl --token=§j get pods",
        "ANON_KEY=§j",
        "jwt decode §j",
        "wss://§h/ws?jwt=§j",
        "SAYJ",
        "§j\n^ §c",
    ),
    "bearer_opaque": (
        'curl https://§h/v1/me -H "Authorization: Bearer §z"',
        "authorization: bearer §k",
        '{"access_token":"§z1","token_type":"Bearer","refresh_token":"§z2"}',
        "metadata = [('authorization', 'Bearer §k')]",
        "headers.Authorization = `Bearer §z`",
        "- H 'Authorization: Bearer §x'",
        "DEBUG urllib3 send: b'Authorization: Bearer §z'",
        'Invoke-RestMethod -Headers @{ Authorization = "Bearer §k" }',
        "oauth_token_secret=§k",
        'HTTP_AUTHORIZATION="Bearer §z"',
        "refreshToken: '§z',",
    ),
    "basic_auth": (
        "Authorization: Basic §a",
        '{"auths": {"§h": {"auth": "§a"}}}',
        "//npm.corp.example/:_auth=§a\nalways-auth=true",
        "auth_basic: §a",
        "curl -H 'authorization: Basic §a' §h",
        "req.setRequestHeader('Authorization', 'Basic §a');",
        "< www-authenticate: Basic realm=x\n> authorization: Basic §a",
        "auth=HTTPBasicAuth('§u', '§p')",
        "requests.get(u, auth=('§u', '§p'))",
        "curl --user §u:§q §h",
        "machine: §h  Basic §a",
    ),
    "webhooks": (
        "https://hooks.sl" + "ack.com/services/T0§n/B0§n/§k",
        "curl -d '{}' https://discord.com/api/web" + "hooks/11§n22§n33/§z",
        "https://§d.webhook.office.example/webhookb2/§g@§g2/IncomingWebhook/§x/§g3",
        "https://oapi.dingtalk.com/robot/send?access_token=§x",
        "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=§G",
        "https://open.feishu.cn/open-apis/bot/v2/hook/§G",
        "https://api.telegram.org/bot§D9/sendMessage?chat_id=-100§n".replace("§D9", "77§n:§z"),
        "url: https://maker.ifttt.com/trigger/up/with/key/§k",
        "https://hooks.zapier.com/hooks/catch/12§n/§k/",
        "webhook_secret: §q  # §c",
    ),
    "cookies": (
        "Cookie: theme=dark; sessionid=§k; lang=it",
        "Set-Cookie: connect.sid=s%3A§k; Path=/; HttpOnly; Secure",
        "curl -b 'PHPSESSID=§k; cc=1' https://§h/",
        ".§h\tTRUE\t/\tTRUE\t1799999999\tauth_token\t§x",
        'document.cookie = "JSESSIONID=§x"',
        '{"name":"sid","value":"§z","domain":"§h","httpOnly":true}',
        "'_gitlab_session': '§x'",
        "cookies={'remember_user_token': '§z'}",
        "-H 'cookie: _ga=GA1.2.§n; user_session=§z'",
        ".ASPXAUTH=§x; path=/",
    ),
    "wifi": (
        "SAYF",
        "SAYF",
        'network={\n  ssid="cafe§n"\n  psk="§f"\n}',
        "nmcli dev wifi connect cafe§n password '§f'",
        "WIFI:T:WPA;S:cafe§n;P:§q;H:false;;",
        "[Security]\nPassphrase=§q",
        '#define WIFI_SSID "cafe§n"\n#define WIFI_PASS "§f"',
        'const char* password = "§f";\nWiFi.begin(ssid, password);',
        "    Key Content            : §q\n    Cost settings",
        "[wifi-security]\nkey-mgmt=wpa-psk\npsk=§q",
        "wpa_passphrase cafe§n '§p'",
        "option encryption 'psk2'\noption key '§p'",
    ),
    "seed_phrases": (
        "SAYM",
        "SAYM",
        "SAYM",
        'MNEMONIC="§m"',
        "mnemonic: §m",
        "accounts: { mnemonic: '§m', count: 5 }",
        'cast wallet import k --mnemonic "§m"',
        "seed phrase (§c)\n\n    §m",
        '{"mnemonic":"§m","path":"m/44\'/60\'/0\'/0"}',
        "PRIVATE_KEY=0x§x",
    ),
    "one_time_codes": (
        "otpauth://totp/§d:§u?secret=§o&issuer=§d&digits=6",
        "oathtool --totp -b §o",
        "2FA setup key: §O",
        'totp_secret = "§o"',
        "otpauth://hotp/§u?counter=3&secret=§o",
        "backup codes: §Q1 §Q2 §Q3",
        "MFA_SEED=§o",
        "pyotp.TOTP('§o').now()",
        "recovery codes\n  §Q1\n  §Q2\n  §Q3\n  §Q4",
    ),
    "storage_keys": (
        "DefaultEndpointsProtocol=https;AccountName=§d;AccountKey=§K;EndpointSuffix=core.windows.net",
        "[s3]\ntype = s3\naccess_key_id = §i\nsecret_access_key = §S",
        "[crypt]\ntype = crypt\nremote = b:§d\npassword = §z1\npassword2 = §z2",
        "az storage blob list --account-name §d --account-key §K",
        "mc alias set §d https://§h §u §q",
        "RESTIC_PASSWORD='§p'\nB2_ACCOUNT_KEY=§k",
        "[nas]\ntype = webdav\nuser = §u\npass = §z",
        "host_base = §h\nsecret_key = §S",
        "fs.s3a.secret.key=§S",
        "AZURE_STORAGE_KEY=§K",
        "CREATE SECRET (TYPE S3, KEY_ID '§i', SECRET '§S');",
        'borg init: BORG_PASSPHRASE="§p"',
    ),
    "kube_docker": (
        "users:\n- name: §u\n  user:\n    client-key-data: §L\n    client-certificate-data: null",
        "users:\n- name: §d\n  user:\n    token: §k",
        "users: [{name: x, user: {username: §u, password: §q}}]",
        '{"auths":{"https://index.docker.io/v1/":{"auth":"§a"}},"credsStore":""}',
        ".dockerconfigjson: §b",
        '{"auths":{"§h":{"username":"§u","password":"§p","identitytoken":"§z"}}}',
        "k3s agent --server https://§h:6443 --token K10§x::server:§x2",
        "kubeadm join §h:6443 --token §x3.§k --discovery-token-unsafe-skip-ca-verification".replace("§x3.", ""),
        "docker swarm join --token SWM" + "TKN-1-§k §h:2377",
        "  tls.key: §L",
    ),
    "dot_files": (
        "machine §h login §u password §q",
        "machine §h\n  login §u\n  password §p",
        "§h:5432:§d:§u:§q",
        "$ cat .pgpass\n*:*:*:§u:§q",
        '[client]\nuser=§u\npassword="§p"\nhost=§h',
        "default login §u password §q",
        "[mysqldump]\nuser = §u\npassword = §q",
        "# ~/.pgpass\n§h:*:§d:§u:§q\n# §c",
        "[distutils]\n[pypi]\nusername = __token__\npassword = §D",
        "username=§u\npassword=§p\ndomain=CORP",
        "defaults\nauth on\nhost §h\nuser §u\npassword §q",
        'set imap_pass = "§p"\nset imap_user = §u',
        "[global]\nextra-index-url = https://§u:§q@§h/simple",
    ),
    "terraform_ansible": (
        'db_password = "§p"\ninstance = "t3.small"',
        'variable "§W" {\n  type    = string\n  default = "§p"\n}',
        "TF_VAR_admin_password='§p' terraform plan",
        'resource "db" "m" {\n  username        = "§u"\n  master_password = "§p"\n}',
        '"outputs": {"db_password": {"value": "§p", "type": "string", "sensitive": true}}',
        "§h ansible_user=§u ansible_ssh_pass='§p'",
        "Key         Value\n---         -----\npassword    §q\nusername    §u",
        "vault kv put secret/§d password='§p'",
        '~ password = "§q1" -> "§q2"',
        "pulumi config set --secret dbPassword '§p'",
        "- mysql_user: name=§u password=§q state=present",
        "winrm_password: !unsafe '§p'",
        "chef: default['§d']['password'] = '§p'",
    ),
    "mail_and_cms": (
        "EMAIL_HOST = '§h'\nEMAIL_HOST_USER = '§u'\nEMAIL_HOST_PASSWORD = '§p'",
        "account §d\nhost §h\nuser §u\npassword §q\nauth plain",
        "# /etc/postfix/sasl_passwd\n[§h]:587 §u@example.org:§q",
        "define( 'DB_PASSWORD', '§p' );\ndefine( 'DB_HOST', '§h' );",
        "MAILER_DSN=smtp://§u:§e@§h:465",
        "$mail->Username = '§u';\n$mail->Password = '§p';",
        "define('AUTH_KEY',  '§k');\ndefine('NONCE_SALT', '§k2');",
        'MAIL_USERNAME=§u\nMAIL_PASSWORD="§p"\nMAIL_PORT=587',
        "nodemailer.createTransport({auth: {user: '§u', pass: '§p'}})",
        "IMAP: §h:993 / §u@example.org / §w: §p",
        "$databases['default'] = ['username' => '§u', 'password' => '§p'];",
        'server.login("§u@example.org", "§p")',
        "public $password = '§p';\npublic $db = '§d';",
        "delivery_method :smtp, user_name: '§u', password: '§p'",
    ),
    "login_notes": (
        "Host §d\n  HostName §h\n  User §u\n  # §w: §p",
        "ssh §u@§h   (pw §p)",
        'spawn ssh §u@§h\nexpect "assword:"\nsend "§q\\r"',
        "c.connect('§h', username='§u', password='§p')",
        "§h / §u / §w §p",
        "login: §u\n§w: §p\n§c",
        "* NAS §h — §u — §w: §p",
        "§u@§h's password: §p\nPermission denied, please try again.",
        "[§h]\nBenutzer/User/用户: §u\n§w = §p",
        "VNC §h:5901, vnc §w: §q",
        "1) ssh §u@§h\n2) §w: `§p`\n3) §c",
        "iDRAC §h §u / password: §p",
        "enable secret 0 §q\nline vty 0 4\n password §q2",
        "RDP-> §h ; user-> §u ; pass-> §p",
        "PIN/§w (§u): §p",
    ),
    "tables": (
        "host,user,password,note\n§h,§u,§q,§c\n§h2,§u2,§q2,-",
        "Name\tLogin\t§w\n§d\t§u\t§p",
        "| Service | User | Password |\n|---|---|---|\n| §d | §u | §q |\n| §d2 | §u2 | §q2 |",
        "|§w|§u|\n|--|--|\n|`§p`|x|",
        "+----+--------+------------------+\n| id | user   | password         |\n+----+--------+----"
        "--------------+\n| §n | §u | §q |\n+----+",
        "url;username;password;totp\nhttps://§h;§u;§p;",
        "§d;§u;§w;§p",
        "USER        §w\n§u       §p",
        "<tr><th>User</th><th>§w</th></tr>\n<tr><td>§u</td><td>§q</td></tr>",
        "#+NAME: §d\n| Konto | §w |\n|-------+----|\n| §u | §q |",
        "-[ RECORD 1 ]---\nlogin    | §u\npassword | §q",
        '"title","username","password"\n"§d","§u","§p"',
        "INSERT INTO accounts (login, password) VALUES ('§u', '§p');",
    ),
    "code_literals": (
        'cfg := sql.Config{User: "§u", Passwd: "§p"}',
        'let db_password: &str = "§p";',
        'var cred = new NetworkCredential("§u", "§p");',
        'ds.setPassword("§p");',
        "CREATE USER §u IDENTIFIED BY '§p';",
        "ALTER ROLE §u WITH LOGIN PASSWORD '§p';",
        '$s = ConvertTo-SecureString "§p" -AsPlainText -Force',
        'config :app, Repo, username: "§u", password: "§p"',
        "const PASSWORD = '§p' // §c",
        'local §W = "§p"',
        "cy.get('#password').type('§p')",
        "await page.fill('input[name=password]', '§p');",
        "SECRET_KEY = b'§k'",
        "assert login('§u', password='§p').ok",
        'private static final String API_SECRET = "§k";',
        "pw := []byte(`§p`)",
        "User.create!(email: 'a@example.org', password: '§p', password_confirmation: '§p')",
        "my $passwd = q{§q};",
        "password=\"§p\" if env == 'prod' else None",
        "SET PASSWORD FOR '§u'@'%' = PASSWORD('§p');",
        'DB_PASS <- "§p"',
    ),
    "history_make_ci": (
        "  §n  ls -la\n  50§n  export MYSQL_PWD=§q\n  51§n  make up",
        ": 17§n:0;sshpass -p§q scp a §u@§h:",
        "DB_PASS ?= §q\n\nup:\n\tdocker compose up -d",
        "deploy:\n\tFTP_PASS='§p' lftp -e 'mirror -R' §h",
        "+ curl -fsS -u §u:§q https://§h/upload",
        "##[debug]password=§q",
        "env:\n  DEPLOY_PASSWORD: §q\nsteps:\n- run: make",
        "$ ./configure && SECRET_TOKEN=§x make",
        "Step 4/9 : ARG NEXUS_PASS=§q\n ---> Running in §Y",
        "+ '[' -n \"\" ']'\n+ PASSWORD='§p'",
        "#§n\n#1700000§n\npsql postgres://§u:§q@§h/§d",
        'PS C:\\> $password = "§p"',
        "Generated root password: §q",
        "[Note] A temporary password is generated for root@localhost: §p",
        "test: ; @API_TOKEN=§x go test ./...",
    ),
    "dumps_and_traces": (
        "Config(host='§h', user='§u', password='§p', port=5432)",
        "{Host:§h User:§u Password:§q Port:3306}",
        '#<Repo:0x0§Y @user="§u", @password="§p">',
        "HikariConfig[username=§u, password=§q, maxPool=10]",
        "    [user] => §u\n    [password] => §p",
        '["password"]=>\n  string(14) "§p"',
        "Map { 'user' => '§u', 'pass' => '§p' }",
        "  File \"/srv/§d/run.py\", line §n, in main\n    connect('§h', password='§p')\nOperationalError: timeout",
        "PDO->__construct('mysql:host=§h', '§u', '§p')",
        "locals: user = '§u'; passwd = '§p'; tries = 3",
        "Caused by: java.sql.SQLException: jdbc:mysql://§h/§d?user=§u&password=§q",
        '%{password: "§p", user: "§u"}',
        'argv[3] = "--password=§p"',
        "panic: dial redis://:§q@§h:6379: i/o timeout",
        'Parameters: {"user"=>"§u", "password"=>"§p"}',
        '(lldb) po password\n"§p"',
        "KeyError in auth; body=b'username=§u&password=§e'",
    ),
    "markup_config": (
        "<server>\n  <id>§d</id>\n  <username>§u</username>\n  <password>§q</password>\n</server>",
        '<add key="SmtpPassword" value="§q" />',
        "<key>Password</key>\n<string>§q</string>",
        '<user username="§u" password="§q" roles="manager-gui"/>',
        '<string name="api_secret">§k</string>',
        '<property name="hibernate.connection.password">§q</property>',
        "<Resource url=\"jdbc:x\" username='§u' password='§q'/>",
        '<wsse:Password Type="#PasswordText">§q</wsse:Password>',
        '<input type="hidden" name="client_secret" value="§z">',
        '<entry key="§W">§q</entry>',
        "<!-- §c: §u / §w §q -->",
        "<Password><![CDATA[§p]]></Password>",
        '<param name="password"><value>§q</value></param>',
    ),
}


def said(template: str, kind: str, r: Random, language: str) -> str:
    """Gives the prose template that a mark among the templates stands for."""
    if template == "SAYM":
        return r.choice(SEED_SAYS[language])
    if template == "SAYF":
        return WIFI_SAYS[language]
    if template.startswith("SAY"):
        letter = {"ai_keys": "§A", "cloud_keys": "§C", "developer_tokens": "§D", "jwt": "§j"}[kind]
        return r.choice(KEYSAY[language]).replace("§T", letter)
    return template


def from_templates(kind: str) -> Callable[[Random, str, int], Fragment]:
    """Gives the maker of fragments of a kind, which goes through its templates in turn."""
    templates = TEMPLATES[kind]

    def make(r: Random, language: str, number: int) -> Fragment:
        return fill(r, language, said(templates[number % len(templates)], kind, r, language))

    return make


def from_prose(table: Mapping[str, tuple[str, ...]]) -> Callable[[Random, str, int], Fragment]:
    """Gives the maker of fragments from a table of templates by language."""
    return lambda r, language, number: fill(r, language, table[language][number % len(table[language])])


# -------------------------------------------------------------------------------------------------------------- keys

KEY_LABELS = ("RSA ", "EC ", "OPENSSH ", "", "DSA ", "ENCRYPTED ")


def key_lines(r: Random, rows: int = 0) -> tuple[list[str], list[str]]:
    """Gives the lines of a private key and, among them, the base64 lines."""
    label = r.choice(KEY_LABELS) + "PRIVATE " + "KEY"
    width = 70 if label.startswith("OPENSSH") else r.choice((64, 64, 76))
    body = [draw(r, B64, width) for _ in range((rows or r.choice((3, 5, 13, 25))) - 1)]
    body.append(draw(r, B64, r.randint(18, 40)) + "A" + r.choice(("", "=", "==")))
    head = ["Proc-Type: 4,ENCRYPTED", f"DEK-Info: AES-256-CBC,{draw(r, HEX.upper(), 32)}", ""]
    extra = head if label.startswith("RSA") and r.random() < 0.3 else []
    return [f"-----BEGIN {label}-----", *extra, *body, f"-----END {label}-----"], body


def key_whole(r: Random, language: str, number: int) -> Fragment:
    """Gives a whole private key in one of the formats, also of PGP and PuTTY."""
    lines, body = key_lines(r)
    if number % 5 == 1:
        label = "PGP PRIVATE " + "KEY BLOCK"
        return "\n".join(
            (
                f"-----BEGIN {label}-----",
                "Comment: " + r.choice(REMARKS[language]),
                "",
                *body,
                "=" + draw(r, B64, 4),
                f"-----END {label}-----",
            )
        ), body
    if number % 5 == 3:
        mac = draw(r, HEX, 64)
        head = [
            "PuTTY-User-" + "Key-File-3: ssh-rsa",
            "Encryption: none",
            f"Comment: {r.choice(USERS)}",
            f"Private-Lines: {len(body)}",
        ]
        return "\n".join((*head, *body, f"Private-MAC: {mac}")), body
    if number % 5 == 4:
        return f"ssh -i <(cat <<K\n{chr(10).join(lines)}\nK\n) {r.choice(USERS)}@{r.choice(HOSTS)}", body
    return "\n".join(lines), body


def key_cut(r: Random, language: str, number: int) -> Fragment:
    """Gives a private key of which the beginning, the end or the middle is missing."""
    lines, body = key_lines(r, r.choice((6, 13)))
    style = number % 5
    if style == 0:
        return "\n".join((lines[0], *body[:4])), body[:4]
    if style == 1:
        return "\n".join(("[...]", *body[-4:], lines[-1])), body[-4:]
    if style == 2:
        return "\n".join((lines[0], *body[:2], "...", *body[-2:], lines[-1])), body[:2] + body[-2:]
    if style == 3:
        part = body[2][:37]
        return "\n".join((lines[0], *body[:2], part + "… [truncated]")), [*body[:2], part]
    return f"$ head -4 id_deploy\n{lines[0]}\n" + "\n".join(body[:3]) + f"\n$ # {r.choice(REMARKS[language])}", body[:3]


def key_escaped(r: Random, language: str, number: int) -> Fragment:
    """Gives a private key on one line, its line ends written as escapes or spaces."""
    lines, body = key_lines(r)
    one = [line for line in lines if line]
    style = number % 8
    if style == 0:
        return 'APP_KEY="' + "\\n".join(one) + '\\n"', body
    if style == 1:
        return '{"body": "{\\"pk\\": \\"' + "\\\\n".join(one) + '\\"}"}', body
    if style == 2:
        return f"<key>{'&#10;'.join(one)}</key>", body
    if style == 3:
        return "String k = " + " +\n    ".join(f'"{line}\\n"' for line in one) + ";", body
    if style == 4:
        return "pem = [" + ", ".join(f"'{line}'" for line in one) + "].join('\\n')", body
    if style == 5:
        return "PRIVATE_KEY: " + " ".join(one), body
    if style == 6:
        return "key=" + "\\r\\n".join(one) + f"  # {r.choice(REMARKS[language])}", body
    secret = base64.b64encode("\n".join(lines).encode()).decode()
    return f"SSH_DEPLOY_KEY_B64={secret}", [secret]


def key_nested(r: Random, language: str, number: int) -> Fragment:
    """Gives a private key quoted, indented, commented or inside a block scalar."""
    lines, body = key_lines(r)
    marks = ("> ", "> > ", "        ", "// ", "| ", "\t\t", " * ", "+", "-- ", "rem ")
    style = number % (len(marks) + 3)
    remark = r.choice(REMARKS[language])
    if style < len(marks):
        return f"{marks[style]}{remark}\n" + "\n".join(marks[style] + line for line in lines), body
    if style == len(marks):
        return "tls:\n  key: |-\n" + "\n".join("    " + line for line in lines) + f"\n  note: {remark}", body
    if style == len(marks) + 1:
        return "  private_key = <<-EOT\n" + "\n".join("    " + line for line in lines) + "\n  EOT", body
    return "write_files:\n- content: |\n" + "\n".join("      " + line for line in lines) + "\n  path: /root/k", body


def service_account(r: Random, language: str, number: int) -> Fragment:
    """Gives the JSON of a service account behind other text."""
    lines, body = key_lines(r)
    project = f"{r.choice(DATABASES)}-{r.randint(100, 999999)}"
    ident = draw(r, HEX, 40)
    one = "\\n".join(line for line in lines if line) + "\\n"
    fields = [
        '"type": "service_account"',
        f'"project_id": "{project}"',
        f'"private_key_id": "{ident}"',
        f'"private_key": "{one}"',
        f'"client_email": "x@{project}.iam.example"',
    ]
    style = number % 4
    if style == 0:
        return f"{r.choice(REMARKS[language])} >>> " + "{" + ", ".join(fields) + "}", body
    if style == 1:
        return "GOOGLE_APPLICATION_CREDENTIALS_JSON='{\n  " + ",\n  ".join(fields) + "\n}'", body
    if style == 2:
        return "$ cat sa.json; echo\n{" + ",".join(fields) + "}\n$", body
    return "credentials = from_info({" + ", ".join(fields[2:4]) + "})", body


KINDS: dict[str, Callable[[Random, str, int], Fragment]] = {
    "prose": from_prose(PROSE),
    "prose_again": lambda r, language, number: from_prose(PROSE)(r, language, number + 7),
    "dialog": from_prose(DIALOG),
    **{kind: from_templates(kind) for kind in TEMPLATES},
    "key_whole": key_whole,
    "key_cut": key_cut,
    "key_escaped": key_escaped,
    "key_nested": key_nested,
    "service_account": service_account,
}

# ------------------------------------------------------------------------------------------------------ surroundings


def same(text: str) -> str:
    """Gives the text itself."""
    return text


def json_escape(text: str) -> str:
    """Gives the text as it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def twice_escape(text: str) -> str:
    """Gives the text as it stands inside a JSON string inside a JSON string."""
    return json_escape(json_escape(text))


def markup_escape(text: str) -> str:
    """Gives the text as it stands in HTML."""
    return html.escape(text, quote=False)


def cell_escape(text: str) -> str:
    """Gives the text as it stands in a quoted cell of a CSV file."""
    return text.replace('"', '""')


def each(text: str, mark: Callable[[int], str], after: str = "") -> str:
    """Puts a mark that may depend on the number of the line before every line."""
    return "\n".join(mark(i) + line + after for i, line in enumerate(text.split("\n")))


def surround(name: str, r: Random, language: str, text: str) -> tuple[str, Escape]:
    """Puts a fragment into a surrounding and gives the escape that its secrets undergo."""
    before, after, remark = r.choice(BEFORE[language]), r.choice(AFTER[language]), r.choice(REMARKS[language])
    start, clock, file = r.randint(3, 400), f"{r.randint(0, 23):02}:{r.randint(0, 59):02}", r.choice(FILES)
    sha = draw(r, HEX, 8)
    if name == "asked":
        return f"{before}\n\n{text}\n\n{after}", same
    if name == "mail_twice_quoted":
        return f"{after}\n\n> {WROTE[language]}\n" + each(f"{before}\n{text}", lambda i: "> > ") + f"\n> {remark}", same
    if name == "diff":
        sign = r.choice("+-")
        head = f"--- a/{file}\n+++ b/{file}\n@@ -{start},7 +{start},9 @@\n # {remark}\n"
        return head + each(text, lambda i: sign) + "\n }", same
    if name == "ci_log":
        stamp = f"2025-0{r.randint(1, 9)}-1{r.randint(0, 9)}T{clock}"
        return each(f"##[group]{remark}\n{text}\n##[endgroup]", lambda i: f"{stamp}:{i % 60:02}.{start:03}4417Z "), same
    if name == "cat_numbered":
        return f"$ cat -n {file}\n" + each(text, lambda i: f"{i + start:6}\t") + f"\n{after}", same
    if name == "grep_hits":
        return f"$ grep -rn . {file}\n" + each(text, lambda i: f"{file}:{i + start}:") + f"\n\n{before}", same
    if name == "tool_result_json":
        return (
            f'{{"type":"tool_result","tool_use_id":"t{sha}","content":"{json_escape(text)}\\n","note":"{remark}"}}'
        ), json_escape
    if name == "json_in_json":
        return f'{{"event":"msg","data":"{{\\"body\\":\\"{twice_escape(text)}\\"}}"}} {after}', twice_escape
    if name == "notebook_cell":
        rows = ",\n".join(f'    "{json_escape(line)}\\n"' for line in text.split("\n"))
        return f'  {{"cell_type": "code",\n   "source": [\n    "# {remark}\\n",\n{rows}\n   ]}}', json_escape
    if name == "html_ticket":
        return f'<p>{before}</p>\n<pre class="code">{markup_escape(text)}</pre>\n<p>{after}</p>', markup_escape
    if name == "yaml_block":
        return f"# {remark}\ndata:\n  blob-{sha}: |\n" + each(text, lambda i: "    ") + '\n  next: "1"', same
    if name == "here_document":
        return f"ssh {r.choice(HOSTS)} 'cat > /tmp/{sha}' <<'FIN'\n{text}\nFIN\n# {after}", same
    if name == "compose_log":
        return each(f"{remark}\n{text}\nready", lambda i: f"{'worker-2' if i % 3 else 'worker-1'}  | "), same
    if name == "coloured_terminal":
        return f"\x1b[1m{before}\x1b[0m\n" + each(text, lambda i: "\x1b[38;5;208m", "\x1b[0m"), same
    if name == "blame":
        return each(text, lambda i: f"{sha} (Ilka R. 2024-11-0{i % 9 + 1} {clock}:07 +0100 {i + start:4}) "), same
    if name == "chat_export":
        return f"[{clock}] zoe_k: {before}\n[{clock}] zoe_k: {text}\n[{clock}] tomás: {after}", same
    if name == "windows_paste":
        return f"{before}\n{text}\n{after}\n".replace("\n", "\r\n"), same
    if name == "comment_block":
        mark = r.choice(("# ", "// ", "; ", " * ", "-- "))
        return each(f"{remark}\n{text}", lambda i: mark) + f"\nfn_{sha}()", same
    if name == "raw_string_fixture":
        return f'#[test]\nfn t_{sha}() {{\n    // {remark}\n    let s = r##"{text}"##;\n    run(s);\n}}', same
    if name == "nested_list":
        block = each(text, lambda i: "     ")
        return f"1. {before}\n   - {remark}:\n\n     ```\n{block}\n     ```\n2. {after}", same
    if name == "syslog":
        return each(text, lambda i: f"Nov 1{i % 9} {clock}:44 box{start} app[{start * 7}]: "), same
    if name == "spreadsheet_cell":
        return f'id,note,text\n{start},"{remark}","{cell_escape(text)}"\n{start + 1},,"{after}"', cell_escape
    if name == "exception":
        return (
            f'Traceback (most recent call last):\n  File "{file}", line {start}, in load\n    raise Bad(raw)\n'
            f"app.Bad: {remark}: {text}\n\n{before}"
        ), same
    if name == "boxed_pane":
        return f"╭─ {sha} ─╮\n" + each(f"{text}", lambda i: "│ ", " │") + f"\n╰──╯\n{after}", same
    if name == "long_noise":
        noise = "\n".join(f"[{i}/{start + 40}] Building CXX object src/m{i}_{sha}.o" for i in range(r.randint(15, 40)))
        return f"{noise}\n{text}\n{noise[:300]}\n{before}", same
    if name == "agent_transcript":
        return (
            f"<user>{before}</user>\n<assistant>⏺ Read({file})\n  ⎿ "
            + each(text, lambda i: "     " if i else "")
            + f"\n</assistant>\n<user>{after}</user>"
        ), same
    raise ValueError(name)


SURROUNDINGS = (
    "asked",
    "mail_twice_quoted",
    "diff",
    "ci_log",
    "cat_numbered",
    "grep_hits",
    "tool_result_json",
    "json_in_json",
    "notebook_cell",
    "html_ticket",
    "yaml_block",
    "here_document",
    "compose_log",
    "coloured_terminal",
    "blame",
    "chat_export",
    "windows_paste",
    "comment_block",
    "raw_string_fixture",
    "nested_list",
    "syslog",
    "spreadsheet_cell",
    "exception",
    "boxed_pane",
    "long_noise",
    "agent_transcript",
)


def cases(seed: int) -> list[Case]:
    """Gives all cases of a seed; the surroundings come up equally often for every kind."""
    r = Random(seed)
    result: list[Case] = []
    for kind, make in KINDS.items():
        order: list[str] = []
        number = r.randrange(100)
        for language in LANGUAGES:
            for _ in range(PER_KIND_AND_LANGUAGE):
                if not order:
                    order = r.sample(SURROUNDINGS, len(SURROUNDINGS))
                fragment, secrets = make(r, language, number)
                number += 1
                name = order.pop()
                text, escape = surround(name, r, language, fragment)
                result.append(Case(kind, language, name, text, tuple(dict.fromkeys(escape(s) for s in secrets))))
    return result


# ------------------------------------------------------------------------------------------------- lines that stay

PROSE_STAYS = """
The password was rejected because it is older than ninety days.
Password: required, at least fourteen characters, no spaces
I forgot which password belongs to the staging box, where do we keep it?
password is never written to disk
Her password is stored in the vault, not in this repository.
The secret of good tests is that they fail for one reason.
Tokens are counted after the tool results have been trimmed.
If the token is missing, respond with 401 and an empty body.
Secret rotation happens quarterly; see the runbook.
The API key is read from the keychain at startup.
A passphrase of six random words beats eight odd characters.
the wifi password is on the fridge
Please don't paste credentials here.
It asks for a password although the key has none.
password → see the sealed envelope
Did you mean the private key or the public one?
Wrong password, two attempts left.
Cookies expire when the browser closes.
My seed phrase is on paper and stays there.
That bearer of bad news was the linter.
Auth: none
The login is the same as last year.
Basic authentication is switched off on every gateway.
What's the password policy for contractors?
pass: 212, fail: 3, skip: 9
Das Passwort muss mindestens vierzehn Zeichen haben.
Das Kennwort lautet wie im letzten Brief.
Passwort: siehe Tresor
Kennwort vergessen? Dann hilft nur der Betrieb.
Wer das Passwort kennt, darf auch die Daten sehen.
Der Schlüssel liegt im Schlüsselbund, nicht im Code.
Die Tokenzahl ist nach der Kürzung halb so groß.
Das Geheimnis liegt in der Reihenfolge der Tests.
Falsches Kennwort, noch zwei Versuche.
Bitte keine Zugangsdaten in den Verlauf kopieren.
Die Passphrase wird beim Start abgefragt.
Warum fragt er nach einem Passwort, obwohl der Schlüssel keins hat?
Das WLAN-Passwort hängt am Kühlschrank.
PW wie immer
Anmeldung: über den Verzeichnisdienst
Passwörter werden mit argon2id gestreut.
Der private Schlüssel bleibt auf der Karte.
Kennwortregeln stehen in Abschnitt sieben.
Ohne Kennwort geht hier gar nichts.
Das Token ist abgelaufen, bitte neu anmelden.
Le mot de passe doit compter au moins quatorze caractères.
Mot de passe oublié ? Adressez-vous à l'exploitation.
mdp : voir le coffre
Le mot de passe est incorrect.
La clé est lue dans le trousseau au démarrage.
Le secret d'un bon test, c'est qu'il échoue pour une seule raison.
Le jeton a expiré, reconnectez-vous.
Ne collez pas d'identifiants ici.
Mauvais mot de passe, encore deux essais.
Le mot de passe du wifi est sur le frigo.
Les mots de passe sont hachés avec argon2id.
La phrase secrète est demandée au lancement.
Pourquoi demande-t-il un mot de passe alors que la clé n'en a pas ?
La clé privée ne quitte jamais la carte.
Identifiant : celui de l'annuaire
Le nombre de jetons baisse de moitié après la coupe.
mot de passe : obligatoire
Sans mot de passe, rien ne marche ici.
La contraseña debe tener al menos catorce caracteres.
Contraseña: obligatoria
clave: ver la caja fuerte
La contraseña es incorrecta.
¿Olvidaste la contraseña? Habla con sistemas.
La llave se lee del llavero al arrancar.
El secreto de una buena prueba es que falle por un solo motivo.
El token caducó, vuelve a entrar.
No pegues credenciales aquí.
Contraseña errónea, quedan dos intentos.
La clave del wifi está en la nevera.
Las contraseñas se guardan con argon2id.
La frase de paso se pide al iniciar.
La clave primaria de la tabla es compuesta.
La palabra clave async no vale aquí.
Usuario: el del directorio
El número de tokens baja a la mitad tras el recorte.
Sin contraseña no se puede hacer nada.
La password deve avere almeno quattordici caratteri.
password: obbligatoria
La password è sbagliata.
Password dimenticata? Chiedi al reparto.
La chiave viene letta dal portachiavi all'avvio.
Il segreto di un buon test è che fallisca per un motivo solo.
Il token è scaduto, accedi di nuovo.
Non incollare credenziali qui.
Password errata, restano due tentativi.
La password del wifi è sul frigorifero.
Le password sono salvate con argon2id.
La chiave esterna punta alla tabella ordini.
parola chiave riservata: yield
Utente: quello della directory
Il numero di token si dimezza dopo il taglio.
Senza password qui non si fa nulla.
pwd: vedi la cassaforte
A senha deve ter pelo menos catorze caracteres.
Senha: obrigatória
A senha está errada.
Esqueceu a senha? Fale com a operação.
A chave é lida do chaveiro ao iniciar.
O segredo de um bom teste é falhar por um só motivo.
O token expirou, entre de novo.
Não cole credenciais aqui.
Senha incorreta, restam duas tentativas.
A senha do wi-fi está na geladeira.
As senhas são guardadas com argon2id.
A chave estrangeira aponta para pedidos.
palavra-chave reservada: await
Usuário: o do diretório
O número de tokens cai à metade depois do corte.
Sem senha não se faz nada aqui.
senha: ver o cofre
Пароль должен содержать не меньше четырнадцати знаков.
Пароль: обязателен
Пароль неверный.
Забыли пароль? Обратитесь к админам.
Ключ читается из связки при запуске.
Секрет хорошего теста в том, что он падает по одной причине.
Токен истёк, войдите заново.
Не вставляйте сюда учётные данные.
Неверный пароль, осталось две попытки.
Пароль от вайфая висит на холодильнике.
Пароли хранятся через argon2id.
Внешний ключ указывает на заказы.
ключевое слово yield
Логин: как в каталоге
Число токенов после обрезки вдвое меньше.
Без пароля тут ничего не сделать.
пароль: см. сейф
Закрытый ключ не покидает карту.
密码至少要有十四个字符。
密码:必填
密码不正确。
忘记密码了?找运维。
启动时从钥匙串读取密钥。
好测试的秘密在于只因一个原因失败。
令牌已过期,请重新登录。
请不要在这里粘贴凭据。
密码错误,还剩两次机会。
无线密码贴在冰箱上。
密码用 argon2id 保存。
外键指向订单表。
保留关键字:await
账号:同目录服务
裁剪之后令牌数减半。
没有密码什么也做不了。
口令:见保险柜
私钥不会离开卡片。
""".strip().split("\n")

CODE_STAYS = r"""
password: str | None = None
token: Final[Token]
def verify(password: SecretStr, digest: bytes) -> bool: ...
type Password = Brand<string, "Password">;
export interface Login { user: string; password: string; otp?: number }
pub struct Credentials { pub user: String, password: Zeroizing<String> }
Password string `json:"password,omitempty" validate:"required,min=14"`
private readonly password: string;
if (password !== passwordRepeat) return setError('mismatch');
password = getpass.getpass("Password: ")
password = os.environ["DB_PASSWORD"]
let token = std::env::var("API_TOKEN").expect("API_TOKEN not set");
const secret = process.env.WEBHOOK_SECRET ?? '';
$pass = getenv('MAIL_PASSWORD');
api_key=settings.openai.api_key.get_secret_value(),
password=self._password,
user.password = await hash(body.password);
assert "password" not in caplog.text
it('rejects an empty password', () => {
describe("token bucket", function () {
class PasswordResetTokenGenerator(TokenGenerator):
from django.contrib.auth.hashers import check_password, make_password
import { getServerSession } from "next-auth/next";
use secrecy::{ExposeSecret, SecretString};
#include <openssl/pem.h>
SELECT user_id, password_hash FROM accounts WHERE login = $1;
ALTER TABLE accounts ADD COLUMN password_changed_at timestamptz NOT NULL DEFAULT now();
GRANT SELECT ON secrets TO reporting;
CREATE USER app IDENTIFIED BY '${APP_DB_PASSWORD}';
<input type="password" name="password" autocomplete="current-password" required>
<label for="password">Passwort</label>
<PasswordField label={t('login.password')} value={password} onChange={setPassword} />
"password": {"type": "string", "format": "password", "writeOnly": true},
"password.label": "Contraseña",
"forgotPassword": "Mot de passe oublié ?",
password.too_short=Пароль слишком короткий
"secret": null,
"password": "",
"token": "<redacted>",
password: "{{ vault_db_password }}"
password: ${DB_PASSWORD:?missing}
password = var.db_password
secretKeyRef: {name: db, key: password}
valueFrom: {secretKeyRef: {name: api, key: token}}
DB_PASSWORD=${{ secrets.DB_PASSWORD }}
AWS_SECRET_ACCESS_KEY=<your-secret-access-key>
OPENAI_API_KEY=your-api-key-here
API_TOKEN=xxxxxxxxxxxxxxxx
export GITHUB_TOKEN=$(gh auth token)
PGPASSWORD="$PGPASSWORD" psql -h "$PGHOST" -U app
mysql -u root -p shop < dump.sql
mysqldump --defaults-extra-file=/run/secrets/my.cnf shop
curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/me
curl -u "$USER:$PASS" https://repo.example.com/
-H 'X-Api-Key: <API_KEY>'
docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/pg postgres:16
echo "$PASSWORD" | docker login --username ci --password-stdin
restic --password-file ~/.config/restic/pass snapshots
openssl genpkey -algorithm ed25519 -out key.pem
ssh-keygen -t ed25519 -f ~/.ssh/id_deploy -C ci@example.org
IdentityFile ~/.ssh/id_ed25519
PasswordAuthentication no
auth    required    pam_unix.so nullok
ssl_certificate_key /etc/letsencrypt/live/example.org/privkey.pem;
postgres://app:${PGPASSWORD}@db:5432/shop
postgresql://localhost:5432/shop?sslmode=disable
mongodb://<user>:<password>@cluster.example/?retryWrites=true
redis://cache:6379/0
jdbc:postgresql://db.internal:5432/ledger
https://example.org/reset-password?token=<token>
https://docs.example.org/guides/passwords-and-tokens.html#rotating-api-keys
git@github.com:example/secrets-operator.git
ERROR: password authentication failed for user "reporting"
Access denied for user 'etl'@'10.0.3.4' (using password: YES)
sudo: a password is required
Permission denied (publickey,password).
fatal: could not read Password for 'https://git.example.org': terminal prompts disabled
Enter passphrase for key '/home/mira/.ssh/id_rsa':
[sudo] password for mira:
error: invalid_client: client secret expired
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
E: unexpected token after expression, found 'secret'
warning: unused variable: `token`
DeprecationWarning: argument 'passwd' is deprecated, use 'password'
TypeError: Client.__init__() missing 1 required argument: 'api_key'
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Basic realm="intra", charset="UTF-8"
Set-Cookie: theme=dark; Path=/; SameSite=Lax
Authorization: Bearer <token>
Authorization: Bearer {access_token}
Authorization: Basic [REDACTED]
-----BEGIN PUBLIC KEY-----
-----END CERTIFICATE-----
grep -n 'BEGIN .*PRIVATE KEY' -r . || echo clean
re.compile(r"(?i)(password|passwd|pwd)\s*[:=]\s*(\S+)")
PATTERN = /\b(?:sk|pk)_(?:live|test)_[0-9a-zA-Z]{24,}\b/
password_re = regex::Regex::new(r"^[!-~]{14,}$")?;
| `password` | string | yes | The password of the account. |
| `--token` | `API_TOKEN` | Token for the upload, read from the keychain if absent |
### `secret_key`
.. option:: --password <password>
:param password: the password in clear text, never logged
@param token the token to be revoked
/// Returns the token without its prefix.
// TODO: drop the password once the key agent works
# password comes from the vault, see deploy/README
- [ ] rotate tokens, passwords and cookies
* feat(auth): hide password behind `Secret<T>`
fix: compare tokens in constant time
.password-strength__meter--weak { color: #c0392b; }
--color-token-keyword: #a626a4;
tokenizer = AutoTokenizer.from_pretrained("bert-base-multilingual-cased")
pad_token_id=tokenizer.eos_token_id
tokens = [t for t in lexer if t.kind is not Kind.SPACE]
while ((token = strtok(NULL, " ")) != NULL)
match token { Token::Ident(name) => name, _ => return Err(Unexpected) }
next_token: "end_of_list"
key = lambda row: (row.country, row.name)
PRIMARY KEY (tenant_id, key)
for key, secret in pairs.items():
keyboard: de-latin1-nodeadkeys
pass  # nothing to do here
pwd && ls -la
cd "$OLDPWD"
PWD=/home/mira/src/shop
compass: north
bypass = true
passenger_enabled on;
author: Pássaro, Inês
secretary: Mrs. Oyelaran
Keynote: 09:30, hall 4
client_secret_post, client_secret_basic, private_key_jwt
kubectl get secret db -o name
aws secretsmanager list-secrets --region eu-west-3
az keyvault secret list --vault-name kv-shop -o table
vault token lookup -format=json
gpg --list-secret-keys --keyid-format=long
pass show mail/imap | head -1
security find-generic-password -s imap -w
Get-Credential -UserName admin -Message "Password?"
[Parameter(Mandatory)][SecureString]$Password,
public bool CheckPassword(string password) => hasher.Verify(password, Hash);
func (c *Client) SetToken(token string) { c.token = token }
val password: CharArray = console.readPassword()
@JsonIgnore private String password;
attr_encrypted :password, key: ENV.fetch("ENC_KEY")
params.require(:user).permit(:login, :password, :password_confirmation)
validates :password, length: { minimum: 14 }, confirmation: true
field :password, :string, virtual: true, redact: true
wp_set_password( $password, $user_id );
$table->string('password', 60)->nullable();
static const char *password_prompt = "Password: ";
if (strcmp(argv[1], "--password-fd") == 0)
Console.WriteLine("Password accepted");
log.info("password changed for user {}", userId);
print(f"token budget: {budget}")
printf("%s\n", password ? "set" : "unset");
echo 'WIFI_PASS is not set' >&2
otpauth://totp/{issuer}:{account}?secret={secret}
seed = 1234
random.seed(20240229)
mnemonic: mov, add, sub
cookie: { httpOnly: true, secure: true, sameSite: 'lax' }
session.cookie_lifetime = 3600
""".strip().split("\n")

MADE_STAYS = (
    "commit §H",
    "index §Y..100644 docs/§d.md",
    "Merge: §Y §Y2",
    "git checkout §H -- §y",
    "sha256:§X",
    "FROM alpine@sha256:§X",
    'resolved "https://npm.example.org/§d/-/§d-§V.tgz#§H"',
    '"integrity": "sha512-§B",',
    "golang.org/x/§d v§V h1:§F=",
    'checksum = "§X"',
    "    --hash=sha256:§X \\",
    "§M  §y",
    "§X *§d-§V.tar.gz",
    'ETag: "§M"',
    'etag: W/"§Y-§R"',
    "id: §g",
    "request_id=§g status=200 in §n ms",
    "trace_id=§M span_id=§Y",
    '"session_uuid": "§g",',
    "tenant §g was created on §v",
    "SHA256:§F §u@§h (ED25519)",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI§F §u@§h",
    "nix-hash sha256-§F=",
    "MD5 (§y) = §M",
    '"usage": {"input_tokens": §R, "output_tokens": §n, "cache_read_input_tokens": §R2}',
    "max_tokens=§R",
    "tokens: §R in, §n out",
    "prompt tokens §R / completion tokens §n / cost 0.§n",
    "§R Tokens verbraucht, §n übrig",
    "il reste §n jetons sur §R",
    "用了 §R 个令牌,还剩 §n 个",
    "потрачено §R токенов из §R2",
    "tokens usados: §R",
    "token di contesto: §R",
    '{"total_tokens":§R,"tool_uses":§n}',
    "[tokens=§R] [files=§n]",
    "password_changed_at: §vT09:12:44Z",
    "password_min_length = §n",
    "login attempt §n for user §u: wrong password",
    "pass §n of §R",
    "user=§u host=§h db=§d sslmode=require",
    "postgres://§h:5432/§d",
    "https://§h/§d/tokens?page=§n&sort=asc",
    "ssh §u@§h -p §n",
    "scp §y §u@§h:/srv/§d/",
    "PASSWORD_FILE=/run/secrets/§d_password",
    "password: ${§d_PASSWORD}",
    'token = read_secret("§d/token")',
    "api_key: !vault §d/prod#api_key",
    "passwd -l §u",
    'secret "§d-tls" created',
    "key: §d.updated_at",
    "keys/§d/§v.pub",
    "cache-key: §d-§V-linux",
    "key=§d partition=§n offset=§R",
    "Secret/§d unchanged (v§n)",
    "arn:aws:iam::00§R000:role/§d-ci",
    "arn:aws:secretsmanager:eu-west-3:00§R000:secret:§d",
    "build §V+§Y of §v",
    "Image ID: sha256:§X",
    "@@ -§n,7 +§n2,9 @@ def check_password(raw):",
    '§y:§n: password = prompt("Password")',
    "§y:§n: error: Unexpected token `}`",
    "W§n §v password hashing took §n2 ms",
    "[§v 10:1§n] INFO auth token refreshed for §u",
    "§v ERROR §d: secret not found in namespace §d",
    '  File "§y", line §n, in get_token',
    "at §d.auth.Password.verify (§y:§n:17)",
    "#§n: Passwort-Dialog schließt nicht",
    "#§n: la contraseña no se borra del registro",
    "#§n: le jeton n'est pas révoqué",
    "#§n: пароль виден в журнале",
    "#§n: 修改密码后没有退出登录",
    "#§n: a senha aparece no log",
    "#§n: la password non scade",
    "#§n: password field loses focus",
    "0x§Y: call verify_password",
    "color: #§n; /* token */",
    "Blob §X (§R bytes)",
    "<§g@§h>",
    "Message-ID: <§Y.§R@§h>",
    '"sha": "§H"',
    "refs/pull/§n/head §H",
    "chunk-§Y.js  §n kB",
    "main.§Y.css",
    "data-v-§Y",
    "urn:uuid:§g",
    "PLAN §n: rotate password of §u on §h",
    "test_password_§n ... ok",
    "ok §n - token of §d is refreshed",
    "--- PASS: TestToken_§d (0.§ns)",
    "private_key_id: §H",
    "Fingerprint=§M",
    "X-Request-Id: §g",
    '"public_key": "§F="',
    "wal segment 0000000100000§Y",
)


def stays(seed: int) -> list[str]:
    """Gives 1,000 different lines without secrets."""
    r = Random(seed + 1)
    lines = dict.fromkeys(PROSE_STAYS + CODE_STAYS)
    number = 0
    while len(lines) < 1000:
        text, secrets = fill(r, "en", MADE_STAYS[number % len(MADE_STAYS)])
        if secrets:
            raise ValueError(text)
        lines[text] = None
        number += 1
    return list(lines)


def check(seed: int) -> tuple[list[Case], list[str]]:
    """Gives the data of a seed after having seen that they are sound."""
    made, kept = cases(seed), stays(seed)
    for case in made:
        if not case.secrets or any(len(s) < 6 or s not in case.text for s in case.secrets):
            raise ValueError(f"secret not in text: {case}")
        if "§" in case.text or case.text.endswith("SAY"):
            raise ValueError(f"left over: {case}")
    if len({case.text for case in made}) != len(made) or len(set(kept)) != len(kept):
        raise ValueError("texts are not different")
    if any("§" in line or not line.strip() for line in kept):
        raise ValueError("a line that stays is not whole")
    everything = "\n".join(kept)
    for case in made:
        for secret in case.secrets:
            if secret in everything:
                raise ValueError(f"a secret occurs in a line that stays: {secret}")
    return made, kept
