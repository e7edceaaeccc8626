"""Records that bodies name by external id, in every field of every operation that has one."""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.contract.document import Node, bodies, follow
from tests.contract.external_names import EACH, Reference, by_external_id, references
from tests.contract.valid_requests import Request, Story
from tests.partner import Partner

# These are parts of a record, or links, which have no external id of their own in the business.
PARTS = {"line_id", "source_line_id", "reconciliation_link_id"}
# An unknown customer or vendor may be created: `test_unknown_parties.py`. The last are fixed.
OF_PARTIES = {"customer_id", "vendor_id"}
# The record of the story that a field names, where no example has the field.
THINGS = {"payment_id": "unapplied_id", "bill_payment_id": "unapplied_bill_payment_id"}
# The other fields that a body has then, or no longer has.
BESIDE: dict[str, Callable[[Node], Any]] = {
    "payment_id": lambda holder: holder.pop("invoice_id", None),
    "credit_id": lambda holder: holder.pop("invoice_id", None),
    "bill_payment_id": lambda holder: (
        holder.pop("bill_id", None),
        holder.pop("lines", None),
        holder.update(allocation_type="payment", amount_cents=100),
    ),
    "vendor_credit_id": lambda holder: (
        holder.pop("bill_id", None),
        holder.pop("lines", None),
        holder.update(allocation_type="vendor_credit", amount_cents=100),
    ),
}
# Objects that no example has.
ADDED = {
    ("create_payout", "other_items"): [{"type": "dispute_fee", "amount_cents": -100}],
    ("update_bank_rule", "conditions"): {"text": "fee"},
    ("update_bank_rule", "result"): {"account": "6300"},
}


def of_no_party(reference: Reference) -> bool:
    """Return whether an unknown external id is refused, whatever the business says."""
    return reference.name not in OF_PARTIES or "result" in reference.place


NAMING = [each for each in references() if each.has_sibling and of_no_party(each)]
each_reference = pytest.mark.parametrize("reference", NAMING, ids=str)


@pytest.fixture(scope="module")
def books(acme: Partner) -> Iterator[Story]:
    """A story that only external ids are added to, since the requests are previews or refused."""
    story = Story.begin(acme)
    yield story
    story.close()


def request_by_id(story: Story, reference: Reference) -> Request:
    """Return a valid request that names a record by id in this field."""
    operation, media = reference.operation, bodies(reference.operation)[reference.content_type]
    known = [
        name
        for name, example in media["examples"].items()
        if any(reference.name in each for _, each in reference.holders(follow(example)["value"]))
    ]
    body = story.body(operation, reference.content_type, known[0] if known else "")
    first = reference.place[0]
    if (operation.name, first) in ADDED:
        body.setdefault(first, deepcopy(ADDED[operation.name, first]))
    if not known:
        if not [*reference.holders(body)]:  # Another example has the list.
            name = next(
                name
                for name, example in media["examples"].items()
                if [*reference.holders(follow(example)["value"])]
            )
            body = story.body(operation, reference.content_type, name)
        _, holder = next(reference.holders(body))
        BESIDE.get(reference.name, lambda _: None)(holder)
        holder[reference.name] = story.thing(THINGS.get(reference.name, reference.name))
    path = story.path(operation)
    return Request(operation, story.client(operation), path, body, reference.content_type)


def renamed(request: Request, reference: Reference, name: Callable[[str], Any]) -> Request:
    """Return the request with a name in place of each id in the field."""
    body = deepcopy(request.body)
    for _, holder in reference.holders(body):
        if reference.name in holder:
            ids = holder.pop(reference.name)
            named = [*map(name, ids)] if isinstance(ids, list) else name(ids)
            holder[by_external_id(reference.name)] = named
    return Request(request.operation, request.client, request.path, body, request.content_type)


def by_external_ids(story: Story, request: Request, reference: Reference) -> Request:
    """Return the request with the external ids of its records in place of their ids."""
    return renamed(request, reference, lambda id_: story.external_id(reference.name, id_))


def sent(request: Request) -> httpx.Response:
    """Send a request, as a preview if it can be one."""
    query = {"preview": "true"} if request.operation.takes("preview") else {}
    path = httpx.URL(request.path).copy_merge_params(query)
    return request.send(path=str(path))


def plain(answer: httpx.Response, request: Request) -> str:
    """Return an answer without new ids and moments."""
    kept = str(request.body) + request.path
    text = re.sub(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        lambda found: found[0] if found[0] in kept else "new",
        answer.text,
    )
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z|expires=\d+|signature=[\w-]+", "now", text)


def first_field(request: Request, reference: Reference) -> tuple[str, str]:
    """Return the path of the field, and that of its list item."""
    path, holder = next(
        (path, each) for path, each in reference.holders(request.body) if reference.name in each
    )
    listed = isinstance(holder[reference.name], list)
    field = f"{path}{by_external_id(reference.name)}{'.0' if listed else ''}"
    numbered = EACH in reference.place or listed
    item = field if listed else path.rstrip(".")
    return field, item if numbered else ""


class TestExternalName:
    def test_is_beside_every_id_of_a_record(self) -> None:
        missing = [each for each in references() if not each.has_sibling]
        assert {each.name for each in missing} == PARTS
        assert len(NAMING) >= 50

    @each_reference
    def test_gives_the_same_answer_as_the_id(self, reference: Reference, books: Story) -> None:
        request = request_by_id(books, reference)
        named = by_external_ids(books, request, reference)
        by_id, by_name = sent(request), sent(named)
        assert by_id.is_success, by_id.text
        assert by_name.is_success, by_name.text
        if request.operation.takes("preview"):
            assert plain(by_name, request) == plain(by_id, request)

    @each_reference
    def test_is_refused_if_no_record_has_it(self, reference: Reference, books: Story) -> None:
        request = request_by_id(books, reference)
        external_id = f"unknown {uuid4()}"
        field, item = first_field(request, reference)
        refusals = (
            sent(renamed(request, reference, lambda _: external_id)),
            sent(renamed_by_unknown_ids(request, reference)),
        )
        told, of_ids = (each.json() for each in refusals)
        assert [each.status_code for each in refusals] == [422, 422], told
        assert told["error_code"] == of_ids["error_code"] == "reference_not_found"
        assert told["message"].startswith(f"{field}: ")
        assert told["detail"] == {
            "resource": of_ids["detail"]["resource"],
            "reference": external_id,
            "field": field,
            **({"item": item} if item else {}),
        }

    @each_reference
    def test_may_be_given_with_the_id_of_the_same_record(
        self, reference: Reference, books: Story
    ) -> None:
        request = request_by_id(books, reference)
        both = with_ids(by_external_ids(books, request, reference), request, reference)
        by_id, by_both = sent(request), sent(both)
        assert by_both.is_success, by_both.text
        if request.operation.takes("preview"):
            assert plain(by_both, request) == plain(by_id, request)

    @each_reference
    def test_is_refused_with_the_id_of_another_record(
        self, reference: Reference, books: Story
    ) -> None:
        request = request_by_id(books, reference)
        field = first_field(request, reference)[0].removesuffix(".0")
        other = renamed(request, reference, lambda _: f"unknown {uuid4()}")
        answer = sent(with_ids(other, request, reference))
        told = answer.json()
        assert (answer.status_code, told["error_code"]) == (422, "reference_mismatch"), told
        assert told["detail"]["field"] == field
        assert told["message"].startswith(
            f"{field}: The id and the external id belong to different"
        )


def with_ids(named: Request, request: Request, reference: Reference) -> Request:
    """Return a request with the ids of another one beside its external ids."""
    pairs = zip(reference.holders(named.body), reference.holders(request.body), strict=True)
    for (_, one), (_, other) in pairs:
        if reference.name in other:
            one[reference.name] = other[reference.name]
    return named


def renamed_by_unknown_ids(request: Request, reference: Reference) -> Request:
    """Return the request with ids that no record has."""
    body = deepcopy(request.body)
    for _, holder in reference.holders(body):
        if reference.name in holder:
            listed = isinstance(holder[reference.name], list)
            holder[reference.name] = [str(uuid4())] if listed else str(uuid4())
    return Request(request.operation, request.client, request.path, body, request.content_type)
