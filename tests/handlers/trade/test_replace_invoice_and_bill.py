"""replace_invoice and replace_bill: fields kept and cleared, postings and refusals."""

import pytest

from tests.builders.trade import DAY, NOBODY, PAID, PURCHASES, RECEIVED, SALES, Record, line
from tests.clock import today
from tests.handlers.trade.side import Side


def put(side: Side, record: Record, **body: object) -> Record:
    answer = side.api.put(side.trade.of(record), json=body)
    assert answer.status_code == 200, answer.text
    replaced: Record = answer.json()
    return replaced


def refused(side: Side, record: Record, **body: object) -> tuple[int, str]:
    given = {"line_items": [line(1_100)], **body}
    return side.ledger.refused("PUT", side.trade.of(record), json=given)


@pytest.fixture
def opened(side: Side) -> Record:
    return side.open()


class Replacement:
    """Both operations; `described` are texts, and `kept` differs between the sides."""

    described: tuple[str, ...] = ("memo",)
    kept: tuple[str, ...] = ()

    def test_a_replacement_keeps_identity_and_clears_absent_fields(self, side: Side) -> None:
        before = side.open(
            1_000,
            **{"external_id": "kept", **side.trade.numbered("K"), side.trade.dated: DAY},
            **{"due_at": "2025-04-01T00:00:00Z", "transaction_tags": ["gone"]},
            **{"metadata": {"gone": 1}, "additional_discount": 100},
            **dict.fromkeys(self.described, "gone"),
        )
        after = put(side, before, line_items=[line(1_000)])
        kept = (
            *("id", "external_id", side.trade.moment, side.trade.party, "currency", "created_at"),
            *(*side.trade.numbers, *self.kept),
        )
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        cleared = ("due_at", "metadata", *self.described)
        assert {name: after[name] for name in cleared} == dict.fromkeys(cleared)
        assert (after["transaction_tags"], after["additional_discount"]) == ([], 0)
        assert (before["status"], after["status"]) == ("overdue", side.trade.opened)
        assert after["updated_at"] > before["updated_at"]
        assert after["line_items"][0]["id"] == before["line_items"][0]["id"]
        assert side.read(before) == after

    def test_a_replacement_takes_every_field(self, side: Side) -> None:
        other = side.somebody(company_name="Someone else")
        given = {
            **{
                "external_id": "given-later",
                **side.trade.numbered("Given"),
                side.trade.dated: "2025-03-03",
                "delivery_date": "2025-02-28",
            },
            **{"due_at": "2025-05-01T00:00:00Z", **dict.fromkeys(self.described, "new")},
            **{"transaction_tags": ["new"], "metadata": {"new": True}, "additional_discount": 5},
        }
        moved = {f"{side.trade.party}_id": other["id"], "line_items": [line(7, 3), line(1)]}
        after = put(side, side.draft(), **moved, **given)
        assert {name: after[name] for name in given} == given
        assert after[side.trade.party]["name"] == "Someone else"
        assert (after["total_amount"], after["status"]) == (17, "draft")

    def test_a_change_posts_its_difference_on_the_day_of_the_whole(
        self, side: Side, opened: Record
    ) -> None:
        moment = {side.trade.moment: side.trade.at}
        put(side, opened, line_items=[line(800, tax_rate=10)], **moment)
        put(side, opened, line_items=[line(1_000)])
        assert side.ledger.postings(opened) == [
            (DAY, side.trade.posted(1_000)),
            (DAY, side.trade.posted(-200, 80)),
            (DAY, side.trade.posted(200, -80)),
        ]
        assert not any(entry.reversal_of for entry in side.ledger.entries(opened))

    def test_a_changed_day_is_taken_back_there_and_posted_anew(
        self, side: Side, opened: Record
    ) -> None:
        put(side, opened, line_items=[line()], **side.trade.on("2025-03-02"))
        assert side.ledger.postings(opened)[1:] == [
            (DAY, side.trade.posted(-1_000)),
            ("2025-03-02", side.trade.posted(1_000)),
        ]

    def test_a_changed_date_is_taken_back_there_and_posted_anew(self, side: Side) -> None:
        opened = side.open(1_000, **{side.trade.dated: DAY})
        put(side, opened, line_items=[line()], **{side.trade.dated: "2025-03-02"})
        assert side.ledger.postings(opened)[1:] == [
            (DAY, side.trade.posted(-1_000)),
            ("2025-03-02", side.trade.posted(1_000)),
        ]
        # The moment of the opening moves no entry of a dated document.
        moment = {side.trade.moment: "2025-03-08T00:00:00Z"}
        after = put(side, opened, line_items=[line()], **moment)
        assert after[side.trade.moment] == "2025-03-08T00:00:00Z"
        assert len(side.ledger.entries(opened)) == 3
        with side.ledger.locked("2025-03-31"):
            fault = refused(side, opened, **{side.trade.dated: DAY})
        assert fault == (409, "period_locked")

    def test_null_clears_its_dates(self, side: Side) -> None:
        dated = {side.trade.dated: "2025-02-20", "delivery_date": "2025-02-10"}
        opened = side.open(70, **dated, **{side.trade.moment: RECEIVED})
        after = put(side, opened, line_items=[line(70)])
        assert {name: after[name] for name in dated} == dated
        after = put(side, opened, line_items=[line(70)], **dict.fromkeys(dated))
        assert {name: after[name] for name in dated} == dict.fromkeys(dated)
        # Without a date of its own it is posted on the day of its opening.
        assert side.ledger.postings(opened)[1:] == [
            ("2025-02-20", side.trade.posted(-70)),
            (RECEIVED[:10], side.trade.posted(70)),
        ]

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, side: Side, opened: Record
    ) -> None:
        with side.ledger.locked("2025-03-31"):
            put(side, opened, line_items=[line(1_100)])
            moved = refused(side, opened, **side.trade.on("2025-03-20"))
            # The same day again does not change the day.
            put(side, opened, line_items=[line(1_100)], **side.trade.on(DAY))
        assert moved == (409, "period_locked")
        assert side.ledger.postings(opened)[1:] == [("2025-04-01", side.trade.posted(100))]

    def test_a_moment_opens_a_draft(self, side: Side) -> None:
        draft = side.draft(**{side.trade.dated: DAY})
        after = put(side, draft, line_items=[line(50)], **{side.trade.moment: side.trade.at})
        assert (after["status"], after[side.trade.moment]) == (side.trade.opened, side.trade.at)
        assert after[side.trade.number].startswith(side.trade.series)
        assert side.ledger.postings(draft) == [(DAY, side.trade.posted(50))]

    def test_an_equal_replacement_changes_nothing(self, side: Side) -> None:
        same: Record = dict.fromkeys(self.described, "same")
        opened = side.open(**same, **side.trade.numbered("S"))
        with side.ledger.untouched():
            answer = side.api.put(side.trade.of(opened), json=side.body(**same))
        assert (answer.json(), answer.headers["etag"]) == (opened, '"1"')

    def test_a_document_can_be_replaced_once_its_allocations_are_released(
        self, side: Side, opened: Record
    ) -> None:
        payment = side.pay(500, side.trade.part(opened, 500))
        credit = side.credit(500, side.trade.share(opened, 500))
        side.change(payment, allocations=[])
        side.api.put(side.trade.of_credit(credit), json={"allocations": []})
        assert put(side, opened, line_items=[line(900)])["total_amount"] == 900


class TestReplaceInvoice(Replacement):
    trade = SALES
    kept = ("issue_date",)

    def test_a_moment_within_the_same_day_posts_nothing(self, side: Side) -> None:
        invoice = side.open()
        moment = "2025-03-01T18:00:00Z"
        after = put(side, invoice, line_items=[line()], sent_at=moment)
        assert (after["sent_at"], len(side.ledger.entries(invoice))) == (moment, 1)


class TestReplaceBill(Replacement):
    trade = PURCHASES
    described = ("memo", "terms")
    kept = ("bill_date",)

    def test_null_clears_the_vendors_number(self, side: Side) -> None:
        bill = side.open(70, vendor_bill_number="N-1")
        after = put(side, bill, line_items=[line(70)], vendor_bill_number=None)
        assert after["vendor_bill_number"] is None

    def test_a_discount_on_the_whole_lessens_its_lines_by_the_difference(self, side: Side) -> None:
        bill = side.open()
        put(side, bill, line_items=[line(tax_rate=10)])
        put(side, bill, line_items=[line()], additional_discount=1)
        assert side.ledger.postings(bill)[2:] == [(DAY, {"6000": -1, "1300": -100, "2000": 101})]

    def test_an_earlier_payment_keeps_its_day_when_the_bill_date_changes(self, side: Side) -> None:
        bill = side.open(100)
        payment = side.pay(100, side.trade.part(bill, 100))
        side.change(payment, status="failed")
        put(side, bill, line_items=[line(100)], bill_date="2025-05-01")
        assert side.ledger.postings(payment) == [
            (PAID, {"2000": 100, "1100": -100}),
            (str(today()), {"2000": -100, "1100": 100}),
        ]


class RefusingToReplace:
    def test_numbers_and_external_ids_of_others_are_taken(self, side: Side, opened: Record) -> None:
        numbers = side.trade.numbered("Taken")
        side.open(external_id="taken", **numbers)
        fault = refused(side, opened, external_id="taken")
        assert fault == (409, "duplicate_external_id")
        for name, number in numbers.items():
            fault = refused(side, opened, **{name: number})
            assert fault == (409, f"duplicate_{side.trade.noun}_number")

    def test_an_unknown_party_or_account_is_refused(self, side: Side, opened: Record) -> None:
        nowhere = line(account_identifier={"type": "AccountId", "id": NOBODY})
        for facts in ({f"{side.trade.party}_id": NOBODY}, {"line_items": [nowhere]}):
            assert refused(side, opened, **facts) == (422, "reference_not_found")


class TestRefusalsOfReplaceInvoice(RefusingToReplace):
    trade = SALES

    def test_an_invoice_cannot_move_to_an_archived_customer(self, side: Side) -> None:
        draft, gone = side.draft(), side.somebody()
        side.api.post(side.trade.of_party(gone, "archive"))
        fault = refused(side, draft, customer_id=gone["id"])
        assert fault == (409, "customer_archived")


class TestRefusalsOfReplaceBill(RefusingToReplace):
    trade = PURCHASES

    def test_a_bill_number_of_the_new_vendor_is_a_duplicate(self, side: Side) -> None:
        side.open(vendor_bill_number="T-2")
        body = side.trade.body(side.somebody(), vendor_bill_number="T-2")
        other = side.made(side.trade.path, body)
        fault = refused(side, other, vendor_id=side.counterparty["id"])
        assert fault == (409, "duplicate_bill_number")

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_a_new_vendor_must_be_active_and_the_current_vendor_need_not(
        self, side: Side, status: str
    ) -> None:
        doubtful, draft = side.somebody(), side.draft()
        own = side.trade.open(side.shop, doubtful)
        side.api.patch(side.trade.of_party(doubtful), json={"status": status})
        fault = refused(side, draft, vendor_id=doubtful["id"])
        assert fault == (409, "vendor_not_active")
        assert put(side, own, line_items=[line(5)])["total_amount"] == 5
