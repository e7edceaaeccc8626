"""The mechanisms that the server adds to every operation without its handler."""

import gc
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import httpx
import pytest

from persistence.books import Books
from tests.api_server import ApiServer
from tests.contract.document import Operation, bodies, follow, named, operations, share_of
from tests.contract.each import each_of
from tests.contract.valid_requests import JSON, Request, Story, lasting
from tests.in_turn import Marker
from tests.partner import PATIENCE_SECONDS, Partner, within

OWN_TO_EACH = ("x-request-id", "date", "ratelimit", "idempotent-replayed")


def those(wanted: Callable[[Operation], Any]) -> pytest.MarkDecorator:
    """Mark a test that runs for operations that change their story, one test for each."""
    found = [each for each in operations() if wanted(each)]
    assert found
    return pytest.mark.parametrize("operation", found, ids=lambda each: each.name)


def all_those(wanted: Callable[[Operation], Any]) -> Marker:
    """Mark a test that runs in turn for operations that leave their story unchanged."""
    return each_of(each for each in operations() if wanted(each))


def is_about_a_business(operation: Operation) -> bool:
    of_partners = operation.node["tags"][0] in ("Businesses", "Sandboxes", "Webhook endpoints")
    return of_partners or operation.name == "set_partner_exchange_rates"


def has_etag(operation: Operation) -> bool:
    answers = operation.node["responses"]
    return any(
        "ETag" in follow(answers.get(each, {})).get("headers", {}) for each in ("200", "201")
    )


def takes_if_match(operation: Operation) -> bool:
    return operation.takes("If-Match")


def has_thing(operation: Operation) -> bool:
    return operation.path.count("{") > 1


def has_external_id(operation: Operation) -> bool:
    """Return whether the operation creates a record with an optional external ID."""
    schema = follow(bodies(operation).get(JSON, {}).get("schema", {}))
    return "201" in operation.node["responses"] and "external_id" in schema.get("properties", {})


each_repeatable = those(lambda each: each.takes("Idempotency-Key"))
each_with_preview = those(lambda each: each.takes("preview"))


@pytest.fixture
def no_books_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that after a test no books wait for the garbage collection."""
    opened, begin = WeakSet[Books](), Books.__init__

    def noted(books: Books, *arguments: Any) -> None:
        opened.add(books)
        begin(books, *arguments)

    monkeypatch.setattr(Books, "__init__", noted)
    gc.disable()
    try:
        yield
        assert within(PATIENCE_SECONDS, lambda: not opened)
    finally:
        gc.enable()


@pytest.fixture
def called(operation: Operation, request: pytest.FixtureRequest) -> Request:
    """Return a request of an operation; reads share a story."""
    story: Story = request.getfixturevalue("story" if operation.method == "get" else "own_story")
    return story.request(operation)


def lines(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in OWN_TO_EACH}


def key() -> dict[str, str]:
    return {"idempotency-key": str(uuid4())}


def succeeded(answer: httpx.Response) -> httpx.Response:
    assert answer.status_code in (200, 201), answer.text
    return answer


def of_nothing(story: Story, operation: Operation) -> Request:
    """Return a request whose path ends with an unknown ID."""
    name = operation.path.rpartition("{")[2].partition("}")[0]
    return story.request(operation, **{name: str(uuid4())})


def reading_of(request: Request) -> str:
    """Return the address that reads the record that a request changes."""
    told, given = request.operation.path.split("/"), request.path.split("/")
    readable = {each.path for each in operations() if each.method == "get"}
    ids = [place + 1 for place, part in enumerate(told) if part.startswith("{")]
    last = next(end for end in reversed(ids) if "/".join(told[:end]) + "/" in readable)
    return "/".join(given[:last]) + "/"


@pytest.fixture(scope="module")
def reused(acme: Partner) -> Story:
    """A story with every record, to which customers alone are added."""
    return Story.whole(acme)


class TestIdempotencyKey:
    @pytest.mark.usefixtures("no_books_left")
    @each_repeatable
    def test_gets_the_first_answer_again_byte_for_byte_and_takes_effect_once(
        self, operation: Operation, own_story: Story, api_server: ApiServer
    ) -> None:
        request, headers = own_story.request(operation), key()
        first = succeeded(request.send(headers=headers))
        before = api_server.stored()
        for path in (request.path, request.path.rstrip("/")):
            again = request.send(path=path, headers=headers)
            assert again.headers["idempotent-replayed"] == "true"
            assert (again.status_code, again.content) == (first.status_code, first.content)
            assert lines(again) == lines(first)
        assert "idempotent-replayed" not in first.headers
        assert api_server.stored() == before

    @all_those(lambda each: each.takes("Idempotency-Key"))
    def test_of_another_request_is_422(
        self, operation: Operation, reused: Story, api_server: ApiServer
    ) -> None:
        headers = key()
        about_a_business = is_about_a_business(operation)
        other = named("create_business" if about_a_business else "create_customer")
        succeeded(reused.request(other).send(headers=headers))
        request, before = reused.request(operation), api_server.stored()
        answer = request.send(headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (422, "idempotency_key_reused")
        assert answer.json()["detail"]["operation"] == other.name
        assert api_server.stored() == before

    @all_those(lambda each: each.takes("Idempotency-Key") and has_thing(each))
    def test_gets_a_refusal_again_even_when_it_would_succeed_now(
        self, operation: Operation, story: Story
    ) -> None:
        request, headers = of_nothing(story, operation), key()
        first, again = request.send(headers=headers), request.send(headers=headers)
        assert first.status_code == again.status_code == 404
        assert again.content == first.content
        assert again.headers["idempotent-replayed"] == "true"

    @each_repeatable
    def test_of_a_malformed_a_stale_or_a_previewed_request_is_still_free(
        self, operation: Operation, own_story: Story
    ) -> None:
        request, headers = own_story.request(operation), key()
        malformed = request.send(path=f"{request.path}?nope=1", headers=headers)
        assert malformed.status_code == 400
        if operation.takes("If-Match"):
            stale = request.send(headers={**headers, "if-match": '"999"'})
            assert stale.status_code == 412
        if operation.takes("preview"):
            preview = succeeded(request.send(path=f"{request.path}?preview=true", headers=headers))
            assert "journal_entries" in preview.json()
        real = succeeded(request.send(headers=headers))
        assert "idempotent-replayed" not in real.headers
        assert "journal_entries" not in real.json()


class TestExternalId:
    @those(has_external_id)
    def test_that_is_known_answers_what_is_there_and_makes_nothing(
        self, operation: Operation, own_story: Story, api_server: ApiServer
    ) -> None:
        request = own_story.request(operation)
        body = {**request.body, "external_id": f"mine-{uuid4()}"}
        first, before = request.send(json=body), api_server.stored()
        assert first.status_code == 201
        again = request.send(json=body)
        assert again.status_code == 200
        kept, made = (json.loads(lasting(each.text)) for each in (again, first))
        assert {**kept, "_meta": None} == {**made, "_meta": None}
        assert again.headers["etag"] == first.headers["etag"]
        assert api_server.stored() == before

    @those(lambda each: has_external_id(each) and each.within_business)
    def test_means_another_thing_in_another_business(
        self, operation: Operation, own_story: Story
    ) -> None:
        made = []
        for here in (own_story, Story.begin(own_story.partner)):
            request = here.request(operation)
            made.append(request.send(json={**request.body, "external_id": "the-same"}))
        assert [answer.status_code for answer in made] == [201, 201]
        assert made[0].headers["location"] != made[1].headers["location"]


class TestIfMatch:
    @all_those(takes_if_match)
    def test_of_an_older_version_is_412_and_changes_nothing(
        self, operation: Operation, story: Story, api_server: ApiServer
    ) -> None:
        request, before = story.request(operation), api_server.stored()
        current = request.client.get(reading_of(request)).headers["etag"]
        for stale in ('"999"', '"0"', f"W/{current}"):
            answer = request.send(headers={"if-match": stale})
            assert answer.json()["error_code"] == "precondition_failed"
            assert answer.status_code == 412
            assert answer.json()["detail"] == {"current_etag": current}
        assert api_server.stored() == before

    @those(takes_if_match)
    def test_of_the_current_version_or_of_any_passes(
        self, operation: Operation, own_story: Story
    ) -> None:
        request = own_story.request(operation)
        current = request.client.get(reading_of(request)).headers["etag"]
        [tag] = share_of(operation, (current, "*"), 2)
        answer = succeeded(request.send(headers={"if-match": tag}))
        read = request.client.get(reading_of(request))
        makes_another = operation.name.startswith(("reverse_journal", "supersede_"))
        if read.status_code == 200 and "etag" in answer.headers and not makes_another:
            assert read.headers["etag"] == answer.headers["etag"]

    @all_those(lambda each: takes_if_match(each) and has_thing(each))
    def test_on_what_does_not_exist_is_404(self, operation: Operation, story: Story) -> None:
        request = of_nothing(story, operation)
        assert request.send(headers={"if-match": '"1"'}).status_code == 404


@pytest.fixture(scope="module")
def archived(acme: Partner) -> Story:
    """An archived business with every record: no operation changes it."""
    story = Story.whole(acme)
    succeeded(acme.api.post(f"/v1/platform/businesses/{story.business.id}/archive/"))
    return story


class TestArchivedBusiness:
    @all_those(lambda each: each.within_business and not is_about_a_business(each))
    def test_is_read_and_not_written(
        self, operation: Operation, archived: Story, api_server: ApiServer
    ) -> None:
        request, before = archived.request(operation), api_server.stored()
        answer = request.send()
        if operation.method == "get":
            assert answer.status_code == 200
        else:
            assert (answer.status_code, answer.json()["error_code"]) == (409, "business_archived")
        assert api_server.stored() == before


class TestPreview:
    @each_with_preview
    def test_answers_what_would_be_posted_and_keeps_nothing(
        self, operation: Operation, own_story: Story, api_server: ApiServer
    ) -> None:
        request, before = own_story.request(operation), api_server.stored()
        preview = request.send(path=f"{request.path}?preview=true")
        assert api_server.stored() == before
        assert preview.status_code == 200
        assert "etag" not in preview.headers  # The record does not exist yet.
        for entry in preview.json()["journal_entries"]:
            assert entry["sequence_number"] is None
            amounts = [(line["debit_amount"], line["credit_amount"]) for line in entry["lines"]]
            assert sum(debit for debit, _ in amounts) == sum(credit for _, credit in amounts)
        real = succeeded(request.send())
        assert preview.json().keys() - {"journal_entries"} == real.json().keys()

    @all_those(lambda each: each.takes("preview") and has_thing(each))
    def test_refuses_what_the_real_one_would_refuse(
        self, operation: Operation, story: Story
    ) -> None:
        request = of_nothing(story, operation)
        preview = request.send(path=f"{request.path}?preview=true")
        assert preview.status_code == request.send().status_code == 404


class TestAddress:
    @those(lambda _: True)
    def test_means_the_same_without_its_final_slash(
        self, operation: Operation, called: Request
    ) -> None:
        answer = succeeded(called.send(path=called.path.rstrip("/")))
        if operation.method == "get":
            with_slash = called.send()
            # Links to other pages have the form of the request.
            bare = answer.text.replace(called.path.rstrip("/") + "?", called.path + "?")
            assert lasting(bare) == lasting(with_slash.text)

    @all_those(lambda each: each.method == "get")
    def test_answers_head_like_get_without_the_body(
        self, operation: Operation, story: Story
    ) -> None:
        request = story.request(operation)
        head, get = request.client.head(request.path), request.send()
        assert (head.status_code, lines(head)) == (get.status_code, lines(get))
        assert int(head.headers["content-length"]) == len(get.content) > 0


class TestMemory:
    @pytest.mark.usefixtures("no_books_left")
    @all_those(lambda each: each.method == "get")
    def test_keeps_nothing_of_what_was_read(self, operation: Operation, story: Story) -> None:
        succeeded(story.request(operation).send())


class TestStandingHeaders:
    @those(lambda _: True)
    def test_are_on_every_answer_with_the_name_that_the_caller_gave_the_request(
        self, operation: Operation, called: Request
    ) -> None:
        named = {"x-request-id": f"mine-{uuid4()}"}
        malformed = called.send(path=f"{called.path}?nope=1", headers=named)
        good = succeeded(called.send(headers=named))
        assert ("etag" in good.headers) == (has_etag(operation) and not operation.is_list)
        for answer in (good, malformed):
            assert answer.headers["x-request-id"] == named["x-request-id"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cache-control"] == "no-store"
            policy = "default-src 'none'; frame-ancestors 'none'"
            assert answer.headers["content-security-policy"] == policy
            assert not {"server", "set-cookie"} & answer.headers.keys()


class TestEtag:
    @those(lambda each: "201" in each.node["responses"])
    def test_and_location_of_what_was_made_lead_to_it(
        self, operation: Operation, own_story: Story
    ) -> None:
        made = own_story.request(operation).send()
        assert made.status_code == 201
        read = own_story.client(operation).get(made.headers["location"])
        assert read.headers["etag"] == made.headers["etag"]
        ids = [shown.get("payment", shown)["id"] for shown in (made.json(), read.json())]
        assert ids[0] == ids[1]
