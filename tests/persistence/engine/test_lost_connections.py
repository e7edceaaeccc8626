"""Requests over HTTP during which the connection to the database is lost at COMMIT."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from server.http.errors import CHECK_FIRST, REPEAT
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body
from tests.builders.trade import Record, line
from tests.partner import Business, Partner
from tests.persistence.engine.cut_wire import Wire

SENT = "2025-03-01T00:00:00Z"
ENDPOINTS = "/v1/platform/webhook-endpoints/"


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def buyer(shop: Business) -> Record:
    return shop.customer()


@pytest.fixture
def ledger(api_server: ApiServer, shop: Business) -> Iterator[Ledger]:
    ledger = Ledger(api_server, shop)
    yield ledger
    ledger.audit()


@pytest.fixture
def wire(api_server: ApiServer) -> Iterator[Wire]:
    with Wire(api_server.database_url) as wire:
        yield wire


@pytest.fixture
def far(wire: Wire, shop: Business) -> Iterator[Business]:
    """The same business through a server whose database is behind the wire."""
    with ApiServer(wire.url) as api_server:
        partner = Partner(api_server.url, shop.partner.partner_id, shop.partner.api_key)
        api_server.partners.append(partner)
        yield Business(partner, shop.record)


def count(ledger: Ledger) -> int:
    [(found,)] = ledger.ask("SELECT count(*) FROM invoice WHERE business_id = %(business)s")
    return int(found)


class TestLostDuringCommit:
    @pytest.mark.parametrize("place", ["before", "after"])
    def test_a_key_finds_the_first_answer(
        self, wire: Wire, far: Business, ledger: Ledger, buyer: Record, place: str
    ) -> None:
        body, before = invoice_body(buyer, line(70), sent_at=SENT), count(ledger)
        key = {"Idempotency-Key": str(uuid4())}
        assert far.api.get("invoices/").status_code == 200
        wire.cut = place
        made = far.api.post("invoices/", json=body, headers=key)
        assert (made.status_code, wire.cuts) == (201, 1)
        assert ("idempotent-replayed" in made.headers) == (place == "after")
        again = far.api.post("invoices/", json=body, headers=key)
        assert again.content == made.content
        assert count(ledger) == before + 1

    @pytest.mark.parametrize(("place", "kept"), [("before", 0), ("after", 1)])
    def test_a_request_without_a_key_is_not_repeated(
        self, wire: Wire, far: Business, ledger: Ledger, buyer: Record, place: str, kept: int
    ) -> None:
        body, before = invoice_body(buyer, line(70), sent_at=SENT), count(ledger)
        assert far.api.get("invoices/").status_code == 200
        wire.cut = place
        answer = far.api.post("invoices/", json=body)
        assert (answer.status_code, wire.cuts) == (503, 1)
        assert answer.json()["error_code"] == "service_unavailable"
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["message"].endswith(CHECK_FIRST)
        assert count(ledger) == before + kept
        assert far.api.get("invoices/").status_code == 200

    def test_an_operation_that_takes_no_key_is_to_be_checked_before_a_repeat(
        self, wire: Wire, far: Business
    ) -> None:
        api = far.partner.api
        key = {"Idempotency-Key": str(uuid4())}
        body = {"url": "https://hooks.example.com/"}
        before = api.get(ENDPOINTS).json()["count"]
        made = api.post(ENDPOINTS, json=body, headers=key).json()
        for path in (ENDPOINTS, f"{ENDPOINTS}{made['id']}/rotate-secret/"):
            wire.cut = "after"
            answer = api.post(path, json=body if path == ENDPOINTS else None, headers=key)
            assert (answer.status_code, wire.cut) == (503, None)
            assert answer.json()["message"].endswith(CHECK_FIRST)
        assert api.get(ENDPOINTS).json()["count"] == before + 2

    def test_a_delete_may_be_repeated(self, wire: Wire, far: Business) -> None:
        api = far.partner.api
        made = api.post(ENDPOINTS, json={"url": "https://hooks.example.com/"}).json()
        wire.cut = "after"
        answer = api.delete(f"{ENDPOINTS}{made['id']}/")
        assert (answer.status_code, wire.cut) == (503, None)
        assert answer.json()["message"].endswith(REPEAT)
