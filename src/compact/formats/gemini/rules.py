"""What the API rejects, in the order in which it complains.

Neighbouring contents of the model are one turn: Gemini does not ask for strict alternation. But a content with calls
does not follow one in which the model only speaks: text and calls belong into one content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from compact.formats.format import Finding, Request, Rule, text_of
from compact.messages import Json

VARIANTS: tuple[str, ...] = ("gemini", "vertex")

Part: TypeAlias = dict[str, Json]

# Goes with a part's data and is none itself. A signature is: the model sends it on a part with empty text.
_BESIDES = frozenset(
    {
        "thought",
        "videoMetadata",
        "video_metadata",
        "mediaResolution",
        "media_resolution",
        "partMetadata",
        "part_metadata",
    }
)
_NAME = re.compile(r"gemini-(\d{1,3})(?:\.(\d{1,3}))?")


def _contents(body: Mapping[str, Json]) -> list[Json]:
    found = body.get("contents")
    return found if isinstance(found, list) else []


def _role(content: Json) -> str:
    return text_of(content.get("role")) or "user" if isinstance(content, dict) else ""


def _parts(content: Json) -> list[Part]:
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _call(part: Part) -> Json:
    return part.get("functionCall") or part.get("function_call")


def _response(part: Part) -> Json:
    return part.get("functionResponse") or part.get("function_response")


def _calls(content: Json) -> list[Part]:
    return [part for part in _parts(content) if _call(part)]


def _responses(content: Json) -> int:
    return sum(1 for part in _parts(content) if _response(part))


def _model(body: Mapping[str, Json]) -> tuple[str, tuple[int, int]]:
    """The model's name and version; (0, 0) where the name does not say."""
    name = text_of(body.get("model")).lower()
    found = _NAME.search(name)
    return name, (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _empty_contents(request: Request) -> Iterator[Finding]:
    for index, content in enumerate(_contents(request.body)):
        if isinstance(content, dict) and content.get("parts") in (None, []):
            where = f"GenerateContentRequest.contents[{index}].parts"
            yield Finding(index, f"* {where}: contents.parts must not be empty.")


def _empty_parts(request: Request) -> Iterator[Finding]:
    for index, content in enumerate(_contents(request.body)):
        parts = content.get("parts") if isinstance(content, dict) else None
        for position, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict) and not part.get("text") and not _has_data(part):
                where = f"GenerateContentRequest.contents[{index}].parts[{position}].data"
                yield Finding(index, f"* {where}: required oneof field 'data' must have one initialized field")


def _has_data(part: Part) -> bool:
    return any(value not in (None, "") and key not in _BESIDES for key, value in part.items())


def _calls_without_a_cause(request: Request) -> Iterator[Finding]:
    before = previous = ""
    contents = _contents(request.body)
    for index, content in enumerate(contents):
        role = _role(content)
        if role != previous:
            before, previous = previous, role
        follows_text = index > 0 and role == _role(contents[index - 1]) and not _calls(contents[index - 1])
        if role == "model" and (follows_text or before not in ("user", "function")) and _calls(content):
            yield Finding(
                index,
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn.",
            )


def _answers(request: Request) -> Iterator[tuple[int, int, int]]:
    """Each content that is not the model's: its index, how many calls it should answer and how many it does."""
    due, previous = 0, ""
    for index, content in enumerate(_contents(request.body)):
        role = _role(content)
        if role == "model":
            due = len(_calls(content)) + (due if previous == "model" else 0)
        else:
            yield index, due, _responses(content)
            due = 0
        previous = role


def _uncalled(request: Request) -> Iterator[Finding]:
    for index, due, given in _answers(request):
        if given and not due:
            text = "Please ensure that function response turn comes immediately after a function call turn."
            yield Finding(index, text)


def _miscounted(request: Request) -> Iterator[Finding]:
    """The names do not matter, only the numbers."""
    wrong = [index for index, due, given in _answers(request) if due and given != due]
    for index in (*wrong, *_open_at_the_end(_contents(request.body))):
        yield Finding(
            index,
            "Please ensure that the number of function response parts is equal to the number of function call "
            "parts of the function call turn.",
        )


def _open_at_the_end(contents: list[Json]) -> list[int]:
    """The last content with calls, if nothing comes after the model's turn to answer them."""
    start = len(contents)
    while start and _role(contents[start - 1]) == "model":
        start -= 1
    if any(map(_responses, contents[start:])):
        return []
    return [index for index in range(start, len(contents)) if _calls(contents[index])][-1:]


def _mixed_answers(request: Request) -> Iterator[Finding]:
    for index, _, given in _answers(request):
        if given and given < len(_parts(_contents(request.body)[index])):
            yield Finding(
                index,
                f"contents[{index}] holds function responses and other parts: Gemini accepts it, but ignores the other "
                "parts or answers with an empty candidate.",
                status=200,
            )


def _unsigned(request: Request) -> Iterator[tuple[int, str]]:
    """The first call of each step of the current turn, if it lacks its signature: where it is, and its name.

    The current turn is all that follows the last content in which the user says something; a step is a run of the
    model's contents.
    """
    name, version = _model(request.body)
    if version < (3, 0) or "image" in name:
        return
    contents = _contents(request.body)
    start = max((index for index, content in enumerate(contents) if _says_something(content)), default=-1) + 1
    called = False
    for index in range(start, len(contents)):
        if _role(contents[index]) != "model":
            called = False
        elif not called and (calls := _calls(contents[index])):
            called = True
            if not (calls[0].get("thoughtSignature") or calls[0].get("thought_signature")):
                call = _call(calls[0])
                yield index, text_of(call.get("name")) if isinstance(call, dict) else ""


def _says_something(content: Json) -> bool:
    return _role(content) == "user" and any(not _response(part) for part in _parts(content))


def _unsigned_gemini(request: Request) -> Iterator[Finding]:
    for index, name in _unsigned(request):
        yield Finding(
            index,
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
            "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
            f"function call `default_api:{name}` , position {index + 1}. Please refer to "
            "https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
        )


def _unsigned_vertex(request: Request) -> Iterator[Finding]:
    for index, name in _unsigned(request):
        yield Finding(
            index,
            f"Unable to submit request because function call `{name}` in the {index + 1}. content block is missing a "
            "`thought_signature`. Learn more: "
            "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
        )


def _ends_with_model(request: Request) -> Iterator[Finding]:
    name, version = _model(request.body)
    if version >= (3, 6) or (version == (3, 5) and "flash-lite" in name):
        for index in _final_model_turn(request):
            yield Finding(index, "Requests ending with a model turn are not supported.")


def _ends_with_model_older(request: Request) -> Iterator[Finding]:
    for index in _final_model_turn(request):
        text = "Please ensure that multiturn requests ends with a user role or a function response."
        yield Finding(index, text)


def _final_model_turn(request: Request) -> Iterator[int]:
    contents = _contents(request.body)
    if contents and _role(contents[-1]) == "model":
        parts = _parts(contents[-1])
        if not parts or not _response(parts[-1]):
            yield len(contents) - 1


_SIGN = (
    "Send each function call of the current turn with the thoughtSignature it came with; where it is lost, "
    '"skip_thought_signature_validator" stands in for it.'
)

RULES: tuple[Rule, ...] = (
    Rule(
        id="G5",
        name="parts-not-empty",
        seen="2026-11",
        source="error",
        remedy="Drop the content, or put a placeholder text in it.",
        find=_empty_contents,
    ),
    Rule(
        id="G6",
        name="part-has-data",
        seen="2026-11",
        source="error",
        remedy="Drop the empty part, or put a placeholder text in it.",
        find=_empty_parts,
    ),
    Rule(
        id="G1",
        name="calls-follow-user-or-response",
        seen="2026-11",
        source="error",
        remedy="Keep the user content before the call, or put a user content (a summary, say) in front.",
        find=_calls_without_a_cause,
    ),
    Rule(
        id="G2",
        name="responses-follow-their-calls",
        seen="2026-11",
        source="error",
        remedy="Keep calls and responses together: restore the call right before its response, or drop both.",
        find=_uncalled,
    ),
    Rule(
        id="G3",
        name="as-many-responses-as-calls",
        seen="2026-11",
        source="error",
        remedy="Put one response for each call into the one content right after the calls, or drop the calls too.",
        find=_miscounted,
    ),
    Rule(
        id="G4",
        name="responses-stand-alone",
        seen="2026-11",
        source="error",
        remedy="Move what the user says into a content of its own, after the responses.",
        find=_mixed_answers,
        optional=True,
    ),
    Rule(
        id="G7",
        name="current-calls-signed",
        seen="2026-11",
        source="documentation",
        remedy=_SIGN,
        find=_unsigned_gemini,
        variants=frozenset({"gemini"}),
    ),
    Rule(
        id="G7v",
        name="vertex-current-calls-signed",
        seen="2026-11",
        source="error",
        remedy=_SIGN,
        find=_unsigned_vertex,
        variants=frozenset({"vertex"}),
    ),
    Rule(
        id="G8",
        name="ends-with-user-or-response",
        seen="2026-11",
        source="error",
        remedy="End with a user content or a function response; drop the model's content at the end.",
        find=_ends_with_model,
    ),
    Rule(
        id="G8b",
        name="ends-with-user-or-response-older",
        seen="2026-11",
        source="error",
        remedy="End with a user content or a function response; drop the model's content at the end.",
        find=_ends_with_model_older,
        optional=True,
    ),
)
