"""Compactions that were kept and cannot be used are told of: by an event, or by an error with a remedy."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from compact import CompactManager
from compact.app.stored import StoredSessions
from compact.errors import InvalidInput, NewerVersion, StoredPlanMismatch
from compact.messages import Json
from compact.originals import FileOriginals
from compact.originals.survey import segment_name
from compact.ports import RECORD_VERSION, SNAPSHOT_VERSION, Event, Record
from tests.fixtures.stored.reading import PLACE, history_of, manager

FORMAT, SESSION = "openai-chat", "openai-chat.layers"
OTHER = "openai-chat.handles"
NOWHERE = [{"name": "Cut", "notes": [], "edits": [{"drop": ["999", 0, [], None], "why": ""}], "added": []}]
HANDLES: list[str] = list(json.loads((PLACE / f"originals/expected/{SESSION}.json").read_text("utf-8"))["recalled"])
KINDS = {
    "elsewhere": ("does not fit the messages", "StoredPlanMismatch"),
    "damaged": ("its plan is damaged", "StoredPlanMismatch"),
    "missing": ("is missing", "StoredPlanMismatch"),
    "newer": ("is of version 3, and this Compact reads version 2. Upgrade Compact.", "NewerVersion"),
}


@dataclass
class Kept:
    """A copy of a recorded session."""

    folder: Path
    history: list[Json]
    told: list[Event]

    @property
    def originals(self) -> FileOriginals:
        return FileOriginals(self.folder / "originals")

    @property
    def errors(self) -> list[dict[str, Json]]:
        return [dict(event.properties) for event in self.told if event.name == "compact.error"]

    def opened(self) -> CompactManager:
        return manager(self.folder, FORMAT, self.told.append)

    def spoil(self, how: str) -> int:
        """Make the last record one that cannot be used; gives its number."""
        *_, last = self.originals.records(SESSION)
        spoilt: dict[str, Record] = {
            "elsewhere": replace(last, plan=NOWHERE),
            "damaged": replace(last, plan=[{"name": 1}]),
            "missing": replace(last, log=(*last.log[:-1], "0" * 64)),
            "newer": replace(last, plan={"of": "another kind"}, version=RECORD_VERSION + 1),
        }
        self.originals.put([], spoilt[how])
        return last.number


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    (tmp_path / "originals").mkdir()
    for session in (SESSION, OTHER):
        shutil.copy(PLACE / "originals" / "originals" / segment_name(session, 0), tmp_path / "originals")
    body = json.loads((PLACE / "originals" / f"history.{FORMAT}.json").read_text(encoding="utf-8"))
    return Kept(tmp_path, history_of(body), [])


def test_old_records_are_of_version_1_and_new_ones_of_version_2(kept: Kept) -> None:
    assert {record.version for record in kept.originals.records(SESSION)} == {1}
    with kept.opened() as one:
        one.manual_compact("new", kept.history, "now")
    (record,) = kept.originals.records("new")
    assert record.version == RECORD_VERSION == 2
    *_, last, _ = (kept.folder / "originals" / segment_name("new", 0)).read_bytes().splitlines()  # then its check
    assert json.loads(last[11:])["version"] == 2


@pytest.mark.parametrize("how", KINDS)
def test_preflight_tells_and_goes_on_as_if_it_was_not_compacted(kept: Kept, how: str) -> None:
    number, (problem, kind) = kept.spoil(how), KINDS[how]
    with kept.opened() as one:
        assert one.preflight(SESSION, kept.history) == [
            {key: value for key, value in wire.items() if key != "meta"} for wire in kept.history
        ]
        (error,) = kept.errors
        assert error["error_type"] == kind
        assert f"compaction {number} of session {SESSION}" in error["message"]
        assert problem in error["message"]
        assert error["fallback"] == "as if it was not compacted"
        one.preflight(SESSION, [*kept.history, {"role": "user", "content": "Go on."}])
        assert len(kept.errors) == 1  # told once, not with every request
        with pytest.raises(StoredPlanMismatch, match=f"compaction {number} of session"):
            one.undo(SESSION)
        with pytest.raises(StoredPlanMismatch, match=f"compaction {number} of session"):
            one.undo(SESSION, number)


@pytest.mark.parametrize("how", KINDS)
def test_compactions_after_it_can_be_undone(kept: Kept, how: str) -> None:
    number = kept.spoil(how)
    with kept.opened() as one:
        before = one.preflight(SESSION, kept.history)
        assert one.manual_compact(SESSION, kept.history, "now") != before
        assert kept.originals.last(SESSION) == number + 1
        assert one.undo(SESSION) == before
    kept.told.clear()
    with kept.opened() as one:
        one.manual_compact(SESSION, kept.history, "now")
        assert [error["error_type"] for error in kept.errors] == [KINDS[how][1]]


@pytest.mark.parametrize("how", KINDS)
def test_undo_after_a_restart_is_an_error_with_a_remedy(kept: Kept, how: str) -> None:
    number, (problem, kind) = kept.spoil(how), KINDS[how]
    with kept.opened() as one, pytest.raises(StoredPlanMismatch) as raised:
        one.undo(SESSION)
    assert type(raised.value).__name__ == kind
    assert f"compaction {number} of session {SESSION}" in str(raised.value)
    assert problem in str(raised.value)
    assert raised.value.remedy
    assert str(raised.value).endswith(raised.value.remedy)


@pytest.mark.parametrize("how", ["damaged", "missing", "newer"])
def test_recall_says_what_cannot_be_read_and_reads_the_rest(kept: Kept, how: str) -> None:
    kept.spoil(how)
    (handle, *_) = json.loads((PLACE / f"originals/expected/{OTHER}.json").read_text("utf-8"))["recalled"]
    with kept.opened() as one:
        assert one.recall(handle).text
        assert one.recall(handle, OTHER).text
        assert one.search("shop")
        for session in (SESSION, None):
            with pytest.raises(StoredPlanMismatch, match=f"of session {SESSION}"):
                one.recall(HANDLES[0], session)
        with pytest.raises(StoredPlanMismatch, match=f"of session {SESSION}"):
            one.search("shop", SESSION)
        with pytest.raises(InvalidInput, match="there is no"):
            one.recall("cut-00000000", OTHER)


def test_summaries_of_a_newer_version_are_an_error_with_a_remedy(tmp_path: Path) -> None:
    database = Path(shutil.copy(PLACE / "database" / "sessions.db", tmp_path))
    session = "openai-chat.cascade"
    with StoredSessions(database) as stored:
        assert {one.version for one in stored.summaries.standing(session, retired=True)} == {1}
        made = stored.summaries.edit(session, "All is mended.")
        assert made.version == SNAPSHOT_VERSION == 3
        assert "snapshotVersion" not in made.content
    with sqlite3.connect(database) as connection:
        text = connection.execute('SELECT contentJson FROM "sessionSnapshots" WHERE id = ?', (made.id,)).fetchone()[0]
        assert json.loads(text)["snapshotVersion"] == 3
        newer = json.dumps({**json.loads(text), "snapshotVersion": 4})
        connection.execute('UPDATE "sessionSnapshots" SET contentJson = ? WHERE id = ?', (newer, made.id))
    connection.close()
    with StoredSessions(database) as stored:
        for ask in (stored.context, stored.prepare, stored.summaries.undo, stored.summaries.regenerate):
            with pytest.raises(
                NewerVersion, match=r"is of version 4, and this Compact reads version 3\. Upgrade Compact"
            ):
                ask(session)
        assert stored.context("openai-responses.cascade").messages
