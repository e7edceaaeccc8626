"""Sandboxes: copied from a template, reset by one request, with a clock that is set ahead."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from itertools import count
from typing import Any

import httpx
import pytest

from tests import clock
from tests.api_server import ApiServer, Databases
from tests.builders.bank import open_account
from tests.builders.files import PDF, follow, upload
from tests.builders.purchases import received
from tests.builders.revaluations import REVALUATIONS
from tests.builders.sales import paid, part, sent
from tests.contract.refusals import is_as_shown
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in

SANDBOXES, BUSINESSES = "/v1/platform/sandboxes/", "/v1/platform/businesses/"
LATER = timedelta(days=45)
_numbers = count(1)


@dataclass(frozen=True)
class Template:
    """Books to copy: an invoice of 500.00 with a document, 200.00 of it paid; revalued dollars."""

    server: ApiServer
    business: Business


@pytest.fixture(scope="module")
def template(own_server: ApiServer) -> Template:
    business = own_server.prepare_sandboxes()
    customer = business.customer(external_id="blue")
    due_at = (clock.now() + timedelta(days=30)).isoformat()
    invoice = sent(business, customer, 50_000, due_at=due_at)
    paid(business, customer, 20_000, part(invoice, 20_000))
    assert upload(business, linked_id=invoice["id"], linked_type="invoice").status_code == 201
    dollars = open_account(business, currency="USD")["id"]
    paid(business, customer, 10_000, currency="USD", exchange_rate=0.9, bank_account_id=dollars)
    business.made(REVALUATIONS, {"date": "2025-03-31", "rates": {"USD": 0.97}})
    path, setting = f"{BUSINESSES}{business.id}/", {"unknown_parties": "refuse"}
    assert business.partner.api.patch(path, json=setting).is_success
    return Template(own_server, business)


@pytest.fixture
def sandbox(partner: Partner, template: Template) -> Business:
    return Business(partner, made(partner))


def made(partner: Partner, **facts: Any) -> dict[str, Any]:
    facts = {"external_id": f"tests-{next(_numbers)}", **facts}
    answer = partner.api.post(SANDBOXES, json=facts)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


def listed(business: Business, path: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = business.api.get(path).json()["results"]
    return results


def moved(sandbox: Business, ahead: timedelta = LATER) -> httpx.Response:
    body = {"clock_seconds_ahead": int(ahead.total_seconds())}
    return sandbox.partner.api.patch(f"{SANDBOXES}{sandbox.id}/", json=body)


def without_ids(value: Any) -> Any:
    """Return an object without the fields that differ between copies of the books."""
    if isinstance(value, dict):
        own = ("id", "url", "expires_in")
        kept = {name: each for name, each in value.items() if not name.endswith(own)}
        return {name: without_ids(each) for name, each in kept.items()}
    return [without_ids(each) for each in value] if isinstance(value, list) else value


class TestCreateSandbox:
    def test_has_the_books_of_the_template_under_ids_of_its_own(
        self, template: Template, sandbox: Business
    ) -> None:
        for path in (
            *("customers/", "invoices/", "invoices/payments/", "documents/", "tax-codes/"),
            *("general-ledger/journal-entries/", "general-ledger/chart-of-accounts/"),
        ):
            there, here = (listed(each, path) for each in (template.business, sandbox))
            assert without_ids(here) == without_ids(there) != []
            assert {each["id"] for each in here}.isdisjoint(each["id"] for each in there)

    def test_goes_on_as_its_own(self, template: Template, sandbox: Business) -> None:
        [invoice] = listed(sandbox, "invoices/")
        paid(sandbox, invoice["customer"], 30_000, part(invoice, 30_000))
        assert sandbox.api.get(f"invoices/{invoice['id']}/").json()["status"] == "paid"
        [untouched] = listed(template.business, "invoices/")
        assert untouched["status"] == "partially_paid"
        again = sent(sandbox, invoice["customer"], 100)
        assert again["invoice_number"] == "INV-000002"
        assert sandbox.balance("1200") == 100
        assert template.server.prover.faults_of(sandbox.id) == []

    def test_reverses_the_revaluation_of_its_template(
        self, template: Template, sandbox: Business
    ) -> None:
        [revaluation] = listed(sandbox, REVALUATIONS)
        path = f"{REVALUATIONS}{revaluation['id']}/reverse/"
        assert sandbox.api.post(path).json()["status"] == "reversed"
        assert faults_in(template.server, sandbox) == set()

    def test_has_files_of_its_own(self, template: Template, sandbox: Business) -> None:
        [document] = listed(sandbox, "documents/")
        assert follow(sandbox, document["url"]).content == PDF
        assert len(list((template.server.folder / sandbox.id).iterdir())) == 1

    def test_is_a_business_and_shown_as_a_sandbox(
        self, partner: Partner, sandbox: Business
    ) -> None:
        shown = partner.api.get(f"{BUSINESSES}{sandbox.id}/").json()
        assert (shown["is_sandbox"], shown["name"]) == (True, "Tidewater Roasters")
        assert shown["external_id"] == sandbox.record["external_id"]
        assert shown["unknown_parties"] == "refuse"
        assert partner.business().record["is_sandbox"] is False

    def test_has_the_given_name(self, partner: Partner, template: Template) -> None:
        assert made(partner, name="Nightly")["name"] == "Nightly"

    def test_with_the_external_id_of_a_real_business_is_refused(
        self, partner: Partner, template: Template
    ) -> None:
        real = partner.business()
        answer = partner.api.post(SANDBOXES, json={"external_id": real.record["external_id"]})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_external_id")
        assert answer.json()["detail"]["id"] == real.id


class TestGetSandbox:
    def test_that_is_a_real_business_is_not_found(self, partner: Partner) -> None:
        answer = partner.api.get(f"{SANDBOXES}{partner.business().id}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "sandbox_not_found")


class TestUpdateSandbox:
    def test_a_due_invoice_is_overdue_once_the_clock_has_passed_its_day(
        self, sandbox: Business
    ) -> None:
        assert listed(sandbox, "invoices/?status=overdue") == []
        answer = moved(sandbox)
        assert (answer.status_code, answer.json()["clock_seconds_ahead"]) == (200, 45 * 86_400)
        [overdue] = listed(sandbox, "invoices/?status=overdue")
        assert overdue["is_overdue"] is True
        told = listed(sandbox, "events/?after=1")
        assert [each["type"] for each in told] == ["business.updated", "invoice.overdue"]
        assert (told[1]["previous_status"], told[1]["status"]) == ("partially_paid", "overdue")
        assert told[1]["object"]["version"] == 2
        moved(sandbox, LATER + timedelta(days=1))
        assert [each["type"] for each in listed(sandbox, "events/?after=3")] == ["business.updated"]

    def test_the_rules_store_what_it_shows(self, template: Template, sandbox: Business) -> None:
        moved(sandbox)
        on = (clock.today() + LATER - timedelta(days=1)).isoformat()
        customer = listed(sandbox, "customers/")[0]
        invoice = sent(sandbox, customer, 100, sent_at=f"{on}T00:00:00Z")
        entry = listed(sandbox, "general-ledger/journal-entries/?sort=-created_at")[0]
        assert entry["entry_date"] == on
        assert invoice["created_at"] > on
        [[real]] = template.server.query(
            "SELECT max(created_at) FROM audit_record WHERE business_id = %s", sandbox.id
        )
        assert real - clock.now() < timedelta(days=1)
        assert template.server.prover.faults_of(sandbox.id) == []

    def test_all_events_of_a_request_have_its_time(self, sandbox: Business) -> None:
        moved(sandbox)
        path = "general-ledger/chart-of-accounts/6000/"
        assert sandbox.api.delete(path).status_code == 200
        received(sandbox, sandbox.vendor())
        told = listed(sandbox, "events/?types=account.unarchived,bill.created")
        assert {each["type"] for each in told} == {"account.unarchived", "bill.created"}
        assert len({each["occurred_at"] for each in told}) == 1

    def test_a_repeated_request_is_answered_from_what_was_kept(self, sandbox: Business) -> None:
        moved(sandbox)
        request: Any = {"json": {"company_name": "Late Ltd"}, "headers": {"Idempotency-Key": "one"}}
        first, again = (sandbox.api.post("customers/", **request) for _ in range(2))
        assert (first.status_code, again.content) == (201, first.content)
        assert again.headers["idempotent-replayed"] == "true"

    def test_moves_no_other_clock(self, partner: Partner, sandbox: Business) -> None:
        moved(sandbox)
        assert made(partner)["clock_seconds_ahead"] == 0
        assert partner.business().customer()["created_at"] < (clock.now() + LATER).isoformat()


class TestResetSandbox:
    def test_has_the_books_of_the_beginning_the_real_time_and_another_id(
        self, partner: Partner, sandbox: Business
    ) -> None:
        sent(sandbox, listed(sandbox, "customers/")[0], 100)
        moved(sandbox)
        answer = partner.api.post(f"{SANDBOXES}{sandbox.id}/reset/")
        assert answer.status_code == 200
        anew = Business(partner, answer.json())
        assert anew.id != sandbox.id
        assert anew.record["external_id"] == sandbox.record["external_id"]
        assert anew.record["clock_seconds_ahead"] == 0
        assert len(listed(anew, "invoices/")) == 1

    def test_leaves_books_that_hold_where_the_clock_was_moved(
        self, partner: Partner, template: Template, sandbox: Business
    ) -> None:
        assert moved(sandbox).is_success
        partner.api.post(f"{SANDBOXES}{sandbox.id}/reset/")
        assert faults_in(template.server, sandbox) == set()

    def test_leaves_the_old_one_archived_for_good(
        self, partner: Partner, sandbox: Business
    ) -> None:
        partner.api.post(f"{SANDBOXES}{sandbox.id}/reset/")
        old = f"{BUSINESSES}{sandbox.id}/"
        assert partner.api.get(old).json()["is_active"] is False
        assert partner.api.get(f"{SANDBOXES}{sandbox.id}/").status_code == 404
        answer = partner.api.post(f"{old}unarchive/")
        refused = (answer.status_code, answer.json()["error_code"])
        assert refused == (409, "invalid_state_transition")


class TestServer:
    @pytest.fixture
    def unprepared(self, databases: Databases) -> Iterator[ApiServer]:
        options: Any = {"development": False, "forwarded_allow": (ip_network("127.0.0.1"),)}
        with ApiServer(databases.clone(f"unprepared_{os.getpid()}"), **options) as api_server:
            yield api_server

    @pytest.fixture
    def api(self, unprepared: ApiServer) -> httpx.Client:
        partner = unprepared.partner("Acme")
        return partner.client(
            unprepared.url,
            auth=(str(partner.partner_id), partner.api_key),
            headers={"X-Forwarded-Proto": "https"},
        )

    def test_has_none_until_it_is_prepared(self, unprepared: ApiServer, api: httpx.Client) -> None:
        answer = api.post(SANDBOXES, json={"external_id": "one"})
        assert answer.status_code == 403
        assert is_as_shown("NoSandboxes", answer)

    def test_moves_no_clock_but_in_development(
        self, unprepared: ApiServer, api: httpx.Client
    ) -> None:
        path = f"{SANDBOXES}{unprepared.partners[0].partner_id}/"
        answer = api.patch(path, json={"clock_seconds_ahead": 60})
        assert answer.status_code == 403
        assert is_as_shown("ClockFixed", answer)
