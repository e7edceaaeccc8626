"""The proof of the books over HTTP: green, or red with the first failed check."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from persistence.integrity import checks
from persistence.integrity.checks import NAMES, prove_books
from tests.api_server import ApiServer
from tests.contract.refusals import is_as_shown
from tests.partner import PATIENCE_SECONDS, Business, Partner
from tests.persistence.integrity.book_faults import remembered, tamper
from tests.persistence.integrity.traded_business import traded

INTEGRITY = "integrity/"


@pytest.fixture(scope="module")
def bakery(partner: Partner) -> Business:
    return traded(partner.business())


@pytest.fixture(scope="module")
def put_back(own_server: ApiServer, bakery: Business) -> Iterator[Callable[[], None]]:
    with remembered(own_server, bakery) as put_back:
        yield put_back


@pytest.fixture
def shop(bakery: Business, put_back: Callable[[], None]) -> Iterator[Business]:
    yield bakery
    put_back()


def proof_of(business: Business, **query: str) -> dict[str, Any]:
    answer = business.api.get(INTEGRITY, params=query)
    assert answer.status_code == 200, answer.text
    proof: dict[str, Any] = answer.json()
    return proof


def number_of_records(business: Business) -> int:
    number: int = business.api.get("audit/").json()["count"]
    return number


def offenders(proof: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["first_offender"] for each in proof["checks"] if not each["ok"]}


class TestGetIntegrity:
    def test_books_in_use_are_green_by_every_check(self, shop: Business) -> None:
        proof = proof_of(shop)
        assert proof["status"] == "green"
        assert {each["name"] for each in proof["checks"]} == set(NAMES)
        assert offenders(proof) == {}
        looked_at = {each["name"]: each["checked"] for each in proof["checks"]}
        assert looked_at["trial_balance"] == 1
        assert looked_at["invoice_totals"] > 5

    def test_the_answer_has_the_findings_of_the_command_line(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        tamper(own_server, "UPDATE invoice SET paid = paid + 1 WHERE external_id = 'partly'")
        names = ("name", "checked", "first_offender")
        found = own_server.prover.checks_of(shop.id)
        expected = [tuple(getattr(each, name) for name in names) for each in found]
        shown = [tuple(each[name] for name in names) for each in proof_of(shop)["checks"]]
        assert shown == expected

    def test_a_fault_is_red_and_named_and_comes_first(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        tamper(
            own_server,
            "DELETE FROM journal_line WHERE (business_id, entry_id) IN (SELECT business_id, id"
            " FROM journal_entry WHERE business_id = %s AND sequence_number = 'JE-2025-000002')"
            " AND line_number = 2",
            shop.id,
        )
        proof = proof_of(shop)
        found = offenders(proof)
        assert proof["status"] == "red"
        assert found["entries_balanced"] == "JE-2025-000002"
        assert found["trial_balance"].startswith("debits of ")
        assert "posted_as_desired" in found
        assert not any(each["ok"] for each in proof["checks"][: len(found)])

    def test_a_fault_stays_in_its_own_business(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        neighbour = traded(partner.business())
        text = "UPDATE invoice_payment SET total = total + 1 WHERE business_id = %s"
        tamper(own_server, f"{text} AND external_id = 'main'", shop.id)
        assert "posted_as_desired" in offenders(proof_of(shop))
        assert proof_of(neighbour)["status"] == "green"


class TestSeals:
    def test_the_newest_seal_is_shown_and_can_be_checked_later(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        shop = partner.business()
        assert proof_of(shop)["newest_seal"] is None
        own_server.query("SELECT seal_audit_trail(%s)", shop.id)
        kept = proof_of(shop)["newest_seal"]
        assert (kept["number"], kept["record_count"]) == (1, number_of_records(shop))
        shop.customer()
        own_server.query("SELECT seal_audit_trail(%s)", shop.id)
        proof = proof_of(shop, kept_seal=kept["digest"])
        assert (proof["status"], proof["newest_seal"]["number"]) == ("green", 2)
        expected = {"name": "kept_seal", "ok": True, "checked": 1, "first_offender": None}
        assert proof["checks"][-1] == expected

    def test_a_deleted_seal_is_detected_with_a_kept_digest(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        shop = partner.business()
        own_server.query("SELECT seal_audit_trail(%s)", shop.id)
        kept = proof_of(shop)["newest_seal"]["digest"]
        tamper(own_server, "DELETE FROM audit_seal WHERE business_id = %s", shop.id)
        own_server.query("SELECT seal_audit_trail(%s)", shop.id)
        assert proof_of(shop)["status"] == "green"
        proof = proof_of(shop, kept_seal=kept)
        assert (proof["status"], proof["checks"][0]["name"]) == ("red", "kept_seal")
        assert offenders(proof) == {"kept_seal": f"seal {kept}"}


class TestProofsAtOnce:
    def test_a_second_one_is_refused_and_the_first_is_not_disturbed(
        self, monkeypatch: pytest.MonkeyPatch, shop: Business
    ) -> None:
        going_on, go_on = threading.Event(), threading.Event()

        async def slowly(*arguments: Any) -> Any:
            going_on.set()
            await asyncio.to_thread(go_on.wait, PATIENCE_SECONDS)
            return await prove_books(*arguments)

        monkeypatch.setattr(checks, "prove_books", slowly)
        answers = list[Any]()
        first = threading.Thread(target=lambda: answers.append(shop.api.get(INTEGRITY)))
        first.start()
        assert going_on.wait(PATIENCE_SECONDS)
        refused = shop.api.get(INTEGRITY)
        others = shop.api.get("invoices/")
        go_on.set()
        first.join(PATIENCE_SECONDS)
        assert refused.status_code == 503
        assert is_as_shown("ProofBusy", refused)
        assert refused.headers["Retry-After"] == "1"
        assert others.status_code == 200
        assert [answer.json()["status"] for answer in answers] == ["green"]
        monkeypatch.undo()
        assert proof_of(shop)["status"] == "green"

    def test_books_that_take_too_long_are_told_and_leave_no_trace(
        self, monkeypatch: pytest.MonkeyPatch, own_server: ApiServer, shop: Business
    ) -> None:
        monkeypatch.setattr(checks, "LIMIT_SECONDS", 0.001)
        for _ in range(10):  # Call it more often than there are connections.
            refused = shop.api.get(INTEGRITY)
            assert refused.status_code == 503
            assert is_as_shown("ProofTooLong", refused)
            assert refused.headers["Retry-After"] == "60"
        monkeypatch.undo()
        assert proof_of(shop)["status"] == "green"
        text = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        assert own_server.query(f"{text} AND state LIKE 'idle in transaction%%'") == [(0,)]
