"""Applying a plan, and taking it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from compact.errors import EditError
from compact.messages.blocks import Attachment, Image, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Dialect, Message, seen
from compact.messages.edits import Drop, Fold, Pass, Plan, Replace
from compact.messages.exchanges import Exchange, exchanges
from compact.messages.paths import describe, spell, value_at, with_value, without
from compact.messages.turns import ANY_ORDER, Alternation, order_of, settle, stand


def apply(conversation: Conversation, proposed: Pass) -> tuple[Conversation, Pass]:
    """The conversation after the pass, and the pass with what is needed to revert it.

    EditError where an edit addresses nothing, splits an exchange, or overlaps another one.
    """
    before = conversation.messages
    position = {message.id: index for index, message in enumerate(before)}
    after: list[Message | None] = list(before)
    folds: list[Fold] = []
    changes: defaultdict[int, list[Replace | Drop]] = defaultdict(list)
    for edit in proposed.edits:
        if isinstance(edit, Fold):
            folds.append(edit)
        else:
            changes[_find(position, edit.where.message)].append(edit)
    for index, edits in changes.items():
        after[index] = _change(conversation.dialect, before[index], edits)
    added: dict[int, list[Message]] = defaultdict(list)
    groups = exchanges(before) if folds else ()
    owner = {index: group for group in groups for index in group}
    folds.sort(key=lambda fold: min((_find(position, id) for id in fold.messages), default=0))
    for fold in folds:
        indices = [_find(position, id) for id in fold.messages]
        _require_whole(indices, owner, fold)
        for index in indices:
            if after[index] is not before[index]:
                raise EditError(f"message {before[index].id!r}: {fold.handle} and another edit overlap")
            after[index] = None
    alternation = _alternation(conversation, proposed) if folds else None
    for fold in folds:
        at = _place(position, fold, groups, before, after)
        added[at] += _summary(conversation.dialect, fold, after, at, alternation)
    messages: list[Message] = []
    done = 0
    for at in sorted(added):
        messages += (*filter(None, after[done:at]), *added[at])
        done = at
    messages += filter(None, after[done:])
    merges = False
    if folds and (alternation is not None or any(message.joined for message in messages)):
        order = alternation or ANY_ORDER
        messages = list(settle(conversation.dialect, order, messages, order_of(order, before), folds[-1].handle))
        now = {message.id: message for message in messages}
        after = [now.get(message.id) for message in before]
        merges = any(message.joined for message in messages)
    originals = tuple((index, message) for index, message in enumerate(before) if after[index] is not message)
    ids = tuple(message.id for message in messages if message.id not in position)
    applied = replace(proposed, originals=originals, added=ids, merges=merges)
    return conversation.with_messages(messages), applied


def _alternation(conversation: Conversation, proposed: Pass) -> Alternation | None:
    wanted = conversation.dialect.alternation(conversation.variant)
    return wanted if wanted is None or proposed.merges else replace(wanted, merges=False)


def apply_plan(conversation: Conversation, plan: Plan) -> tuple[Conversation, Plan]:
    """The conversation after every pass, and the passes with what is needed to revert them."""
    done = []
    for step in plan:
        conversation, applied = apply(conversation, step)
        done.append(applied)
    return conversation, tuple(done)


def restore(conversation: Conversation, plan: Plan) -> Conversation:
    """The conversation as it was before the plan; messages added since stay at the end.

    The plan is the one that `apply` gave back. EditError where it is not, or is that of another conversation.
    """
    for step in reversed(plan):
        conversation = _revert(conversation, step)
    return conversation


def _revert(conversation: Conversation, step: Pass) -> Conversation:
    if step.edits and not (step.originals or step.added):
        raise EditError(f"the pass {step.name!r} was proposed but not applied: restore with what `apply` gave back")
    gone = {message.id for _, message in step.originals}.union(step.added)
    kept = [message for message in conversation.messages if message.id not in gone]
    messages: list[Message] = []
    taken = 0
    for index, original in step.originals:
        missing = index - len(messages)
        messages += kept[taken : taken + missing]
        taken += missing
        messages.append(original)
    if taken > len(kept):
        raise EditError(f"the pass {step.name!r} belongs to another conversation: messages it kept are missing")
    return conversation.with_messages([*messages, *kept[taken:]])


def _find(position: dict[str, int], id: str) -> int:
    try:
        return position[id]
    except KeyError:
        raise EditError(f"there is no message {id!r}") from None


def _change(dialect: Dialect, message: Message, edits: Sequence[Replace | Drop]) -> Message | None:
    """The message with its wire object patched and read again; None when nothing is left of it."""
    wire = message.wire
    by_place, dropped = _sorted(message, edits)
    encoded: defaultdict[int, dict[Path, str]] = defaultdict(dict)
    for place, replaces in by_place.items():
        target = _block(message, place[0])
        if isinstance(target, ToolCall) and isinstance(target.raw, str):
            encoded[place[0]][place[1]] = _argument(target, place[1], replaces)
        else:
            wire = _replace(dialect, message, wire, place, replaces)
    for index, values in encoded.items():
        target = message.blocks[index]
        if isinstance(target, ToolCall):
            wire = with_value(wire, target.path, spell(target, values))
    for block in sorted(dropped, reverse=True):
        target = _block(message, block)
        if not isinstance(target, Reasoning):
            raise EditError(f"block {block} of message {message.id!r} is no reasoning, so it cannot be dropped")
        if not target.path:
            return None
        wire = without(wire, target.path)
    changed = dialect.parse_message(dialect.edited(wire), message.id)
    if not changed.blocks and message.blocks:
        return None
    if (changed.protected, changed.joined) == (message.protected, message.joined):
        return changed
    return replace(changed, protected=message.protected, joined=message.joined)


def _sorted(
    message: Message, edits: Sequence[Replace | Drop]
) -> tuple[dict[tuple[int, Path], list[Replace]], set[int]]:
    """The replacements by their places, and the blocks that are dropped; EditError where any two overlap."""
    if len(edits) == 1 and isinstance(edit := edits[0], Replace) and isinstance(edit.with_, str):
        return {(edit.where.block, edit.where.path): [edit]}, set()
    by_place: defaultdict[tuple[int, Path], list[Replace]] = defaultdict(list)
    dropped: set[int] = set()
    for edit in edits:
        block, path = edit.where.block, edit.where.path
        if isinstance(edit, Replace):
            text: object = edit.with_  # providers are other people's code
            if not isinstance(text, str):
                raise EditError(f"message {message.id!r}: a replacement is a text, not {type(text).__name__}")
            by_place[block, path].append(edit)
        elif path or edit.where.lines is not None or block in dropped:
            raise EditError(f"message {message.id!r}: reasoning is dropped whole, and once")
        else:
            dropped.add(block)
    for block, path in by_place if len(edits) > 1 else ():
        if block in dropped or any((block, path[:length]) in by_place for length in range(len(path))):
            raise EditError(f"message {message.id!r}: edits overlap")
    return by_place, dropped


def _block(message: Message, index: int) -> object:
    if not 0 <= index < len(message.blocks):
        raise EditError(f"message {message.id!r} has no block {index}")
    return message.blocks[index]


def _replace(
    dialect: Dialect, message: Message, wire: object, place: tuple[int, Path], edits: Sequence[Replace]
) -> object:
    index, path = place
    block = _block(message, index)
    if isinstance(block, ToolCall):
        return with_value(wire, block.path + path, _argument(block, path, edits))
    if path and not isinstance(block, ToolResult):
        raise EditError(f"block {index} of message {message.id!r} has nothing at {describe(path)}")
    part = _part(block, path) if isinstance(block, ToolResult) else block
    if isinstance(part, Text):
        return with_value(wire, part.path, _rewrite(part.text, edits))
    if isinstance(part, Image | Attachment):
        return with_value(wire, part.path, dialect.text_part(_rewrite(None, edits), message.role))
    kind = part.kind if isinstance(part, Opaque) else type(part).__name__
    raise EditError(f"block {index} of message {message.id!r} ({kind}) cannot be edited")


def _argument(call: ToolCall, path: Path, edits: Sequence[Replace]) -> str:
    """What becomes of a value in the arguments of a call."""
    old = value_at(call.arguments, path)
    if not path:
        raise EditError("the arguments of a call are replaced value by value, not whole")
    return _rewrite(old, edits)


def _part(result: ToolResult, path: Path) -> Part:
    if len(path) == 1 and isinstance(path[0], int) and 0 <= path[0] < len(result.parts):
        return result.parts[path[0]]
    raise EditError(f"a result has no part {describe(path)}")


def _rewrite(old: object, edits: Sequence[Replace]) -> str:
    """The text with its spans replaced, or the one replacement of the whole."""
    if edits[0].where.lines is None:
        if len(edits) > 1:
            raise EditError(f"message {edits[0].where.message!r}: edits overlap")
        return edits[0].with_
    if not isinstance(old, str):
        raise EditError(f"message {edits[0].where.message!r}: only text has lines")
    lines = old.split("\n")
    out: list[str] = []
    at = 0
    for start, end, new in sorted((*(edit.where.lines or (0, 0)), edit.with_) for edit in edits):
        if not at <= start < end <= len(lines):
            raise EditError(f"message {edits[0].where.message!r}: lines {start}-{end} overlap or do not exist")
        out += lines[at:start]
        out.append(new)
        at = end
    return "\n".join([*out, *lines[at:]])


def _require_whole(indices: Sequence[int], owner: dict[int, Exchange], fold: Fold) -> None:
    chosen = set(indices)
    if not chosen or len(chosen) < len(fold.messages):
        raise EditError("a fold names each of its messages once, and at least one")
    if any(member not in chosen for index in indices for member in owner[index]):
        raise EditError(f"{fold.handle} would split the exchange of message {fold.messages[0]!r}")


def _place(
    position: dict[str, int],
    fold: Fold,
    groups: Sequence[Exchange],
    before: Sequence[Message],
    after: Sequence[Message | None],
) -> int:
    """Where the fold's message stands: before the oldest kept message after it that nothing pins to its place.

    Never behind what followed all that was folded, nor inside a kept exchange.
    """
    places = [position[id] for id in fold.messages]
    oldest, newest = min(places), max(places)
    if fold.first:
        return _ahead_of_system(before, oldest)
    first = next((message for message in seen(before) if message.from_user), None)
    ahead = {-1 if first is None else position[first.id], position.get(fold.behind)}
    at = next(
        (
            index
            for index in range(oldest + 1, len(before))
            if (message := after[index]) is not None and (index > newest or (index not in ahead and not message.fixed))
        ),
        len(before),
    )
    for group in reversed(groups):
        if group[0] < at <= group[-1] and any(after[index] is not None for index in group if index < at):
            at = group[0]
    return at


def _ahead_of_system(messages: Sequence[Message], at: int) -> int:
    while at and messages[at - 1].role == "system":
        at -= 1
    return at


def _summary(
    dialect: Dialect, fold: Fold, after: Sequence[Message | None], at: int, alternation: Alternation | None
) -> list[Message]:
    earlier, later = [[message for message in part if message is not None] for part in (after[:at], after[at:])]
    return stand(dialect, fold, earlier, later, alternation)
