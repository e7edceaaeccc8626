"""Changes by a server of the previous release, which writes no events: triggers do."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import persistence.books
import persistence.partners.registry
from access.principal import Caller
from persistence.engine.tenants import AuditedAction
from tests.api_server import ApiServer
from tests.builders.files import upload
from tests.builders.sales import paid, part, sent
from tests.handlers.platform.test_events import feed, head
from tests.partner import Partner
from tests.persistence.integrity.book_faults import faults_in
from tests.persistence.integrity.traded_business import traded

THIS_RELEASE = AuditedAction.by


def announce(action: AuditedAction, caller: Caller) -> str:
    """Return the JSON of the previous release, which announces no events."""
    said = json.loads(THIS_RELEASE(action, caller))
    del said["events"]
    return json.dumps(said)


def write_no_events(*_: Any) -> None:
    """Stage nothing, as the previous release does."""


@pytest.fixture
def previous() -> Iterator[Callable[[], None]]:
    """Patch the server to write as the previous release does; yield a function to undo it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AuditedAction, "by", announce)
        patched.setattr(persistence.books, "stage_events", write_no_events)
        patched.setattr(persistence.partners.registry, "stage_changes", write_no_events)
        yield patched.undo


class TestPreviousServer:
    def test_its_change_is_one_plain_event_with_version_and_cause(
        self, partner: Partner, previous: Callable[[], None]
    ) -> None:
        shop = partner.business()
        buyer = shop.customer(external_id="baker")
        before = head(shop)
        headers = {"x-request-id": "old-7"}
        address = f"customers/{buyer['id']}/"
        answer = shop.api.patch(address, json={"notes": "Call first"}, headers=headers)
        assert answer.status_code == 200, answer.text
        [event] = feed(shop, after=before)["results"]
        assert event["object"] == {
            "type": "customer",
            "id": buyer["id"],
            "external_id": "baker",
            "version": 2,
            "url": f"/v1/platform/businesses/{shop.id}/{address}",
        }
        assert (event["sequence"], event["type"], event["change"]) == (
            *(before + 1, "customer.updated"),
            "updated",
        )
        assert event["cause"] == {
            "operation": "update_customer",
            "request_id": "old-7",
            "actor": {"kind": "business_token", "key_id": None},
        }
        assert (event["previous_status"], event["status"], event["changed"]) == (None, None, [])

    def test_its_reversal_is_an_event_of_the_entry_that_it_reverses(
        self, own_server: ApiServer, partner: Partner, previous: Callable[[], None]
    ) -> None:
        shop = partner.business()
        invoice = sent(shop, shop.customer(), 100)
        before = head(shop)
        [posted] = feed(shop, types="journal_entry.posted")["results"]
        answer = shop.api.post(f"invoices/{invoice['id']}/void/", json={})
        assert answer.status_code == 200, answer.text
        told = feed(shop, after=before, types="journal_entry.*")["results"]
        assert [(each["type"], each["change"]) for each in told] == [
            ("journal_entry.reversed", "updated"),
            ("journal_entry.posted", "created"),
        ]
        assert told[0]["object"] == {**posted["object"], "version": 2}
        assert faults_in(own_server, shop) == set()

    def test_books_with_records_of_every_kind_hold(
        self, own_server: ApiServer, partner: Partner, previous: Callable[[], None]
    ) -> None:
        shop = traded(partner.business())
        upload(shop)
        assert faults_in(own_server, shop) == set()

    def test_a_server_of_this_release_goes_on_with_the_next_sequence(
        self, own_server: ApiServer, partner: Partner, previous: Callable[[], None]
    ) -> None:
        shop = partner.business()
        buyer = shop.customer()
        invoice = sent(shop, buyer, 100)
        before = head(shop)
        previous()
        paid(shop, buyer, 100, part(invoice, 100))
        told = feed(shop, after=before)["results"]
        assert [(each["sequence"] - before, each["type"]) for each in told] == [
            (1, "invoice_payment.created"),
            (2, "invoice.paid"),
            (3, "journal_entry.posted"),
        ]
        assert faults_in(own_server, shop) == set()
