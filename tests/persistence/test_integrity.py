"""The proof of the books finds what is planted in them, and nothing where nothing is."""

import os
from collections.abc import Iterator

import pytest

from persistence.integrity_checks import CHECKS
from tests.house import Databases, House
from tests.partnership import Business, Partnership
from tests.persistence.auditing import books_in, checks_of, faults_in, tamper

NAMES = {*CHECKS, "posted_as_desired"}


@pytest.fixture(scope="module")
def vault(databases: Databases) -> Iterator[House]:
    with House(databases.clone(f"vault_{os.getpid()}")) as house:
        yield house


@pytest.fixture(scope="module")
def keeper(vault: House) -> Partnership:
    return vault.partner("Keeper")


@pytest.fixture
def shop(keeper: Partnership) -> Business:
    return traded(keeper.business())


def traded(shop: Business) -> Business:
    """Everything the books know so far, once."""
    baker = shop.customer(external_id="baker")
    paid, partly, voided, waiting = (
        shop.invoice(baker, 9_999, additional_discount=99, external_id=name)
        for name in ("paid", "partly", "voided", "waiting")
    )
    taxed = {"quantity": "1.5", "unit_price": 3_333, "tax_rate": 20, "discount_amount": 10}
    shop.invoice(baker, line_items=[taxed, {"quantity": 3, "unit_price": 101}])
    shop.made("invoices/", {"customer_id": baker["id"], "line_items": [taxed]})
    shop.invoice(baker, invoice_number="INV-000050")
    assert shop.api.post(f"invoices/{voided['id']}/void/", json={}).status_code == 200
    shares = [
        {"invoice_id": paid["id"], "amount_cents": 9_900},
        {"invoice_id": partly["id"], "amount_cents": 100},
    ]
    fee = {"processing_fee_cents": 290, "payment_method": "stripe"}
    shop.payment(baker, 10_500, allocations=shares, external_id="main", **fee)
    bounced = shop.payment(
        baker, 500, allocations=[{"invoice_id": partly["id"], "amount_cents": 500}]
    )
    changed = shop.api.patch(f"invoices/payments/{bounced['id']}/", json={"status": "failed"})
    assert changed.status_code == 200
    held = [{"invoice_id": waiting["id"], "amount_cents": 1_000}]
    shop.payment(baker, 1_000, allocations=held, status="pending")
    return shop


class TestProve:
    def test_real_activity_is_proven_by_every_check(self, vault: House, shop: Business) -> None:
        checks = checks_of(vault, shop.id)
        assert {check.name for check in checks} == NAMES
        assert [check for check in checks if not check.ok] == []
        assert all(check.checked > 0 for check in checks)

    def test_an_empty_business_is_proven(self, vault: House, keeper: Partnership) -> None:
        assert faults_in(vault, keeper.business()) == set()

    def test_an_archived_business_of_a_disabled_partner_is_proven(self, vault: House) -> None:
        owner = vault.partner("Gone")
        shop = traded(owner.business())
        assert owner.api.post(f"/v1/platform/businesses/{shop.id}/archive/").status_code == 200
        tamper(vault, "UPDATE partner SET disabled_at = now() WHERE id = %s", owner.partner_id)
        assert faults_in(vault, shop) == set()

    def test_a_fault_stays_in_its_own_business(self, vault: House, keeper: Partnership) -> None:
        spoilt, sound = traded(keeper.business()), traded(keeper.business())
        statement = "UPDATE invoice SET paid = paid + 1 WHERE business_id = %s AND external_id = %s"
        tamper(vault, statement, spoilt.id, "partly")
        assert faults_in(vault, spoilt) >= {"invoice_settlement"}
        assert faults_in(vault, sound) == set()

    def test_every_business_of_every_partner_is_listed(self, vault: House) -> None:
        [[businesses]] = vault.query("SELECT count(*) FROM business")
        assert len(books_in(vault)) == businesses


PLANTED = {
    "a line is dropped": (
        "DELETE FROM journal_line WHERE business_id = %(b)s AND line_number = 2",
        {"trial_balance", "entries_balanced", "posted_as_desired"},
    ),
    "an amount is changed": (
        "UPDATE journal_line SET credit = credit + 1"
        " WHERE business_id = %(b)s AND credit > 0 AND line_number = 2",
        {"trial_balance", "entries_balanced", "posted_as_desired"},
    ),
    "an amount moves to another account": (
        "UPDATE journal_line SET account_id = (SELECT id FROM account"
        " WHERE business_id = %(b)s AND role = 'accounts_payable')"
        " WHERE business_id = %(b)s AND account_id = (SELECT id FROM account"
        " WHERE business_id = %(b)s AND role = 'accounts_receivable')",
        {"receivables", "idle_control_accounts", "posted_as_desired"},
    ),
    "the last line of the journal is dated elsewhere": (
        "UPDATE journal_line SET entry_date = entry_date - 1"
        " WHERE id = (SELECT max(id::text)::uuid FROM journal_line WHERE business_id = %(b)s)",
        {"entries_balanced"},
    ),
    "an entry is deleted with its lines": (
        "WITH gone AS (DELETE FROM journal_entry WHERE business_id = %(b)s"
        " AND sequence_number = 'JE-2026-000002' RETURNING id)"
        " DELETE FROM journal_line l USING gone WHERE l.business_id = %(b)s"
        " AND l.entry_id = gone.id",
        {"entry_numbers", "receivables", "posted_as_desired"},
    ),
    "an entry takes a number out of turn": (
        "UPDATE journal_entry SET sequence_number = 'JE-2026-000999'"
        " WHERE business_id = %(b)s AND sequence_number = 'JE-2026-000003'",
        {"entry_numbers"},
    ),
    "an entry takes a number in a form of its own": (
        "UPDATE journal_entry SET sequence_number = '2026/3'"
        " WHERE business_id = %(b)s AND sequence_number = 'JE-2026-000003'",
        {"entry_numbers"},
    ),
    "the series of a year counts further than its entries": (
        "UPDATE number_series SET last = last + 1 WHERE business_id = %(b)s"
        " AND series LIKE 'JE-%%'",
        {"entry_numbers"},
    ),
    "the series of invoices lies behind them": (
        "UPDATE number_series SET last = 3 WHERE business_id = %(b)s AND series = 'INV'",
        {"invoice_numbers"},
    ),
    "an entry's source is nobody": (
        "UPDATE journal_entry SET source_id = business_id WHERE business_id = %(b)s"
        " AND sequence_number = 'JE-2026-000001'",
        {"entry_sources", "posted_as_desired"},
    ),
    "a reversal is smaller than what it reverses": (
        "UPDATE journal_line SET debit = greatest(debit - 1, 0), credit = greatest(credit - 1, 0)"
        " FROM journal_entry e WHERE journal_line.business_id = %(b)s"
        " AND e.business_id = %(b)s AND e.id = entry_id AND e.reversal_of_id IS NOT NULL"
        " AND line_number <= 2",
        {"reversals_mirror", "posted_as_desired"},
    ),
    "an invoice claims more than was paid": (
        "UPDATE invoice SET paid = paid + 1 WHERE business_id = %(b)s AND external_id = 'partly'",
        {"invoice_settlement", "invoice_parts_settled", "receivables"},
    ),
    "an invoice forgets what is reserved": (
        "UPDATE invoice SET reserved = 0 WHERE business_id = %(b)s AND external_id = 'waiting'",
        {"invoice_settlement"},
    ),
    "an invoice forgets the day it was paid": (
        "UPDATE invoice SET paid_on = NULL WHERE business_id = %(b)s AND external_id = 'paid'",
        {"invoice_settlement"},
    ),
    "an invoice costs more than its lines": (
        "UPDATE invoice SET total_amount = total_amount + 1"
        " WHERE business_id = %(b)s AND external_id = 'partly'",
        {"invoice_totals", "receivables", "posted_as_desired"},
    ),
    "a line of an invoice goes to another account": (
        "UPDATE invoice SET lines = jsonb_set(lines, '{0,account_id}', to_jsonb(id::text))"
        " WHERE business_id = %(b)s AND external_id = 'waiting'",
        {"posted_as_desired"},
    ),
    "what is settled of an invoice moves to another account": (
        "UPDATE invoice SET settled = jsonb_set(settled, '{0,0}', to_jsonb(id::text))"
        " WHERE business_id = %(b)s AND external_id = 'paid'",
        {"invoice_parts_settled"},
    ),
    "a payment claims to have applied less": (
        "UPDATE invoice_payment SET allocated = allocated - 1, applied = applied - 1"
        " WHERE business_id = %(b)s AND external_id = 'main'",
        {"payment_amounts", "prepayments"},
    ),
    "a payment is larger than what was posted": (
        "UPDATE invoice_payment SET total = total + 1"
        " WHERE business_id = %(b)s AND external_id = 'main'",
        {"prepayments", "clearing", "posted_as_desired"},
    ),
    "an allocation grows": (
        "UPDATE invoice_allocation SET amount = amount + 1 WHERE business_id = %(b)s"
        " AND end_on IS NULL AND jsonb_array_length(split) > 0",
        {"allocations", "invoice_settlement", "payment_amounts", "posted_as_desired"},
    ),
    "a pending payment's allocation was applied": (
        "UPDATE invoice_payment SET status = 'completed' WHERE business_id = %(b)s"
        " AND status = 'pending'",
        {"allocations", "payment_amounts", "invoice_settlement"},
    ),
}


class TestPlantedFault:
    @pytest.mark.parametrize("fault", PLANTED)
    def test_is_found_by_name(self, vault: House, shop: Business, fault: str) -> None:
        statement, named = PLANTED[fault]
        tamper(vault, statement.replace("%(b)s", f"'{shop.id}'"))
        assert faults_in(vault, shop) >= named

    def test_is_named_with_its_place(self, vault: House, shop: Business) -> None:
        tamper(
            vault,
            "DELETE FROM journal_entry WHERE business_id = %s AND sequence_number = %s",
            shop.id,
            "JE-2026-000004",
        )
        found = {check.name: check for check in checks_of(vault, shop.id)}
        assert found["entry_numbers"].first_offender == "JE-2026-000004"
        assert found["invoice_numbers"].ok

    def test_every_check_is_proven_to_find_something(self) -> None:
        assert set().union(*(named for _, named in PLANTED.values())) == NAMES
