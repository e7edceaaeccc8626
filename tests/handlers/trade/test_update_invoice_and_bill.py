"""update_invoice and update_bill: details and the accounts of lines, also when settled."""

from collections import Counter

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import open_invoice
from tests.builders.openings import opened as open_books
from tests.builders.tax_returns import boxes, drawn_up, filed, read
from tests.builders.trade import DAY, NOBODY, PAID, PURCHASES, SALES, Record, line
from tests.builders.vendor_refunds import agreed, of_bill
from tests.handlers.trade.side import Side
from tests.partner import Partner


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


def recoding(record: Record, *codes: str) -> list[Record]:
    """Return the body that puts the first lines of a document on accounts."""
    pairs = zip(record["line_items"], codes, strict=False)
    return [{"id": each["id"], "account_identifier": account(code)} for each, code in pairs]


def patched(side: Side, record: Record, **body: object) -> Record:
    answer = side.api.patch(side.trade.of(record), json=body)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()
    return changed


def refused(side: Side, record: Record, **body: object) -> tuple[int, str]:
    return side.ledger.refused("PATCH", side.trade.of(record), json=body)


def on_cash(ledger: Ledger) -> Counter[tuple[str, str]]:
    """Return debits less credits on cash by day and account."""
    rows = ledger.ask(
        "SELECT l.entry_date::text, a.code, sum(l.debit - l.credit)::bigint FROM ("
        "  SELECT entry_date, account_id, debit, credit, in_cash FROM journal_line"
        "  WHERE business_id = %(business)s AND in_cash"
        "  UNION ALL SELECT entry_date, account_id, debit, credit, true FROM cash_line"
        "  WHERE business_id = %(business)s"
        ") AS l JOIN account a ON a.business_id = %(business)s AND a.id = l.account_id"
        " GROUP BY 1, 2",
        business=ledger.business.id,
    )
    return Counter({(day, code): amount for day, code, amount in rows})


def moved_on_cash(before: Counter[tuple[str, str]], ledger: Ledger) -> dict[tuple[str, str], int]:
    now = on_cash(ledger)
    keys = {*now, *before}
    return {key: now[key] - before[key] for key in keys if now[key] != before[key]}


def alone(side: Side, partner: Partner) -> Side:
    """Return the side in a business of its own."""
    shop = partner.business()
    ledger = Ledger(side.ledger.api_server, shop)
    return Side(shop, ledger, side.trade, side.trade.somebody(shop))


class Update:
    """Both operations."""

    def test_what_is_no_money_changes_also_when_it_is_paid(self, side: Side) -> None:
        before = side.open(1_000)
        side.pay(1_000, side.trade.part(before, 1_000))
        given: Record = {
            **{"external_id": f"later-{side.trade.noun}", "memo": "new"},
            **{"due_at": "2025-05-01T00:00:00Z", "transaction_tags": ["a"], "metadata": {"k": 1}},
        }
        words = {"description": "Beans", "product": "P", "external_id": "l", "memo": "m"}
        item: Record = {**words, "tags": ["t"], "metadata": [1]}
        posted = len(side.ledger.entries())
        changed = {**given, "line_items": [{"id": before["line_items"][0]["id"], **item}]}
        answer = side.api.patch(side.trade.of(before), json=changed)
        after = answer.json()
        assert {name: after[name] for name in given} == given
        assert {name: after["line_items"][0][name] for name in item} == item
        assert (after["status"], len(side.ledger.entries())) == ("paid", posted)
        assert side.read(before) == after
        nulls = dict.fromkeys(("memo", "due_at", "metadata"))
        cleared = patched(side, before, **nulls, line_items=[])
        assert {name: cleared[name] for name in nulls} == nulls
        assert cleared["transaction_tags"] == ["a"]

    def test_an_empty_or_equal_change_changes_nothing(self, side: Side) -> None:
        opened = side.open(1_000, memo="same")
        same = {"memo": "same", "line_items": recoding(opened, side.trade.line)}
        with side.ledger.untouched():
            for body in ({}, same):
                assert side.api.patch(side.trade.of(opened), json=body).json() == opened

    def test_a_line_of_an_open_one_moves_on_its_day(self, side: Side) -> None:
        opened = side.open(line_items=[line(1_000, tax_rate=20), line(500)])
        after = patched(side, opened, line_items=recoding(opened, "4500"))
        first, second = (each["account_identifier"]["id"] for each in after["line_items"])
        assert (first, second) == (
            side.api.get("general-ledger/chart-of-accounts/4500/").json()["id"],
            opened["line_items"][1]["account_identifier"]["id"],
        )
        assert after["total_amount"] == opened["total_amount"]
        moved = {side.trade.line: side.trade.sign * 1_000, "4500": -side.trade.sign * 1_000}
        assert side.ledger.postings(opened)[1:] == [(DAY, moved)]

    def test_each_settlement_of_a_paid_one_moves_on_its_own_day(self, side: Side) -> None:
        opened = side.open(line_items=[line(1_000, tax_rate=20), line(300)])
        first = side.pay(600, side.trade.part(opened, 600))
        later = side.pay(
            300, side.trade.part(opened, 300), payment_date="2025-03-20", payment_method="cash"
        )
        side.credit(300, side.trade.share(opened, 300))
        side.write_off(opened, amount_cents=300, write_off_at="2025-03-25T00:00:00Z")
        before = on_cash(side.ledger)
        after = patched(side, opened, line_items=recoding(opened, "4500"))
        assert (after["outstanding_balance"], after["status"]) == (0, "written_off")
        moved = moved_on_cash(before, side.ledger)
        # On cash, a credit counts on its day; a write-off recognises nothing.
        assert {day for day, _ in moved} == {PAID, "2025-03-20", "2025-03-05"}
        for day in (PAID, "2025-03-20", "2025-03-05"):
            assert moved[day, "4500"] == -moved[day, side.trade.line]
        # Of 600, 300 and 300 of 1500 the line of 1000 with its part of 1300 is settled, less what
        # the write-off settled of it.
        whole = -side.trade.sign * sum(n for (_, code), n in moved.items() if code == "4500")
        assert 0 < whole < 1_000
        with side.ledger.untouched():
            assert patched(side, opened, line_items=recoding(opened, "4500")) == after
        assert [payment["status"] for payment in (first, later)] == ["completed"] * 2

    def test_the_locked_period_gets_nothing(self, side: Side) -> None:
        opened = side.open(1_000)
        payment = side.pay(1_000, side.trade.part(opened, 1_000))
        before = on_cash(side.ledger)
        with side.ledger.locked("2025-03-31"):
            patched(side, opened, line_items=recoding(opened, "4500"))
        sign = side.trade.sign
        moved = {side.trade.line: sign * 1_000, "4500": -sign * 1_000}
        assert side.ledger.postings(opened)[1:] == [("2025-04-01", moved)]
        assert moved_on_cash(before, side.ledger) == {
            ("2025-04-01", code): amount for code, amount in moved.items()
        }
        assert [on for on, _ in side.ledger.postings(payment)] == [PAID, "2025-04-01"]

    def test_an_unpaid_draft_takes_the_account_when_it_opens(self, side: Side) -> None:
        draft = side.draft(line(1_000))
        patched(side, draft, line_items=recoding(draft, "4500"))
        assert side.ledger.entries(draft) == []
        moment = {side.trade.moment: side.trade.at}
        side.api.post(side.trade.of(draft, side.trade.move), json=moment)
        [entry] = side.ledger.entries(draft)
        assert entry.amounts == side.trade.signed({side.trade.control: 1_000, "4500": -1_000})

    def test_a_preview_shows_the_entries(self, side: Side) -> None:
        opened = side.open(1_000)
        with side.ledger.untouched():
            shown = side.api.patch(
                side.trade.of(opened),
                params={"preview": "true"},
                json={"line_items": recoding(opened, "4500")},
            ).json()
        [entry] = shown["journal_entries"]
        assert entry["entry_date"] == DAY

    @pytest.mark.parametrize("scheme", ["accrual", "cash"])
    def test_no_tax_return_changes(self, acme: Partner, side: Side, scheme: str) -> None:
        own = alone(side, acme)
        opened = own.open(line_items=[line(1_000, tax_rate=20), line(301, tax_rate=20)])
        own.pay(777, own.trade.part(opened, 777))
        declared = filed(own.shop, drawn_up(own.shop, 1, scheme))
        patched(own, opened, line_items=recoding(opened, "4500"))
        assert boxes(read(own.shop, declared)) == boxes(declared) != {}
        again = drawn_up(own.shop, 2, scheme)
        assert boxes(again) == {}
        assert not any(
            amount
            for late in again["late"]
            for name, amount in late.items()
            if name.endswith("_cents")
        )

    def test_what_cannot_be_changed_is_refused(self, side: Side) -> None:
        opened, other = side.open(1_000), side.open(10, external_id=f"taken-{side.trade.noun}")
        own = opened["line_items"][0]["id"]
        fault = refused(side, opened, line_items=recoding(opened, side.trade.control))
        assert fault == (422, "control_account")
        nowhere = {"type": "AccountId", "id": NOBODY}
        for item in ({"id": NOBODY}, {"id": own, "account_identifier": nowhere}):
            assert refused(side, opened, line_items=[item]) == (422, "reference_not_found")
        fault = refused(side, opened, line_items=[{"id": own}, {"id": own}])
        assert fault == (400, "validation_error")
        fault = refused(side, opened, external_id=other["external_id"])
        assert fault == (409, "duplicate_external_id")
        assert refused(side, opened, line_items=[{"id": own, "unit_price": 1}])[0] == 400
        side.api.post(side.trade.of(opened, "void"))
        for body in ({}, {"memo": "x"}, {"line_items": recoding(opened, "4500")}):
            assert refused(side, opened, **body) == (409, "invalid_state_transition")

    def test_a_line_of_an_opening_stays_on_its_account(self, acme: Partner, side: Side) -> None:
        own = alone(side, acme)
        dated = {own.trade.dated: "2024-12-01", "outstanding_amount_cents": 900}
        item = {f"{own.trade.party}_id": own.counterparty["id"], **dated}
        if own.trade is SALES:
            item["invoice_number"] = "Old 1"
        opening = open_books(own.shop, **{f"{own.trade.noun}s": [item]})
        [known] = opening[f"{own.trade.noun}s"]
        document = own.read(known)
        assert patched(own, document, memo="carried over")["memo"] == "carried over"
        fault = refused(own, document, line_items=recoding(document, "4500"))
        assert fault == (409, "in_opening_balance")


class TestUpdateInvoice(Update):
    trade = SALES

    def test_the_discount_on_the_whole_stays_on_its_account(self, side: Side) -> None:
        opened = side.open(1_000, additional_discount=100)
        side.pay(900, side.trade.part(opened, 900))
        before = on_cash(side.ledger)
        patched(side, opened, line_items=recoding(opened, "4500"))
        assert side.ledger.postings(opened)[1:] == [(DAY, {"4000": 1_000, "4500": -1_000})]
        moved = moved_on_cash(before, side.ledger)
        assert moved == {(PAID, "4000"): 900, (PAID, "4500"): -900}

    def test_lines_that_cancelled_each_other_out_count_on_cash_once_they_are_apart(
        self, side: Side
    ) -> None:
        on = {"account_identifier": account("4500")}
        opened = side.open(line_items=[line(1_000), line(300, **on), line(-300, **on)])
        side.pay(1_000, side.trade.part(opened, 1_000))
        before = on_cash(side.ledger)
        moving = [{"id": opened["line_items"][1]["id"], "account_identifier": account("4600")}]
        patched(side, opened, line_items=moving)
        moved = moved_on_cash(before, side.ledger)
        assert moved == {(PAID, "4600"): -300, (PAID, "4500"): 300}

    def test_the_terms_of_an_opening_invoice_count_from_its_own_day(
        self, side: Side, rival: Partner
    ) -> None:
        own = alone(side, rival)
        customer = own.shop.customer(payment_terms_days=30)
        item = open_invoice(customer, 120, issue_date="2024-11-03")
        opening = open_books(own.shop, invoices=[item])
        document = own.read(opening["invoices"][0])
        assert document["due_at"].startswith("2024-12-03")
        assert patched(own, document, due_at=None)["due_at"] == document["due_at"]


class TestUpdateBill(Update):
    trade = PURCHASES

    def test_a_refunded_line_leaves_the_account_that_it_had_in_common_with_its_tax(
        self, side: Side
    ) -> None:
        tax = {"amount": 200, "tax_account": account("6000")}
        lines = [line(1_000, account_identifier=account("6000"), sales_taxes=[tax])]
        bill = side.open(line_items=lines)
        side.pay(1_200, side.trade.part(bill, 1_200))
        agreed(side.shop, bill["vendor"], 600, of_bill(bill, 600))
        with side.ledger.moving() as moved:
            patched(side, bill, line_items=recoding(bill, "6100"))
        # 1,000 net less the refunded 500; the tax stays.
        assert moved == {"6000": -500, "6100": 500}

    def test_the_vendors_number_and_the_terms_change(self, side: Side) -> None:
        side.open(10, vendor_bill_number="Theirs-8")
        bill = side.open(10, vendor_bill_number="Theirs-9", terms="net 7")
        after = patched(side, bill, vendor_bill_number="Theirs-10", terms=None)
        assert (after["vendor_bill_number"], after["terms"]) == ("Theirs-10", None)
        fault = refused(side, bill, vendor_bill_number="Theirs-8")
        assert fault == (409, "duplicate_bill_number")
