"""update_customer_credit and update_vendor_credit: details and the accounts of lines."""

from tests.builders.sales import refunded
from tests.builders.trade import CREDITED, NOBODY, PURCHASES, SALES, Record, read
from tests.builders.vendor_refunds import agreed, changed, of_bill, of_credit
from tests.handlers.trade.side import Side
from tests.handlers.trade.test_update_invoice_and_bill import account, moved_on_cash, on_cash


def patched(side: Side, credit: Record, **body: object) -> Record:
    answer = side.api.patch(side.trade.of_credit(credit), json=body)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()
    return changed


def refused(side: Side, credit: Record, **body: object) -> tuple[int, str]:
    return side.ledger.refused("PATCH", side.trade.of_credit(credit), json=body)


def recoding(side: Side, credit: Record, code: str) -> list[Record]:
    """Return the body that puts the first line of a credit on another account."""
    return [{"id": credit["line_items"][0]["id"], side.trade.account_field: account(code)}]


class Update:
    """Both operations."""

    def test_what_is_no_money_changes_also_when_it_is_applied(self, side: Side) -> None:
        before = side.credit(150, side.trade.share(side.open(100), 100))
        posted = len(side.ledger.entries())
        given: Record = {"memo": "new", "tags": ["a"], "metadata": {"k": 1}}
        given["external_id"] = f"credit-{side.trade.noun}"
        item: Record = {"memo": "m", "tags": ["t"], "metadata": [1]}
        line = {"id": before["line_items"][0]["id"], **item}
        after = patched(side, before, **given, line_items=[line])
        assert {name: after[name] for name in given} == given
        assert {name: after["line_items"][0][name] for name in item} == item
        assert (after["applied_amount"], len(side.ledger.entries())) == (100, posted)
        assert read(side.shop, side.trade.credits, before) == after
        assert patched(side, before, memo=None)["memo"] is None
        with side.ledger.untouched():
            patched(side, before)

    def test_a_line_moves_on_its_day_and_each_use_on_its_own(self, side: Side) -> None:
        document = side.open(400)
        credit = side.credit_draft(
            *({"amount": 400}, {"amount": 200, "tax_amount_cents": 40}),
            **{side.trade.moment: f"{CREDITED}T00:00:00Z"},
            allocations=[{**side.trade.share(document, 320), "allocation_date": "2025-03-20"}],
        )
        before, own, sign = on_cash(side.ledger), side.trade.credit_line, side.trade.sign
        after = patched(side, credit, line_items=recoding(side, credit, "4500"))
        assert (after["total_amount"], after["applied_amount"]) == (640, 320)
        posted = side.ledger.postings(credit)[2]
        assert posted == (CREDITED, {"4500": sign * 400, own: -sign * 400})
        moved = moved_on_cash(before, side.ledger)
        assert moved == {("2025-03-20", "4500"): sign * 200, ("2025-03-20", own): -sign * 200}

    def test_what_cannot_be_changed_is_refused(self, side: Side) -> None:
        credit = side.credit(100)
        fault = refused(side, credit, line_items=recoding(side, credit, side.trade.control))
        assert fault == (422, "control_account")
        fault = refused(side, credit, line_items=[{"id": NOBODY}])
        assert fault == (422, "reference_not_found")
        side.api.post(side.trade.of_credit(credit, "void"), json={})
        assert refused(side, credit, memo="x") == (409, "invalid_state_transition")


class TestUpdateCustomerCredit(Update):
    trade = SALES

    def test_a_credit_that_is_paid_out_moves_on_the_days_of_its_money(self, side: Side) -> None:
        credit = side.credit(500)
        refunded(side.shop, credit, amount_cents=200, completed_at="2025-03-22T00:00:00Z")
        before = on_cash(side.ledger)
        patched(side, credit, line_items=recoding(side, credit, "4500"))
        assert moved_on_cash(before, side.ledger) == {
            ("2025-03-22", "4500"): 200,
            ("2025-03-22", "4100"): -200,
        }


class TestUpdateVendorCredit(Update):
    trade = PURCHASES

    def test_refunds_of_a_credit_and_of_a_bill_move_with_them(self, side: Side) -> None:
        bill, credit = side.open(1_000), side.credit(500)
        side.pay(1_000, side.trade.part(bill, 1_000))
        parts = (of_bill(bill, 400), of_credit(credit, 300))
        made = agreed(side.shop, side.counterparty, 700, *parts, refund_date="2025-03-15")
        changed(side.shop, made["payment"], status="completed", payment_date="2025-03-25")
        before = on_cash(side.ledger)
        patched(side, credit, line_items=recoding(side, credit, "4500"))
        item = {"id": bill["line_items"][0]["id"], "account_identifier": account("5000")}
        answer = side.api.patch(side.trade.of(bill), json={"line_items": [item]})
        assert answer.status_code == 200, answer.text
        assert moved_on_cash(before, side.ledger) == {
            **{("2025-03-10", "5000"): 1_000, ("2025-03-10", "6000"): -1_000},
            **{("2025-03-25", "5000"): -400, ("2025-03-25", "6000"): 400},
            **{("2025-03-25", "4500"): -300, ("2025-03-25", "5100"): 300},
        }
        # On accrual, what is refunded of the bill leaves the account of its line.
        assert side.ledger.postings(made["refund"])[-1] == (
            *("2025-03-15", {"6000": 400, "5000": -400}),
        )
