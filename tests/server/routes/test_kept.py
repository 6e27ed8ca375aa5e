"""What requests still contain from before a summary, and references that are followed."""

from __future__ import annotations

from compact.app import read_transcript
from compact.messages import message_texts
from tests.server.routes.conversing import Api

FILE = "\n".join(f"line {number} of a file that is read twice" for number in range(1, 40))


def reading(times: int) -> list[dict[str, object]]:
    """A conversation in which a file is read so many times."""
    found: list[dict[str, object]] = [{"role": "user", "content": "Read the file."}]
    for turn in range(times):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
        found += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": FILE},
        ]
    return [*found, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Again?"}]


def test_without_a_summary_all_messages_are_sent(api: Api) -> None:
    id = api.long_session(2)
    assert api.get(f"/sessions/{id}/kept") == {"messages": [], "first": 0}


def test_pinned_messages_from_before_the_summary_are_told(api: Api) -> None:
    id = api.long_session(8)
    first = api.get(f"/sessions/{id}/messages", limit=1)["messages"][0]
    api.put(f"/sessions/{id}/messages/{first['id']}/pin", {"pinned": True})
    done = api.post(f"/sessions/{id}/compress")
    kept = api.get(f"/sessions/{id}/kept")
    assert [message["id"] for message in kept["messages"]] == [first["id"]]
    assert kept["messages"][0]["state"] == "pinned"
    assert kept["first"] == 1 + done["messages"]


def test_a_reference_is_shown_with_what_it_stands_for(api: Api) -> None:
    opened = api.post("/inspect", reading(2))["id"]
    result = api.post(f"/inspect/{opened}/condense", {"provider": "lossless"})["id"]
    condensed = api.get(f"/inspect/{opened}/results/{result}/condensed")
    id = api.post("/sessions/import", condensed, name="condensed.json")["session"]["id"]
    messages = api.get(f"/sessions/{id}/messages")["messages"]
    (referring,) = [each for each in messages if any("[same as " in part["text"] for part in each["parts"])]
    path = f"/sessions/{id}/messages/{referring['id']}"
    assert FILE not in api.get(path)["parts"][0]["text"]
    assert api.get(path, follow=True)["parts"][0]["text"] == FILE
    # What is stored stays as it was.
    stored = read_transcript(api.ask("GET", f"/sessions/{id}/export").content)
    assert any("[same as " in text for message in stored.messages for _, text in message_texts(message))
