"""Conversations in a database that always fit their model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from compact.app.allowance import Allowance
from compact.app.costing import Metered, record_spending
from compact.app.counting import counter_for
from compact.app.estimating import Asking
from compact.app.pricing import Summarizer
from compact.app.profiles import OFFLINE, find_profile, open_access
from compact.app.recipes import resolve_recipe
from compact.app.strategies import tailor_stored
from compact.app.summarizers import choose_summarizers
from compact.app.threads import in_thread
from compact.app.thresholds import profile_threshold, serving_profile
from compact.engine import Asker, AskModel, NoModel
from compact.engine.callback import require_callback
from compact.engine.stored.compaction import Compacted, Job, compact_session
from compact.engine.stored.revising import Revisions
from compact.engine.stored.service import Preview, SessionService, Wish
from compact.errors import CompactError, InvalidConfiguration
from compact.messages import Json
from compact.models import find_model, input_limit
from compact.models.spending import Charge
from compact.policies import Profile
from compact.policies.room import USUAL_ANSWER
from compact.policies.stored import StoredSettings
from compact.ports import CompactionFacts, Event, Failure, Found, ModelConfig, Observe, StoredMessage, StoredSession
from compact.ports.closeable import Closeable
from compact.providers import Recipe
from compact.settings import database
from compact.settings.keys import reveal_key
from compact.settings.offline import require_online
from compact.settings.profiles import load_profiles
from compact.settings.seals import seal_of
from compact.summaries.model.strategy import DEFAULT, custom_strategy, find_strategy

__all__ = ["Detection", "StoredSessions", "Summaries", "Wish"]

if TYPE_CHECKING:
    from compact.llm.access import Access
    from compact.llm.listing import Limits, Listing

_AT_ONCE = 8
_SHARE = 4
"""The part of a window that is left to the answer, up to the usual room, where no vendor says how long it may be."""


@dataclass(frozen=True, slots=True)
class Detection:
    """What became of asking a profile's vendor for its models: `named` in all, of which `told` with their limits.

    `stored` are those that no person had set before. `problem` says why the vendor told nothing.
    """

    profile: str
    named: int = 0
    told: int = 0
    stored: tuple[ModelConfig, ...] = ()
    problem: str = ""


class Summaries(Revisions):
    """The summaries of stored sessions."""

    aregenerate = in_thread(Revisions.regenerate)
    aedit = in_thread(Revisions.edit)
    atake_over = in_thread(Revisions.take_over)
    aundo = in_thread(Revisions.undo)
    astanding = in_thread(Revisions.standing)


class StoredSessions(SessionService, Closeable):
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

        require_callback(ask)
        self._open = ExitStack()
        store = open_store(url or database())
        self._open.callback(store.close)
        self._asking = Lock()
        self._given = ask
        self._accesses: dict[tuple[Profile, ...], Access] = {}
        ask_with: Callable[[str, Recipe, Observe], Asker] = (lambda *_: ask) if ask else self._profile
        recipe_for = partial(_recipe, asks_profiles=ask is None)
        super().__init__(store, counter_for, ask_with, recipe_for, observe or _ignore)
        self.preferences.check_names = _check_names
        self.seal = seal_of()
        self.preferences.profile_threshold = profile_threshold
        self.preferences.serving_profile = serving_profile
        self.summaries = Summaries(self)

    def sessions(
        self, workspace: str | None = None, *, limit: int = 100, after: str | None = None
    ) -> list[StoredSession]:
        """The sessions, the one changed last first.

        `after` is where the page before ended: `cursor_of` (`compact.sessions.cursors`) its last session, which stays
        there whatever becomes of that, or its id.
        """
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
        return self.store.models()

    def detect(self, profile: str = "") -> tuple[Detection, ...]:
        """Ask vendors how much their models read and write, and store what they tell; what a person has set stays.

        The one of a profile is asked, or those of all profiles that are configured, each address once.
        """
        require_online()
        profiles = (find_profile(profile),) if profile else load_profiles().profiles
        each = list({(one.vendor, one.url, one.key): one for one in reversed(profiles)}.values())[::-1]
        if not each:
            return ()
        with ThreadPoolExecutor(min(_AT_ONCE, len(each))) as pool:
            return tuple(map(self._detected, each, pool.map(_listed, each)))

    def preview(self, id: str, wish: Wish | None = None) -> Preview:
        """What `compress` would do, and about what it would cost; no model is called, and nothing is changed."""
        wish, session = wish or Wish(), self.session(id)
        settings = self.preferences.effective(session).settings
        if wish.offline:
            return self.foresee(id, wish, None)
        try:
            first = _first_profile(settings) if self._given is None else None
        except InvalidConfiguration as error:
            seen = self.foresee(id, wish, None)
            return replace(
                seen, warnings=(*seen.warnings, str(error)), charge=Charge(cost=None), priced_by=settings.profile
            )
        if first is None and self._given is None:
            return self.foresee(id, wish, None)
        recipe = resolve_recipe(settings.recipe or None)
        model = find_model(session.model)
        asking = Asking(recipe.name, [Summarizer.of(first) if first else Summarizer.unknown(model)])
        seen = self.foresee(id, wish, asking)
        if first is None:  # nobody knows what a callback costs
            return replace(seen, charge=replace(asking.charge, cost=None), priced_by="ask")
        return replace(seen, charge=asking.charge, priced_by=f"{first.name} ({first.model})")

    def compacted(self, job: Job, ask: Asker, observe: Observe) -> Compacted:
        """The compacted session; what a profile's model takes for it is recorded beside what was expected."""
        if self._given is not None or ask is None or isinstance(ask, NoModel):
            return super().compacted(job, ask, observe)
        summarizers = [
            Summarizer.of(profile) for profile in choose_summarizers(job.settings.profile, recipe=job.recipe).profiles
        ]
        asking = Asking(job.recipe.name, summarizers)
        with suppress(CompactError):
            compact_session(job, asking)
        metered = Metered(ask)
        facts: CompactionFacts | str = ""
        try:
            done = super().compacted(job, metered, observe)
            facts = done.report.facts
        finally:
            record_spending(job.recipe.name, summarizers, metered, asking.charge, facts)
        return done

    acreate = in_thread(SessionService.create)
    aappend = in_thread(SessionService.append)
    acontext = in_thread(SessionService.context)
    aprepare = in_thread(SessionService.prepare)
    acompress = in_thread(SessionService.compress)
    apreview = in_thread(preview)
    apin = in_thread(SessionService.pin)
    aset_automatic = in_thread(SessionService.set_automatic)
    aacknowledge = in_thread(SessionService.acknowledge)
    ausage = in_thread(SessionService.usage)
    asessions = in_thread(sessions)
    asession = in_thread(session)
    ahistory = in_thread(history)
    asearch = in_thread(search)
    adelete = in_thread(delete)
    amodels = in_thread(models)
    adetect = in_thread(detect)

    def close(self) -> None:
        """Let go of the database and of connections to models."""
        self._open.close()

    def _detected(self, profile: Profile, listing: Listing | Failure) -> Detection:
        if isinstance(listing, Failure):
            return Detection(profile.name, problem=listing.reason)
        stored = self.preferences.detected(_configs(profile, listing.models))
        return Detection(profile.name, listing.named, len(listing.models), tuple(stored))

    def _profile(self, name: str, recipe: Recipe, observe: Observe) -> Asker:
        """What asks the models of a profile and of a recipe's passes, or why no model is called.

        Profiles are read anew each time: one that is configured while the program runs is asked from then on.
        """
        chosen = choose_summarizers(name, recipe=recipe)
        if not chosen:
            return NoModel(chosen.reason)
        profiles = chosen.profiles
        with self._asking:
            if profiles not in self._accesses:
                self._accesses[profiles] = self._open.enter_context(open_access(profiles))
            return self._accesses[profiles].asking(observe, Allowance(recipe.name).objection)


def _check_names(values: Mapping[str, Json]) -> None:
    """InvalidConfiguration where settings name something there is not, before a compression fails for it."""
    given = {name: value for name, value in values.items() if isinstance(value, str) and value}
    if "recipe" in given:
        resolve_recipe(given["recipe"])
    base = find_strategy(given.get("strategy", DEFAULT))
    if "prompt" in given:
        custom_strategy(given["prompt"], base)
    if given.get("profile", OFFLINE) != OFFLINE:
        find_profile(given["profile"])


def _recipe(settings: StoredSettings, *, asks_profiles: bool) -> Recipe:
    """The recipe of a session, with its own words for summaries or those of the profile that is asked first."""
    profile = None
    with suppress(InvalidConfiguration):  # it is reported when a model is to be asked
        profile = _first_profile(settings) if asks_profiles else None
    return tailor_stored(resolve_recipe(settings.recipe or None), settings, profile)


def _first_profile(settings: StoredSettings) -> Profile | None:
    """The profile that is asked first."""
    recipe = resolve_recipe(settings.recipe or None)
    return next(iter(choose_summarizers(settings.profile, recipe=recipe).profiles), None)


def _listed(profile: Profile) -> Listing | Failure:
    from compact.llm.listing import list_limits
    from compact.settings.server import upstream_networks

    try:
        return list_limits(profile, reveal_key(profile), allowed=upstream_networks())
    except InvalidConfiguration as error:
        return Failure(str(error), "unconfigured")


def _configs(profile: Profile, told: Iterable[Limits]) -> Iterable[ModelConfig]:
    """What the vendor tells, under the names by which sessions look models up; of two for one, the smaller."""
    found: dict[str, ModelConfig] = {}
    for limits in told:
        known = find_model(profile.model_copy(update={"model": limits.model}).catalogue_name)
        name = known.id if known.source == "catalogue" else limits.model
        most, output = limits.max_input, limits.max_output or known.max_output
        if limits.max_output is None and profile.vendor != "gemini":  # what is told is the window
            output = output or min(USUAL_ANSWER, most // _SHARE)
            most = input_limit(most, output)
        config = ModelConfig(known.vendor, name, most, output)
        if config.id not in found or config.max_input < found[config.id].max_input:
            found[config.id] = config
    return found.values()


def _ignore(session: str, event: Event) -> None:
    """No callback was given."""
