"""Webhooks, feeds and bulk writes of the SDK for Python, checked against scripted servers.

`make clients` runs it beside the SDK that it has built; `make test` has none.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import standardwebhooks.webhooks
from standardwebhooks import Webhook

from accounting_sdk import (
    Accounting,
    AccountingError,
    BadRequest,
    BulkReport,
    Forbidden,
    InvalidWebhook,
    NoAnswer,
    Retries,
    models,
    verify_webhook,
)
from accounting_sdk.bulk import PATIENT
from accounting_sdk.webhooks import verified_content
from server.contract.document import parse, read_source
from tools.clients.tests.answer_server import Answer, AnswerServer, ReceivedRequest

ID = UUID(int=1)
EXAMPLES = parse(read_source())["components"]["examples"]
MESSAGE = EXAMPLES["WebhookMessage"]["value"]
EVENT = MESSAGE["data"]
PING = EXAMPLES["WebhookPing"]["value"]
# The example that Standard Webhooks publishes.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
VECTOR = b'{"test": 2432232314}'
VECTOR_HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
SOON = Retries(first_wait=0.01, longest_wait=0.02)
OTHER = "whsec_" + "b3RoZXI" * 4


def signed(body: bytes, *secrets: str, age: float = 0, name: str = "msg_1") -> dict[str, str]:
    """Return the headers of a message that was sent some seconds ago."""
    at = datetime.fromtimestamp(datetime.now(UTC).timestamp() - age, UTC)
    signatures = [Webhook(each).sign(name, at, body.decode()) for each in secrets or (SECRET,)]
    return {
        "Webhook-Id": name,
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": " ".join(signatures),
    }


def sent(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


@pytest.fixture
def in_2021(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock to the time of the published example."""

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Frozen":
            return cls.fromtimestamp(1614265330, tz)

    monkeypatch.setattr(standardwebhooks.webhooks, "datetime", Frozen)


class TestVerifyWebhook:
    @pytest.mark.usefixtures("in_2021")
    def test_the_published_example_is_genuine(self) -> None:
        assert verified_content(VECTOR, VECTOR_HEADERS, SECRET) == {"test": 2432232314}

    @pytest.mark.usefixtures("in_2021")
    def test_and_yet_no_message_of_this_api(self) -> None:
        with pytest.raises(InvalidWebhook, match="no message of this API"):
            verify_webhook(VECTOR, VECTOR_HEADERS, SECRET)

    def test_the_published_example_is_too_old_today(self) -> None:
        with pytest.raises(InvalidWebhook, match="too old"):
            verify_webhook(VECTOR, VECTOR_HEADERS, SECRET)

    def test_an_event_has_its_types(self) -> None:
        body = sent(MESSAGE)
        message = verify_webhook(body, signed(body), SECRET)
        assert isinstance(message, models.WebhookMessage)
        assert isinstance(message.data, models.Event)
        assert (message.type_, message.data.sequence) == ("invoice.paid", EVENT["sequence"])
        assert message.data.id == UUID(EVENT["id"])

    def test_a_type_that_only_a_newer_server_knows(self) -> None:
        body = sent({**MESSAGE, "type": "robot.built", "data": {**EVENT, "type": "robot.built"}})
        message = verify_webhook(body.decode(), signed(body), SECRET)
        assert message.type_ == "robot.built"

    def test_a_ping_is_no_event(self) -> None:
        body = sent(PING)
        assert isinstance(verify_webhook(body, signed(body), SECRET), models.WebhookPing)

    @pytest.mark.parametrize("secrets", [(SECRET, OTHER), (OTHER, SECRET)])
    def test_one_of_several_signatures_is_enough(self, secrets: tuple[str, ...]) -> None:
        body = sent(MESSAGE)
        headers = signed(body, *secrets)
        headers["Webhook-Signature"] = f"v1a,abcd {headers['Webhook-Signature']}"
        assert verify_webhook(body, headers, SECRET)

    @pytest.mark.parametrize("age", [-290, 290])
    def test_clocks_may_differ_by_five_minutes(self, age: float) -> None:
        body = sent(MESSAGE)
        assert verify_webhook(body, signed(body, age=age), SECRET)

    @pytest.mark.parametrize("age", [-310, 310])
    def test_but_no_more(self, age: float) -> None:
        body = sent(MESSAGE)
        with pytest.raises(InvalidWebhook):
            verify_webhook(body, signed(body, age=age), SECRET)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"Webhook-Signature": "v1,AAAA"},
            {"Webhook-Signature": "v1"},
            {"Webhook-Signature": "v1,A"},
            {"Webhook-Signature": ""},
            {"Webhook-Id": "msg_2"},
            {"Webhook-Timestamp": "soon"},
            {"Webhook-Timestamp": "nan"},
        ],
    )
    def test_headers_that_are_not_right(self, wrong: dict[str, str]) -> None:
        body = sent(MESSAGE)
        with pytest.raises(InvalidWebhook):
            verify_webhook(body, {**signed(body), **wrong}, SECRET)

    def test_headers_that_are_missing(self) -> None:
        with pytest.raises(InvalidWebhook):
            verify_webhook(sent(MESSAGE), {}, SECRET)

    @pytest.mark.parametrize("body", [b"\xff", b"", sent(MESSAGE) + b" "])
    def test_a_body_that_was_changed(self, body: bytes) -> None:
        with pytest.raises(InvalidWebhook):
            verify_webhook(body, signed(sent(MESSAGE)), SECRET)

    @pytest.mark.parametrize("body", [b"[]", b"7", b"{}", b'{"type": "invoice.paid"}', b"nothing"])
    def test_a_signed_body_that_is_no_message(self, body: bytes) -> None:
        with pytest.raises(InvalidWebhook):
            verify_webhook(body, signed(body), SECRET)

    @pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!"])
    def test_a_wrong_secret_is_no_wrong_request(self, secret: str) -> None:
        body = sent(MESSAGE)
        with pytest.raises(Exception, match=r".") as error:
            verify_webhook(body, signed(body), secret)
        assert not isinstance(error.value, InvalidWebhook)


@contextmanager
def serving(answer: Any, **options: Any) -> Iterator[tuple[Accounting, list[ReceivedRequest]]]:
    """Run a server that issues tokens and answers other requests by a function."""

    def said(asked: ReceivedRequest) -> Answer | None:
        if asked.path.endswith("/oauth2/token/"):
            issued = {"access_token": "t", "token_type": "Bearer", "expires_in": 3600}
            told = {**issued, "business_id": str(ID), "scope": "business_access"}
            return Answer(200, json.dumps(told).encode())
        calls.append(asked)
        found: Answer | None = answer(asked)
        return found

    calls: list[ReceivedRequest] = []
    with (
        AnswerServer(said) as server,
        Accounting(server.url, ID, "key", **{"retries": SOON, **options}) as accounting,
    ):
        yield accounting, calls


class Feed:
    """A feed with some events, which come in pages of two."""

    def __init__(self, head: int) -> None:
        self.head = head

    def __call__(self, asked: ReceivedRequest) -> Answer:
        after = int(httpx.URL(asked.path).params["after"])
        last = min(after + 2, self.head)
        feed = {
            "results": [{**EVENT, "sequence": number} for number in range(after + 1, last + 1)],
            "last_sequence": max(after, last),
            "head_sequence": self.head,
            "has_more": last < self.head,
        }
        return Answer(200, json.dumps(feed).encode())


def asked(calls: list[ReceivedRequest], name: str) -> list[str]:
    return [httpx.URL(each.path).params[name] for each in calls]


class TestEvents:
    def test_without_a_wait_it_ends_with_the_newest(self) -> None:
        with serving(Feed(5)) as (accounting, calls):
            events = accounting.business(ID).events(after=1, wait=0)
            assert [each.sequence for each in events] == [2, 3, 4, 5]
        assert asked(calls, "after") == ["1", "3"]

    def test_it_follows_what_comes_later(self) -> None:
        feed = Feed(3)
        with serving(feed) as (accounting, calls):
            events = accounting.business(ID).events()
            assert [next(events).sequence for _ in range(3)] == [1, 2, 3]
            feed.head = 4
            assert next(events).sequence == 4
        assert asked(calls, "wait") == ["20"] * 3

    def test_filters_are_sent(self) -> None:
        with serving(Feed(1)) as (accounting, calls):
            [*accounting.business(ID).events(types=["invoice.*", "bill.paid"], wait=0)]
        assert httpx.URL(calls[0].path).params.get_list("types") == ["invoice.*", "bill.paid"]

    def test_the_answer_comes_before_the_timeout(self) -> None:
        with serving(Feed(1), timeout=9) as (accounting, calls):
            next(accounting.business(ID).events())
        assert asked(calls, "wait") == ["6"]

    def test_a_server_that_does_not_wait_is_not_asked_without_end(self) -> None:
        feeds = [Feed(1), Feed(1), Feed(2)]
        begun = time.monotonic()

        def answer(asked: ReceivedRequest) -> Answer:
            return feeds.pop(0)(asked)

        with serving(answer) as (accounting, calls):
            assert next(accounting.business(ID).events(after=1)).sequence == 2
        assert time.monotonic() - begun >= 2
        assert len(calls) == 3


class TestEventPages:
    def test_they_go_on_at_the_cursor(self) -> None:
        pages = [
            {"results": [EVENT], "next_cursor": "1-1", "has_more": True},
            {"results": [], "next_cursor": "2-1", "has_more": True},
            {"results": [], "next_cursor": "2-1", "has_more": False},
        ]

        def answer(asked: ReceivedRequest) -> Answer:
            return Answer(200, json.dumps(pages.pop(0)).encode())

        with serving(answer) as (accounting, calls):
            found = [*accounting.event_pages(types=["invoice.*"], wait=0)]
        # A page without events that moves the cursor is one to store, too.
        assert [(len(each.results), each.next_cursor) for each in found] == [(1, "1-1"), (0, "2-1")]
        assert [httpx.URL(each.path).params.get("after") for each in calls] == [None, "1-1", "2-1"]
        assert httpx.URL(calls[0].path).path == "/v1/platform/events/"


class Books:
    """A server of batches: it keeps external ids and answers of keys, as the API does."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.created: list[str] = []
        self.refused = {"bad"}
        self.malformed = {"odd"}
        self.stops_after = 1_000_000
        self.batches = 0

    def __call__(self, asked: ReceivedRequest) -> Answer | None:
        assert asked.path == f"/v1/platform/businesses/{ID}/batch/"
        if self.batches >= self.stops_after:
            return None
        key = asked.headers["Idempotency-Key"]
        items = json.loads(asked.body)["items"]
        assert len(asked.body) <= 5 * 2**20
        wrong = {
            f"items.{place}.body.memo": ["is odd"]
            for place, item in enumerate(items)
            if item["body"]["external_id"] in self.malformed
        }
        if wrong:
            body = {"error_code": "validation_error", "message": "No.", "request_id": "r"}
            told = {**body, "detail": {"field_errors": wrong}}
            return Answer(400, json.dumps(told).encode())
        if key not in self.answers:
            results = [self.result(place, item) for place, item in enumerate(items)]
            failed = sum(each["outcome"] == "refused" for each in results)
            answer = {"committed": True, "failed": failed, "results": results}
            self.answers[key] = json.dumps(answer).encode()
        self.batches += 1
        return Answer(200, self.answers[key])

    def result(self, place: int, item: dict[str, Any]) -> dict[str, Any]:
        external_id = item["body"]["external_id"]
        told = {"key": item["key"], "index": place, "etag": None}
        if external_id in self.refused:
            error = {"error_code": "period_locked", "message": "Locked.", "request_id": "r"}
            body = {**error, "detail": {"lock_date": "2026-01-31"}}
            return {**told, "outcome": "refused", "status": 422, "body": body}
        if external_id not in self.created:
            self.created.append(external_id)
        found = {"id": f"id-{external_id}", "external_id": external_id}
        return {**told, "outcome": "succeeded", "status": 201, "etag": '"1"', "body": found}


def customer(external_id: str) -> tuple[str, dict[str, Any]]:
    return "create_customer", {"external_id": external_id, "company_name": external_id}


def many(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    return (customer(f"c-{number}") for number in range(count))


class TestBulk:
    def test_each_item_has_its_result(self) -> None:
        books = Books()
        seen: list[tuple[int, int]] = []
        items = [*many(3), customer("bad"), customer("c-3")]
        with serving(books) as (accounting, calls):

            def progress(report: BulkReport) -> None:
                seen.append((report.done, len(report.failures)))

            report = accounting.business(ID).bulk(items, size=2, progress=progress)
        assert seen == [(2, 0), (4, 1), (5, 1)]
        assert [each.index for each in report.results] == [0, 1, 2, 3, 4]
        first, failure = report.results[0], report.failures[0]
        assert (first.id, first.external_id, first.status) == ("id-c-0", "c-0", 201)
        assert (first.etag, first.error, first.operation) == ('"1"', None, "create_customer")
        assert failure is report.results[3]
        assert failure.error is not None
        assert (failure.error.error_code, failure.error.status) == ("period_locked", 422)
        assert failure.error.detail == {"lock_date": "2026-01-31"}
        assert [len(json.loads(each.body)["items"]) for each in calls] == [2, 2, 1]
        assert {json.loads(each.body)["mode"] for each in calls} == {"independent"}

    def test_a_body_tells_its_operation(self) -> None:
        at = datetime(2026, 7, 1, tzinfo=UTC)
        logo = models.LineItemInput(description="Logo", quantity=1, unit_price=100)
        items = [
            models.CustomerCreate(company_name="Blue", external_id="c"),
            models.InvoiceCreate(
                customer_external_id="c", external_id="i", sent_at=at, line_items=[logo]
            ),
            ("update_customer", {"external_id": "c"}, {"customer_id": "7"}),
        ]
        with serving(Books()) as (accounting, calls):
            report = accounting.business(ID).bulk(items)
        operations = [each.operation for each in report.results]
        assert operations == ["create_customer", "create_invoice", "update_customer"]
        *_, last = json.loads(calls[0].body)["items"]
        assert last["path"] == {"customer_id": "7"}

    @pytest.mark.parametrize("body", [models.AccountChildCreate, models.LineItemInput])
    def test_one_that_does_not_needs_it(self, body: Any) -> None:
        with serving(Books()) as (accounting, calls), pytest.raises(TypeError, match="operation"):
            accounting.business(ID).bulk([body.from_dict(SAMPLES[body])])
        assert calls == []

    def test_a_malformed_item_fails_alone(self) -> None:
        books = Books()
        items = [customer("a"), customer("odd"), customer("b")]
        with serving(books) as (accounting, calls):
            report = accounting.business(ID).bulk(items)
        assert books.created == ["a", "b"]
        assert [each.index for each in report.results] == [0, 1, 2]
        [failure] = report.failures
        assert failure.index == 1
        assert isinstance(failure.error, BadRequest)
        assert failure.error.detail == {"field_errors": {"body.memo": ["is odd"]}}
        assert len(calls) == 2

    def test_a_batch_that_is_refused_as_a_whole_raises(self) -> None:
        def refusing(asked: ReceivedRequest) -> Answer:
            body = {"error_code": "permission_denied", "message": "No.", "request_id": "r"}
            return Answer(403, json.dumps({**body, "detail": {}}).encode())

        with serving(refusing) as (accounting, _), pytest.raises(Forbidden):
            accounting.business(ID).bulk(many(1))

    def test_a_repeat_sends_the_same_keys(self) -> None:
        books = Books()
        with serving(books) as (accounting, calls):
            once = accounting.business(ID).bulk(many(5), size=2)
            again = accounting.business(ID).bulk(many(5), size=2)
            accounting.business(ID).bulk(many(5), size=2, name="second")
            accounting.business(UUID(int=1)).bulk(many(4), size=2)
        keys = [each.headers["Idempotency-Key"] for each in calls]
        assert keys[:3] == keys[3:6]
        assert keys[9:] == keys[:2]
        assert len({*keys}) == 6
        assert once.results == again.results
        assert books.created == [f"c-{number}" for number in range(5)]

    def test_it_goes_on_after_a_kill_without_doubles(self, tmp_path: Path) -> None:
        books, state = Books(), tmp_path / "state"
        books.stops_after = 2
        with serving(books) as (accounting, calls):
            shop = accounting.business(ID)
            with pytest.raises(NoAnswer):
                shop.bulk(many(7), size=2, state=state, retries=SOON)
            with state.open("a") as file:
                file.write("\nbulk-cut-o")
            books.stops_after = 100
            calls.clear()
            report = shop.bulk(many(7), size=2, state=state)
            assert (report.skipped, report.done, len(calls)) == (4, 7, 2)
            assert shop.bulk(many(7), size=2, state=state).skipped == 7
        assert books.created == [f"c-{number}" for number in range(7)]

    def test_a_state_keeps_no_batch_with_a_refusal(self, tmp_path: Path) -> None:
        books, state = Books(), tmp_path / "state"
        with serving(books) as (accounting, _):
            shop = accounting.business(ID)
            items = [*many(2), customer("bad")]
            shop.bulk(items, size=2, state=state)
            books.refused.clear()
            again = shop.bulk(items, size=2, state=state)
            assert (again.skipped, len(again.failures)) == (2, 1)
            renamed = shop.bulk(items, size=2, state=state, name="unlocked")
            assert renamed.failures == []
        assert books.created == ["c-0", "c-1", "bad"]

    @pytest.mark.parametrize("status", [429, 503])
    def test_it_waits_longer_than_other_calls(self, status: int) -> None:
        books, refusals = Books(), [Answer(status)] * 8

        def answer(asked: ReceivedRequest) -> Answer | None:
            return refusals.pop() if refusals else books(asked)

        with serving(answer) as (accounting, _):
            policy = replace(PATIENT, first_wait=0.01, longest_wait=0.02)
            report = accounting.business(ID).bulk(many(1), retries=policy)
        assert len(report.results) == 1
        assert (PATIENT.attempts, PATIENT.seconds) > (8, 60)

    def test_large_items_make_smaller_batches(self) -> None:
        books = Books()
        large = [
            ("create_customer", {**customer(f"{n}")[1], "memo": "é" * 1_000_000}) for n in "abc"
        ]
        wide = [("create_customer", {**customer(n)[1], "tags": [1] * 60_000}) for n in "de"]
        with serving(books) as (accounting, calls):
            accounting.business(ID).bulk([*large, *wide])
        assert books.created == ["a", "b", "c", "d", "e"]
        assert [len(json.loads(each.body)["items"]) for each in calls] == [2, 2, 1]

    @pytest.mark.parametrize("size", [0, 501])
    def test_a_size_that_no_batch_has(self, size: int) -> None:
        with serving(Books()) as (accounting, _), pytest.raises(ValueError, match="500"):
            accounting.business(ID).bulk(many(1), size=size)

    def test_nothing_is_sent_for_nothing(self) -> None:
        with serving(Books()) as (accounting, calls):
            assert accounting.business(ID).bulk([]).results == []
        assert calls == []

    def test_a_number_that_json_lacks_is_refused(self) -> None:
        items = [("create_customer", {"external_id": "a", "score": float("nan")})]
        with serving(Books()) as (accounting, _), pytest.raises(ValueError, match="JSON"):
            accounting.business(ID).bulk(items)


SAMPLES: dict[Any, dict[str, Any]] = {
    models.AccountChildCreate: {"code": "1", "name": "a"},
    models.LineItemInput: {"description": "Logo", "quantity": 1, "unit_price": 1},
}


def test_all_errors_are_accounting_errors() -> None:
    assert not issubclass(InvalidWebhook, AccountingError)
