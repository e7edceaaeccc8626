"""The first steps of a partner: from an API key to the double entry of a payment."""

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import INVOICES, paid, part, sent
from tests.builders.trade import SALES, read
from tests.clock import today
from tests.journeys.statements import checked
from tests.partner import Partner

ENTRIES = "general-ledger/journal-entries/"
BLEND = {"description": "House blend, 1 kg", "quantity": 12, "unit_price": 1_450, "tax_rate": 20}

BY_CARD = {"payment_method": "stripe", "processing_fee_cents": 170}


class TestFirstInvoice:
    def test_a_partner_invoices_is_paid_and_sees_the_double_entry(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        shop = acme.business()
        customer = shop.customer()
        invoice = sent(shop, customer, sent_at="2025-07-01T09:00:00Z", line_items=[BLEND])
        assert (invoice["invoice_number"], invoice["total_amount"]) == ("INV-000001", 20_880)
        payment = paid(shop, customer, 20_880, part(invoice, 20_880), payment_date="2025-07-10")
        assert payment["applied_invoices"][0]["status"] == "paid"
        listed = checked(shop.api.get(ENTRIES, params={"sort": "sequence_number"}))
        entries = [read(shop, ENTRIES, each) for each in listed["results"]]
        names = ("sequence_number", "entry_date", "source_id")
        assert [tuple(each[name] for name in names) for each in entries] == [
            ("JE-2025-000001", "2025-07-01", invoice["id"]),
            ("JE-2025-000002", "2025-07-10", payment["id"]),
        ]
        names = ("account_code", "debit_amount", "credit_amount")
        assert [
            [tuple(line[name] for name in names) for line in each["lines"]] for each in entries
        ] == [
            [("1200", 20_880, 0), ("4000", 0, 17_400), ("2200", 0, 3_480)],
            [("1100", 20_880, 0), ("1200", 0, 20_880)],
        ]
        held = {"include_zero_balance": False, "page_size": 100}
        accounts = checked(shop.api.get("general-ledger/chart-of-accounts/", params=held))
        assert {each["code"]: each["current_balance"] for each in accounts["results"]} == {
            "1100": 20_880,
            "2200": 3_480,
            "4000": 17_400,
        }
        Ledger(api_server, shop).audit()


class TestMoneyInAdvance:
    def test_it_waits_is_applied_bounces_and_comes_again(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        shop = acme.business()
        ledger, customer, now = Ledger(api_server, shop), shop.customer(), str(today())
        payment = paid(shop, customer, 10_000, payment_date="2025-02-01", **BY_CARD)
        assert payment["unapplied_amount_cents"] == 10_000
        assert ledger.balances() == {"1150": 9_830, "6100": 170, "2100": -10_000}

        invoice = sent(shop, customer, 8_000, sent_at="2025-02-20T10:00:00Z")
        applied = SALES.change(shop, payment, allocations=[part(invoice, 8_000)])
        amounts = applied["applied_amount_cents"], applied["remaining_amount_cents"]
        assert amounts == (8_000, 2_000)
        assert applied["allocations"][0]["allocation_date"] == now
        assert read(shop, INVOICES, invoice)["status"] == "paid"
        assert ledger.balances()["2100"] == -2_000

        bounced = SALES.change(shop, payment, status="failed")
        assert bounced["allocations"] == []
        owed = read(shop, INVOICES, invoice)
        assert (owed["status"], owed["outstanding_balance"]) == ("sent", 8_000)
        assert owed["paid_at"] is None
        assert ledger.balances() == {"1200": 8_000, "4000": -8_000}
        assert read(shop, "customers/", customer)["outstanding_balance"] == 8_000

        again = paid(shop, customer, 8_000, part(invoice, 8_000), payment_date="2025-03-03")
        assert again["is_fully_allocated"] is True
        settled = read(shop, INVOICES, invoice)
        assert (settled["status"], settled["paid_at"]) == ("paid", "2025-03-03T00:00:00Z")
        assert [each["payment_id"] for each in settled["payment_allocations"]] == [again["id"]]
        assert ledger.balances() == {"1100": 8_000, "4000": -8_000}
        assert ledger.postings(payment) == [
            ("2025-02-01", {"1150": 10_000, "2100": -10_000}),
            ("2025-02-01", {"6100": 170, "1150": -170}),
            (now, {"2100": 8_000, "1200": -8_000}),
            (now, {"1150": -10_000, "2100": 2_000, "1200": 8_000}),
            (now, {"6100": -170, "1150": 170}),
        ]
        ledger.audit()
