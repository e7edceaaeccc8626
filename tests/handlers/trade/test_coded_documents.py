"""Invoices, bills, credits, refunds and write-offs whose lines are taxed by a code."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.tax_returns import codes as codes_of_return
from tests.builders.tax_returns import drawn_up
from tests.builders.trade import NOBODY, PURCHASES, SALES, SENT, Record, line
from tests.builders.vendor_refunds import REFUNDS, as_credit, of_bill, whole_refund_body
from tests.contract.refusals import is_as_shown
from tests.handlers.trade.side import Side
from tests.partner import Business

STANDARD = {SALES: "S20", PURCHASES: "P20"}
Codes = dict[str, Record]


@pytest.fixture(scope="module")
def codes(shop: Business) -> Codes:
    """The codes of a British business, and a new code of each further kind."""
    withheld = {"treatment": "withholding", "rates": [{"rate": 15}]}
    half = {"direction": "purchases", "rates": [{"rate": 20, "recoverable_percent": 50}]}
    shop.made(CODES, code_body("W15", **withheld))
    shop.made(CODES, code_body("PW", **{**withheld, "direction": "purchases"}))
    shop.made(CODES, code_body("HALF", **half))
    return codes_of(shop)


def made(side: Side, *lines: Record, **facts: Any) -> Record:
    return side.draft(*lines, **{side.trade.moment: SENT, **facts})


def refused(side: Side, path: str, body: Record) -> tuple[int, str, Any]:
    answer = side.api.post(path, json=body)
    fault = answer.json()
    return answer.status_code, fault["error_code"], fault["detail"].get("field_errors")


def marks(ledger: Ledger, record: Record) -> list[tuple[Any, ...]]:
    """Return the posted lines that a tax return counts: code, part, debit less credit."""
    rows = ledger.ask(
        "SELECT c.code, l.tax_part, l.debit - l.credit FROM journal_line l"
        " JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id"
        " JOIN tax_code c ON c.business_id = l.business_id AND c.id = l.tax_code_id"
        " WHERE e.source_id = %(id)s ORDER BY e.created_at, e.id, l.line_number",
        id=record["id"],
    )
    return [tuple(row) for row in rows]


class CreateDocument:
    def test_a_line_says_its_code_and_its_rate(self, side: Side, codes: Codes) -> None:
        name = STANDARD[side.trade]
        document = made(side, line(10_000, tax_code=name))
        [shown] = document["line_items"]
        part = "output" if side.trade is SALES else "input"
        assert (shown["tax_code_id"], shown["tax_rate"]) == (codes[name]["id"], 20)
        [tax] = shown["sales_taxes"]
        assert (tax["amount"], tax["tax_code_id"]) == (2_000, codes[name]["id"])
        assert document["warnings"] == []
        assert marks(side.ledger, document) == [
            (name, "net", -side.trade.sign * 10_000),
            (name, part, -side.trade.sign * 2_000),
        ]
        assert side.api.get(side.trade.of(document)).json() == document

    def test_a_rate_alone_means_the_code_of_that_rate_and_else_is_warned_of(
        self, side: Side, codes: Codes
    ) -> None:
        lines = (line(100, tax_rate=20), line(100, tax_rate=19), line(100, tax_rate=0))
        document = made(side, *lines)
        named = [each["tax_code_id"] for each in document["line_items"]]
        assert named == [codes[STANDARD[side.trade]]["id"], None, None]
        fields = [each["field"] for each in document["warnings"]]
        assert fields == ["line_items.1.tax_rate", "line_items.2.tax_rate"]

    def test_withheld_tax_lowers_what_is_asked_for(self, side: Side, codes: Codes) -> None:
        held, account = ("W15", "1310") if side.trade is SALES else ("PW", "2210")
        facts = {"tax_code": STANDARD[side.trade], "withholding_code": held}
        document = made(side, line(100_000, **facts))
        assert (document["total_amount"], document["withholding_total"]) == (105_000, 15_000)
        [shown] = document["line_items"]
        assert shown["withholding_code_id"] == codes[held]["id"]
        [entry] = side.ledger.entries(document)
        assert entry.amounts[account] == side.trade.sign * 15_000


class TestCreateInvoice(CreateDocument):
    trade = SALES

    def test_prices_may_include_tax(self, side: Side) -> None:
        lines = (line(603, tax_code="S20"), line(1_200, tax_code="S20"))
        facts = {"amounts_include_tax": True, "additional_discount": 180}
        invoice = made(side, *lines, **facts)
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
        self, side: Side, facts: Record, status: int, code: str
    ) -> None:
        body = side.body(line(100, **facts))
        assert refused(side, side.trade.path, body)[:2] == (status, code)

    def test_an_archived_code_is_refused_and_one_without_a_rate(
        self, side: Side, codes: Codes
    ) -> None:
        later = [{"rate": 5, "valid_from": "2090-01-01"}]
        side.made(CODES, code_body("LATER", rates=later))
        assert side.api.delete(f"{CODES}{codes['S5']['id']}/").status_code == 200
        for code, expected in {
            "S5": (409, "tax_code_archived"),
            "LATER": (422, "tax_rate_missing"),
        }.items():
            body = side.body(line(100, tax_code=code))
            assert refused(side, side.trade.path, body)[:2] == expected

    def test_its_delivery_decides_the_rate_and_its_own_date_the_return(self, side: Side) -> None:
        direction, part = ("sales", "output") if side.trade is SALES else ("purchases", "input")
        rates = [{"rate": 10, "valid_to": "2025-03-31"}, {"rate": 25, "valid_from": "2025-04-01"}]
        side.made(CODES, code_body("TURNS", direction=direction, rates=rates))
        dates = {"delivery_date": "2025-03-31", side.trade.dated: "2025-04-02"}
        item = line(10_000, tax_code="TURNS")
        document = made(side, item, **{**dates, side.trade.moment: "2025-05-01T09:00:00Z"})
        assert document["delivery_date"] == "2025-03-31"
        assert (document["line_items"][0]["tax_rate"], document["tax_total"]) == (10, 1_000)
        march, april = (drawn_up(side.shop, quarter) for quarter in (1, 2))
        assert "TURNS" not in codes_of_return(march["codes"])
        assert codes_of_return(april["codes"])["TURNS"] == {"net": 10_000, part: 1_000}
        again = {"line_items": [item], "delivery_date": "2025-04-01"}
        after = side.api.put(side.trade.of(document), json=again).json()
        assert (after["line_items"][0]["tax_rate"], after["tax_total"]) == (25, 2_500)


class TestCreateBill(CreateDocument):
    trade = PURCHASES

    def test_reverse_charge_tax_of_a_bill_is_self_assessed(self, side: Side) -> None:
        bill = made(side, line(10_000, tax_code="PR20"))
        assert (bill["total_amount"], bill["tax_total"]) == (10_000, 0)
        assert bill["line_items"][0]["self_assessed_total"] == 2_000
        _, assessed = side.ledger.entries(bill)
        assert assessed.amounts == {"1300": 2_000, "2200": -2_000}
        assert assessed.description.startswith("Self-assessed tax of bill from")

    def test_tax_that_is_not_recovered_is_cost(self, side: Side, codes: Codes) -> None:
        bill = made(side, line(1_000, tax_code=codes["HALF"]["id"]))
        [tax] = bill["line_items"][0]["sales_taxes"]
        assert (tax["amount"], tax["blocked_amount"]) == (200, 100)
        assert marks(side.ledger, bill) == [
            ("HALF", "net", 1_000),
            ("HALF", "input", 100),
            ("HALF", "blocked", 100),
        ]


class TestSendInvoice:
    trade = SALES

    def test_a_draft_takes_the_rate_of_the_day_on_which_it_opens(self, side: Side) -> None:
        rates = [{"rate": 10, "valid_to": "2025-02-28"}, {"rate": 25, "valid_from": "2025-03-01"}]
        side.made(CODES, code_body("MOVES", rates=rates))
        draft = side.draft(line(1_000, tax_code="MOVES"))
        assert draft["tax_total"] == 250
        sent = side.api.post(side.trade.of(draft, "send"), json={"sent_at": "2025-02-10T00:00:00Z"})
        assert (sent.json()["tax_total"], sent.json()["line_items"][0]["tax_rate"]) == (100, 10)


class CreateCredit:
    def test_a_line_of_the_source_is_given_back_as_it_was_taxed(
        self, side: Side, codes: Codes
    ) -> None:
        name = STANDARD[side.trade]
        document = made(side, line(10_000, tax_code=name), line(5_000))
        source = document["line_items"][0]
        item = {"amount": 2_500, "source_line_id": source["id"]}
        of_source = {side.trade.source: document["id"], side.trade.moment: SENT}
        credit = side.credit_draft(item, **of_source)
        [shown] = credit["line_items"]
        assert (shown["tax_amount_cents"], shown["tax_rate"]) == (500, 20)
        assert (shown["tax_code_id"], shown["source_line_id"]) == (codes[name]["id"], source["id"])
        assert sum(amount for _, _, amount in marks(side.ledger, credit)) == side.trade.sign * 3_000
        again = side.credit_body({**item, "amount": 7_501}, **of_source)
        assert is_as_shown("CreditExceedsSource", side.api.post(side.trade.credits, json=again))
        assert side.api.post(side.trade.of_credit(credit, "void"), json={}).status_code == 200
        side.made(side.trade.credits, again)

    def test_a_code_works_its_tax_out_and_one_that_is_given_stands(
        self, side: Side, codes: Codes
    ) -> None:
        name = STANDARD[side.trade]
        items = ({"amount": 100, "tax_code": name}, {"amount": 100, "tax_amount_cents": 7})
        given = {"amount": 100, "tax_code": name, "tax_amount_cents": 19}
        credit = side.credit_draft(*items, given, **{side.trade.moment: SENT})
        assert [each["tax_amount_cents"] for each in credit["line_items"]] == [20, 7, 19]


class TestCreateCustomerCredit(CreateCredit):
    trade = SALES

    def test_a_line_of_a_source_needs_the_source_and_nothing_beside_it(self, side: Side) -> None:
        item = {"amount": 1, "source_line_id": NOBODY}
        account = {"revenue_account_identifier": {"type": "AccountCode", "code": "4000"}}
        alone = "cannot be combined with a tax_code or an account"
        for beside, message in (
            ({}, "needs the source document that contains the line"),
            ({"tax_code": "S20"}, alone),
            (account, alone),
        ):
            body = side.credit_body({**item, **beside})
            status, code, faults = refused(side, side.trade.credits, body)
            assert (status, code) == (400, "validation_error")
            assert faults == {"line_items.0.source_line_id": [message]}

    def test_a_line_that_the_source_does_not_have_is_refused(self, side: Side) -> None:
        invoice = made(side, line(100))
        item = {"amount": 1, "source_line_id": NOBODY}
        body = side.credit_body(item, source_invoice_id=invoice["id"])
        assert refused(side, side.trade.credits, body)[:2] == (422, "reference_not_found")


class TestCreateVendorCredit(CreateCredit):
    trade = PURCHASES


class TestReplaceCustomerCredit:
    trade = SALES

    def test_a_draft_is_worked_out_again_by_what_is_left_when_it_is_sent(self, side: Side) -> None:
        invoice = made(side, line(100, tax_code="S20"))
        item = {"amount": 60, "source_line_id": invoice["line_items"][0]["id"]}
        body = side.credit_body(item, source_invoice_id=invoice["id"])
        first, second = (side.made(side.trade.credits, body) for _ in range(2))
        sent = side.api.put(side.trade.of_credit(first), json={"sent_at": SENT})
        assert sent.status_code == 200
        late = side.api.put(side.trade.of_credit(second), json={"sent_at": SENT})
        assert (late.status_code, late.json()["error_code"]) == (422, "credit_exceeds_source")


class TestVoidInvoice:
    trade = SALES

    def test_an_invoice_with_credited_lines_cannot_be_voided(self, side: Side) -> None:
        invoice = made(side, line(100, tax_code="S20"))
        item = {"amount": 60, "source_line_id": invoice["line_items"][0]["id"]}
        side.credit_draft(item, source_invoice_id=invoice["id"], sent_at=SENT)
        answer = side.api.post(side.trade.of(invoice, "void"), json={})
        assert (answer.status_code, answer.json()["detail"]["credited"]) == (409, 60)


class TestCreateInvoiceRefund:
    trade = SALES

    def test_a_refund_of_lines_has_their_tax_codes(self, side: Side) -> None:
        lines = (line(10_000, tax_code="S20"), line(5_000, tax_code="S0"))
        paid = [{"payment_method": "bank_transfer"}]
        invoice = made(side, *lines, payments=paid)
        taxed, zero = (each["id"] for each in invoice["line_items"])
        wanted = [{"line_id": taxed, "amount_cents": 6_000}, {"line_id": zero, "amount_cents": 500}]
        body = {"invoice_id": invoice["id"], "lines": wanted}
        refund = side.made("invoices/refunds/", body)
        assert refund["refunded_amount"] == 6_500
        assert marks(side.ledger, refund) == [
            ("S20", "net", 5_000),
            ("S20", "output", 1_000),
            ("S0", "net", 500),
        ]
        too_much, unknown = {"line_id": zero, "amount_cents": 4_501}, {"line_id": NOBODY}
        for facts, status, code in (
            ({"lines": [too_much]}, 422, "refund_exceeds_refundable"),
            ({"lines": [{**unknown, "amount_cents": 1}]}, 422, "reference_not_found"),
        ):
            fault = refused(side, "invoices/refunds/", {**body, **facts})
            assert fault[:2] == (status, code)


class TestWriteOffInvoice:
    trade = SALES

    def test_relief_takes_its_tax_back(self, side: Side) -> None:
        invoice = made(side, line(100, tax_code="S20"))
        [write_off] = side.write_off(invoice, amount_cents=60, tax_relief=True)["write_offs"]
        assert (write_off["tax_relief"], write_off["tax_relieved_cents"]) == (True, 10)
        assert side.ledger.entries(write_off)[0].amounts == {"6200": 50, "2200": 10, "1200": -60}
        assert side.read(invoice)["write_offs"] == [write_off]
        assert marks(side.ledger, write_off) == [("S20", "relief_net", 50), ("S20", "relief", 10)]


class TestCreateVendorRefund:
    trade = PURCHASES

    def test_a_vendor_refund_of_lines_has_their_tax_codes(self, side: Side) -> None:
        lines = (line(10_000, tax_code="P20"), line(5_000, tax_code="PR20"))
        bill = made(side, *lines)
        side.pay(17_000, side.trade.part(bill, 17_000))
        taxed, abroad = (each["id"] for each in bill["line_items"])
        wanted = [
            {"line_id": taxed, "amount_cents": 1_200},
            {"line_id": abroad, "amount_cents": 500},
        ]
        body = whole_refund_body(side.counterparty, 1_700, of_bill(bill, 1_700, lines=wanted))
        refund = side.made(REFUNDS, body)
        assert sorted(marks(side.ledger, refund)) == [
            ("P20", "input", -200),
            ("P20", "net", -1_000),
            ("PR20", "input", -100),
            ("PR20", "net", -500),
            ("PR20", "output", 100),
        ]

    def test_a_credit_of_a_vendor_refund_may_include_tax(self, side: Side) -> None:
        body = whole_refund_body(side.counterparty, 1_200, as_credit(1_200, tax_code="P20"))
        [allocation] = side.made(REFUNDS, body)["allocations"]
        credit = side.api.get(f"{side.trade.credits}{allocation['vendor_credit_id']}/").json()
        assert (credit["tax_total"], credit["total_amount"]) == (200, 1_200)
