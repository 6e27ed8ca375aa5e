"""What Gemini rejects, provoked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from compact.messages import Json
from compact.testing.corrupt.spoil import at, corruptions
from compact.testing.generate.dice import Body
from compact.testing.generate.gemini import NEWEST

_SIGNATURE = ("thoughtSignature", "thought_signature")


def _with(*keys: str) -> Callable[[Body], list[int]]:
    """Finds the positions of the contents with such a part."""
    return lambda body: [
        index
        for index, content in enumerate(body["contents"])
        if any(key in part for part in content["parts"] for key in keys)
    ]


_calls = _with("functionCall", "function_call")
_answers = _with("functionResponse", "function_response")


def _model(text: str = "So") -> Json:
    return {"role": "model", "parts": [{"text": text}]}


@at(_calls)
def _forget_beginning(body: Body, rng: Random, index: int) -> None:
    del body["contents"][:index]


@at(_answers)
def _interrupt_answers(body: Body, rng: Random, index: int) -> None:
    body["contents"].insert(index, {"role": "user", "parts": [{"text": "Wait."}]})


@at(_calls)
def _drop_calls(body: Body, rng: Random, index: int) -> None:
    body["contents"][index] = _model()


@at(lambda body: [index for index in _answers(body) if len(body["contents"][index]["parts"]) > 1])
def _drop_answer(body: Body, rng: Random, index: int) -> None:
    parts = body["contents"][index]["parts"]
    parts.pop(rng.randrange(len(parts)))


@at(_answers)
def _repeat_answer(body: Body, rng: Random, index: int) -> None:
    parts = body["contents"][index]["parts"]
    parts.append(dict(parts[0]))


@at(_answers)
def _speak_beside_answers(body: Body, rng: Random, index: int) -> None:
    body["contents"][index]["parts"].append({"text": "And then?"})


@at(lambda body: body["contents"])
def _empty_parts(body: Body, rng: Random, content: Json) -> None:
    content["parts"] = []


@at(lambda body: body["contents"])
def _empty_part(body: Body, rng: Random, content: Json) -> None:
    content["parts"].append(rng.choice(({}, {"text": ""})))


def _current_calls(body: Body) -> list[int]:
    """Those of the current turn that must be signed."""
    answers = set(_answers(body))
    asked = max(i for i, content in enumerate(body["contents"]) if content["role"] == "user" and i not in answers)
    return [i for i in _calls(body) if i > asked and body["model"].startswith("gemini-3")]


@at(_current_calls)
def _forget_signature(body: Body, rng: Random, index: int) -> None:
    for part in body["contents"][index]["parts"]:
        for key in _SIGNATURE:
            part.pop(key, None)


def _end_with_model(body: Body, rng: Random) -> bool:
    body["contents"].append(_model())
    return True


def _end_with_new_model(body: Body, rng: Random) -> bool:
    return body["model"] == NEWEST and _end_with_model(body, rng)


CORRUPTIONS = corruptions(
    {
        "G1": [_forget_beginning],
        "G2": [_interrupt_answers, _drop_calls],
        "G3": [_drop_answer, _repeat_answer],
        "G4": [_speak_beside_answers],
        "G5": [_empty_parts],
        "G6": [_empty_part],
        "G7": [_forget_signature],
        "G7v": [_forget_signature],
        "G8": [_end_with_new_model],
        "G8b": [_end_with_model],
    }
)
