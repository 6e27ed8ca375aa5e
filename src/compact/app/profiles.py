"""The profiles of models: which there are, whether they can be asked, and asking them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from compact.errors import InvalidConfiguration, NotFound
from compact.messages import Json
from compact.models import Model
from compact.policies import CHEAP, Profile, Profiles, Vendor, configure, default_profile, model_of
from compact.ports import Answer, Ask, Completion, Failure, Observe
from compact.settings.keys import address_of, resolve_key, reveal_key
from compact.settings.offline import require_online
from compact.settings.profiles import change_profiles, load_profiles

if TYPE_CHECKING:
    from compact.engine import AskModel
    from compact.llm.access import Access

Source: TypeAlias = Literal["configured", "vendor"]
Credentials: TypeAlias = Literal["found", "none needed", "missing", "not looked at"]
OFFLINE = "offline"
"""What is named in place of a profile when no model is to be called."""
_PROBE = Ask("Answer with one word.", "Are you there?", 16)


@dataclass(frozen=True, slots=True)
class Standing:
    """A profile and whether it can be asked; `key` says where its key is and never what it is.

    `credentials` are "not looked at" where Amazon's or Google's own library finds them, when it asks.

    `source` is "vendor" for a vendor's usual cheap model, which is asked only when it is named. `problems` are in the
    way of asking; `remarks` are not.
    """

    profile: Profile
    source: Source
    model: Model
    key: str
    credentials: Credentials
    problems: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def ready(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Probe:
    """What became of one small question."""

    answer: Answer
    seconds: float

    @property
    def answered(self) -> bool:
        return isinstance(self.answer, Completion)

    @property
    def reason(self) -> str:
        """Why there is no answer; empty where there is one."""
        return "" if isinstance(self.answer, Completion) else self.answer.reason

    @property
    def model(self) -> str:
        """The model as it calls itself; empty where none was reached."""
        return "" if isinstance(self.answer, Failure) else self.answer.model

    @property
    def cost(self) -> Decimal | None:
        """Dollars; None where the price is unknown."""
        return None if isinstance(self.answer, Failure) else self.answer.cost


def list_profiles() -> tuple[Standing, ...]:
    """The profiles that are configured, in the order in which they are asked to condense, then the vendors' own."""
    configured = load_profiles().for_condensation()
    taken = {profile.name for profile in configured}
    others = (vendor_profile(vendor) for vendor in CHEAP if vendor != "azure" and vendor not in taken)
    return (
        *(examine(profile, "configured") for profile in configured),
        *(examine(profile, "vendor") for profile in others),
    )


def find_standing(name: str) -> Standing:
    """One of the listed profiles; NotFound names the others."""
    known = list_profiles()
    for standing in known:
        if standing.profile.name == name:
            return standing
    names = ", ".join(standing.profile.name for standing in known)
    raise NotFound(f"there is no profile {name[:80]!r}", field="name", remedy=f"Known: {names}.")


def examine(profile: Profile, source: Source = "configured") -> Standing:
    """What is known of a profile without calling its model."""
    from compact.app.recipes import resolve_recipe
    from compact.app.strategies import choose_strategy
    from compact.llm.vendors import missing_extra

    model = model_of(profile)
    problems, remarks = [], []
    credentials: Credentials
    try:
        found = resolve_key(profile)
        key = str(found)
        without: Credentials = "none needed" if profile.vendor == "compatible" else "not looked at"
        credentials = "found" if found else without
    except InvalidConfiguration as error:
        key, credentials = error.problem, "missing"
        problems.append(f"{error.problem}. {error.remedy}")
    if profile.strategy or profile.prompt:
        try:
            choose_strategy(profile=profile)
        except InvalidConfiguration as error:
            problems.append(": ".join(filter(None, (error.field, f"{error.problem}. {error.remedy}"))))
    if profile.recipe:
        try:
            resolve_recipe(profile.recipe)
        except InvalidConfiguration as error:
            remarks.append(f"the gateway cannot compact for it: {error}")
    if warning := profile.own_threshold.warning:
        remarks.append(warning)
    if extra := missing_extra(profile.vendor):
        problems.append(f"a package is missing. Install it: pip install 'compact-context[{extra}]'.")
    if model.source == "default":
        remarks.append(f"the model is not in the catalogue: a window of {model.context_window:,} tokens is assumed")
    if model.retired:
        remarks.append("the vendor has retired the model")
    if model.prices is None:
        remarks.append("its price is unknown")
    return Standing(profile, source, model, key, credentials, tuple(problems), tuple(remarks))


def vendor_profile(vendor: Vendor) -> Profile:
    """The vendor's usual cheap model, at the address to which the vendor's own SDK sends a conversation."""
    variable, url = address_of(vendor)
    try:
        return default_profile(vendor, url=url)
    except InvalidConfiguration as error:
        raise InvalidConfiguration(error.problem, field=variable or error.field, remedy=error.remedy) from None


def find_profile(name: str) -> Profile:
    """The profile of that name: a configured one, else a vendor's usual cheap model."""
    known = {profile.name: profile for profile in load_profiles().profiles}
    if name in known:
        return known[name]
    for vendor in CHEAP:
        if vendor == name:
            return vendor_profile(vendor)
    names = [*known, *(vendor for vendor in CHEAP if vendor != "azure")]
    raise InvalidConfiguration(
        f"there is no profile {name!r}",
        field="profile",
        remedy=f"Known: {', '.join(dict.fromkeys(names))}; `compact profiles` tells more.",
    )


def add_profile(values: Mapping[str, Json], approve: Callable[[Profile], None] | None = None) -> Profile:
    """Keep a new profile; InvalidConfiguration names what is wrong with it. `approve` may raise, too."""
    made = configure(Profile, values)
    _require_name(made)
    if approve is not None:
        approve(made)
    change_profiles(lambda known: _with(known.profiles, made))
    return made


def change_profile(name: str, values: Mapping[str, Json], approve: Callable[[Profile], None] | None = None) -> Profile:
    """Give some settings of a profile other values; the rest stays as it is.

    `approve` is called where its key would go elsewhere than before, and may raise.
    """
    changed: list[Profile] = []

    def change(known: Profiles) -> Profiles:
        old = _configured(known, name)
        new = configure(Profile, {**old.model_dump(exclude_unset=True), **values})
        if new.name != old.name:
            _require_name(new)
        if approve is not None and (new.vendor, new.url, new.key) != (old.vendor, old.url, old.key):
            approve(new)
        changed.append(new)
        at = known.profiles.index(old)
        return _with(known.profiles[:at], new, *known.profiles[at + 1 :])

    change_profiles(change)
    return changed[0]


def remove_profile(name: str) -> None:
    """Forget a profile; its key stays where it is."""

    def without(known: Profiles) -> Profiles:
        gone = _configured(known, name)
        return Profiles(profiles=tuple(profile for profile in known.profiles if profile is not gone))

    change_profiles(without)


def _with(known: Sequence[Profile], *new: Profile) -> Profiles:
    found = (*known, *new)
    names = [profile.name for profile in found]
    for name in names:
        if names.count(name) > 1:
            remedy = f"Choose another name, or change that one: compact profiles edit {name}."
            raise InvalidConfiguration(f"there is a profile {name!r} already", field="name", remedy=remedy)
    return Profiles(profiles=found)


def _configured(known: Profiles, name: str) -> Profile:
    for profile in known.profiles:
        if profile.name == name:
            return profile
    if name in CHEAP:
        problem = f"{name!r} is a vendor's usual model and no profile"
        raise NotFound(
            problem, field="name", remedy=f"Add one: compact profiles add {name} --vendor {name} --model NAME."
        )
    names = ", ".join(profile.name for profile in known.profiles) or "none"
    raise NotFound(f"there is no profile {name[:80]!r}", field="name", remedy=f"Configured: {names}.")


def _require_name(profile: Profile) -> None:
    if profile.name == OFFLINE:
        problem = f"{OFFLINE!r} means that no model is called"
        raise InvalidConfiguration(problem, field="name", remedy="Choose another name.")


def open_access(profiles: Sequence[Profile], observe: Observe | None = None) -> Access:
    """The models of these profiles: where one fails, the next is asked."""
    from compact.app.pricing import Summarizer
    from compact.llm.access import Access
    from compact.settings.server import upstream_networks

    return Access(
        profiles,
        key_of=reveal_key,
        observe=observe,
        reader_of=lambda profile: Summarizer.of(profile).reader,
        allowed=upstream_networks(),
    )


@contextmanager
def ask_with(profiles: Sequence[Profile], observe: Observe | None = None, *, recipe: str = "") -> Iterator[AskModel]:
    """A callback that answers the questions of one compaction with these profiles."""
    from compact.app.allowance import Allowance

    with open_access(profiles, observe) as access:
        yield access.asking(objection=Allowance(recipe).objection)


def probe(profile: Profile) -> Probe:
    """Really ask one small question; InvalidConfiguration where `COMPACT_OFFLINE` forbids it."""
    require_online()
    began = perf_counter()
    with ask_with([profile]) as ask:
        (answer,) = ask([_PROBE])
    return Probe(answer, perf_counter() - began)
