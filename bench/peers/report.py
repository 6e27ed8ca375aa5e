"""The document: tables of what was measured, and where Compact does not come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench import readers
from bench.peers.catalogue import LEFT_OUT
from bench.peers.dollars import MODELS, PATIENCE, TARGET, TRIGGER, WINDOW
from bench.peers.measuring import SHARES
from bench.peers.standing import ENOUGH, Bill, Standing, bills, standings
from bench.peers.verdicts import verdicts

METHOD = f"""\
Every peer runs in an environment of its own, made from a lock file in `requirements/peers`, as a process that is handed
messages of Chat Completions and a budget, and gives messages back. All get the same conversations and the same
budgets, one process at a time. Nothing is random, so there are no seeds.

- **Conversations**: recorded coding sessions, each cut where the model was asked, after half and after three quarters
  of its messages.
- **Budget**: a share of the tokens before, counted as OpenAI documents it for gpt-4o. *Met* is the share of cuts in
  which the result has no more. A way that takes no budget is marked ◇.
- **Valid**: the share of results that the vendor would accept, by the rules that Compact's fake vendors apply.
- **Facts used later**: paths, identifiers and numbers that stood in the conversation before the cut and that the
  assistant wrote within the forty messages after it. They are *in context* if the result says them, *recoverable* if
  the way itself keeps them and offers a way back, and else *lost*. A result that is larger than its budget keeps facts
  easily: ways that met it in fewer than {ENOUGH:.0%} of the cuts, or that a vendor would refuse, stand in a second
  table. Cuts at which the instructions, the first request and the newest exchange alone take more than the budget are
  left out.
- **Relations**: a name with its number or its path, both used later, that stood on one line before the cut and stand on
  one line of what the assistant writes after it. One is *together* if a line of the result has both; a line is at most
  300 characters of text.
- **Time**: processor time for 100,000 tokens of input, from the peer's own types to the peer's own types; imports,
  conversions, the first call and the stand-in for a model are left out. **Memory**: the most that the process had.
- **Settings**: *documented* are those that the peer's documentation shows, with its own estimate of tokens; *best* are
  ours on its behalf: exact counts, and a configuration that aims at the budget. *Preset* is Compact as it comes.
- **Summaries** (✎) are written by one stand-in for a model: SumBasic over the lines it is shown, at most 1,000 tokens
  and a quarter of the budget. Compact's other rows ask no model.
- **What was known beforehand**: the weights by which Compact judges what is used later were fitted to sessions of
  three of these sources, so the tables below flatter it; the claims are judged on the sources held out
  (`scripts/fit_relevance.py` names them). No peer was fitted to any.
- **What was chosen after looking**: the {ENOUGH:.0%} above, which cuts are left out, the size of Compact's summaries
  and the settings called best were settled in several trial runs on some of the same sessions. Where a peer's best
  setting depends on the budget, the mildest of several that fits is looked for in every case; that is not timed."""

REPLAY = f"""\
The sessions over 100,000 tokens, request by request, with a window of {WINDOW:,} tokens: at {TRIGGER:.0%} of it the
conversation is handed over, to be brought down to {TARGET:.0%}. Prices and the prompt cache are those of
`compact replay`; summaries by the model are charged at the prices of {" and ".join(MODELS.values())}. *Refused* are
requests that were larger than the window nevertheless: they would have failed, so such a row has no price, and after
{PATIENCE} of them in a row the way is not asked again."""


def document(results: dict[str, Any]) -> str:
    """The whole of `docs/benchmarks.md`."""
    about, found, costs = results["about"], standings(results["rows"]), bills(results["replays"])
    parts = ["# Benchmarks\n", *_about(about), METHOD, "\n## Where Compact stands\n"]
    unseen = standings(row for row in results["rows"] if row["session"] in about["held_out"])
    parts.append(f"Claims about facts are judged on the {len(about['held_out'])} sessions held out.\n")
    parts += verdicts(found, unseen, costs)
    for share in SHARES:
        rows = [one for one in found if one.share == share]
        parts += [f"\n## Down to {share:.0%} of the tokens\n", *_tables(rows)]
    if costs:
        lengths = ", ".join(f"{tokens:,}" for _, tokens in about["long"])
        parts += ["\n## What long sessions cost\n", REPLAY, f"\nSessions of {lengths} tokens.\n", *_bills(costs)]
    parts += ["", readers.section()]
    parts += ["\n## Not measured\n", *(f"- {what}: {why}." for what, why in LEFT_OUT.items())]
    return "\n".join(parts) + "\n"


def _about(about: dict[str, Any]) -> Iterator[str]:
    yield "<!-- written by bench/peers; change that, not this -->\n"
    yield f"Measured on {about['date']} with Python {about['python']} ({about['machine']}) by"
    yield f"\n```text\n{about['command']}\n```\n"
    where = "the sessions below `$COMPACT_TRANSCRIPTS`" if about["transcripts"] else "the session that comes with it"
    yield f"on {where}: {'; '.join(about['notes'])}. It took {about['seconds'] / 60:.0f} minutes.\n"
    if about["runs"] > 1:
        yield f"These are {about['runs']} runs: some ways were measured again. Times differ with the machine's load.\n"
    yield ", ".join(f"{name} {number}" for name, number in about["versions"].items()) + ".\n"


def _tables(rows: Sequence[Standing]) -> Iterator[str]:
    order = sorted(rows, key=lambda one: (-one.in_context, one.milliseconds))
    yield from _table([one for one in order if one.comparable])
    if others := [one for one in order if not one.comparable]:
        yield "\nAbove the budget in too many of the cuts, or not always valid:\n"
        yield from _table(others)


def _table(rows: Sequence[Standing]) -> Iterator[str]:
    yield "| way | settings | removed | met | valid | in context | recoverable | lost | together | ms / 100k | MB |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for one in rows:
        cells = [_label(one), one.way.setting, f"{one.removed:.1%}", f"{one.met:.0%}", f"{one.valid:.0%}"]
        cells += [f"{one.in_context:.1%}", f"{one.recoverable:.1%}", f"{one.lost:.1%}", f"{one.together:.1%}"]
        cells += [f"{one.milliseconds:.0f}" if one.milliseconds >= 1 else "< 1", f"{one.memory:.0f}"]
        yield f"| {' | '.join(cells)} |"


def _label(one: Standing) -> str:
    marks = (" ✎" if one.way.asks else "") + (" ◇" if one.way.blind else "")
    failed = f" ({one.errors} errors)" if one.errors else ""
    name = f"**{one.way.label}**" if one.way.ours else one.way.label
    return name + marks + failed


def _bills(costs: Sequence[Bill]) -> Iterator[str]:
    models = list(costs[0].dollars)
    prices = " | ".join(f"{model} $" for model in models)
    yield f"| way | settings | {prices} | of it summaries | compactions | refused |"
    yield f"| --- | --- | {' | '.join('---:' for _ in models)} | ---: | ---: | ---: |"
    for bill in sorted(costs, key=lambda bill: (bill.refused > 0, bill.dollars[models[-1]])):
        label = bill.name if bill.way is None else f"**{bill.way.label}**" if bill.way.ours else bill.way.label
        amounts = [*bill.dollars.values(), bill.summaries[models[-1]]]
        cells = [
            label,
            bill.way.setting if bill.way else "",
            *("–" if bill.refused else f"{one:.2f}" for one in amounts),
        ]
        cells += [f"{bill.compactions}", f"{bill.refused} of {bill.requests}"]
        yield f"| {' | '.join(cells)} |"
