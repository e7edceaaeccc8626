import json
import re
import shutil
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from cli.demo.access import Access
from tests.api_server import ApiServer
from tests.bookkeeping import KEPT
from tests.command_line import ACCOUNTING, CommandLine, CommandResult
from tests.partner import NOBODY, PATIENCE_SECONDS, within

ELSEWHERE = Access(str(uuid4()), "apk_test_key", str(uuid4()), "2026-01-31", finished=True)
CONNECTED = "pg_stat_activity WHERE datname = current_database()"


def rows_of(api_server: ApiServer, business_id: str = "%") -> dict[str, int]:
    """Return the number of rows of each table, of one business or all."""
    return {
        table: api_server.query(
            f"SELECT count(*) FROM {table} WHERE business_id::text LIKE %s", business_id
        )[0][0]
        for table in KEPT
    }


def files_of(command_line: CommandLine) -> list[Path]:
    return list(
        (command_line.folder / "documents" / kept_by(command_line)["business_id"]).iterdir()
    )


def read_all(text: str) -> Iterator[Any]:
    """Yield the JSON values that follow one another in a text."""
    while text := text.strip():
        value, end = json.JSONDecoder().raw_decode(text)
        yield value
        text = text[end:]


def without_token(told: str) -> str:
    """Return the output of a demo without the token of its page, which differs each time."""
    text, found = re.subn(r"#token=\S+", "#token=", told)
    assert found == 1
    return text


def kept_by(command_line: CommandLine) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads((command_line.folder / "demo.json").read_text())
    return kept


@pytest.fixture(scope="module")
def first(command_line: CommandLine) -> CommandResult:
    """The result of a demo that was killed and started again.

    The folder first has the credentials of a demo in another database.
    """
    ELSEWHERE.keep_in(command_line.folder)
    kill_halfway(command_line)
    template = kept_by(command_line)
    assert template["finished"] is False
    told = command_line.did("demo", ACCOUNTING_SLOW_MS="300000")  # No warnings of slow requests.
    (command_line.folder / "template.json").write_text(json.dumps(template))
    return told


@pytest.fixture(scope="module")
def told(first: CommandResult) -> str:
    return first.out


@pytest.fixture(scope="module")
def business(command_line: CommandLine, told: str, own_server: ApiServer) -> Iterator[httpx.Client]:
    kept = kept_by(command_line)
    url = f"{own_server.url}/v1/platform/businesses/{kept['business_id']}/"
    credentials = kept["partner_id"], kept["api_key"]
    with httpx.Client(
        base_url=url, auth=credentials, timeout=PATIENCE_SECONDS, verify=NOBODY
    ) as client:
        yield client


def listed(business: httpx.Client, path: str, **asked: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        given = {"page_size": "100", **asked} | ({"cursor": cursor} if cursor else {})
        page = business.get(path, params=given).json()
        found += page["results"]
        cursor = page["page_info"]["next_cursor"]
        if cursor is None:
            return found


class TestDemo:
    def test_its_books_are_proven(self, command_line: CommandLine, told: str) -> None:
        assert command_line.did("check-books").out.startswith("The books of 2 businesses hold (")

    def test_its_business_is_a_sandbox_and_another_one_is_made_at_once(
        self, business: httpx.Client, command_line: CommandLine
    ) -> None:
        sandboxes = business.base_url.join("../../sandboxes/")
        began = time.perf_counter()
        answer = business.post(sandboxes, json={"external_id": "another"})
        assert answer.status_code == 201
        assert time.perf_counter() - began < 2

    def test_it_has_invoices_in_every_state(self, business: httpx.Client) -> None:
        states = Counter(invoice["status"] for invoice in listed(business, "invoices/"))
        assert set(states) == {
            *("draft", "sent", "overdue", "partially_paid", "paid", "voided"),
            *("written_off", "partially_written_off", "refunded"),
        }
        assert states["overdue"] >= 3
        assert states["paid"] > 80

    def test_it_has_payments_of_many_kinds(self, business: httpx.Client) -> None:
        payments = listed(business, "invoices/payments/")
        assert {each["status"] for each in payments} == {"completed", "pending", "failed"}
        assert {each["payment_method"] for each in payments} >= {"cash", "check", "bank_transfer"}
        assert any(each["processing_fee_cents"] for each in payments)
        assert any(len(each["applied_invoices"]) > 1 for each in payments)
        assert any(each["unapplied_amount_cents"] for each in payments)

    def test_what_was_paid_too_much_is_applied_later(self, business: httpx.Client) -> None:
        [payment] = listed(business, "invoices/payments/", external_id="overpayment")
        later = payment["allocations"][-1]
        assert len(payment["allocations"]) == 2
        assert (later["amount_cents"], payment["unapplied_amount_cents"]) == (5_000, 0)
        assert later["allocation_date"] > payment["payment_date"]

    def test_its_bank_shows_a_month_of_money(self, business: httpx.Client) -> None:
        [bank] = listed(business, "bank-accounts/")
        lines = listed(business, "bank-transactions/", bank_account_id=bank["id"])
        assert bank["account"]["code"] == "1100"
        assert len({line["date"][:7] for line in lines}) == 1
        assert {line["direction"] for line in lines} == {"credit", "debit"}
        assert [line["amount_cents"] for line in lines if line["description"] == "Account fee"] == [
            850
        ]

    def test_its_lines_are_matched_but_for_one(self, business: httpx.Client) -> None:
        lines = listed(business, "bank-transactions/")
        # Except for lines whose payment failed after the statement: on some days the one is such.
        left = [line for line in lines if not line["is_reconciled"]]
        bounced = {
            each["external_id"]
            for path in ("invoices/payments/", "bills/payments/")
            for each in listed(business, path, status="failed")
        }
        others = [line for line in left if line["reference"] not in bounced]
        assert left
        assert len(others) <= 1
        linked = [link["target_type"] for line in lines for link in line["links"]]
        assert len(linked) == len(lines) - len(left) - 1 > 5
        assert {"invoice_payment", "bill_payment", "payout"} <= set(linked)
        [fee] = [line for line in lines if line["category"]]
        assert fee["category"]["account"]["code"] == "6300"
        assert "fully_reconciled" in {
            each["reconciliation_status"] for each in listed(business, "payouts/")
        }

    def test_it_has_an_accrual_taken_back_and_an_entry_that_waits(
        self, business: httpx.Client
    ) -> None:
        entries = listed(business, "general-ledger/journal-entries/", created_by="manual")
        mirror, accrual = (
            business.get(f"general-ledger/journal-entries/{each['id']}/").json() for each in entries
        )
        assert mirror["reversal_of_id"] == accrual["id"]
        assert accrual["reversed_by_id"] == mirror["id"]
        assert accrual["entry_date"] < mirror["entry_date"]
        [waiting] = listed(business, "general-ledger/journal-entries/", status="draft")
        assert (waiting["created_by"], waiting["is_posted"]) == ("ai", False)

    def test_its_processor_pays_out_every_month_and_once_too_little(
        self, business: httpx.Client
    ) -> None:
        payouts = listed(business, "payouts/")
        assert len(payouts) >= 10
        assert {each["status"] for each in payouts} == {"paid"}
        assert sorted(each["amount_variance_cents"] for each in payouts)[:2] == [-350, 0]
        held = [each for each in listed(business, "invoices/payments/") if each["payouts"]]
        assert len(held) == sum(each["payment_count"] for each in payouts)

    def test_it_has_refunds_paid_in_one_in_two_and_not_yet(self, business: httpx.Client) -> None:
        refunds = {each["external_id"]: each for each in listed(business, "invoices/refunds/")}
        paid = {name: (e["status"], len(e["refund_payments"])) for name, e in refunds.items()}
        assert paid == {
            "wedding-back": ("paid", 1),
            "course-back": ("paid", 2),
            "deposit-back": ("pending", 0),
        }
        assert refunds["deposit-back"]["allocations"][0]["allocation_type"] == "payment"

    def test_it_has_a_credit_over_two_invoices_and_one_that_waits(
        self, business: httpx.Client
    ) -> None:
        credits = {each["external_id"]: each for each in listed(business, "customer-credits/")}
        assert {
            name: (credit["status"], [each["amount_cents"] for each in credit["allocations"]])
            for name, credit in credits.items()
        } == {"loud": ("applied", [6_000, 4_800]), "no-decaf": ("sent", [])}

    def test_an_invoice_carries_the_order_behind_it(
        self, command_line: CommandLine, business: httpx.Client
    ) -> None:
        [document] = listed(business, "documents/")
        invoice = business.get(f"invoices/{document['linked_id']}/").json()
        assert invoice["document"]["file_name"] == document["file_name"] == "PO 2041.pdf"
        assert document["document_type"] == "purchase_order"
        [file] = files_of(command_line)
        assert b"(1 x Tasting for a group) Tj" in file.read_bytes()

    @pytest.mark.parametrize(
        ("documents", "parties", "code"),
        [("invoices/", "customers/", "1200"), ("bills/", "vendors/", "2000")],
    )
    def test_its_control_accounts_hold_what_is_owed(
        self, business: httpx.Client, documents: str, parties: str, code: str
    ) -> None:
        made = listed(business, documents)
        owed = sum(each["outstanding_balance"] for each in made if each["status"] != "draft")
        account = business.get(f"general-ledger/chart-of-accounts/{code}/").json()
        assert account["current_balance"] == owed > 0
        assert sum(each["outstanding_balance"] for each in listed(business, parties)) == owed

    def test_it_has_bills_in_every_state(self, business: httpx.Client) -> None:
        states = Counter(bill["status"] for bill in listed(business, "bills/"))
        assert set(states) == {
            *("draft", "received", "overdue", "partially_paid", "paid", "voided", "refunded"),
        }
        assert states["paid"] > 40
        assert any(bill["tax_total"] for bill in listed(business, "bills/"))

    def test_bills_are_paid_in_cash_in_part_and_in_advance(self, business: httpx.Client) -> None:
        payments = listed(business, "bills/payments/")
        assert {each["status"] for each in payments} == {"completed", "failed"}
        assert {each["payment_method"] for each in payments} == {"bank_transfer", "cash", "check"}
        [advance] = [each for each in payments if each["external_id"] == "growers-advance"]
        later = {
            each["allocation_date"] > advance["payment_date"] for each in advance["allocations"]
        }
        assert (later, advance["unallocated_amount_cents"]) == ({True}, 0)
        bills = Counter(part["bill_id"] for each in payments for part in each["allocations"])
        assert max(bills.values()) == 2

    def test_a_bill_that_comes_twice_is_refused_and_told(
        self, first: CommandResult, business: httpx.Client
    ) -> None:
        steps = [line for line in first.err.splitlines() if line.endswith(" ...")]
        [refused] = set(first.err.splitlines()) - set(steps)
        assert refused.startswith("Bill MW-118 came twice, and is refused: ")
        assert "Filling the demo business with a year of trade ..." in steps
        bills = listed(business, "bills/")
        assert [each["vendor_bill_number"] for each in bills].count("MW-118") == 1

    def test_a_vendor_credit_lies_over_two_bills(self, business: httpx.Client) -> None:
        credits = {each["external_id"]: each for each in listed(business, "vendor-credits/")}
        shown = credits["burrs-credit"]
        assert shown["status"] == "applied"
        assert [each["amount_cents"] for each in shown["allocations"]] == [5_000, 3_400]

    def test_it_has_vendor_refunds_of_each_kind(self, business: httpx.Client) -> None:
        refunds = {each["external_id"]: each for each in listed(business, "vendor-refunds/")}
        assert {
            name: (refund["status"], [each["allocation_type"] for each in refund["allocations"]])
            for name, refund in refunds.items()
        } == {
            "visit-back": ("completed", ["payment"]),
            "meter-back": ("completed", ["bill"]),
            "damp-back": ("completed", ["credit"]),
            "in-vain-back": ("partially_allocated", ["bill"]),
            "tuning-back": ("cancelled", []),
        }

    def test_its_money_never_ran_out(self, business: httpx.Client) -> None:
        for code in ("1000", "1100"):
            account = business.get(f"general-ledger/chart-of-accounts/{code}/").json()
            assert account["current_balance"] > 0

    def test_the_key_is_kept_where_only_its_owner_reads_it(
        self, command_line: CommandLine, told: str
    ) -> None:
        assert kept_by(command_line)["api_key"] in told
        assert kept_by(command_line)["partner_id"] != ELSEWHERE.partner_id
        assert stat.S_IMODE((command_line.folder / "demo.json").stat().st_mode) == 0o600

    @pytest.mark.skipif(shutil.which("curl") is None, reason="the lines are for curl")
    def test_its_lines_work_when_they_are_pasted(
        self, command_line: CommandLine, told: str, own_server: ApiServer
    ) -> None:
        assert told.count("http://127.0.0.1:8000/") == 4
        lines = told[told.index("export API=") : told.index("\n\nServe it with")]
        pasted = lines.replace("http://127.0.0.1:8000", own_server.url)
        shown = subprocess.run(
            ["sh", "-c", pasted],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_SECONDS,
        ).stdout
        businesses, overdue, made = read_all(shown)
        assert kept_by(command_line)["business_id"] in [
            each["id"] for each in businesses["results"]
        ]
        assert {each["status"] for each in overdue["results"]} == {"overdue"}
        assert made["total_amount"] == 12_000

    def test_its_first_line_sets_the_variables_of_all_samples(
        self, command_line: CommandLine, told: str
    ) -> None:
        kept = kept_by(command_line)
        [line] = [each for each in told.splitlines() if each.startswith("export API=")]
        assert line == (
            f"export API=http://127.0.0.1:8000/v1/platform PARTNER_ID={kept['partner_id']}"
            f" API_KEY={kept['api_key']} BUSINESS_ID={kept['business_id']}"
        )

    def test_a_second_one_finds_everything_as_it_was(
        self, command_line: CommandLine, told: str, own_server: ApiServer
    ) -> None:
        before = rows_of(own_server)
        assert without_token(command_line.did("demo").out) == without_token(told)
        assert rows_of(own_server) == before

    def test_living_through_its_year_again_changes_nothing(
        self, command_line: CommandLine, told: str, own_server: ApiServer
    ) -> None:
        demo, template = (command_line.folder / name for name in ("demo.json", "template.json"))
        kept, of_template = demo.read_text(), json.loads(template.read_text())
        before = rows_of(own_server, of_template["business_id"])
        command_line.did("partner", "enable", of_template["partner_id"])
        demo.write_text(template.read_text())
        command_line.did("demo")
        assert rows_of(own_server, of_template["business_id"]) == before
        demo.write_text(kept)


def counted(connection: psycopg.Connection[Any], table: str) -> int:
    [count] = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or [0]
    return int(count)


def kill_halfway(command_line: CommandLine) -> None:
    """Start a demo and kill it; return when its database connections are closed."""
    with psycopg.connect(command_line.database_url or "", autocommit=True) as connection:
        before = counted(connection, CONNECTED)
        begun = subprocess.Popen([ACCOUNTING, "demo"], env=command_line.environment())
        try:
            entries = partial(counted, connection, "journal_entry")
            assert within(PATIENCE_SECONDS, lambda: entries() > 40)
        finally:
            begun.kill()
            begun.wait()
        assert within(PATIENCE_SECONDS, lambda: counted(connection, CONNECTED) == before)
