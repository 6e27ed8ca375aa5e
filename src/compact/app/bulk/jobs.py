"""One transcript among many: where it is, how it is condensed, and what became of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter

from compact.app.condensing import Condensation, Result
from compact.app.counting import choose_model
from compact.app.planfile import dump_plan, write_like
from compact.app.transcripts import read_transcript
from compact.disk import replace_file
from compact.errors import CompactError, InvalidInput
from compact.messages import Conversation, Json, wires_of
from compact.policies import configure
from compact.providers import Recipe, WhenMissed, find_provider

_ESCAPED = "surrogateescape"  # bytes that are no UTF-8 come through JSON, to be complained of where they are read


@dataclass(frozen=True, slots=True)
class JobOptions:
    """How transcripts are compacted: a recipe written out, as its name may mean something else on another machine.

    Without a `model` each is counted for the one that it names itself. `variant` is the deployment whose rules hold.
    """

    recipe: str
    provider: str
    settings: Mapping[str, Json]
    when_missed: WhenMissed = "continue"
    target: float | None = None
    model: str | None = None
    variant: str = ""
    runs_all_passes: bool = False

    @property
    def digest(self) -> str:
        """What tells these options from others."""
        # Options of earlier versions, which had neither of these, keep their digest.
        told = {key: value for key, value in asdict(self).items() if value or key not in ("variant", "runs_all_passes")}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    def to_recipe(self) -> Recipe:
        """The recipe; InvalidConfiguration where its settings are no longer valid."""
        provider = find_provider(self.provider)
        settings = configure(provider.settings, dict(self.settings), under="config")
        return Recipe(self.recipe, provider, settings, self.when_missed, self.runs_all_passes)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a transcript is: a file, or a line of one, which begins at `start` and is so many bytes long.

    `name` is the place of its result below the folder of results. With a `problem` it cannot be condensed.
    """

    name: str
    path: str
    line: int = 0
    start: int = 0
    length: int = -1
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path

    def read(self) -> bytes:
        with Path(self.path).open("rb") as file:
            file.seek(self.start)
            return file.read(self.length)


@dataclass(frozen=True, slots=True)
class Job:
    """A transcript to be condensed.

    Results go into the folder `out`, or with the outcome where there is none. `content` is the transcript itself, for
    those who cannot read its place. A result that is there already, of an input with the digest `known`, is left alone.
    """

    place: Place
    options: JobOptions
    out: str | None = None
    content: str | None = None
    known: str = ""

    def read(self) -> bytes:
        return self.place.read() if self.content is None else self.content.encode("utf-8", _ESCAPED)

    def with_content(self) -> Job:
        """The same job for a worker that shares no folder with us."""
        return replace(self, out=None, content=self.read().decode("utf-8", _ESCAPED))

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Job:
        """The job in a payload; InvalidInput where it is none."""
        try:
            place, options = Place(**data["place"]), JobOptions(**data["options"])
            return cls(**{**data, "place": place, "options": options})
        except (KeyError, TypeError) as error:
            problem, remedy = f"is no job of this version ({error})", "Use one version of Compact for a queue."
            raise InvalidInput(problem, field="payload", remedy=remedy) from None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a transcript.

    `options` is a digest of them, and `recipe` the name of the recipe. `skipped` where its result was there already;
    `passing` where an error may not come again. `condensed` and `plan` are the contents of the files, where none were
    to be written. `failure` says how the recipe's own provider failed where `auto` did its work.
    """

    name: str
    source: str
    options: str
    recipe: str = ""
    sha256: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    target_met: bool = True
    seconds: float = 0.0
    error: str = ""
    failure: str = ""
    skipped: bool = False
    passing: bool = False
    condensed: str | None = None
    plan: str | None = None

    @property
    def percent(self) -> float:
        """How much smaller it became."""
        return round(100 * (1 - self.tokens_after / self.tokens_before), 1) if self.tokens_before else 0.0

    def to_json(self) -> dict[str, Json]:
        """The line that is kept of it."""
        return {
            "file": self.name,
            "source": self.source,
            "sha256": self.sha256,
            "recipe": self.recipe,
            "options": self.options,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "percent": self.percent,
            "seconds": round(self.seconds, 4),
            "target_met": self.target_met,
            "error": self.error or None,
            "failure": self.failure or None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Outcome:
        """The outcome in a line, or in the row of a job, which may have the contents, too."""
        return cls(
            name=data["file"],
            source=data["source"],
            options=data["options"] if "options" in data else data["manner"],  # the key of earlier versions
            recipe=data.get("recipe", ""),
            sha256=data["sha256"],
            tokens_before=data["tokens_before"],
            tokens_after=data["tokens_after"],
            target_met=data["target_met"],
            seconds=data["seconds"],
            error=data["error"] or "",
            failure=data.get("failure") or "",
            condensed=data.get("condensed"),
            plan=data.get("plan"),
        )


def options_for(recipe: Recipe, target: float | None = None, model: str | None = None, variant: str = "") -> JobOptions:
    """The options that compact by this recipe, on any machine."""
    settings = recipe.settings.model_dump(mode="json", exclude_unset=True)
    missed, runs_all = recipe.when_missed, recipe.runs_all_passes
    return JobOptions(recipe.name, recipe.provider.id, settings, missed, target, model, variant, runs_all)


def plan_name(name: str) -> str:
    """The name of the plan file beside a result."""
    return f"{name.removesuffix('.json')}.plan.json"


def write_result(folder: Path, name: str, condensed: bytes, plan: str) -> None:
    """Write the plan file of a transcript and then the transcript: what is removed there must be safe by then."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    replace_file(folder / plan_name(name), plan.encode())
    replace_file(folder / name, condensed)


def condense_file(job: Job) -> Outcome:
    """Condense one transcript; the outcome says what is wrong with it.

    No model is called: what one would write is made of the conversation's own words.
    """
    began = perf_counter()
    outcome = Outcome(job.place.name, str(job.place), job.options.digest, job.options.recipe)
    if job.place.problem:
        return replace(outcome, error=f"{job.place}: {job.place.problem}")
    try:
        original = job.read()
        outcome = replace(outcome, sha256=hashlib.sha256(original).hexdigest())
        if outcome.sha256 == job.known and _is_written(job):
            return replace(outcome, skipped=True)
        outcome = _condensed(job, original, outcome)
    except OSError as error:
        problem = f"{error.filename or job.place}: {error.strerror or error}"
        outcome = replace(outcome, error=problem, passing=True)
    except CompactError as error:
        outcome = replace(outcome, error=str(error))
    except RecursionError:
        outcome = replace(outcome, error=f"{job.place}: is nested too deeply")
    except MemoryError:
        outcome = replace(outcome, error=f"{job.place}: takes more memory than there is", passing=True)
    return replace(outcome, seconds=perf_counter() - began)


def _condensed(job: Job, original: bytes, outcome: Outcome) -> Outcome:
    before = read_transcript(original, name=str(job.place))
    result = _condense(before, job.options)
    report = result.report
    if report.failure and not result.plan:
        return replace(outcome, error=f"{job.place}: {report.failure}")
    condensed = write_like(original, before, wires_of(result.conversation))
    plan = dump_plan(original, before, result, name=Path(job.place.name).name)
    outcome = replace(
        outcome,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        target_met=report.target_met,
        failure=report.failure,
    )
    if job.out is None:
        return replace(outcome, condensed=condensed.decode(), plan=plan)
    write_result(Path(job.out), job.place.name, condensed, plan)
    return outcome


def _condense(conversation: Conversation, options: JobOptions) -> Result:
    model, _ = choose_model(options.model, conversation)
    return Condensation(conversation, model, options.target, variant=options.variant).run(options.to_recipe())


def _is_written(job: Job) -> bool:
    if job.out is None:
        return False
    return all(Path(job.out, name).is_file() for name in (job.place.name, plan_name(job.place.name)))
