"""Types of events that more than one record decides, and those that the database finds."""

from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.builders.bank import LINES, PAYMENT, PAYOUT, Bank, open_account
from tests.builders.journal_entries import drafted
from tests.builders.payouts import by_card, paid_out
from tests.builders.sales import invoice_body, paid
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed, of_bill
from tests.contract.document import document
from tests.handlers.platform.test_events import feed, head, told
from tests.handlers.trade.test_vendor_refund_payments import taxed
from tests.partner import Business, Partner

Record = dict[str, Any]


@pytest.fixture(scope="module")
def current(shop: Business) -> Bank:
    """The bank account over 1100, to which payments by transfer are posted."""
    return Bank(shop, open_account(shop, display_name="Current account"))


def last(shop: Business, after: int, of: str) -> Record:
    """Return the only event of a type after a sequence."""
    [event] = feed(shop, after=after, types=of)["results"]
    found: Record = event
    return found


class TestBank:
    def test_an_import_is_one_event_of_its_bank_account(
        self, shop: Business, current: Bank
    ) -> None:
        after, line = head(shop), {"date": "2025-03-12", "amount_cents": 5, "direction": "credit"}
        body = {
            "bank_account_id": current.account["id"],
            "transactions": [{**line, "external_id": each} for each in ("a", "b", "a")],
        }
        assert shop.api.post(LINES, json=body).status_code == 200
        [event] = feed(shop, after=after)["results"]
        assert (event["type"], event["change"]) == ("bank_transactions.imported", "updated")
        assert event["counts"] == {"imported": 2, "skipped": 1, "failed": 0}
        assert event["object"]["id"] == current.account["id"]

    def test_a_line_is_matched_and_its_payment_updated(
        self, shop: Business, current: Bank, buyer: Record
    ) -> None:
        line, money = current.line(100), paid(shop, buyer, 100)
        after = head(shop)
        current.match(line, PAYMENT, money)
        assert told(shop, after) == ["invoice_payment.updated", "bank_transaction.matched"]
        event = last(shop, after, "invoice_payment.updated")
        assert event["changed"] == ["reconciled_bank_transactions"]

    def test_a_payment_that_is_cancelled_frees_its_line(
        self, shop: Business, current: Bank, buyer: Record
    ) -> None:
        line, money = current.line(50), paid(shop, buyer, 70, status="pending")
        current.match(line, PAYMENT, money)
        after = head(shop)
        path = f"invoices/payments/{money['id']}/"
        assert shop.api.patch(path, json={"status": "cancelled"}).status_code == 200
        event = last(shop, after, "bank_transaction.unmatched")
        assert event["object"]["id"] == line["id"]
        assert event["changed"] == [
            *("is_reconciled", "linked_amount_cents", "links", "remaining_amount_cents"),
        ]
        assert event["cause"]["operation"] == "update_invoice_payment"

    def test_a_payout_is_reconciled_with_the_line_of_its_money(
        self, shop: Business, current: Bank, buyer: Record
    ) -> None:
        payout = paid_out(shop, 90, by_card(shop, buyer, 90))
        part, rest = current.line(40, date="2025-03-31"), current.line(50, date="2025-03-31")
        after = head(shop)
        current.match(part, PAYOUT, payout)
        assert last(shop, after, "payout.*")["type"] == "payout.updated"
        after = head(shop)
        current.match(rest, PAYOUT, payout)
        assert last(shop, after, "payout.*")["type"] == "payout.reconciled"

    def test_a_transfer_that_ends_is_deleted(self, shop: Business, current: Bank) -> None:
        other, after = Bank(shop, open_account(shop)), head(shop)
        line = current.line(-30)
        current.transfer(line, other)
        assert last(shop, after, "bank_transfer.*")["type"] == "bank_transfer.created"
        after = head(shop)
        current.unmatch(line)
        ended = last(shop, after, "bank_transfer.*")
        assert (ended["type"], ended["change"]) == ("bank_transfer.deleted", "deleted")


class TestBooks:
    def test_a_posting_unarchives_its_accounts(self, acme: Partner) -> None:
        shop = acme.business()
        assert shop.api.delete("general-ledger/chart-of-accounts/4000/").status_code == 200
        after, headers = head(shop), {"idempotency-key": "once"}
        body = invoice_body(shop.customer(), sent_at="2025-03-01T00:00:00Z")
        answers = [shop.api.post("invoices/", json=body, headers=headers) for _ in range(2)]
        event = last(shop, after, "account.*")
        assert event["type"] == "account.unarchived"
        assert {each.headers["x-event-sequence"] for each in answers} == {str(head(shop))}
        assert event["changed"] == ["archived_at", "is_active"]
        assert event["cause"]["operation"] == "create_invoice"

    def test_a_draft_is_posted_later_and_an_entry_by_hand_at_once(self, shop: Business) -> None:
        after = head(shop)
        draft = drafted(shop, 450, entry_date="2025-03-12")
        path = f"general-ledger/journal-entries/{draft['id']}/"
        assert shop.api.post(f"{path}approve/").status_code == 200
        assert shop.api.post(f"{path}reverse/").status_code == 201
        events = feed(shop, after=after)["results"]
        assert [(each["type"], each["change"]) for each in events] == [
            ("journal_entry.created", "created"),
            ("journal_entry.posted", "updated"),
            ("journal_entry.reversed", "updated"),
            ("journal_entry.posted", "created"),
        ]
        assert [each["object"]["version"] for each in events] == [1, 2, 3, 1]


class TestVendorRefunds:
    def test_a_refund_is_completed_by_its_payment(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 5_000, of_bill(taxed(shop, vendor), 5_000))
        payment, moves = made["payment"], ("processing", "completed", "failed")
        found = []
        for status in moves:
            after = head(shop)
            path = f"{REFUND_PAYMENTS}{payment['id']}/"
            answer = shop.api.patch(path, json={"status": status})
            assert answer.status_code == 200, answer.text
            event = last(shop, after, "vendor_refund.*")
            assert event["status"] == answer.json()["refund"]["status"]
            found.append((event["type"], event["previous_status"]))
        assert found == [
            ("vendor_refund.updated", "allocated"),
            ("vendor_refund.completed", "allocated"),
            ("vendor_refund.allocated", "completed"),
        ]


class TestTriggers:
    """Changes that no server announces, such as those of a server of the previous release."""

    def test_each_type_is_in_the_contract(self, api_server: ApiServer) -> None:
        words = set(document()["components"]["schemas"]["EventType"]["enum"])
        text = "SELECT tgname, tgargs FROM pg_trigger WHERE starts_with(tgfoid::regproc::text, %s)"
        found = {
            (
                name.endswith("_change_to_feed"),
                *(each.decode() for each in arguments.split(b"\0")[:2]),
            )
            for name, arguments in api_server.query(text, "record_event")
        }
        made = {f"{kind}.{word}" for changes, kind, word in found if not changes}
        assert made - {"bank_transaction.imported"} <= words  # An import has the bank account.
        assert len(made) > 20

    def test_a_change_of_the_database_itself_has_an_event_of_a_known_type(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        shop = acme.business()
        bank = Bank(shop, open_account(shop))
        line = bank.line(20)
        after = head(shop)
        for table, change, id_ in (
            ("bank_transaction", "description = 'Seen'", line["id"]),
            ("account", "archived_at = now()", bank.account["account"]["id"]),
            ("account", "archived_at = NULL", bank.account["account"]["id"]),
        ):
            text = f"UPDATE {table} SET version = version + 1, {change}"
            api_server.query(
                f"{text} WHERE business_id = %s AND id = %s RETURNING id", shop.id, id_
            )
        names = ", ".join(
            name
            for (name,) in api_server.query(
                "SELECT column_name::text FROM information_schema.columns"
                " WHERE table_name = 'bank_transaction' AND is_generated = 'NEVER'"
                " AND column_name NOT IN ('id', 'external_id')"
            )
        )
        api_server.query(
            f"INSERT INTO bank_transaction (id, external_id, {names})"
            f" SELECT gen_random_uuid(), 'again', {names} FROM bank_transaction"
            " WHERE business_id = %s RETURNING id",
            shop.id,
        )
        found = feed(shop, after=after)["results"]
        assert [each["type"] for each in found] == [
            *("bank_transaction.updated", "account.archived", "account.unarchived"),
            "bank_transactions.imported",
        ]
        assert {each["cause"]["actor"]["kind"] for each in found} == {"operator"}
        assert found[-1]["counts"] == {"imported": 1, "skipped": 0, "failed": 0}
        assert found[-1]["object"]["id"] == bank.account["id"]
