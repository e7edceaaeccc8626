"""A run of all operations, recorded from a server: `python -m tools.clients.recorded_story FILE`.

The collections for Postman and Bruno are made from it. Each operation is called with the first
example of its body, on records that earlier requests have created (`tests/contract`). In the file
each id of an answer is a variable, which the request that got it stores.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from tests.api_server import ApiServer, Databases
from tests.contract import story_things
from tests.contract.document import Operation, operations
from tests.contract.valid_requests import CHANGED, OF_THEIR_OWN, Story
from tests.partner import Partner
from tools.clients.tests.answer_server import Answer, Between, ReceivedRequest

# Variables that have no id of an answer. The tokens are stored by the operations that issue them.
PARTNER_ID: Final = "basicAuthUsername"
TOKENS: Final = {"issue_partner_token": "bearerToken", "issue_business_token": "businessToken"}
# An external id of a business is unique for the partner, so that each run needs its own.
UNIQUE: Final = frozenset({"create_business", "create_sandbox"})
NEW_ID: Final = "{{$guid}}"
# Parts of an example that would stop the requests after it, with the reason.
LEFT_OUT: Final[Mapping[tuple[str, str], str]] = {
    ("update_business", "lock_date"): "Later requests write into the period that it locks.",
    ("file_tax_return", "lock"): "Later requests write into the period that it locks.",
}
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FORM: Final = re.compile(rb'name="([^"]*)"(?:; filename="([^"]*)")?.*?\r\n\r\n(.*?)\r\n--', re.S)


@dataclass
class Step:
    """A request that succeeded: that of an operation, or one that prepares for it."""

    operation: Operation
    asked: ReceivedRequest
    answer: Answer
    prepares_for: Operation | None
    stored: dict[str, str] = field(default_factory=dict)

    @property
    def said(self) -> Any:
        """The answer as JSON, or None."""
        kind = self.answer.headers.get("content-type", "")
        return json.loads(self.answer.body) if kind.startswith("application/json") else None

    def shown(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return the request with variables in place of ids, as the file has it."""
        path, _, query = self.asked.path.partition("?")
        return {
            "operation": self.operation.node["summary"],
            "prepares_for": self.prepares_for and self.prepares_for.node["summary"],
            "folder": (self.prepares_for or self.operation).node["tags"][0],
            "for_business": self.operation.node["security"] == [{"BusinessToken": []}],
            "path": {
                name: with_variables(value, names)
                for name, value in path_parameters(self.operation, path).items()
            },
            "query": {name: with_variables(value, names) for name, value in parse_qsl(query)},
            **self.body(names),
            "status": self.answer.status,
            "stored": self.stored,
        }

    def body(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return the body, as JSON or as the fields of a form; a file has a name."""
        kind = self.asked.headers.get("Content-Type", self.asked.headers.get("content-type", ""))
        if kind.startswith("multipart/"):
            found = FORM.findall(self.asked.body)
            return {"form": [form_field(*each, names) for each in found]}
        if not self.asked.body:
            return {}
        text = with_variables(self.asked.body.decode(), names)
        if not kind.startswith("application/json"):
            return {"form": [{"key": key, "value": value} for key, value in parse_qsl(text)]}
        body = json.loads(text)
        if self.operation.name in UNIQUE:
            body["external_id"] = NEW_ID
        return {"json": body}


def form_field(
    name: bytes, file_name: bytes, value: bytes, names: Mapping[str, str]
) -> dict[str, str]:
    """Return a field of a form."""
    shown = {"key": name.decode(), "value": with_variables(value.decode(), names)}
    return {**shown, "file_name": file_name.decode()} if file_name else shown


def path_parameters(operation: Operation, path: str) -> dict[str, str]:
    """Return the values in a path by the names of the operation's parameters."""
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", operation.path)
    found = re.fullmatch(pattern, unquote(path))
    assert found is not None
    return found.groupdict()


def with_variables(text: str, names: Mapping[str, str]) -> str:
    """Return a text with variables in place of the ids that have a name."""
    return UUID.sub(lambda id_: f"{{{{{names[id_[0]]}}}}}" if id_[0] in names else id_[0], text)


def record(api_server: ApiServer) -> Iterator[Step]:
    """Call each operation in the order of the contract; yield all requests that succeeded."""
    real = api_server.partner("Recorded")
    with Between(api_server.url, lambda _: False) as between:
        partner = Partner(between.url, real.partner_id, real.api_key)
        story: Story | None = None
        for operation in operations():
            if story is None:  # The token comes first.
                assert partner.api
                yield from steps(between, operation)
                story = Story.begin(partner)
                continue
            call(story, operation)
            yield from steps(between, operation)


def call(story: Story, operation: Operation) -> None:
    """Send a request that succeeds; a record that an earlier one has used up is made anew."""
    for _ in range(3):
        request = story.request(operation)
        for name in [part for called, part in LEFT_OUT if called == operation.name]:
            request.body.pop(name, None)
        answer = request.send()
        if answer.is_success:
            break
        names = [each["name"] for each in operation.parameters if each["in"] == "path"]
        for name in set(names) - {"business_id"}:
            forget(story, OF_THEIR_OWN.get((operation.name, name), CHANGED.get(name, name)))
    else:
        raise SystemExit(f"{operation.name}: {answer.status_code} {answer.text}")
    if operation.name == "revoke_business_tokens":  # The story gets another one when it needs it.
        story.business.__dict__.pop("api", None)
        story.__dict__.pop("by_business", None)


def forget(story: Story, name: str) -> None:
    """Forget a record, and the one that it was created with, so that it is made anew."""
    story.ids.pop(name, None)
    maker = story_things.MAKERS[name]
    if isinstance(maker, partial) and maker.func is story_things.made_with:
        story.ids.pop(maker.args[0], None)


def steps(between: Between, operation: Operation) -> Iterator[Step]:
    """Yield the successful requests since the last call: the last one is the operation's."""
    answered = [each for each in between.answers if each[1].status < 300]
    between.answers.clear()
    for asked, answer in answered:
        called = operation_of(asked)
        is_last = asked is answered[-1][0]
        if is_last or called.name != "issue_partner_token":
            yield Step(called, asked, answer, None if is_last else operation)


def operation_of(asked: ReceivedRequest) -> Operation:
    """Return the operation that a request called; fixed paths come before parameters."""
    path = asked.path.partition("?")[0]
    found = [
        each
        for each in operations()
        if each.method == asked.method.lower()
        and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each.path), path)
    ]
    return min(found, key=lambda each: each.path.count("{"))


def store_ids(recorded: list[Step], names: dict[str, str]) -> None:
    """Store each id that a later request uses, from the first answer that has it."""
    used = [set(UUID.findall(f"{each.asked.path} {each.asked.body!r}")) for each in recorded]
    for at, step in enumerate(recorded):
        wanted = set().union(*used[at + 1 :]) - names.keys()
        for id_, place in ids_of(step.said):
            if id_ in wanted and id_ not in names:
                names[id_] = new_name(step, place, names)
                step.stored[names[id_]] = place


def ids_of(node: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each id of an answer with its place, as JavaScript writes it: `results[0].id`."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from ids_of(value, f"{place}.{key}" if place else key)
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from ids_of(value, f"{place}[{at}]")
    elif isinstance(node, str) and UUID.fullmatch(node):
        yield node, place


def new_name(step: Step, place: str, names: Mapping[str, str]) -> str:
    """Return a variable that has no value yet: `invoice_id`, `invoice_id_2`."""
    word = place.rpartition(".")[2]
    if word == "id":
        inner = re.sub(r"\[\d+\]", "", place.rpartition(".")[0].rpartition(".")[2])
        record = re.sub("^[a-z]+_(or_[a-z]+_)?", "", step.operation.name)
        word = f"{singular(record if inner in ('', 'results') else inner)}_id"
    taken = set(names.values())
    number = 2
    name = word
    while name in taken:
        name, number = f"{word}_{number}", number + 1
    return name


def singular(word: str) -> str:
    """Return the singular of a word of the contract: `journal_entry` for `journal_entries`."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word if word.endswith("ss") else word.removesuffix("s")


def story_of(api_server: ApiServer) -> list[dict[str, Any]]:
    """Return all requests of the collections, in order."""
    recorded = list(record(api_server))
    names = {str(api_server.partners[-1].partner_id): PARTNER_ID}
    store_ids(recorded, names)
    for step in recorded:
        if step.operation.name in TOKENS:
            step.stored[TOKENS[step.operation.name]] = "access_token"
    return [
        step.shown(names)
        for step in recorded
        if step.prepares_for is None or step.operation.method != "get" or step.stored
    ]


def main(file: Path) -> None:
    """Write the story of a new server to a file."""
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
        ApiServer(Databases(postgres).clone("story"), log_level="warning") as api_server,
    ):
        api_server.prepare_sandboxes()
        story = story_of(api_server)
    file.write_text(json.dumps(story, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
