"""Undo of a manager's compactions."""

from __future__ import annotations

from compact.app.keeping import Keeper, storing
from compact.engine.sessions import Session, nothing_to_undo
from compact.errors import EditError, NotFound
from compact.messages import Json


def undo_compaction(session: Session, keeper: Keeper, number: int | None) -> list[Json]:
    """Take a compaction back, by default the last one, and return the messages without it.

    DamagedOriginals if it may be in files that were set aside.
    """
    try:
        return _without(session, keeper, number)
    except (NotFound, EditError) as error:
        lost = keeper.find_aside(session.id, error)
        if lost is None:
            raise
        raise lost from error


def _without(session: Session, keeper: Keeper, number: int | None) -> list[Json]:
    if session.projection is None:
        with storing():
            session.recollect(keeper.kept)
    before = session.current.compactions
    if not before and not session.unfit:
        raise nothing_to_undo(session.id)
    chosen = number if number is not None else (before[-1].number if before else 0)
    if session.unfit and all(done.number != chosen for done in before):
        raise session.unfit[0]
    after = session.current.without(chosen)
    left = {done.number for done in after.compactions}
    keeper.follow_on(session.id, after, [done.number for done in before])
    keeper.retract(session.id, [done.number for done in before if done.number not in left])
    session.projection = after
    return session.messages
