from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.accounts import AccountReference, BookAccounts
from accounting.books.numbers import Pending
from accounting.errors import Malformed, Refusal
from accounting.money import MAX_AMOUNT
from accounting.trade import documents
from accounting.trade.documents import Document
from accounting.trade.drawing_up import account_references, draw_up, redraw
from accounting.trade.sides import RECEIVABLE
from tests.accounting.trade import (
    ACCOUNTS,
    ACME,
    OTHER,
    ROLES,
    Trade,
    account,
    code_of,
    day,
    line,
    moment,
)


def by_code(code: str) -> dict[str, str]:
    return {"type": "AccountCode", "code": code}


def drawn(*lines: dict[str, Any], **body: Any) -> Document:
    facts = {"line_items": list(lines), **body}
    return draw_up(RECEIVABLE, facts, ACME, ACCOUNTS, Trade("5").context())


def refusal_of(*lines: dict[str, Any], **body: Any) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        drawn(*lines, **body)
    return refusal.value


class TestArithmetic:
    def test_the_worked_example(self) -> None:
        document = drawn(
            {"quantity": 2, "unit_price": 1_000, "discount_amount": 100, "tax_rate": 20},
            additional_discount=90,
        )
        assert document.subtotal == 1_900
        assert document.discount_total == 190
        assert document.tax_total == 362
        assert document.total_amount == 2_172
        (only,) = document.lines
        assert (only.tax_total, only.total_amount, only.discount_share) == (362, 2_262, 90)

    @pytest.mark.parametrize("quantity", [1.5, "1.5", Decimal("1.50")])
    def test_a_quantity_is_read_as_a_decimal_in_any_form(self, quantity: Any) -> None:
        document = drawn({"quantity": quantity, "unit_price": 333})
        assert document.total_amount == 500
        assert document.lines[0].quantity == Decimal("1.5")

    def test_a_rate_is_rounded_once_and_spread(self) -> None:
        document = drawn(*(line(33, tax_rate="10") for _ in range(3)))
        assert document.tax_total == 10
        assert [each.tax_total for each in document.lines] == [4, 3, 3]

    def test_rates_that_are_equal_are_one_rate(self) -> None:
        document = drawn(line(5, tax_rate="10"), line(5, tax_rate=10.0), line(5, tax_rate="20"))
        assert [each.tax_total for each in document.lines] == [1, 0, 1]

    def test_given_taxes_are_taken_as_given_with_their_accounts(self) -> None:
        taxes = [{"amount": 7}, {"amount": 3, "tax_account": by_code("2400")}]
        (only,) = drawn(line(100, sales_taxes=taxes)).lines
        assert [(tax.amount, code_of(tax.account_id)) for tax in only.taxes] == [
            (7, "2200"),
            (3, "2400"),
        ]

    def test_a_discount_on_the_whole_is_spread_by_subtotal(self) -> None:
        document = drawn(line(100), line(200), line(0), additional_discount=100)
        assert [each.discount_share for each in document.lines] == [33, 67, 0]
        assert documents.parts(document) == {ROLES["sales"]: 200}

    @given(
        st.lists(
            st.builds(
                lambda price, quantity, rate: line(price, quantity=quantity, tax_rate=rate),
                st.integers(0, 10_000),
                st.decimals("0.000001", 9_999, places=6),
                st.none() | st.decimals(0, 100, places=4),
            ),
            min_size=1,
            max_size=6,
        ),
        st.integers(0, 100),
    )
    def test_parts_sum_to_the_total_and_none_is_below_zero(
        self, lines: list[dict[str, Any]], percent: int
    ) -> None:
        subtotal = drawn(*lines).subtotal
        discount = subtotal * percent // 100
        document = drawn(*lines, additional_discount=discount)
        parts = documents.parts(document)
        assert sum(parts.values()) == document.total_amount
        assert min(parts.values()) >= 0
        assert document.total_amount == subtotal - discount + document.tax_total


class TestRefusals:
    def test_every_fault_of_a_line_is_named_at_once(self) -> None:
        faults = refusal_of(
            {"quantity": "0.000", "unit_price": 1},
            {"quantity": "1.0000001", "unit_price": 1, "tax_rate": "0.00001"},
            {"quantity": "NaN", "unit_price": 1, "tax_rate": "-1"},
            line(1, tax_rate=5, sales_taxes=[{"amount": 1}]),
            line(1, tax_rate="Infinity"),
        )
        assert isinstance(faults, Malformed)
        assert set(faults.detail["field_errors"]) == {
            *("line_items.0.quantity", "line_items.1.quantity", "line_items.2.quantity"),
            *("line_items.1.tax_rate", "line_items.2.tax_rate", "line_items.3.tax_rate"),
            "line_items.4.tax_rate",
        }

    @pytest.mark.parametrize(
        ("body", "code", "field"),
        [
            ({"line_items": [line(-1)]}, "negative_amount", "line_items.0"),
            (
                {"line_items": [line(9), line(5, discount_amount=6)]},
                "negative_amount",
                "line_items.1",
            ),
            (
                {"line_items": [line(5)], "additional_discount": 6},
                "negative_amount",
                "additional_discount",
            ),
            ({"line_items": [line(MAX_AMOUNT)] * 2}, "amount_too_large", None),
            ({"line_items": [line(MAX_AMOUNT, quantity=2)]}, "amount_too_large", None),
            ({"line_items": [line(MAX_AMOUNT, tax_rate=1)]}, "amount_too_large", None),
            ({"line_items": [line(1)], "currency": "EUR"}, "currency_mismatch", None),
            (
                {"line_items": [line(1, account_identifier=by_code("1200"))]},
                "control_account",
                None,
            ),
            (
                {"line_items": [line(1, account_identifier=by_code("9999"))]},
                "reference_not_found",
                None,
            ),
            (
                {"line_items": [line(1)], "customer_external_id": "other"},
                "reference_mismatch",
                None,
            ),
        ],
    )
    def test_rules_about_money_and_identity(
        self, body: dict[str, Any], code: str, field: str | None
    ) -> None:
        refusal = refusal_of(*body.pop("line_items"), **body)
        assert (refusal.code, refusal.detail.get("field")) == (code, field)

    def test_an_archived_account_is_not_given(self) -> None:
        reference = AccountReference("code", "4000")
        accounts = BookAccounts(ROLES, {reference: account("4000", archived=True)})
        body = {"line_items": [line(1, account_identifier=by_code("4000"))]}
        with pytest.raises(Refusal) as refusal:
            draw_up(RECEIVABLE, body, ACME, accounts, Trade().context())
        assert refusal.value.code == "account_archived"

    def test_an_archived_customer_and_a_locked_day_are_refused(self) -> None:
        body = {"line_items": [line(1)], "sent_at": moment("5")}
        for party, trade, code in [
            (replace(ACME, status="ARCHIVED"), Trade(), "customer_archived"),
            (ACME, Trade(lock="5"), "period_locked"),
        ]:
            with pytest.raises(Refusal) as refusal:
                draw_up(RECEIVABLE, body, party, ACCOUNTS, trade.context())
            assert refusal.value.code == code


class TestDrawUp:
    def test_without_a_date_it_is_a_draft_without_a_number(self) -> None:
        draft = drawn(line(1))
        assert (draft.state, draft.number, draft.opened_at) == ("draft", None, None)

    def test_with_a_date_it_is_open_and_takes_a_number(self) -> None:
        sent = drawn(line(1), sent_at=moment("3"))
        assert (sent.state, sent.number, sent.opened_at) == ("open", Pending("INV"), moment("3"))

    def test_what_a_body_says_is_kept(self) -> None:
        said = {"memo": "m", "tags": ["a"], "metadata": {"l": 1}}
        kept = drawn(
            line(1, description="Tea", product="P1", external_id="l1", **said),
            external_id="x",
            imported_at=moment("2"),
            invoice_number="A1",
            memo="note",
            transaction_tags=["t"],
            metadata={"k": 1},
            currency="gbp",
        )
        assert (kept.external_id, kept.number, kept.memo) == ("x", "A1", "note")
        assert (kept.transaction_tags, kept.metadata, kept.currency) == (("t",), {"k": 1}, "GBP")
        (only,) = kept.lines
        assert (only.description, only.product, only.external_id) == ("Tea", "P1", "l1")
        assert (only.memo, only.tags, only.metadata) == ("m", ("a",), {"l": 1})
        assert kept.imported_at == moment("2")

    def test_accounts_are_named_by_id_or_by_code(self) -> None:
        id_ = ROLES["sales"]
        taxes = [{"amount": 1}, {"amount": 1, "tax_account": by_code("2400")}]
        body = {
            "line_items": [
                line(1, account_identifier={"type": "AccountId", "id": id_}),
                line(1, sales_taxes=taxes),
            ]
        }
        assert account_references(body) == {
            AccountReference("id", id_),
            AccountReference("code", "2400"),
        }


class TestRedraw:
    def test_absent_facts_are_cleared_and_identity_stays(self) -> None:
        before = drawn(
            line(1),
            external_id="x",
            memo="m",
            additional_discount=1,
            issue_date=day("2"),
            due_at=moment("9"),
            sent_at=moment("3"),
        )
        after = replaced(before, line(2))
        assert (after.id, after.external_id, after.number) == (before.id, "x", before.number)
        assert (after.opened_at, after.memo, after.additional_discount) == (moment("3"), None, 0)
        assert after.lines[0].id == before.lines[0].id
        assert (after.issue_date, after.due_at, after.total_amount) == (None, None, 2)

    def test_a_number_and_an_external_id_may_be_given_anew(self) -> None:
        before = drawn(line(1), external_id="x", invoice_number="A1")
        kept = replaced(before, line(2), external_id=None, invoice_number=None)
        assert (kept.number, kept.external_id) == ("A1", "x")
        after = replaced(before, line(1), external_id="y", invoice_number="A2")
        assert (after.number, after.external_id) == ("A2", "y")

    def test_the_external_id_of_another_customer_is_refused(self) -> None:
        with pytest.raises(Refusal) as refusal:
            replaced(drawn(line(1)), line(1), customer_external_id="other")
        assert refusal.value.code == "reference_mismatch"

    def test_the_same_body_changes_nothing(self) -> None:
        before = drawn(line(1), memo="m")
        assert replaced(before, line(1), memo="m") is before

    def test_a_draft_with_a_date_opens(self) -> None:
        after = replaced(drawn(line(1)), line(1), sent_at=moment("7"))
        assert (after.state, after.number, after.updated_at) == (
            "open",
            Pending("INV"),
            moment("9"),
        )

    def test_a_draft_of_an_archived_customer_does_not_open(self) -> None:
        draft = replace(drawn(line(1)), party=replace(ACME, status="ARCHIVED"))
        assert replaced(draft, line(2)).total_amount == 2
        with pytest.raises(Refusal) as refusal:
            replaced(draft, line(1), sent_at=moment("7"))
        assert refusal.value.code == "customer_archived"

    def test_another_customer_must_be_active(self) -> None:
        context, body = Trade("9").context(), {"line_items": [line(1)]}
        after = redraw(RECEIVABLE, drawn(line(1)), body, OTHER, ACCOUNTS, context)
        assert after.party == OTHER
        with pytest.raises(Refusal) as refusal:
            redraw(RECEIVABLE, after, body, replace(ACME, status="ARCHIVED"), ACCOUNTS, context)
        assert refusal.value.code == "customer_archived"

    def test_a_date_in_the_lock_may_stay_and_no_other_may_come(self) -> None:
        before = drawn(line(1), sent_at=moment("3"))
        locked = Trade("9", lock="7")
        assert replaced(before, line(2), trade=locked).total_amount == 2
        with pytest.raises(Refusal) as refusal:
            replaced(before, line(2), trade=locked, sent_at=moment("7"))
        assert refusal.value.code == "period_locked"

    def test_void_or_allocated_is_refused(self) -> None:
        before = drawn(line(1), sent_at=moment("3"))
        for state, code in [
            (replace(before, state="void"), "invalid_state_transition"),
            (replace(before, reserved=1), "invoice_has_allocations"),
        ]:
            with pytest.raises(Refusal) as refusal:
                replaced(state, line(2))
            assert refusal.value.code == code


def replaced(
    before: Document, *lines: dict[str, Any], trade: Trade | None = None, **body: Any
) -> Document:
    context = (trade or Trade("9")).context()
    facts = {"line_items": list(lines), **body}
    return redraw(RECEIVABLE, before, facts, before.party, ACCOUNTS, context)
