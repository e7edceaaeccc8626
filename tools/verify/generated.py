"""Requests that Schemathesis generates from the contract, valid and invalid, for every operation.

They are sent with a token of the business that was created for the run. Operations of the partner
reject this token, as documented. Every answer must be documented in the contract, and a request
that violates the contract must be rejected.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Unsatisfiable
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case as AnyCase

from tools.verify.contract import Contract
from tools.verify.formats import teach
from tools.verify.omissions import may_omit_fields
from tools.verify.story import KEY, Caller, JourneyStopped, Story, UnexpectedAnswer, no_answer

JOURNEY: Final = "contract"
FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")

Case = AnyCase[Any]
Ids = Mapping[str, str]


def try_operations(story: Story, *, examples: int, seconds: float) -> None:
    """Try each operation with `examples` valid requests and as many invalid ones.

    When `seconds` are over, the operations that are left are listed in a warning.
    """
    teach()
    with story.check(JOURNEY, "what there is to try them with is listed"):
        ids = _known_ids(story.books, story.contract)
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)  # So that it writes no files to the current folder.
        left = _try_each(story, ids, examples, seconds)
    if left:
        story.report.warnings.append(
            f"{seconds:.0f} seconds were over before {len(left)} operations were tried with"
            f" requests that are made up: {', '.join(left)}."
        )


def _try_each(story: Story, ids: Ids, examples: int, seconds: float) -> list[str]:
    """Try operations one after the other; return the ids of those for which there was no time."""
    schema = schemathesis.openapi.from_dict(story.contract.document, config=SchemathesisConfig())
    until = time.monotonic() + seconds
    left: list[str] = []
    for operation in story.contract.operations:
        if time.monotonic() > until:
            left.append(operation.operation_id)
            continue
        trial = Trial(story.books, ids, until)
        with suppress(JourneyStopped), story.check(JOURNEY, operation.operation_id):
            trial.run(schema[operation.path][operation.method], examples)
    return left


class Trial:
    """Generated requests to one operation; the first answer with a fault ends them."""

    def __init__(self, books: Caller, ids: Ids, until: float) -> None:
        self._books = books
        self._ids = ids
        self._until = until
        self._unexpected: UnexpectedAnswer | None = None

    def run(self, target: Any, examples: int) -> None:
        """Send valid, then invalid requests; raises Unexpected if an invalid one is accepted."""
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            self._make_up(target.as_strategy(generation_mode=mode), examples)
        if self._unexpected:
            raise self._unexpected

    def _make_up(self, cases: strategies.SearchStrategy[Case], examples: int) -> None:
        # Hypothesis only generates: it would repeat a failed request, but the books have changed.
        @settings(
            max_examples=examples,
            phases=[Phase.generate],
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases)
        def attempt(case: Case) -> None:
            self._attempt(case)

        try:
            attempt()
        except Unsatisfiable:
            return  # No invalid request exists for this operation.

    def _attempt(self, case: Case) -> None:
        wire = self._books.wire
        if wire.faults or self._unexpected or time.monotonic() > self._until:
            return
        wrong = _wrong_parts(case)
        self._lead(case, wrong=bool(wrong))
        try:
            answer = wire.send(self._request(case))
        except httpx.RequestError as error:  # If raised here, Hypothesis would send it again.
            self._unexpected = no_answer(error)
            return
        if _must_be_refused(case, wrong) and not answer.is_client_error:
            self._unexpected = UnexpectedAnswer(
                "A request that breaks the contract was expected to be refused, and"
                f" {answer.status_code} came."
            )

    def _lead(self, case: Case, *, wrong: bool) -> None:
        """Put known ids into a valid request; an invalid one only gets the id of the business."""
        if wrong:
            if "business_id" in case.path_parameters:
                case.path_parameters["business_id"] = self._ids["business_id"]
            return
        for part in (case.path_parameters, case.query, case.body):
            _fill(part, self._ids)
        # A reused key or a wrong version is rejected early, before other checks.
        if KEY in case.headers:
            case.headers[KEY] = str(uuid4())
        if "If-Match" in case.headers:
            case.headers["If-Match"] = "*"

    def _request(self, case: Case) -> httpx.Request:
        host = str(self._books.wire.http.base_url).rstrip("/")
        sent = case.as_transport_kwargs(base_url=host)
        sent["headers"] = {**sent.get("headers", {}), "Authorization": self._books.authorization}
        made: Any = requests.Request(**sent).prepare()
        return httpx.Request(made.method, made.url, headers=made.headers, content=made.body)


def _wrong_parts(case: Case) -> set[ParameterLocation]:
    """Return the parts of a request that violate the contract."""
    parts = case.meta.components.items() if case.meta else ()
    return {location for location, part in parts if part.mode.is_negative}


def _must_be_refused(case: Case, wrong: set[ParameterLocation]) -> bool:
    """Return whether a request still violates the contract when it is sent.

    The business id in a path is corrected before, and a malformed header counts as no header. A
    form has only text, so a value of the wrong JSON type can be valid there; so can a null.
    """
    in_body = ParameterLocation.BODY in wrong and case.media_type not in FORMS
    in_body = in_body and not may_omit_fields(case.path, case.body)
    return in_body or ParameterLocation.QUERY in wrong


def _fill(node: Any, ids: Ids) -> None:
    """Set each field with the name of a known id to that id."""
    for key, value in list(node.items()) if isinstance(node, dict) else ():
        if key in ids and isinstance(value, str):
            node[key] = ids[key]
        for part in value if isinstance(value, list) else [value]:
            _fill(part, ids)


def _known_ids(books: Caller, contract: Contract) -> Ids:
    """Return an id for each variable of a path, from the list at the address of its collection."""
    business_id = books.base.rstrip("/").rpartition("/")[2]
    ids = {"business_id": business_id}
    for operation in contract.operations:
        head, _, last = operation.path.rstrip("/").rpartition("/")
        name = last.strip("{}")
        if operation.method == "GET" and last.startswith("{") and name not in ids:
            path = f"{head}/"
            for known, value in ids.items():
                path = path.replace(f"{{{known}}}", value)
            if "{" not in path and path.startswith(books.base):
                listed = books.get(path.removeprefix(books.base), page_size=1)["results"]
                ids |= {name: listed[0]["id"]} if listed else {}
    return ids
