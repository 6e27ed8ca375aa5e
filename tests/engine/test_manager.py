from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from compact.app import counter_for
from compact.engine.guard import ATTEMPTS, COOLDOWN
from compact.engine.manager import Condensation, Occasion, ProfileConfig, ProviderManager
from compact.errors import CondensationStalled, InvalidConfiguration, TokenCountError
from compact.formats import parse, render
from compact.messages import Conversation, EditKind, Fold, Json, Pass, protect, restore
from compact.messages.seals import is_summary
from compact.policies import Configuration, Threshold
from compact.ports import Answer, Ask, Completion, Failure
from compact.providers import Capabilities, Steps, Task, ask, propose
from compact.providers.native import Reason
from compact.tokens import Counter, Meter

LONG = "The parser reads a line, splits it at commas and keeps the rest for the next round. " * 10
COUNTER = counter_for("gpt-4o")
# Twenty messages of about 190 tokens are 3,800: over the threshold of this window, under that of twice as much.
WINDOW = 4000
THRESHOLD = Threshold(share=0.9, buffer_share=0.05)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Scripted:
    """A provider whose passes are given: each is a fold of these messages, or an error to raise."""

    id = "scripted"
    name = "Scripted"
    description = "Does as told."
    version = "1"
    capabilities = Capabilities()
    settings: type[Configuration] = Configuration

    def __init__(self, *script: tuple[str, ...] | Exception) -> None:
        self.script = script

    def condense(self, task: Task, settings: Any) -> Steps:
        for number, entry in enumerate(self.script):
            if isinstance(entry, Exception):
                raise entry
            yield from propose(Pass(f"pass {number}", (Fold(entry, "gone", EditKind.OTHER),)))


class Asking(Scripted):
    """Asks two profiles, and does nothing."""

    def condense(self, task: Task, settings: Any) -> Steps:
        answers = yield from ask(Ask("Summarize.", "All.", 100, profile="cheap"), Ask("Summarize.", "All.", 100))
        yield from propose(Pass("asked", (), tuple(repr(answer) for answer in answers)))


def summarize(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    return tuple(Completion("What happened.", cost=Decimal("0.01")) for _ in asks)


def talk(turns: int = 20) -> Conversation:
    return parse([{"role": ("user", "assistant")[n % 2], "content": f"{n}: {LONG}"} for n in range(turns)])


def manager(*providers: Scripted, **profiles: ProfileConfig) -> ProviderManager:
    made = ProviderManager(COUNTER, threshold=THRESHOLD, profiles=profiles)
    for provider in providers:
        made.register(provider)
        made.switch(provider.id)
    return made


def notes(result: Condensation) -> str:
    assert result.report is not None
    return "\n".join(result.report.notes)


def skipped(result: Condensation) -> list[str]:
    assert result.report is not None
    return [report.skipped for report in result.report.passes]


def test_native_is_the_default_and_switching_takes_effect_at_once() -> None:
    made = manager()
    assert made.active.id == "native"
    made.switch("truncation")
    assert made.active.id == "truncation"
    with pytest.raises(InvalidConfiguration, match="'magic' is unknown"):
        made.switch("magic")
    assert made.active.id == "truncation"


def test_registered_providers_are_listed_and_take_the_place_of_their_namesakes() -> None:
    made = manager()
    mine = Scripted()
    mine.id = "native"
    made.register(mine)
    assert made.active is mine
    assert [listed.id for listed in made.providers()] == ["lossless", "truncation", "smart", "layers", "native"]
    assert made.providers()[-1].origin == "registered"
    with pytest.raises(InvalidConfiguration, match="Registered here: native"):
        made.provider("magic")


@pytest.mark.parametrize(
    ("percent", "effective", "warned"),
    [(-1, 0.9, False), (5, 0.05, False), (100, 1.0, False), (4, 0.9, True), (101, 0.9, True)],
)
def test_a_profile_has_its_own_threshold_or_inherits(percent: float, effective: float, warned: bool) -> None:
    config = manager(work=ProfileConfig(percent)).effective("work")
    assert config.threshold.share == pytest.approx(effective)
    assert [f"threshold {percent} is outside 5-100" in warning for warning in config.warnings] == [True] * warned
    assert config.threshold.buffer_share == THRESHOLD.buffer_share


def test_the_profile_without_a_name_holds_for_all_that_say_nothing() -> None:
    made = ProviderManager(
        COUNTER,
        active="truncation",
        profiles={
            "": ProfileConfig(80, {"truncation": {"preserve_recent": 9, "max_result_lines": 7}, "smart": {}}),
            "work": ProfileConfig(-1, {"truncation": {"preserve_recent": 2}}),
            "home": ProfileConfig(60),
        },
    )
    work, home = made.effective("work"), made.effective("home")
    assert [config.threshold.share for config in (work, home)] == [pytest.approx(0.8), pytest.approx(0.6)]
    assert work.settings.model_dump()["preserve_recent"] == 2
    assert home.settings.model_dump()["preserve_recent"] == 9
    assert work.settings.model_dump()["max_result_lines"] == home.settings.model_dump()["max_result_lines"] == 7


def test_wrong_settings_give_way_to_the_defaults_with_a_warning() -> None:
    made = manager(work=ProfileConfig(settings={"native": {"max_summary_tokens": 1}}))
    config = made.effective("work")
    assert config.settings == config.provider.settings()
    assert "native.max_summary_tokens" in config.warnings[0]
    result = made.condense(talk(), Occasion(WINDOW, profile="work"), summarize)
    assert result.plan
    assert "its defaults hold" in notes(result)


def test_a_provider_without_usable_settings_gives_way_to_native() -> None:
    class Demanding(Scripted):
        class Settings(Configuration):
            depth: int

        settings = Settings

    config = manager(Demanding()).effective()
    assert config.provider.id == "native"
    assert len(config.warnings) == 2


def test_below_the_threshold_nothing_is_tried() -> None:
    conversation = talk()
    result = manager().condense_if_needed(conversation, Occasion(2 * WINDOW), summarize)
    assert (result.conversation, result.plan, result.report) == (conversation, (), None)
    assert not result.decision.triggered


def test_at_the_threshold_it_condenses_to_below_it() -> None:
    conversation = talk()
    made = manager()
    result = made.condense_if_needed(conversation, Occasion(WINDOW), summarize)
    assert result.decision.triggered
    assert result.report is not None
    assert result.report.target == WINDOW * 0.9 // 2
    assert result.report.target_met
    assert result.report.provider == "Native"
    # The conversation fills the window, so with room for instructions and answer it takes three questions.
    assert (result.report.passes[0].asked, result.report.cost) == (3, Decimal("0.03"))
    assert not made.should_condense(result.report.tokens_after, WINDOW).triggered
    assert [is_summary(message) for message in result.conversation.messages] == [False, True, False, False, False]
    assert 0 < result.report.kept_prefix < result.report.tokens_after
    assert render(restore(result.conversation, result.plan)) == render(conversation)


def test_a_low_threshold_has_a_lower_target() -> None:
    result = manager(low=ProfileConfig(5)).condense_if_needed(talk(), Occasion(60_000, profile="low"), summarize)
    assert result.report is not None
    assert result.report.target == 1500


def test_it_condenses_on_demand_whatever_the_threshold() -> None:
    result = manager().condense(talk(), Occasion(100 * WINDOW), summarize)
    assert len(result.plan) == 1
    assert result.report is not None
    assert result.report.target is None


def test_the_same_without_blocking() -> None:
    async def later(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        await asyncio.sleep(0)
        return summarize(asks)

    made = manager()
    for now, then in (
        (made.condense_if_needed, made.condense_if_needed_async),
        (made.condense, made.condense_async),
    ):
        result = asyncio.run(then(talk(), Occasion(WINDOW), later))
        assert result.conversation == now(talk(), Occasion(WINDOW), summarize).conversation
        assert result.plan


def test_a_pass_that_fails_gives_way_to_the_next() -> None:
    # The first message must stay, and the second pass names one that is not there.
    made = manager(Scripted(("0",), ("missing",), tuple(map(str, range(1, 15)))))
    result = made.condense_if_needed(talk(), Occasion(WINDOW))
    assert [bool(why) for why in skipped(result)] == [True, True, False]
    assert len(result.plan) == 1
    assert notes(result) == ""


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_provider_that_raises_gives_way_to_native_and_keeps_what_it_achieved(asynchronous: bool) -> None:
    async def later(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return summarize(asks)

    made = manager(Scripted(("1", "2"), ZeroDivisionError("division by zero")))
    if asynchronous:
        result = asyncio.run(made.condense_if_needed_async(talk(), Occasion(WINDOW), later))
    else:
        result = made.condense_if_needed(talk(), Occasion(WINDOW), summarize)
    assert "Scripted failed (ZeroDivisionError: division by zero), so Native took over" in notes(result)
    assert [done.name for done in result.plan] == ["pass 0", "Summary"]
    assert render(restore(result.conversation, result.plan)) == render(talk())


def test_what_is_no_provider_at_all_gives_way_to_native() -> None:
    class Hollow(Scripted):
        def condense(self, task: Task, settings: Any) -> Any:
            return None

    class Babbling(Scripted):
        def condense(self, task: Task, settings: Any) -> Any:
            yield "a step"

    class Confused(Scripted):
        def condense(self, task: Task, settings: Any) -> Steps:
            yield from propose(Pass("odd", ("an edit",)))  # type: ignore[arg-type]  # the point

    for provider in (Hollow(), Babbling(), Confused()):
        result = manager(provider).condense_if_needed(talk(), Occasion(WINDOW), summarize)
        assert "so Native took over" in notes(result)
        assert result.plan[-1].name == "Summary"


def test_native_does_not_take_over_from_itself() -> None:
    def count(text: str) -> int:
        if "lets the work go on" in text:
            raise ValueError("cannot count a prompt")
        return len(text) // 4

    made = ProviderManager(Counter(Meter("gpt-4o", "openai", "o200k_base"), count), threshold=THRESHOLD)
    result = made.condense_if_needed(talk(40), Occasion(WINDOW), summarize)
    assert "Native failed (ValueError: cannot count a prompt)" in notes(result)
    assert "took over" not in notes(result)
    assert {done.name for done in result.plan} == {"Sliding window"}


def test_a_profile_that_cannot_be_asked_gives_way_to_the_conversations_model() -> None:
    def answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(Failure("no key") if ask.profile else Completion("Here.") for ask in asks)

    result = manager(Asking()).condense(talk(), Occasion(WINDOW), answer)
    assert skipped(result)[0].count("Completion") == 2
    assert "the condensing model could not be asked (no key), so the conversation's own was" in notes(result)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda asks: (None, None), "a NoneType is no answer"),
        (lambda asks: 1 / 0, "ZeroDivisionError"),
        (lambda asks: (), "2 questions were asked, and 0 answers came"),
    ],
)
def test_a_model_that_nobody_can_ask_is_a_failure_not_an_exception(answer: Any, problem: str) -> None:
    assert problem in skipped(manager(Asking()).condense(talk(), Occasion(WINDOW), answer))[0]


def test_nor_is_one_that_is_awaited() -> None:
    async def broken(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        raise ConnectionError("unreachable")

    made = manager(Asking())
    assert "unreachable" in skipped(asyncio.run(made.condense_async(talk(), Occasion(WINDOW), broken)))[0]
    offline = asyncio.run(manager().condense_async(talk(), Occasion(WINDOW)))
    assert any(map(is_summary, offline.conversation.messages))


def test_with_nobody_to_ask_the_summary_is_made_offline() -> None:
    conversation = talk(40)
    result = manager().condense_if_needed(conversation, Occasion(WINDOW))
    assert any(map(is_summary, result.conversation.messages))
    assert result.report is not None
    assert result.report.cost is None
    assert result.report.tokens_after <= result.decision.budget
    assert render(restore(result.conversation, result.plan)) == render(conversation)


def test_where_the_model_fails_native_says_so_and_the_oldest_messages_go() -> None:
    conversation = talk(40)
    result = manager().condense_if_needed(conversation, Occasion(WINDOW), lambda asks: (Failure("away"),) * len(asks))
    assert Reason.named_in(skipped(result)[0]) is Reason.HANDLER_INVALID
    assert "were still over" in notes(result)
    assert result.report is not None
    assert result.report.tokens_after <= result.decision.budget
    assert render(restore(result.conversation, result.plan)) == render(conversation)


def test_a_target_below_the_floor_is_told_with_its_numbers() -> None:
    conversation = protect(talk(), range(15))
    result = manager().condense_if_needed(conversation, Occasion(WINDOW, target=500), summarize)
    floor = result.floor
    assert floor is not None
    assert floor.count == 16
    assert floor.total == floor.frame + floor.messages
    assert f"the target of 500 tokens is out of reach: {floor.total:,} tokens cannot be condensed" in notes(result)
    assert result.report is not None
    assert floor.total <= result.report.tokens_after


def test_three_attempts_in_vain_end_in_a_cooldown() -> None:
    clock = Clock()
    made = ProviderManager(COUNTER, threshold=THRESHOLD, clock=clock)
    stuck = Occasion(WINDOW, session="stuck")
    conversation = protect(talk(), range(20))
    for _ in range(ATTEMPTS - 1):
        assert made.condense_if_needed(conversation, stuck, summarize).plan == ()
    with pytest.raises(CondensationStalled, match=r"3 times in a row.*cannot be condensed.*Raise the target") as caught:
        made.condense_if_needed(conversation, stuck, summarize)
    assert (caught.value.attempts, caught.value.retry_after) == (ATTEMPTS, COOLDOWN)

    def unwanted(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        raise AssertionError("nobody is asked during a cooldown")

    clock.now = COOLDOWN - 1
    with pytest.raises(CondensationStalled, match="in 1 s") as caught:
        made.condense_if_needed(talk(), stuck, unwanted)
    assert caught.value.retry_after == 1
    assert made.condense_if_needed(talk(), Occasion(WINDOW, session="another"), summarize).plan
    assert made.condense(talk(), stuck, summarize).plan
    clock.now = COOLDOWN + 1
    with pytest.raises(CondensationStalled):
        made.condense_if_needed(conversation, stuck, summarize)
    clock.now *= 3
    assert made.condense_if_needed(talk(), stuck, summarize).plan
    assert made.condense_if_needed(conversation, stuck, summarize).plan == ()


def test_freeing_next_to_nothing_is_an_attempt_in_vain() -> None:
    made = ProviderManager(COUNTER, threshold=Threshold(share=0.9))
    made.register(Scripted(("1",)))
    made.switch("scripted")
    for _ in range(ATTEMPTS - 1):
        assert len(made.condense_if_needed(talk(), Occasion(WINDOW)).plan) == 1
    with pytest.raises(CondensationStalled, match="condensing freed"):
        made.condense_if_needed(talk(), Occasion(WINDOW))


def test_a_count_that_fails_is_no_fault_of_the_provider() -> None:
    def count(text: str) -> int:
        if "⟨ Summary" in text:
            raise TokenCountError("the tokenizer failed")
        return len(text)

    counter = Counter(Meter("gpt-4o", "openai", "o200k_base"), count)
    made = ProviderManager(counter, threshold=THRESHOLD)
    with pytest.raises(TokenCountError):
        made.condense_if_needed(talk(), Occasion(WINDOW), summarize)


def test_every_built_in_provider_brings_a_long_session_below_its_threshold() -> None:
    def step(number: int) -> list[Json]:
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
        lines = "\n".join(f"{number}.{line} {LONG[:60]}" for line in range(60))
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": lines},
        ]

    conversation = parse([{"role": "user", "content": "Fix it."}, *(wire for n in range(30) for wire in step(n))])
    for id in ("native", "lossless", "truncation", "smart"):
        made = ProviderManager(COUNTER, active=id, threshold=THRESHOLD)
        result = made.condense_if_needed(conversation, Occasion(20_000), summarize)
        assert result.report is not None
        assert not made.should_condense(result.report.tokens_after, 20_000).triggered, id
        assert render(restore(result.conversation, result.plan)) == render(conversation)
