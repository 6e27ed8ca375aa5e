"""Settings and model configurations that are kept in the database, and which of them hold for a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from compact.errors import InvalidConfiguration, NotFound
from compact.messages import Json
from compact.models import Limits, find_model
from compact.policies import AnswerRoom, Decision, Profile, configure, model_of, should_condense
from compact.policies.room import USUAL_ANSWER
from compact.policies.stored import StoredSettings, migrate_stored
from compact.policies.threshold import (
    INHERIT,
    SESSIONS,
    USUAL_TARGET,
    EffectiveThreshold,
    OwnThreshold,
    check_share,
    effective_threshold,
)
from compact.ports import ModelConfig, SessionStore, StoredSession

GLOBAL = "global"
_SOURCES = ("manual", "api", "default")
"""Whose word counts most, first."""
_NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Effective:
    """What holds for a session, and for each setting where it comes from.

    That is default, global, workspace, model or session. The threshold may come from a profile, too, and a target that
    follows the threshold comes from that. `limits` are what a person has set for the model, else what its profile
    gives, else what is known of it; `answer` is the room of answers: the profile's limit, else the model's longest.
    """

    settings: StoredSettings
    model: ModelConfig
    origins: Mapping[str, str]
    threshold: EffectiveThreshold
    limits: Limits
    answer: AnswerRoom

    @property
    def window(self) -> int:
        """The size that shares refer to: the model's maximum input."""
        return self.limits.window

    def with_answer_limit(self, limit: int | None) -> Effective:
        """The same for a request that sets a limit of its own, if it does."""
        return self if limit is None else replace(self, answer=AnswerRoom.limited(limit))

    def decide(self, used: int) -> Decision:
        """Decide whether a session of so many tokens is compacted before the next request."""
        trigger = self.settings.trigger()
        return should_condense(used, trigger.divide(self.limits, self.answer), trigger)

    @property
    def sets_target(self) -> bool:
        """Whether the target was set, and does not just follow from the threshold."""
        return self.origins["target"] not in ("default", "threshold")


class Preferences:
    """Reads and writes them. Nothing is held in memory: a change holds at once for everybody who shares the store."""

    def __init__(self, store: SessionStore) -> None:
        self.check_names: Callable[[Mapping[str, Json]], None] = _accept
        """InvalidConfiguration where settings name a recipe, strategy or profile that there is not."""
        self._store = store
        self.profile_threshold: Callable[[str], OwnThreshold | None] = _none
        """The threshold of the profile that serves a model; None where none does."""
        self.serving_profile: Callable[[str], Profile | None] = _none
        """This profile itself."""
        self.answering_profile: Callable[[str], Profile | None] = _none
        """The profile that answers in sessions with a model, whichever model it has; None where that is not known."""
        self.changed: Callable[[], None] = _nobody
        """Called after settings, or what is stored of a model, were changed through this object."""

    def effective(self, session: StoredSession) -> Effective:
        """Resolve the session's settings: its own before its model's, its workspace's and the global ones.

        The limits are those of the model that answers.
        """
        own: dict[str, Json] = {} if session.automatic is None else {"automatic": session.automatic}
        model = self.model(session.model)
        effective, profile = self.resolve(session.workspace, model, own), self.answering_profile(session.model)
        if profile is None:
            return effective
        if not profile.serves(session.model):
            model = self.known_model(profile.catalogue_name) or default_config(profile.catalogue_name)
        return replace(effective, limits=limits_of(model, profile), answer=_answer(model, profile))

    def resolve(self, workspace: str, model: ModelConfig, session: Mapping[str, Json] = _NOTHING) -> Effective:
        """The same for a workspace, a model and what is set for a session itself."""
        layers = {GLOBAL: self.settings(GLOBAL), "workspace": self.settings(workspace) if workspace else {}}
        own = {"threshold": model.threshold, "retention_tokens": model.retention}
        layers["model"] = {name: value for name, value in own.items() if value is not None}
        layers["session"] = dict(session)
        values: dict[str, Json] = {}
        origins = dict.fromkeys(StoredSettings.model_fields, "default")
        for origin, layer in layers.items():
            values |= layer
            origins |= dict.fromkeys(layer, origin)
        threshold = self._threshold(layers, workspace, model, values.get("target"))
        if threshold.target != values.get("target", USUAL_TARGET):
            origins["target"] = "threshold"
        values |= {"threshold": threshold.share, "target": threshold.target}
        origins["threshold"] = threshold.source
        profile = self.serving_profile(model.model)
        settings = configure(StoredSettings, values, under="settings")
        return Effective(settings, model, origins, threshold, limits_of(model, profile), _answer(model, profile))

    def _threshold(
        self, layers: Mapping[str, Mapping[str, Json]], workspace: str, model: ModelConfig, target: Json
    ) -> EffectiveThreshold:
        """The model's own threshold before its profile's before the workspace's before the global one."""
        own = [
            OwnThreshold("model", layers["model"].get("threshold"), model.id),
            self.profile_threshold(model.model),
            OwnThreshold("workspace", layers["workspace"].get("threshold"), workspace),
            self.usual_threshold(),
        ]
        given = target if isinstance(target, int | float) else None
        return effective_threshold(filter(None, own), SESSIONS.share or 1, given)

    def usual_threshold(self) -> OwnThreshold:
        """The threshold that is set for all sessions."""
        return OwnThreshold("global", self.settings(GLOBAL).get("threshold"))

    def settings(self, scope: str = GLOBAL) -> dict[str, Json]:
        """What is set in a scope: `global`, or a workspace.

        It is read as today's settings whatever wrote it; what is no longer known is left out.
        """
        values = migrate_stored(self._store.setting(scope))
        return {name: value for name, value in values.items() if name in StoredSettings.model_fields}

    def change(self, values: Mapping[str, Json], scope: str = GLOBAL) -> Mapping[str, Json]:
        """Set some settings of a scope; None goes back to what holds without it."""
        unknown = [name for name in values if name not in StoredSettings.model_fields]
        if unknown:
            known = ", ".join(StoredSettings.model_fields)
            raise InvalidConfiguration("is no setting", field=unknown[0], remedy=f"Known settings: {known}.")
        values = {name: None if _inherits(name, value) else value for name, value in values.items()}
        whole = {**self.settings(scope), **values}
        configure(StoredSettings, {name: value for name, value in whole.items() if value is not None})
        self.check_names(values)
        self._store.set(scope, values)
        self.changed()
        return self.settings(scope)

    def model(self, name: str) -> ModelConfig:
        """The configuration of a model, by its name or by vendor:name.

        One that is seen for the first time is stored with what is known of it.
        """
        return self.known_model(name) or self._store.put_model(default_config(name))

    def known_model(self, name: str) -> ModelConfig | None:
        """What is stored of a model: by vendor:name that very one, by its name alone that of any vendor; else None.

        What a person has set goes before what a vendor told, and that before what the catalogue says.
        """
        known = default_config(name)
        ids, names = (known.id, name), () if name == known.id else (known.model, name)
        stored = self._store.models()
        found = [one for one in stored if one.id == name] or [
            one for one in stored if one.id in ids or one.model in names
        ]
        return min(found, key=lambda one: (_SOURCES.index(one.source), one.id not in ids), default=None)

    def put_model(self, config: ModelConfig) -> ModelConfig:
        """Store what a person says of a model."""
        if config.threshold == INHERIT:
            config = replace(config, threshold=None)
        _check(config)
        return self._put(replace(config, source="manual"))

    def reset_model(self, id: str) -> ModelConfig:
        """Go back to what was known of a model without anybody's word."""
        stored = {config.id: config for config in self._store.models()}
        if id not in stored:
            raise NotFound(f"there is no model {id}", field="model", remedy="`models` lists them.")
        return self._put(default_config(stored[id].model, stored[id].provider))

    def delete_model(self, id: str) -> None:
        self._store.delete_model(id)
        self.changed()

    def detected(self, configs: Iterable[ModelConfig]) -> list[ModelConfig]:
        """Store what a vendor's listing tells of its models, and give what is stored; what a person has set stays."""
        stored = {config.id: config for config in self._store.models()}
        found = []
        for config in configs:
            old, new = stored.get(config.id), replace(config, source="api")
            if old is None or old.source != "manual":
                same = old is not None and replace(old, updated="", created="") == new
                found.append(old if old is not None and same else self._put(new))
        return found

    def _put(self, config: ModelConfig) -> ModelConfig:
        put = self._store.put_model(config)
        self.changed()
        return put


def default_config(name: str, vendor: str = "") -> ModelConfig:
    """What the catalogue knows of a model; for an unknown one, 128,000 tokens."""
    facts = find_model(name)
    return ModelConfig(vendor or facts.vendor, facts.id, facts.max_input, facts.max_output)


def limits_of(config: ModelConfig, profile: Profile | None = None) -> Limits:
    """Return how many tokens the model takes, by what is stored of it and the profile that serves it.

    The window is the profile's, else the one that a vendor told, else the catalogue's. The maximum input that a person
    gives bounds the input alone: the answer may come on top of it, up to that window. Where nobody knows a window, or
    the maximum input exceeds it, that is the window itself.
    """
    sized = profile if profile and profile.context_window else None
    known, most = model_of(sized) if sized else find_model(config.model), config.max_input
    if config.source == "manual":
        window = most if known.source == "default" else max(most, known.context_window)
        return Limits(most, most, None if known.apart else window)
    if sized:
        return known.limits
    window = most + min(config.max_output or 0, most)
    if config.source == "default" and known.source == "catalogue":
        window = max(window, known.context_window)
    stated = min(known.stated_input or window, window)
    return Limits(most, most, None) if known.apart else Limits(most, max(most, stated), window)


def _answer(model: ModelConfig, profile: Profile | None) -> AnswerRoom:
    set_ = [limit for limit in (profile and profile.max_output_tokens, model.max_output) if limit]
    return AnswerRoom.limited(min(set_, default=USUAL_ANSWER))


def _none(model: str) -> None:
    """No profiles are known."""


def _nobody() -> None:
    """Nobody wants to know."""


def _accept(values: Mapping[str, Json]) -> None:
    """Take any name: what there is is not known here."""


def _inherits(name: str, value: Json) -> bool:
    return name == "threshold" and value == INHERIT


def _check(config: ModelConfig) -> None:
    if not config.provider or not config.model:
        raise InvalidConfiguration("must not be empty", field="model", remedy="Give the vendor and the model's name.")
    if config.max_input < 1000:
        raise InvalidConfiguration(
            f"{config.max_input} tokens are too few", field="max_input", remedy="Give 1,000 or more; 128,000 is usual."
        )
    try:
        check_share(INHERIT if config.threshold is None else config.threshold)
    except ValueError as error:
        raise InvalidConfiguration(str(error), field="threshold", remedy="0.95 is the usual share.") from None
    if config.retention is not None and config.retention < 0:
        raise InvalidConfiguration("must not be negative", field="retention", remedy="1,000 is usual.")
