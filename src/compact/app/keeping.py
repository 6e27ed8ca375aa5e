"""What a manager stores and reports: originals and archive before anything is pruned, events as they happen."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from compact.app.repaired_originals import RepairedOriginals
from compact.archive import FileArchive, S3Archive
from compact.engine import Report
from compact.engine.events import error_event
from compact.engine.projection import Compaction, Projection
from compact.errors import CompactError, DamagedOriginals, InvalidInput, StorageError
from compact.messages import Fold, Json, digest_of, plan_to_json
from compact.originals import FileOriginals, Repair
from compact.policies import CompactConfig, StorageSettings, TracingSettings
from compact.ports import Archive, Event, Export, Exporter, Observe, Originals, Record
from compact.ports.compactions import now
from compact.redaction import Redactor
from compact.redaction.patterns import compile_patterns
from compact.tracing import AgentsSdkExporter, AriadneExporter, ConsoleExporter, JsonLinesExporter, OtlpExporter, Tracer
from compact.tracing.complaints import Complaints

_PLACES = {"fs": "file_path", "s3": "s3_key"}
_WAITING = 1000
"""Events of a session that wait for the next write to its archive; the oldest go first."""


class Keeper:
    """Stores what a compaction removes before it is removed, and reports events."""

    def __init__(self, config: CompactConfig, observe: Observe | None = None) -> None:
        self._config = config
        self._observe = observe
        compile_patterns(config.redaction.patterns)  # a wrong one is an error now, not when something is to be kept
        folder = Path(config.storage.path)
        files = None if config.originals == "none" else FileOriginals(folder / "originals")
        self.kept: Originals | None = files
        """The originals as they are: DamagedOriginals where they are damaged."""
        self.originals: Originals | None = files and RepairedOriginals(files, self._report_repair)
        """The originals by which conversations go on: what is damaged is repaired first."""
        self._reported: set[tuple[str, int, str]] = set()
        self._archive = open_archive(config.storage)
        self._exporters = list(exporters(config.tracing))
        self._tracer = Tracer(self._exporters, self._clean)
        self._complaints = Complaints("[compact]")
        self._undone: set[str] = set()
        self._events: defaultdict[str, deque[Event]] = defaultdict(lambda: deque(maxlen=_WAITING))

    def keep(self, session: str, after: Projection, report: Report, emit: Observe) -> None:
        """Make durable what the compaction removes, and what it did; only then may it be removed.

        `emit` gets the events of that.
        """
        done = after.compactions[-1]
        log = [line.message.wire for line in after.log]
        if not self._config.redaction.enabled and (self._archive is not None or self._heard):
            told = {"severity": "high", "message": "redaction is off: secrets are archived and traced as they are"}
            emit(Event("compact.redaction_disabled", told, failed=True))
        self._undone.discard(session)
        with storing():
            if self._archive is not None:
                for event in self._export(self._archive, session, done, log, report):
                    emit(event)
            self._put(session, after, len(after.compactions) - 1)

    def keep_early(self, session: str, messages: list[Json], emit: Observe) -> None:
        """Keep messages with a `meta` when they are first seen, so that it is known after a restart; then forget them.

        Where that fails they are tried again the next time: nothing is pruned without them.
        """
        if messages and self.originals is not None:
            try:
                with storing():
                    self.originals.keep(session, [self.kept_form(wire) for wire in messages])
            except (StorageError, InvalidInput) as error:
                emit(error_event(type(error).__name__, str(error), "what is protected is known until a restart"))
                return
        messages.clear()

    def kept_form(self, wire: Json) -> Json:
        """The message as the originals keep it."""
        return self._redactor.json(wire) if self._config.originals == "redact" else wire

    def follow_on(self, session: str, after: Projection, before: Sequence[int]) -> None:
        """Keep anew which compactions those that are left follow, where others went from among them."""
        parents = dict(zip(before, (0, *before), strict=False))
        with storing():
            for at, done in enumerate(after.compactions):
                if parents[done.number] != _parent(after, at):
                    self._put(session, after, at)

    def _put(self, session: str, after: Projection, at: int) -> None:
        if self.originals is None:
            return
        done = after.compactions[at]
        kept: list[Json] = [line.message.wire for line in after.log[: done.upto]]
        plan: Json = plan_to_json(done.plan)
        if self._config.originals == "redact":
            kept, plan = self._redactor.json(kept), self._redactor.json(plan)
        digests, format = tuple(map(digest_of, kept)), after.frame.format
        stored_at = done.facts.ended_at if done.facts else now()
        record = Record(session, done.number, _parent(after, at), format, digests, plan, stored_at, facts=done.facts)
        self.originals.put(kept, record)

    @contextmanager
    def alone(self, session: str) -> Iterator[None]:
        """Be the only one who numbers and keeps a compaction of the session."""
        with ExitStack() as held:
            if self.originals is not None:
                with storing():
                    held.enter_context(self.originals.alone(session))
            yield

    def last(self, session: str) -> int:
        """The highest number that a compaction of the session ever had, in whatever process; 0 for none."""
        with storing():
            return self.originals.last(session) if self.originals is not None else 0

    def retract(self, session: str, numbers: Sequence[int]) -> None:
        """Take compactions back, for the next start too."""
        if numbers and self.originals is None:
            self._undone.add(session)
        if self.originals is not None:
            with storing():
                for number in numbers:
                    self.originals.retract(session, number)

    def undone(self, session: str) -> bool:
        """Whether the newest compaction of the session was taken back, in whatever process."""
        with storing():
            originals = self.originals
            if originals is None:
                return session in self._undone
            last = originals.last(session)
            return last > 0 and all(record.number != last for record in originals.records(session))

    def emit(self, session: str, event: Event) -> Event:
        """Report an event with its time and session, and return it so; the archive gets it with the next compaction."""
        event = replace(event, at=now(), session_id=session)
        if self._heard:
            self._tracer.emit(session, event)
        if self._observe is not None:
            try:
                self._observe(event)
            except Exception as error:  # noqa: BLE001 - the caller's code; an observer cannot stop a request
                self._complaints.failed(f"observe failed ({type(error).__name__}: {error})")
        if self._archive is not None:
            self._events[session].append(event)
        return event

    def report_damage(self, error: CompactError) -> None:
        """Emit an event for damaged originals, once for each place."""
        if isinstance(error, DamagedOriginals):
            place = (error.path, error.line, error.problem)
            if place not in self._reported:
                self._reported.add(place)
                self.emit(error.session or "unknown", error_event(type(error).__name__, str(error)))

    @contextmanager
    def reporting_damage(self) -> Iterator[None]:
        """Emit an event for damaged originals that are found inside."""
        try:
            yield
        except DamagedOriginals as error:
            self.report_damage(error)
            raise

    def find_aside(self, session: str, error: CompactError) -> DamagedOriginals | None:
        """The error that says that what is missing may have been in files that were damaged."""
        with storing():
            aside = self.kept.set_aside(session) if self.kept is not None else ()
        if not aside:
            return None
        return DamagedOriginals(
            session,
            (aside[-1], 0),
            "it was damaged, and was set aside when the session was repaired",
            whole=f"What was whole of it was kept; {error}",
            remedy="Call preflight with the whole history to go on.",
        )

    def _report_repair(self, error: DamagedOriginals, done: Repair) -> None:
        self._reported.add((error.path, error.line, error.problem))
        lost = (
            f"compactions {', '.join(map(str, done.lost))} are lost"
            if done.lost
            else "nothing is lost that a compaction needs"
        )
        fallback = f"repaired: {lost}; the damaged files are {', '.join(done.aside) or 'gone'}"
        self.emit(error.session, error_event(type(error).__name__, str(error), fallback))

    @property
    def _heard(self) -> bool:
        """Whether an exporter takes events; that of the Agents SDK does only once the SDK is loaded."""
        return any(not isinstance(one, AgentsSdkExporter) or "agents" in sys.modules for one in self._exporters)

    def write_events(self, session: str) -> None:
        """Append the events that wait to the archive; a failure loses them, and is reported once."""
        waiting, lines = self._events.pop(session, None), list[Json]()
        try:
            # Taken one by one: a thread that prepares a compaction may be adding to them.
            while waiting:
                event = waiting.popleft()
                head = {"at": event.at, "session_id": event.session_id, "name": event.name}
                lines.append(
                    self._clean({**head, "seconds": event.seconds, "failed": event.failed, **event.properties})
                )
            if lines and self._archive is not None:
                self._archive.note(session, lines)
        except Exception as error:  # noqa: BLE001 - a door: events are for reading along, and never fail a request
            self._complaints.failed(f"events of {session} cannot be archived ({type(error).__name__}: {error})")

    def close(self) -> None:
        """Write the events that still wait, and send what is to be sent, for two seconds at most."""
        for session in list(self._events):
            self.write_events(session)
        self._tracer.close()
        self._complaints.close()

    def _export(
        self, archive: Archive, session: str, done: Compaction, log: list[Json], report: Report
    ) -> Iterator[Event]:
        export = Export(session, done.number, self._clean(log), self._clean(_summary(session, done, report)))
        step, places = _saved(archive, export)
        for place in places:
            facts: dict[str, Json] = {"session_id": session, "step": step, "storage_adapter": archive.adapter}
            yield Event("compact.archival", {**facts, _PLACES.get(archive.adapter, "path"): place})

    @property
    def redactor(self) -> Callable[[], Redactor] | None:
        """What gives the redactor; None where redaction is off."""
        return (lambda: self._redactor) if self._config.redaction.enabled else None

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor(self._config.redaction.patterns, keys=self._config.redaction.keys)

    def _clean(self, value: Json) -> Json:
        return self._redactor.json(value) if self._config.redaction.enabled else value


@contextmanager
def storing() -> Iterator[None]:
    """Turn what the drive or the bucket says into an error that tells what to do."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        told = f"{error.strerror or error}. Nothing was pruned: make room, or see to storage.path, and try again"
        raise StorageError(error.errno, told, error.filename) from error


def open_archive(storage: StorageSettings) -> Archive | None:
    """The archive that the settings name."""
    if storage.adapter == "none":
        return None
    if storage.adapter == "fs":
        return FileArchive(storage.path)
    return S3Archive(storage.bucket, storage.prefix, storage.kms_key, storage.region, storage.endpoint)


def exporters(tracing: TracingSettings) -> Iterator[Exporter]:
    """The exporters that the tracing settings enable."""
    if tracing.console:
        yield ConsoleExporter()
    if tracing.jsonl:
        yield JsonLinesExporter(tracing.jsonl)
    if tracing.ariadne:
        yield AriadneExporter(tracing.ariadne)
    if tracing.otlp:
        yield OtlpExporter(tracing.otlp)
    if tracing.agents_sdk:
        yield AgentsSdkExporter()


def _saved(archive: Archive, export: Export) -> tuple[int, tuple[str, ...]]:
    """The step it was saved as, and where.

    A step may be taken by a run that was killed before it could commit, or that kept no originals: then it is a later
    one.
    """
    while True:
        try:
            return export.step, archive.save(export)
        except FileExistsError:
            export = replace(export, step=export.step + 1)


def _summary(session: str, done: Compaction, report: Report) -> Json:
    folds = [edit for step in done.plan for edit in step.edits if isinstance(edit, Fold)]
    return {
        "session_id": session,
        "step": done.number,
        "at": now(),
        "summary": "\n\n".join(fold.text for fold in folds),
        "messages": [id for fold in folds for id in fold.messages],
        "report": report.to_json(),
    }


def _parent(after: Projection, at: int) -> int:
    return after.compactions[at - 1].number if at else 0
