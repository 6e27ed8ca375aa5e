"""The API of the server behind the page, to set the scene that a browser then sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2

FRUIT = ("apples", "pears", "plums", "cherries", "quinces", "medlars", "damsons", "figs")


class Server:
    """Asks the server at the address that `compact serve` prints."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        token = unquote(parts.fragment.removeprefix("token="))
        self._url = f"{parts.scheme}://{parts.netloc}"
        self._headers = {"authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """What the API answers; a refusal is an error."""
        answer = httpx2.request(
            method, f"{self._url}{path}", json=body, params=query, headers=self._headers, timeout=60
        )
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def transcript(self, messages: Sequence[Any], name: str, **values: Any) -> str:
        """The id of a session that is made of a transcript."""
        body = {"model": "gpt-4o", "messages": list(messages), **values}
        made: str = self.ask("POST", "/api/sessions/import", body, name=name)["session"]["id"]
        return made


def orchard(turns: int = 8) -> list[dict[str, str]]:
    """A conversation about fruit, in which every turn names one."""
    return [
        {
            "role": role,
            "content": f"{role} {turn}: the {FRUIT[turn % 8]} number {turn} are ripe. " + "It goes on. " * 60,
        }
        for turn in range(turns)
        for role in ("user", "assistant")
    ]
