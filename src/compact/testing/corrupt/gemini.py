"""What Gemini rejects, provoked."""

from __future__ import annotations

from random import Random

from compact.messages import Json
from compact.testing.corrupt.spoil import corruptions, pick
from compact.testing.generate.dice import Body
from compact.testing.generate.gemini import NEWEST

_CALL = ("functionCall", "function_call")
_ANSWER = ("functionResponse", "function_response")
_SIGNATURE = ("thoughtSignature", "thought_signature")


def _holds(part: Json, keys: tuple[str, ...]) -> bool:
    return any(key in part for key in keys)


def _with(body: Body, keys: tuple[str, ...]) -> list[int]:
    """The positions of the contents with such a part."""
    return [i for i, content in enumerate(body["contents"]) if any(_holds(part, keys) for part in content["parts"])]


def _model(text: str = "So") -> Json:
    return {"role": "model", "parts": [{"text": text}]}


def _forget_beginning(body: Body, rng: Random) -> bool:
    calls = _with(body, _CALL)
    if not calls:
        return False
    del body["contents"][: rng.choice(calls)]
    return True


def _interrupt_answers(body: Body, rng: Random) -> bool:
    index = pick(rng, _with(body, _ANSWER))
    if index is None:
        return False
    body["contents"].insert(index, {"role": "user", "parts": [{"text": "Wait."}]})
    return True


def _drop_calls(body: Body, rng: Random) -> bool:
    index = pick(rng, _with(body, _CALL))
    if index is None:
        return False
    body["contents"][index] = _model()
    return True


def _drop_answer(body: Body, rng: Random) -> bool:
    index = pick(rng, [i for i in _with(body, _ANSWER) if len(body["contents"][i]["parts"]) > 1])
    if index is None:
        return False
    body["contents"][index]["parts"].pop(rng.randrange(len(body["contents"][index]["parts"])))
    return True


def _repeat_answer(body: Body, rng: Random) -> bool:
    index = pick(rng, _with(body, _ANSWER))
    if index is None:
        return False
    parts = body["contents"][index]["parts"]
    parts.append(dict(parts[0]))
    return True


def _speak_beside_answers(body: Body, rng: Random) -> bool:
    index = pick(rng, _with(body, _ANSWER))
    if index is None:
        return False
    body["contents"][index]["parts"].append({"text": "And then?"})
    return True


def _empty_parts(body: Body, rng: Random) -> bool:
    rng.choice(body["contents"])["parts"] = []
    return True


def _empty_part(body: Body, rng: Random) -> bool:
    rng.choice(body["contents"])["parts"].append(rng.choice(({}, {"text": ""})))
    return True


def _forget_signature(body: Body, rng: Random) -> bool:
    """Takes the signature off a step of the current turn."""
    answers = set(_with(body, _ANSWER))
    asked = max(i for i, content in enumerate(body["contents"]) if content["role"] == "user" and i not in answers)
    index = pick(rng, [i for i in _with(body, _CALL) if i > asked])
    if index is None or not body["model"].startswith("gemini-3"):
        return False
    for part in body["contents"][index]["parts"]:
        for key in _SIGNATURE:
            part.pop(key, None)
    return True


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
