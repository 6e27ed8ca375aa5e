"""Conversations in a database that always fit their model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from compact.app.counting import counter_for
from compact.app.profiles import ask_with, condensing_profiles
from compact.app.threads import in_thread
from compact.engine import Asking, AskModel
from compact.engine.stored.revising import Revisions
from compact.engine.stored.service import SessionService
from compact.policies import Profile
from compact.ports import Event, Found, ModelConfig, StoredMessage, StoredSession
from compact.settings import database


class Summaries(Revisions):
    """The summaries of stored sessions."""

    aregenerate = in_thread(Revisions.regenerate)
    aedit = in_thread(Revisions.edit)
    atake_over = in_thread(Revisions.take_over)
    aundo = in_thread(Revisions.undo)
    astanding = in_thread(Revisions.standing)


class StoredSessions(SessionService):
    """Stores conversations in SQLite or PostgreSQL, and compresses them before they outgrow their model.

    `url` is a file, or an address such as postgresql://host/name; by default a file in Compact's own folder. `prepare`
    gives what is to be sent; `append` stores what was said and answered. Every method has an asynchronous twin whose
    name begins with an a. It may be used from many threads, and from many machines on one PostgreSQL.
    """

    def __init__(
        self,
        url: str | Path = "",
        *,
        ask: AskModel | None = None,
        observe: Callable[[str, Event], None] | None = None,
    ) -> None:
        from compact.sessions import open_store

        self._open = ExitStack()
        store = open_store(url or database())
        self._open.callback(store.close)
        self._asking = Lock()
        self._asked: dict[tuple[Profile, ...], AskModel] = {}
        given = Asking().now(ask) if ask else None
        super().__init__(store, counter_for, (lambda _: given) if given else self._profile, observe or _nobody)
        self.summaries = Summaries(self)

    def sessions(
        self, workspace: str | None = None, *, limit: int = 100, after: str | None = None
    ) -> list[StoredSession]:
        """The sessions, the one changed last first; `after` is the id of the last one of the page before."""
        return self.store.sessions(workspace, limit=limit, after=after)

    def session(self, id: str) -> StoredSession:
        """A session without its messages."""
        return self.store.session(id)

    def history(self, id: str, *, after: int = -1, limit: int = 100) -> list[StoredMessage]:
        """The messages after a position, whether a request still contains them or not."""
        return self.store.history(id, after=after, limit=limit)

    def search(
        self, text: str, *, session: str | None = None, workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        """Where all the words stand, in one session or in all of them."""
        return self.store.search(text, session=session, workspace=workspace, limit=limit)

    def delete(self, id: str) -> None:
        """Delete a session with all that belongs to it."""
        self.store.delete(id)

    def models(self) -> list[ModelConfig]:
        """What is known of, or set for, the models that were used, detected or added."""
        return self.preferences.models()

    acreate = in_thread(SessionService.create)
    aappend = in_thread(SessionService.append)
    acontext = in_thread(SessionService.context)
    aprepare = in_thread(SessionService.prepare)
    acompress = in_thread(SessionService.compress)
    apreview = in_thread(SessionService.preview)
    apin = in_thread(SessionService.pin)
    aacknowledge = in_thread(SessionService.acknowledge)
    ausage = in_thread(SessionService.usage)
    asessions = in_thread(sessions)
    asession = in_thread(session)
    ahistory = in_thread(history)
    asearch = in_thread(search)
    adelete = in_thread(delete)
    amodels = in_thread(models)

    def close(self) -> None:
        """Let go of the database and of connections to models."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _profile(self, name: str) -> AskModel | None:
        """What asks the model of a profile; None where nobody is configured, so that no model is asked.

        Profiles are read anew each time: one that is configured while the program runs is asked from then on.
        """
        profiles = condensing_profiles(name)
        if not profiles:
            return None
        with self._asking:
            if profiles not in self._asked:
                self._asked[profiles] = Asking().now(self._open.enter_context(ask_with(profiles)))
            return self._asked[profiles]


def _nobody(session: str, event: Event) -> None:
    """Nobody watches."""
