"""Invoices, bills, credits, refunds and write-offs whose lines are taxed by a code."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.trade import NOBODY, PURCHASES, SALES, SENT, Record, Trade, line
from tests.contract.refusals import is_as_shown
from tests.partner import Business

STANDARD = {"sales": "S20", "purchases": "P20"}


@pytest.fixture(scope="module")
def codes(shop: Business) -> dict[str, Record]:
    """The codes of a British business, and one of each kind that it is not born with."""
    withheld = {"treatment": "withholding", "rates": [{"rate": 15}]}
    half = {"direction": "purchases", "rates": [{"rate": 20, "recoverable_percent": 50}]}
    shop.made(CODES, code_body("W15", **withheld))
    shop.made(CODES, code_body("PW", **{**withheld, "direction": "purchases"}))
    shop.made(CODES, code_body("HALF", **half))
    return codes_of(shop)


def made(shop: Business, trade: Trade, party: Record, *lines: Record, **facts: Any) -> Record:
    return shop.made(trade.path, trade.body(party, *lines, **{trade.moment: SENT, **facts}))


def standard(trade: Trade) -> str:
    return STANDARD["sales" if trade is SALES else "purchases"]


def refused(shop: Business, path: str, body: Record) -> tuple[int, str, Any]:
    answer = shop.api.post(path, json=body)
    said = answer.json()
    return answer.status_code, said["error_code"], said["detail"].get("field_errors")


def marks(ledger: Ledger, record: Record) -> list[tuple[Any, ...]]:
    """The posted lines of something that a return counts: (code, part, debit less credit)."""
    rows = ledger.ask(
        "SELECT c.code, l.tax_part, l.debit - l.credit FROM journal_line l"
        " JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id"
        " JOIN tax_code c ON c.business_id = l.business_id AND c.id = l.tax_code_id"
        " WHERE e.source_id = %(id)s ORDER BY e.created_at, e.id, l.line_number",
        id=record["id"],
    )
    return [tuple(row) for row in rows]


class CreateDocument:
    def test_a_line_says_its_code_and_its_rate(
        self,
        shop: Business,
        ledger: Ledger,
        codes: dict[str, Record],
        trade: Trade,
        party: Record,
    ) -> None:
        name = standard(trade)
        document = made(shop, trade, party, line(10_000, tax_code=name))
        [shown] = document["line_items"]
        part = "output" if trade is SALES else "input"
        assert (shown["tax_code_id"], shown["tax_rate"]) == (codes[name]["id"], 20)
        [tax] = shown["sales_taxes"]
        assert (tax["amount"], tax["tax_code_id"]) == (2_000, codes[name]["id"])
        assert document["warnings"] == []
        assert marks(ledger, document) == [
            *([(name, "net", 10_000), (name, part, 2_000)] if trade is PURCHASES else []),
            *([(name, "net", -10_000), (name, part, -2_000)] if trade is SALES else []),
        ]
        assert shop.api.get(trade.of(document)).json() == document

    def test_a_rate_alone_means_the_code_of_that_rate_and_else_is_warned_of(
        self, shop: Business, codes: dict[str, Record], trade: Trade, party: Record
    ) -> None:
        lines = (line(100, tax_rate=20), line(100, tax_rate=19), line(100, tax_rate=0))
        document = made(shop, trade, party, *lines)
        named = [each["tax_code_id"] for each in document["line_items"]]
        assert named == [codes[standard(trade)]["id"], None, None]
        fields = [each["field"] for each in document["warnings"]]
        assert fields == ["line_items.1.tax_rate", "line_items.2.tax_rate"]

    def test_withheld_tax_lowers_what_is_asked_for(
        self,
        shop: Business,
        ledger: Ledger,
        codes: dict[str, Record],
        trade: Trade,
        party: Record,
    ) -> None:
        held, account = ("W15", "1310") if trade is SALES else ("PW", "2210")
        facts = {"tax_code": standard(trade), "withholding_code": held}
        document = made(shop, trade, party, line(100_000, **facts))
        assert (document["total_amount"], document["withholding_total"]) == (105_000, 15_000)
        [shown] = document["line_items"]
        assert shown["withholding_code_id"] == codes[held]["id"]
        [entry] = ledger.entries(document)
        assert entry.amounts[account] == trade.sign * 15_000


class TestCreateInvoice(CreateDocument):
    trade = SALES

    def test_prices_may_include_tax(self, shop: Business, buyer: Record) -> None:
        lines = (line(603, tax_code="S20"), line(1_200, tax_code="S20"))
        facts = {"amounts_include_tax": True, "additional_discount": 180}
        invoice = made(shop, SALES, buyer, *lines, **facts)
        assert (invoice["total_amount"], invoice["tax_total"]) == (1_623, 271)
        net = invoice["subtotal"] - invoice["additional_discount"]
        assert net + invoice["tax_total"] == invoice["total_amount"]
        assert (invoice["amounts_include_tax"], invoice["discount_total"]) == (True, 180)

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"tax_code": NOBODY}, 422, "reference_not_found"),
            ({"tax_code": "P20"}, 422, "tax_code_mismatch"),
            ({"withholding_code": "S20"}, 422, "tax_code_mismatch"),
            ({"tax_code": "S20", "tax_rate": 20}, 400, "validation_error"),
            ({"sales_taxes": [{"amount": 1, "tax_code": "none"}]}, 422, "reference_not_found"),
        ],
    )
    def test_a_code_that_does_not_fit_is_refused(
        self, shop: Business, buyer: Record, facts: Record, status: int, code: str
    ) -> None:
        body = SALES.body(buyer, line(100, **facts))
        assert refused(shop, SALES.path, body)[:2] == (status, code)

    def test_an_archived_code_is_refused_and_one_without_a_rate(
        self, shop: Business, codes: dict[str, Record], buyer: Record
    ) -> None:
        later = [{"rate": 5, "valid_from": "2090-01-01"}]
        shop.made(CODES, code_body("LATER", rates=later))
        assert shop.api.delete(f"{CODES}{codes['S5']['id']}/").status_code == 200
        for code, expected in {
            "S5": (409, "tax_code_archived"),
            "LATER": (422, "tax_rate_missing"),
        }.items():
            body = SALES.body(buyer, line(100, tax_code=code))
            assert refused(shop, SALES.path, body)[:2] == expected


class TestCreateBill(CreateDocument):
    trade = PURCHASES

    def test_reverse_charge_tax_of_a_bill_is_self_assessed(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        reverse = next(
            each
            for each in codes_of(shop, direction="purchases").values()
            if each["treatment"] == "reverse_charge"
        )
        bill = made(shop, PURCHASES, vendor, line(10_000, tax_code=reverse["code"]))
        assert (bill["total_amount"], bill["tax_total"]) == (10_000, 0)
        assert bill["line_items"][0]["self_assessed_total"] == 2_000
        _, assessed = ledger.entries(bill)
        assert assessed.amounts == {"1300": 2_000, "2200": -2_000}
        assert assessed.description.startswith("Self-assessed tax of bill from")

    def test_tax_that_is_not_recovered_is_cost(
        self, shop: Business, ledger: Ledger, codes: dict[str, Record], vendor: Record
    ) -> None:
        bill = made(shop, PURCHASES, vendor, line(1_000, tax_code=codes["HALF"]["id"]))
        [tax] = bill["line_items"][0]["sales_taxes"]
        assert (tax["amount"], tax["blocked_amount"]) == (200, 100)
        assert marks(ledger, bill) == [
            ("HALF", "net", 1_000),
            ("HALF", "input", 100),
            ("HALF", "blocked", 100),
        ]


class TestSendInvoice:
    def test_a_draft_takes_the_rate_of_the_day_on_which_it_opens(
        self, shop: Business, buyer: Record
    ) -> None:
        rates = [
            {"rate": 10, "valid_to": "2025-02-28"},
            {"rate": 25, "valid_from": "2025-03-01"},
        ]
        shop.made(CODES, code_body("MOVES", rates=rates))
        draft = shop.made(SALES.path, SALES.body(buyer, line(1_000, tax_code="MOVES")))
        assert draft["tax_total"] == 250
        sent = shop.api.post(SALES.of(draft, "send"), json={"sent_at": "2025-02-10T00:00:00Z"})
        assert (sent.json()["tax_total"], sent.json()["line_items"][0]["tax_rate"]) == (100, 10)


class CreateCredit:
    def test_a_line_of_the_source_is_given_back_as_it_was_taxed(
        self,
        shop: Business,
        ledger: Ledger,
        codes: dict[str, Record],
        trade: Trade,
        party: Record,
    ) -> None:
        name = standard(trade)
        document = made(shop, trade, party, line(10_000, tax_code=name), line(5_000))
        source = document["line_items"][0]
        item = {"amount": 2_500, "source_line_id": source["id"]}
        body = trade.credit_body(party, item, **{trade.source: document["id"]})
        credit = shop.made(trade.credits, {**body, trade.moment: SENT})
        [shown] = credit["line_items"]
        assert (shown["tax_amount_cents"], shown["tax_rate"]) == (500, 20)
        assert (shown["tax_code_id"], shown["source_line_id"]) == (codes[name]["id"], source["id"])
        assert sum(amount for _, _, amount in marks(ledger, credit)) == trade.sign * 3_000
        item["amount"] = 7_501
        again = {**trade.credit_body(party, item, **{trade.source: document["id"]})}
        answer = shop.api.post(trade.credits, json=again)
        assert is_as_shown("CreditExceedsSource", answer)
        voided = shop.api.post(trade.of_credit(credit, "void"), json={})
        assert voided.status_code == 200, voided.text
        shop.made(trade.credits, {**again, trade.moment: SENT})

    def test_a_code_works_its_tax_out_and_one_that_is_given_stands(
        self, shop: Business, codes: dict[str, Record], trade: Trade, party: Record
    ) -> None:
        name = standard(trade)
        items = ({"amount": 100, "tax_code": name}, {"amount": 100, "tax_amount_cents": 7})
        given = {"amount": 100, "tax_code": name, "tax_amount_cents": 19}
        body = trade.credit_body(party, *items, given)
        credit = shop.made(trade.credits, {**body, trade.moment: SENT})
        assert [each["tax_amount_cents"] for each in credit["line_items"]] == [20, 7, 19]


class TestCreateCustomerCredit(CreateCredit):
    trade = SALES

    def test_a_line_of_a_source_needs_the_source_and_nothing_beside_it(
        self, shop: Business, buyer: Record
    ) -> None:
        item = {"amount": 1, "source_line_id": NOBODY}
        account = {"type": "AccountCode", "code": "4000"}
        for beside, told in (
            ({}, "needs the source document that contains the line"),
            ({"tax_code": "S20"}, "cannot be combined with a tax_code or an account"),
            (
                {"revenue_account_identifier": account},
                "cannot be combined with a tax_code or an account",
            ),
        ):
            body = SALES.credit_body(buyer, {**item, **beside})
            status, code, faults = refused(shop, SALES.credits, body)
            assert (status, code) == (400, "validation_error")
            assert faults == {"line_items.0.source_line_id": [told]}

    def test_a_line_that_the_source_does_not_have_is_refused(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = made(shop, SALES, buyer, line(100))
        item = {"amount": 1, "source_line_id": NOBODY}
        body = SALES.credit_body(buyer, item, source_invoice_id=invoice["id"])
        assert refused(shop, SALES.credits, body)[:2] == (422, "reference_not_found")


class TestCreateVendorCredit(CreateCredit):
    trade = PURCHASES


class TestReplaceCustomerCredit:
    def test_a_draft_is_worked_out_again_by_what_is_left_when_it_is_sent(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = made(shop, SALES, buyer, line(100, tax_code="S20"))
        item = {"amount": 60, "source_line_id": invoice["line_items"][0]["id"]}
        body = SALES.credit_body(buyer, item, source_invoice_id=invoice["id"])
        first, second = (shop.made(SALES.credits, body) for _ in range(2))
        sent = shop.api.put(SALES.of_credit(first), json={"sent_at": SENT})
        assert sent.status_code == 200, sent.text
        late = shop.api.put(SALES.of_credit(second), json={"sent_at": SENT})
        assert (late.status_code, late.json()["error_code"]) == (422, "credit_exceeds_source")


class TestVoidInvoice:
    def test_an_invoice_with_credited_lines_cannot_be_voided(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = made(shop, SALES, buyer, line(100, tax_code="S20"))
        item = {"amount": 60, "source_line_id": invoice["line_items"][0]["id"]}
        facts = {"source_invoice_id": invoice["id"], "sent_at": SENT}
        shop.made(SALES.credits, SALES.credit_body(buyer, item, **facts))
        answer = shop.api.post(SALES.of(invoice, "void"), json={})
        assert (answer.status_code, answer.json()["detail"]["credited"]) == (409, 60)


class TestCreateInvoiceRefund:
    def test_a_refund_of_lines_has_their_tax_codes(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        lines = (line(10_000, tax_code="S20"), line(5_000, tax_code="S0"))
        paid = [{"payment_method": "bank_transfer"}]
        invoice = made(shop, SALES, buyer, *lines, payments=paid)
        taxed, zero = (each["id"] for each in invoice["line_items"])
        wanted = [{"line_id": taxed, "amount_cents": 6_000}, {"line_id": zero, "amount_cents": 500}]
        body = {"invoice_id": invoice["id"], "lines": wanted}
        refund = shop.made("invoices/refunds/", body)
        assert refund["refunded_amount"] == 6_500
        assert marks(ledger, refund) == [
            ("S20", "net", 5_000),
            ("S20", "output", 1_000),
            ("S0", "net", 500),
        ]
        short = {**body, "amount_cents": 6_499}
        status, code, _ = refused(shop, "invoices/refunds/", short)
        assert (status, code) == (422, "lines_do_not_add_up")
        wanted[1]["amount_cents"] = 4_501
        status, code, _ = refused(shop, "invoices/refunds/", {**body, "lines": wanted[1:]})
        assert (status, code) == (422, "refund_exceeds_refundable")
        once = {"line_id": taxed, "amount_cents": 1}
        twice = refused(shop, "invoices/refunds/", {**body, "lines": [once, once]})
        assert twice[:2] == (400, "validation_error")
        unknown = {"line_id": NOBODY, "amount_cents": 1}
        nowhere = refused(shop, "invoices/refunds/", {**body, "lines": [unknown]})
        assert nowhere[:2] == (422, "reference_not_found")


class TestWriteOffInvoice:
    def test_relief_takes_its_tax_back(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = made(shop, SALES, buyer, line(100, tax_code="S20"))
        answer = shop.api.post(
            SALES.of(invoice, "write-offs"), json={"amount_cents": 60, "tax_relief": True}
        )
        assert answer.status_code == 201, answer.text
        [write_off] = answer.json()["write_offs"]
        assert (write_off["tax_relief"], write_off["tax_relieved_cents"]) == (True, 10)
        assert ledger.entries(write_off)[0].amounts == {"6200": 50, "2200": 10, "1200": -60}
        again = shop.api.get(SALES.of(invoice)).json()
        assert again["write_offs"] == [write_off]
        assert marks(ledger, write_off) == [("S20", "relief_net", 50), ("S20", "relief", 10)]


class TestCreateVendorRefund:
    def test_a_vendor_refund_of_lines_has_their_tax_codes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        lines = (line(10_000, tax_code="P20"), line(5_000, tax_code="PR20"))
        bill = made(shop, PURCHASES, vendor, *lines)
        shop.made(
            PURCHASES.payments,
            PURCHASES.payment_body(vendor, 17_000, allocations=[PURCHASES.part(bill, 17_000)]),
        )
        taxed, abroad = (each["id"] for each in bill["line_items"])
        wanted = [
            {"line_id": taxed, "amount_cents": 1_200},
            {"line_id": abroad, "amount_cents": 500},
        ]
        part = {"allocation_type": "bill", "bill_id": bill["id"], "amount_cents": 1_700}
        body = {"vendor_id": vendor["id"], "currency": "GBP", "total_refunded_amount_cents": 1_700}
        refund = shop.made("vendor-refunds/", {**body, "allocations": [{**part, "lines": wanted}]})
        assert sorted(marks(ledger, refund)) == [
            ("P20", "input", -200),
            ("P20", "net", -1_000),
            ("PR20", "input", -100),
            ("PR20", "net", -500),
            ("PR20", "output", 100),
        ]

    def test_a_credit_of_a_vendor_refund_may_include_tax(
        self, shop: Business, vendor: Record
    ) -> None:
        part = {"allocation_type": "credit", "amount_cents": 1_200, "tax_code": "P20"}
        body = {"vendor_id": vendor["id"], "currency": "GBP", "total_refunded_amount_cents": 1_200}
        refund = shop.made("vendor-refunds/", {**body, "allocations": [part]})
        credit_id = refund["allocations"][0]["vendor_credit_id"]
        credit = shop.api.get(f"vendor-credits/{credit_id}/").json()
        assert (credit["tax_total"], credit["total_amount"]) == (200, 1_200)
