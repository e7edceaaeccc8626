"""The caller of one business over HTTP, with the story of its writes."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.model.batched import alone, item_of
from tests.model.books import Body

HIDDEN_HEADERS = frozenset({"Content-Type", "Authorization"})
KEPT = frozenset({200, 201, 404, 409, 422})  # The outcomes that an idempotency key keeps.


@dataclass(frozen=True)
class KeptWrite:
    """A write that was sent with a key, and its answer."""

    method: str
    path: str
    body: Body | None
    key: str
    status: int
    content: bytes
    etag: str | None


@dataclass
class Counts:
    """The numbers of steps, runs and reached cases, over all runs."""

    steps: int = 0
    runs: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)  # Complete runs, by number of steps.

    def note(self, *what: str) -> None:
        self.reached.update(what)

    def add(self, other: "Counts") -> None:
        self.steps += other.steps
        self.runs += other.runs
        self.reached.update(other.reached)
        self.lengths.update(other.lengths)


@dataclass
class Caller:
    """The caller of one business; ids have short names in the story.

    It calls as the partner; writes of vendor refunds need the `token` of the business.
    """

    client: httpx.Client
    base: str
    token: dict[str, str]
    counts: Counts
    names: dict[str, str] = field(default_factory=dict)
    story: list[str] = field(default_factory=list)
    kept: list[KeptWrite] = field(default_factory=list)

    def name(self, id: str, kind: str) -> None:
        """Assign a short name to an id, such as invoice-2."""
        number = sum(each.startswith(f"{kind}-") for each in self.names.values()) + 1
        self.names[id] = f"{kind}-{number}"

    def plain(self, text: str) -> str:
        """Replace ids by their short names."""
        for id, name in self.names.items():
            text = text.replace(id, name)
        return text

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.client.get(f"{self.base}{path}", params=query)

    def write(
        self,
        method: str,
        path: str,
        body: Body | None,
        *,
        key: str | None = None,
        if_match: str | None = None,
        preview: bool = False,
        mode: str | None = None,
    ) -> httpx.Response:
        """Send a write, add it to the story, and keep it for a replay if it has a key.

        With a `mode` it is the only item of a batch, and its answer is that of the item.
        """
        headers = {"Idempotency-Key": key} if key else {}
        if path.startswith("vendor-refunds/"):
            headers |= self.token
        if if_match and not mode:
            headers["If-Match"] = if_match
        query = "?preview=true" if preview else ""
        verb, place, sent = method, path, body
        if mode:
            item = item_of(method, path, body, if_match)
            verb, place, sent = "POST", "batch/", {"mode": mode, "items": [item]}
        content = None if sent is None else json.dumps(sent).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            answer = self.client.request(
                verb, f"{self.base}{place}{query}", content=content, headers=headers
            )
            if mode:
                answer = alone(answer, method, str(self.client.base_url.join(self.base + path)))
        except AssertionError:  # The contract does not document the answer.
            self.story.append(f"{method} {path} {json.dumps(body)} -> an undocumented answer")
            raise
        if key and not preview and not if_match and answer.status_code in KEPT:
            etag = answer.headers.get("etag")
            write = KeptWrite(method, path, body, key, answer.status_code, answer.content, etag)
            self.kept.append(write)
        self.tell(verb, place, sent, headers, answer, preview=preview)
        return answer

    def tell(
        self,
        method: str,
        path: str,
        body: Body | None,
        headers: dict[str, str],
        answer: httpx.Response,
        *,
        preview: bool = False,
    ) -> None:
        """Add a line to the story."""
        told = {name: text for name, text in headers.items() if name not in HIDDEN_HEADERS}
        words = [method, path + ("?preview=true" if preview else "")]
        words += [json.dumps(body)] if body is not None else []
        words += [json.dumps(told)] if told else []
        outcome = str(answer.status_code)
        if answer.status_code >= 400:
            outcome += f" {answer.json()['error_code']}"
        self.story.append(f"{' '.join(words)} -> {outcome}")

    def whole_story(self) -> str:
        """Return the whole story, with short names."""
        return "\n".join(self.plain(line) for line in self.story)
