"""Which words are facts: paths, names, numbers, addresses.

A word is cut out by one linear pattern and judged by itself. Conversations repeat their words, so judgements are
remembered: a text costs little more than splitting it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from compact.facts.fact import Kind

Judgement: TypeAlias = tuple[tuple[Kind, str], ...]

WORD = re.compile(r"[A-Za-z0-9_./@#$+~À-ɏ-]{3,}")
URL = re.compile(r"https?://[^\s<>\"'`\\^{}|]+")
LONGEST = 200
_REMEMBERED = 1 << 15

# Extensions that nobody takes for an attribute: `app.py` is a file, `console.log` is not.
_EXTENSIONS = """
astro bat c cc cfg cjs clj cmake conf cpp cs css csv cts cxx dart db diff docx ex exs fs gif go gradle graphql h hpp
hs htm html ini ipynb j2 java jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock lua md mdx mjs ml mod mts nix
odt parquet patch pdf php pl plist png pptx proto ps1 pxd py pyc pyi pyx rake rb rs rst sass scala scss sh sln sqlite
sql sum svelte svg swift tar tex tf toml traj ts tsv tsx txt vue wasm webp woff2 xlsx xml yaml yml zig zip zsh
"""
_FIRST_PARTS = """
.github app apps assets backend bench bin bugfix chore cmd components config dist docs etc examples feat feature fix
frontend home hotfix include internal lib modules node_modules opt origin packages pages pkg public refactor release
scripts spec src test tests tmp upstream usr var vendor web
"""
_FILE_NAMES = "Makefile Dockerfile Gemfile Rakefile Procfile Justfile Jenkinsfile Vagrantfile CMakeLists.txt"
# Written like code, but names of the trade that say nothing about a conversation.
_TRADE_NAMES = """
AppleScript CoffeeScript DevOps FastAPI GitHub GitLab GraphQL IPv4 IPv6 JavaScript LaTeX LinkedIn MacBook McDonald
MongoDB MySQL NumPy OpenAI PayPal PhD PostgreSQL PowerShell PyTorch SQLite TypeScript WebSocket WhatsApp WiFi YouTube
eBay iOS iPad iPhone macOS
"""
# Frameworks' own names, which every model knows and every second file repeats.
_FRAMEWORK_NAMES = """
__all__ __file__ __init__ __main__ __name__ addEventListener className currentColor endsWith forEach hasOwnProperty
indexOf innerHTML isArray isFinite isinstance isNaN onBlur onChange onClick onFocus onSubmit parseFloat parseInt
preventDefault querySelector replaceAll setTimeout startsWith stopPropagation strokeLinecap strokeLinejoin strokeWidth
toISOString toLowerCase toString toUpperCase useCallback useContext useEffect useMemo useReducer useRef useState viewBox
"""
# What every program of its language says: `JSON.parse` is no more a fact than `if`.
_LANGUAGE = """
Array Date Error JSON Map Math Number Object Promise Set String bytes console context document e err errors err f fmt
self cls this super filepath fs json math np os path pd process re req res strconv strings sys time window t
"""
_extensions = frozenset(_EXTENSIONS.split())
_language = frozenset(_LANGUAGE.split())
_first_parts = frozenset(_FIRST_PARTS.split())
_file_names = frozenset(_FILE_NAMES.split())
_trade_names = frozenset((*_TRADE_NAMES.split(), *_FRAMEWORK_NAMES.split()))

_PATH = re.compile(r"(?:[~@]|\.{1,2})?/?(?:[\w.@+~#$-]+/)*[\w.@+~#$-]+/?")
_LINE_SUFFIX = re.compile(r"(\.[A-Za-z]\w{0,6})(?:-\d+(?:-\S*)?|#L\d+(?:-L?\d+)?)\Z")
_UNPLAIN = re.compile(r"[\d_.]")
_DATE = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}/\d{1,2}/\d{1,2}")
_VERSION = re.compile(r"v?(\d{1,5}(?:\.\d{1,6}){2,3}(?:[-+][\w.+-]{1,40})?)")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_HASH = re.compile(r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}")
_NUMBERED = re.compile(r"#(?:[A-Z]?\d{1,10}|[0-9a-fA-F]{6})")
_SERIAL = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9.]+)+|[A-Za-z][A-Za-z0-9]{4,}")
_STEP = re.compile(r"[a-z]+(?:-[a-z]+)*-\d{1,3}(?:\.\d)?")  # a style or a size: text-slate-400, gap-3
_SNAKE = re.compile(r"[A-Za-z0-9$]*_[A-Za-z0-9_$]+")
_SYLLABLE = re.compile(r"[A-Za-z]{2}|^__[A-Za-z]")
_RANGE = re.compile(r"[aA]-[fzFZ]")  # of characters, in a pattern
_CAMEL = re.compile(
    r"[a-z$][a-z0-9$]*[A-Z][A-Za-z0-9]*|[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]{3,}[A-Za-z0-9]*"
)
_SCOPED = re.compile(r"@[\w.-]+/[\w./-]+(?:@[\w.-]+)?")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+")
_ABBREVIATION = re.compile(r"(?:[A-Za-z]{1,2}\.)+[A-Za-z]{0,2}")


def judge_url(word: str) -> Judgement:
    """The address in what `URL` found, without the punctuation of the sentence around it."""
    url = word[: 10 * LONGEST].rstrip(".,;:!?*_~'/")
    for opening, closing in ("()", "[]"):
        while url.endswith(closing) and url.count(closing) > url.count(opening):
            url = url[:-1]
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if not host or len(word) > 10 * LONGEST:
        return ()
    return ((Kind.URL, f"{scheme}://{host.lower()}{slash}{path}"),)


@lru_cache(_REMEMBERED)
def judge(word: str) -> Judgement:
    """The paths and names in one word that `WORD` found; most words hold none."""
    word = word.rstrip(".+@$~-#").lstrip("-+")
    if not 3 <= len(word) <= LONGEST:
        return ()
    if "/" in word:
        return _judge_path(word)
    if _has_extension(word) or word in _file_names:
        return ((Kind.PATH, _LINE_SUFFIX.sub(r"\1", word)),)
    if word[0] == "#":
        return ((Kind.IDENTIFIER, word),) if _NUMBERED.fullmatch(word) else judge(word.lstrip("#"))
    return tuple((Kind.IDENTIFIER, name) for name in _names(word))


def _names(word: str) -> tuple[str, ...]:
    if "@" in word:
        return (word.lower(),) if _EMAIL.fullmatch(word) else ()
    if version := _VERSION.fullmatch(word):
        return () if _DATE.fullmatch(word) else (version[1],)
    if is_name(word):
        return (word,)
    if "." in word and _DOTTED.fullmatch(word) and not _ABBREVIATION.fullmatch(word):
        # The most specific name says it: `self.save_state` is `save_state`, but `session.State` needs both halves.
        parts = word.split(".")
        return tuple(filter(is_name, parts)) or (() if parts[0] in _language else (word,))
    return ()


def is_name(word: str) -> bool:
    """Whether a word without dots is written as only names in code, hashes or tickets are."""
    if len(word) < 3 or word in _trade_names:
        return False
    if "_" in word:
        return _SNAKE.fullmatch(word) is not None and _SYLLABLE.search(word) is not None
    if any(pattern.fullmatch(word) for pattern in (_CAMEL, _HASH, _TICKET, _UUID)):
        return True
    digits = sum(map(str.isdigit, word))
    if len(word) < 5 or digits < (1 if "-" in word else 3) or _STEP.fullmatch(word) or _RANGE.match(word):
        return False
    return _SERIAL.fullmatch(word) is not None


def _judge_path(word: str) -> Judgement:
    if word.startswith("//") or not _PATH.fullmatch(word):
        return ()
    if _SCOPED.fullmatch(word):
        return ((Kind.IDENTIFIER, word),)
    path = _LINE_SUFFIX.sub(r"\1", word.rstrip("/")).removeprefix("./")
    return ((Kind.PATH, path),) if _is_path(path.split("/")) else ()


def _is_path(parts: list[str]) -> bool:
    """Whether words between slashes are a path, and not alternatives (and/or) or a fraction (3/4)."""
    first, last = parts[0], parts[-1]
    if not any(map(str.isalpha, last)) and (first or len(parts) < 3):
        return False
    if _has_extension(last):
        return True
    if len(parts) == 1:
        return False
    if first in ("~", "..", "."):
        return len(last) > 1
    if first in ("", "…", "..."):
        return len(parts) > 2
    if first in _first_parts:
        return True
    # A hyphen is no sign: "pick-up/drop-off".
    return any(len(part) > 3 and _UNPLAIN.search(part[1:]) for part in parts) and not first[:1].isdigit()


def _has_extension(name: str) -> bool:
    stem, dot, extension = _LINE_SUFFIX.sub(r"\1", name).rpartition(".")
    return bool(dot and stem) and extension.lower() in _extensions and stem[-1] not in "/."
