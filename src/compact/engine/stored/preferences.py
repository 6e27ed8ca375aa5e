"""Settings and model configurations that are kept in the database, and which of them hold for a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compact.errors import InvalidConfiguration, NotFound
from compact.messages import Json
from compact.models import find_model
from compact.policies import configure
from compact.policies.stored import StoredSettings, migrate_stored
from compact.ports import ModelConfig, SessionStore, StoredSession

GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Effective:
    """What holds for a session, and for each setting where it comes from: default, global, workspace or model."""

    settings: StoredSettings
    model: ModelConfig
    origins: Mapping[str, str]

    @property
    def window(self) -> int:
        return self.model.max_input


class Preferences:
    """Reads and writes them. Nothing is held in memory: a change holds at once for everybody who shares the store."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def effective(self, session: StoredSession) -> Effective:
        """What holds for the session: its model's own values before its workspace's before the global ones."""
        return self.resolve(session.workspace, self.model(session.model))

    def resolve(self, workspace: str, model: ModelConfig) -> Effective:
        """The same for a workspace and a model."""
        layers = [(GLOBAL, self.settings(GLOBAL))]
        if workspace:
            layers.append(("workspace", self.settings(workspace)))
        own = {"threshold": model.threshold, "retention_tokens": model.retention}
        layers.append(("model", {name: value for name, value in own.items() if value is not None}))
        values: dict[str, Json] = {}
        origins = dict.fromkeys(StoredSettings.model_fields, "default")
        for origin, layer in layers:
            values |= layer
            origins |= dict.fromkeys(layer, origin)
        return Effective(configure(StoredSettings, values, under="settings"), model, origins)

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
        whole = {**self.settings(scope), **values}
        configure(StoredSettings, {name: value for name, value in whole.items() if value is not None})
        self._store.set(scope, values)
        return self.settings(scope)

    def model(self, name: str) -> ModelConfig:
        """The configuration of a model, by its name or by vendor:name.

        One that is seen for the first time is stored with what is known of it.
        """
        known = default_config(name)
        stored = self._store.models()
        wanted = ((known.id, name), (known.model, name))
        found = [one for one in stored if one.id in wanted[0]] or [one for one in stored if one.model in wanted[1]]
        return found[0] if found else self._store.put_model(known)

    def put_model(self, config: ModelConfig) -> ModelConfig:
        """Store what a person says of a model."""
        _check(config)
        return self._store.put_model(replace(config, source="manual"))

    def reset_model(self, id: str) -> ModelConfig:
        """Go back to what was known of a model without anybody's word."""
        stored = {config.id: config for config in self._store.models()}
        if id not in stored:
            raise NotFound(f"there is no model {id}", field="model", remedy="`models` lists them.")
        return self._store.put_model(default_config(stored[id].model, stored[id].provider))

    def delete_model(self, id: str) -> None:
        self._store.delete_model(id)

    def detected(self, configs: Iterable[ModelConfig]) -> list[ModelConfig]:
        """Store what a vendor's listing tells of its models, and give what is stored; what a person has set stays."""
        stored = {config.id: config for config in self._store.models()}
        found = []
        for config in configs:
            old, new = stored.get(config.id), replace(config, source="api")
            if old is None or old.source != "manual":
                same = old is not None and replace(old, updated="", created="") == new
                found.append(old if old is not None and same else self._store.put_model(new))
        return found


def default_config(name: str, vendor: str = "") -> ModelConfig:
    """What the catalogue knows of a model; for an unknown one, 128,000 tokens."""
    facts = find_model(name)
    return ModelConfig(vendor or facts.vendor, facts.id, facts.max_input, facts.max_output)


def _check(config: ModelConfig) -> None:
    if not config.provider or not config.model:
        raise InvalidConfiguration("must not be empty", field="model", remedy="Give the vendor and the model's name.")
    if config.max_input < 1000:
        raise InvalidConfiguration(
            f"{config.max_input} tokens are too few", field="max_input", remedy="Give 1,000 or more; 128,000 is usual."
        )
    if config.threshold is not None and not 0 < config.threshold <= 1:
        raise InvalidConfiguration("must lie between 0 and 1", field="threshold", remedy="0.95 is the usual share.")
    if config.retention is not None and config.retention < 0:
        raise InvalidConfiguration("must not be negative", field="retention", remedy="1,000 is usual.")
