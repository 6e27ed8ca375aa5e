"""Writes docs/configuration.md, the reference of every setting, and docs/compact.schema.json for editors."""

from __future__ import annotations

import json
from pathlib import Path

from compact.messages import Json
from compact.policies import CompactConfig
from compact.policies.fields import Setting, meanings_of_groups, schema_of, settings_of
from compact.settings.compaction import variables_of

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "configuration.md"
SCHEMA = DOCS / "compact.schema.json"

HEAD = """# Configuration

<!-- Written by scripts/document_config.py. -->

How a `CompactManager` works is said by a `CompactConfig`: in the program, in a file, in the environment, or in all of
them.

```python
import os
from pathlib import Path

from compact import CompactConfig

Path("compact.yaml").write_text("model: gpt-4o\\npolicy:\\n  trigger_pct: 0.85\\n  keep_recent_turns: 8\\n")
os.environ["COMPACT_TRIGGER_PCT"] = "0.9"

config = CompactConfig.load(strategy="decision_log")
assert config.policy.trigger_pct == 0.9  # the variable goes before the file
assert config.policy.keep_recent_turns == 8
assert config.policy.strategy == "decision_log"  # and a keyword before both
own = CompactConfig(model="gpt-4o").policy
assert (own.trigger_pct, own.keep_recent_turns) == (0.85, 6)  # neither the variable nor the file
```

| first | keywords | `CompactConfig.load(model="gpt-4o", trigger_pct=0.9, storage={"adapter": "none"})` |
| --- | --- | --- |
| then | environment | the variables below; those of the policy also as in `COMPACT_POLICY_TRIGGER_PCT` |
| then | file | the one given, else `compact.yaml`, `compact.yml` or `compact.json` in the working directory |
| last | default | the values below |

`CompactConfig(...)` itself reads nothing. `CompactConfig.load()` reads the environment, and the file in the working
directory. A program that works in folders of others should name its file, `CompactConfig.load("/etc/myapp/compact.yaml")`, because
that file decides where transcripts and traces are written.

In variables a list is JSON or has commas between its texts (`COMPACT_REDACTION_KEYS=badge,employee_id`), and a flag is
`true` or `false`, `1` or `0`, `on` or `off`. An empty variable empties what is empty by default, such as
`COMPACT_TRACING_ARIADNE=`; anywhere else it counts as not set. One that resembles a setting and is none is reported
by `compact config show`.

An error names the setting, what it takes, and where it was given:

```python
from compact.errors import InvalidConfiguration
from compact.settings.compaction import gather

try:
    gather(environment={"COMPACT_MODEL": "gpt-4o", "COMPACT_TRIGGER_PCT": "9"}).config()
except InvalidConfiguration as error:
    assert error.field == "policy.trigger_pct"
    assert error.problem.startswith("must be a share from 0.05 to 1 (5% to 100%), or -1 to inherit")
    assert error.problem.endswith("from COMPACT_TRIGGER_PCT")
```

## Thresholds

A threshold is the share of the window at which a conversation is compacted: from 5% to 100%, which is 0.05 to 1 for
`trigger_pct` and 5 to 100 for the `threshold` of a [profile](profiles.md). -1 inherits, as if it was not set. The first
of these that is set is in force:

1. the `threshold` of the first [profile](profiles.md) for conversations with the manager's model,
2. `policy.trigger_pct`,
3. the default, 0.85.

The [gateway](gateway.md) also goes by what is stored for [sessions](sessions.md): a model's own threshold before its
profile's, and the one for all after `policy.trigger_pct`. The page of `compact serve` sets and shows both under Settings,
Thresholds.

A compaction comes down to `policy.target_pct`. Where that is not set, it is half of the window, and at most 59% of the
threshold: a threshold of 40% comes down to 23.5%. A `target_pct` that is not below `trigger_pct` is an error if both
are set. One that is not below a profile's threshold is not used for that profile; the target follows the threshold.

Whatever the threshold, a conversation is compacted where it does not fit with its answer. A threshold of 1 (100%) leaves
only that.

`compact config show` says which threshold is in force and where it was set, `manager.threshold` says it in a program,
and every `compact.trigger_decision` event carries it.

```python
from compact import CompactConfig, CompactManager
from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles

save_profiles(Profiles(profiles=(Profile(name="work", vendor="openai", model="gpt-4o", threshold=40),)))
with CompactManager(CompactConfig(model="gpt-4o", profile="offline")) as manager:
    assert (manager.threshold.share, manager.threshold.target) == (0.4, 0.235)
    assert manager.threshold.origin == "profile work"
```

## Room for the answer

Input, answer and a buffer fit into the window together; where the vendor counts the answer apart, as Google does, input
and buffer fit into the largest input. A largest input that the vendor states, such as 272,000 of the 400,000 tokens of
GPT-5, holds in a window that you set, too, unless you set a larger one than the catalogue knows.

| | a manager, the gateway | stored sessions, the chat |
| --- | --- | --- |
| the answer's room | the limit in the request (`max_tokens`, `max_completion_tokens`, `max_output_tokens`, `maxOutputTokens`), else `max_output_tokens` of the profile, else the model's longest answer, at most 8,192 tokens | the same, but the model's longest answer as it is; 8,192 tokens where that is not known |
| the buffer | `policy.hard_cap_buffer`, 1,500 tokens | 5% of the maximum input |

A conversation that has more is compacted, although it is below its threshold, and the target is lowered in proportion.
If answer and buffer want more than half of the window, they do not get it by compaction: the limit of the answer is
lowered to what is left. The same is done beside a large system prompt, or whatever else must stay, where a compaction
would soon be due again. The limit is never lowered below 1,024 tokens, nor to the budget of `thinking` or less; a limit
that is shorter by itself stays. What does not fit even so is `InsufficientBudget`.

```python
from compact import CompactConfig, CompactManager

messages = [{"role": "user", "content": "word " * 3_000}]
with CompactManager(CompactConfig(model="gpt-4o", max_context_tokens=8_000, profile="offline")) as manager:
    fits = manager.prepare("a", {"messages": messages, "max_tokens": 2_000})
    greedy = manager.prepare("b", {"messages": messages, "max_tokens": 6_000})
assert (fits.max_tokens, fits.compacted) == (None, False)
assert greedy.max_tokens == 8_000 - 1_500 - greedy.tokens_after
```

## Size in bytes

Images and files take few tokens and many bytes, and vendors refuse requests that are too large: Anthropic above 32 MB,
OpenAI above 50 MB, Google and Bedrock above 20 MB. So a manager and the gateway compact at `trigger_pct` of that size,
too. Where only bytes are too many, the oldest images and files go, down to `target_pct` of it, and all text stays;
those in the latest step, in the latest request and in protected messages are kept. `undo` brings them back. For models
of other vendors no such limit is known.

## Files

YAML is read safely: no tags, no aliases, no name twice, at most a megabyte. Keys of vendors have no place in the file;
they belong to [profiles](profiles.md), by reference. Nor has `seal_key`, which [signs accounts](security.md#the-seal):
set `COMPACT_SEAL_KEY`, which holds for `condense`, the command line, the gateway and stored sessions as well, or pass
it to `CompactConfig`. `compact config show` tells whether it is set, and nothing shows it.

## On the command line

```console
$ compact config init
$ compact config show
$ compact config check compact.yaml
$ compact config schema --output compact.schema.json
```

[`compact config`](command-line.md#compact-config) tells more.

## In an editor

The JSON Schema is [compact.schema.json](compact.schema.json), or `compact config schema`. Editors that speak YAML's
language server take it from a first line `# yaml-language-server: $schema=compact.schema.json`; in JSON it is a key,
`"$schema": "compact.schema.json"`, which Compact passes over.

## From older settings

`compact config migrate FILE` reads Roo Code's settings, by themselves or in an exported file, and those with a version.

| older | now |
| --- | --- |
| `autoCondenseContextPercent: 75` | `policy.trigger_pct: 0.75` |
| `autoCondenseContext: false` | `policy.automatic: false`: only `manual_compact` compacts |
| `profileThresholds` | `threshold` of each profile in `profiles.yaml`; -1 and what is no percentage are left out |
| `condensingApiConfigId` | `profile`, by its name where the file tells it |
| `customCondensingPrompt` | a file of prompts (`--prompt NAME`), which a profile names: `prompt: file:NAME` |
| `provider` | `policy.provider` |
| `version: v1`, `v2`, `v3` | `policy.preset` of the same name |

What has no counterpart is reported in comments of the new file.
"""  # noqa: E501 - rows of tables


def document() -> str:
    """The reference as it should be."""
    groups, settings = meanings_of_groups(CompactConfig), settings_of(CompactConfig)
    return HEAD + "".join(
        f"\n## {_title(group)}\n\n{meaning}\n\n{_table([each for each in settings if each.group == group])}"
        for group, meaning in groups.items()
    )


def schema() -> str:
    """The JSON Schema as it should be."""
    return json.dumps(schema_of(CompactConfig), indent=2, ensure_ascii=False) + "\n"


def _title(group: str) -> str:
    return f"`{group}`" if group else "Settings"


def _table(settings: list[Setting]) -> str:
    rows = "".join(
        f"| `{each.name}` | {_cell(each.meaning)} | {each.takes} | {_default(each)} | `{variables_of(each)[0]}` |\n"
        for each in settings
    )
    return f"| setting | means | takes | default | variable |\n| --- | --- | --- | --- | --- |\n{rows}"


def _default(setting: Setting) -> str:
    return "needed" if setting.needed else f"`{_written(setting.default)}`"


def _written(value: Json) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
    SCHEMA.write_text(schema(), encoding="utf-8")
