"""For loops of one's own, and for the clients of OpenAI and Anthropic as they are.

    create = compacted(client.chat.completions.create, manager, "chat-1")
    answer = create(model="gpt-4o", messages=history)

Errors are raised here: whoever writes the loop decides what a request that does not fit is to become.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from compact.formats import FORMATS
from compact.integrations.sending import bare
from compact.messages import dump_objects

if TYPE_CHECKING:
    from compact import CompactManager
    from compact.app.preflight import Preflight

P = ParamSpec("P")
R = TypeVar("R")


class Context(Protocol):
    """What a loop hands to its hooks before it calls the model."""

    session_id: str
    messages: list[Any]


def before_model_call(manager: CompactManager) -> Callable[[Context], None]:
    """A hook that puts the messages to send in the place of those that a loop is about to send.

    A context may have `max_tokens`, too, the limit of the answer: where it does not fit, the hook lowers it.
    """

    def compact(ctx: Context) -> None:
        wires = dump_objects(ctx.messages)
        done = manager.prepare(ctx.session_id, wires, max_tokens=getattr(ctx, "max_tokens", None))
        ctx.messages = _own(done.messages, wires, ctx.messages)
        if done.max_tokens is not None:
            cast("Any", ctx).max_tokens = done.max_tokens

    return compact


def compacted(create: Callable[P, R], manager: CompactManager, session_id: str) -> Callable[P, R]:
    """A client's `create` that sends no more than fits: of Chat Completions, Responses or Messages, sync or async.

    Nothing is patched: it is a function beside the client's own. What the client's methods give back may be put into
    the history as it is. A Responses request that continues what OpenAI keeps goes as it is.
    """
    anthropic = type(getattr(create, "__self__", None)).__module__.partition(".")[0] == "anthropic"

    if inspect.iscoroutinefunction(inspect.unwrap(create)):

        @wraps(create)
        async def create_later(*args: P.args, **given: P.kwargs) -> Any:
            if key := _key(given):
                request = _request(given, key, anthropic=anthropic)
                given.update(_changed(given, key, request, await manager.aprepare(session_id, request)))
            else:
                given.update(_bare(given))
            return await cast("Awaitable[Any]", create(*args, **given))

        return cast("Callable[P, R]", create_later)

    @wraps(create)
    def create_now(*args: P.args, **given: P.kwargs) -> R:
        if key := _key(given):
            request = _request(given, key, anthropic=anthropic)
            given.update(_changed(given, key, request, manager.prepare(session_id, request)))
        else:
            given.update(_bare(given))
        return create(*args, **given)

    return create_now


def _key(given: Mapping[str, Any]) -> str:
    """Where the request holds its history; empty where it holds none that could be compacted."""
    if given.get("previous_response_id") or given.get("conversation"):
        return ""
    key = "input" if "input" in given else "messages"
    return key if isinstance(given.get(key), list | tuple) else ""


def _bare(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent as it is holds no `meta`, either."""
    return {key: bare(given[key]) for key in ("input", "messages") if isinstance(given.get(key), list | tuple)}


def _own(sent: Sequence[Any], wires: Sequence[Any], messages: Sequence[Any]) -> list[Any]:
    """What was sent, with the very objects where they are unchanged, be they the client's own models."""
    own = {id(wire): message for wire, message in zip(wires, messages, strict=True)}
    return [own.get(id(wire), wire) for wire in sent]


def _changed(given: Mapping[str, Any], key: str, request: Mapping[str, Any], done: Preflight) -> dict[str, Any]:
    """The arguments that are sent in place of those that were given: the history, and the limit of the answer."""
    changed = {key: _own(done.messages, request[key], given[key])}
    if done.max_tokens is not None:
        changed |= FORMATS[request["format"]].with_answer_limit(_limits(given, request["format"]), done.max_tokens)
    return changed


def _request(given: Mapping[str, Any], key: str, *, anthropic: bool) -> dict[str, Any]:
    """What is sent, as far as it takes room, with the name of its format: plain text is the same in all of them."""
    tools = dump_objects(given["tools"]) if isinstance(given.get("tools"), list | tuple) else []
    request: dict[str, Any] = {key: dump_objects(given[key]), "tools": tools}
    name = "anthropic-messages" if anthropic else "openai-responses" if key == "input" else "openai-chat"
    if anthropic:
        system = given.get("system")
        request["system"] = system if isinstance(system, str | list) else None
    elif key == "input":
        told = given.get("instructions")
        request["instructions"] = told if isinstance(told, str) else None
    return request | _limits(given, name) | {"format": name}


def _limits(given: Mapping[str, Any], format: str) -> dict[str, Any]:
    """What a request says of the length of its answer."""
    places = (*FORMATS[format].answer_paths, FORMATS[format].thinking_path)
    names = {str(path[0]) for path in places if path}
    return {name: given[name] for name in names if isinstance(given.get(name), int | dict)}
