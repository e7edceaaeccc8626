"""replace_invoice and replace_bill: what a PUT keeps, clears, posts and refuses."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import PAYMENTS, bill_body, bill_paid, received
from tests.builders.sales import invoice_body, sent
from tests.builders.trade import DAY, NOBODY, PAID, PURCHASES, SALES, Record, Trade, line
from tests.clock import today
from tests.partner import Business


def put(shop: Business, trade: Trade, record: Record, **body: object) -> Record:
    answer = shop.api.put(trade.of(record), json=body)
    assert answer.status_code == 200, answer.text
    replaced: Record = answer.json()
    return replaced


def refused(
    shop: Business, ledger: Ledger, trade: Trade, record: Record, **body: object
) -> tuple[int, str]:
    given = {"line_items": [line(1_100)], **body}
    return ledger.refused("PUT", trade.of(record), json=given)


@pytest.fixture
def opened(shop: Business, trade: Trade, party: Record) -> Record:
    return trade.open(shop, party)


class Replacing:
    """Both: `described` are their texts, `kept` and `cleared` what only one keeps or clears."""

    described: tuple[str, ...] = ("memo",)
    kept: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()

    def test_a_replacement_keeps_identity_and_clears_absent_fields(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        before = trade.open(
            shop,
            party,
            1_000,
            **{"external_id": "kept", **trade.numbered("K"), trade.dated: DAY},
            **{"due_at": "2025-04-01T00:00:00Z", "transaction_tags": ["gone"]},
            **{"metadata": {"gone": 1}, "additional_discount": 100},
            **dict.fromkeys(self.described, "gone"),
        )
        after = put(shop, trade, before, line_items=[line(1_000)])
        kept = (
            *("id", "external_id", trade.moment, trade.party, "currency", "created_at"),
            *(*trade.numbers, *self.kept),
        )
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        cleared = ("due_at", "metadata", *self.described, *self.cleared)
        assert {name: after[name] for name in cleared} == dict.fromkeys(cleared)
        assert (after["transaction_tags"], after["additional_discount"]) == ([], 0)
        assert (before["status"], after["status"]) == ("overdue", trade.opened)
        assert after["updated_at"] > before["updated_at"]
        assert after["line_items"][0]["id"] == before["line_items"][0]["id"]
        assert trade.read(shop, before) == after

    def test_a_replacement_takes_every_field(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        other = trade.somebody(shop, company_name="Someone else")
        draft = shop.made(trade.path, trade.body(party))
        given = {
            "external_id": "given-later",
            **trade.numbered("Given"),
            trade.dated: "2025-03-03",
            "due_at": "2025-05-01T00:00:00Z",
            **dict.fromkeys(self.described, "new"),
            "transaction_tags": ["new"],
            "metadata": {"new": True},
            "additional_discount": 5,
        }
        lines = [line(7, 3), line(1)]
        moved = {f"{trade.party}_id": other["id"], "line_items": lines}
        after = put(shop, trade, draft, **moved, **given)
        assert {name: after[name] for name in given} == given
        assert after[trade.party]["name"] == "Someone else"
        assert (after["total_amount"], after["status"]) == (17, "draft")

    def test_a_change_posts_its_difference_on_the_day_of_the_whole(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        moment = {trade.moment: trade.at}
        put(shop, trade, opened, line_items=[line(800, tax_rate=10)], **moment)
        put(shop, trade, opened, line_items=[line(1_000)])
        assert ledger.postings(opened) == [
            (DAY, trade.posted(1_000)),
            (DAY, trade.posted(-200, 80)),
            (DAY, trade.posted(200, -80)),
        ]
        assert not any(entry.reversal_of for entry in ledger.entries(opened))

    def test_a_changed_day_is_taken_back_there_and_posted_anew(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        put(shop, trade, opened, line_items=[line()], **trade.on("2025-03-02"))
        assert ledger.postings(opened)[1:] == [
            (DAY, trade.posted(-1_000)),
            ("2025-03-02", trade.posted(1_000)),
        ]

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        with ledger.locked("2025-03-31"):
            put(shop, trade, opened, line_items=[line(1_100)])
            moved = refused(shop, ledger, trade, opened, **trade.on("2025-03-20"))
            # The same day again is no new day.
            put(shop, trade, opened, line_items=[line(1_100)], **trade.on(DAY))
        assert moved == (409, "period_locked")
        assert ledger.postings(opened)[1:] == [("2025-04-01", trade.posted(100))]

    def test_a_moment_opens_a_draft(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        draft = shop.made(trade.path, trade.body(party, **{trade.dated: DAY}))
        after = put(shop, trade, draft, line_items=[line(50)], **{trade.moment: trade.at})
        assert (after["status"], after[trade.moment]) == (trade.opened, trade.at)
        assert after[trade.number].startswith(trade.series)
        assert ledger.postings(draft) == [(DAY, trade.posted(50))]

    def test_an_equal_replacement_changes_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        same = dict.fromkeys(self.described, "same")
        opened = trade.open(shop, party, **same, **trade.numbered("S"))
        with ledger.untouched():
            answer = shop.api.put(trade.of(opened), json=trade.body(party, **same))
        assert (answer.json(), answer.headers["etag"]) == (opened, '"1"')

    def test_a_document_can_be_replaced_once_its_allocations_are_released(
        self, shop: Business, trade: Trade, party: Record, opened: Record
    ) -> None:
        payment = trade.pay(shop, party, 500, trade.part(opened, 500))
        credit = trade.credit(shop, party, 500, trade.share(opened, 500))
        shop.api.patch(f"{trade.path}payments/{payment['id']}/", json={"allocations": []})
        shop.api.put(f"{trade.credits}{credit['id']}/", json={"allocations": []})
        after = put(shop, trade, opened, line_items=[line(900)])
        assert after["total_amount"] == 900

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        path = f"{trade.of(opened)}?preview=true"
        with ledger.untouched():
            seen = shop.api.put(path, json={"line_items": [line(1_500)]}).json()
        [entry] = seen["journal_entries"]
        assert (seen["total_amount"], entry["total_debit"]) == (1_500, 500)
        assert (entry["sequence_number"], entry["entry_date"]) == (None, DAY)
        assert [each["account_code"] for each in entry["lines"]] == list(trade.posted(500))


class TestReplaceInvoice(Replacing):
    trade = SALES
    cleared = ("issue_date",)

    def test_a_moment_within_the_same_day_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        moment = "2025-03-01T18:00:00Z"
        after = put(shop, SALES, invoice, line_items=[line()], sent_at=moment)
        assert (after["sent_at"], len(ledger.entries(invoice))) == (moment, 1)


class TestReplaceBill(Replacing):
    trade = PURCHASES
    described = ("memo", "terms")
    kept = ("bill_date",)

    def test_a_new_time_of_receipt_moves_no_entry_of_a_dated_bill(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        moment = "2025-03-08T00:00:00Z"
        after = put(shop, PURCHASES, bill, line_items=[line()], received_at=moment)
        assert (after["received_at"], len(ledger.entries(bill))) == (moment, 1)

    def test_null_clears_its_date_and_the_vendors_number(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 70, vendor_bill_number="N-1")
        gone = {"bill_date": None, "vendor_bill_number": None}
        after = put(shop, PURCHASES, bill, line_items=[line(70)], **gone)
        assert (after["bill_date"], after["vendor_bill_number"]) == (None, None)
        # Without a date of its own it stands on the day on which it was received.
        assert ledger.postings(bill)[1:] == [
            (DAY, {"6000": -70, "2000": 70}),
            ("2025-03-03", {"6000": 70, "2000": -70}),
        ]

    def test_a_discount_on_the_whole_lessens_its_lines_by_the_difference(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        put(shop, PURCHASES, bill, line_items=[line(tax_rate=10)])
        put(shop, PURCHASES, bill, line_items=[line()], additional_discount=1)
        assert ledger.postings(bill)[2:] == [(DAY, {"6000": -1, "1300": -100, "2000": 101})]

    def test_an_earlier_payment_keeps_its_day_when_the_bill_date_changes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, PURCHASES.part(bill, 100))
        shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        put(shop, PURCHASES, bill, line_items=[line(100)], bill_date="2025-05-01")
        assert ledger.postings(payment) == [
            (PAID, {"2000": 100, "1100": -100}),
            (str(today()), {"2000": -100, "1100": 100}),
        ]


class RefusingToReplace:
    """What is refused on either side; what is in braces is a word of the trade."""

    @pytest.mark.parametrize("status", ["completed", "pending", "processing"])
    def test_not_while_money_is_allocated(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, opened: Record,
        status: str,
    ) -> None:  # fmt: skip
        trade.pay(shop, party, 10, trade.part(opened, 10), status=status)
        fault = (409, f"{trade.noun}_has_allocations")
        assert refused(shop, ledger, trade, opened) == fault

    def test_not_while_it_is_credited(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, opened: Record
    ) -> None:
        trade.credit(shop, party, 10, trade.share(opened, 10))
        fault = (409, f"{trade.noun}_has_allocations")
        assert refused(shop, ledger, trade, opened) == fault

    def test_a_void_one_stays_as_it_is(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        shop.api.post(trade.of(opened, "void"))
        with ledger.untouched():
            answer = shop.api.put(trade.of(opened), json={"line_items": [line(2)]})
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"
        assert answer.json()["detail"] == {"current_state": "voided", "allowed_next_states": []}

    def test_of_an_open_one_the_party_does_not_change(
        self, shop: Business, ledger: Ledger, trade: Trade, opened: Record
    ) -> None:
        name, other = f"{trade.party}_id", trade.somebody(shop)
        fault = refused(shop, ledger, trade, opened, **{name: other["id"]})
        assert fault == (422, "immutable_field")

    def test_numbers_and_external_ids_of_others_are_taken(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, opened: Record
    ) -> None:
        numbers = trade.numbered("Taken")
        trade.open(shop, party, external_id="taken", **numbers)
        fault = refused(shop, ledger, trade, opened, external_id="taken")
        assert fault == (409, "duplicate_external_id")
        for name, number in numbers.items():
            fault = refused(shop, ledger, trade, opened, **{name: number})
            assert fault == (409, f"duplicate_{trade.noun}_number")

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"{party}_id": NOBODY}, 422, "reference_not_found"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"additional_discount": 1_101}, 422, "negative_amount"),
            ({"line_items": [line(99_999_999_999_999, 3)]}, 422, "amount_too_large"),
            ({"line_items": [line(account_identifier={"type": "AccountCode", "code": "2100"})]},
             422, "control_account"),
            ({"line_items": [line(account_identifier={"type": "AccountId", "id": NOBODY})]},
             422, "reference_not_found"),
            ({"line_items": []}, 400, "validation_error"),
            ({"payments": []}, 400, "validation_error"),
            ({"{moment}": None}, 400, "validation_error"),
            ({"{number}": None}, 400, "validation_error"),
        ],
    )  # fmt: skip
    def test_an_invalid_replacement_is_refused_and_changes_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        trade: Trade,
        opened: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        assert refused(shop, ledger, trade, opened, **trade.named(facts)) == (status, code)

    def test_the_two_names_of_its_party_agree(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, opened: Record
    ) -> None:
        both = {f"{trade.party}_id": party["id"], f"{trade.party}_external_id": "unheard of"}
        assert refused(shop, ledger, trade, opened, **both) == (422, "reference_mismatch")

    def test_a_replacement_of_an_unknown_document_is_404(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        fault = refused(shop, ledger, trade, {"id": NOBODY})
        assert fault == (404, f"{trade.noun}_not_found")


class TestRefusalsOfReplaceInvoice(RefusingToReplace):
    trade = SALES

    def test_an_invoice_cannot_move_to_an_archived_customer(
        self, shop: Business, ledger: Ledger
    ) -> None:
        draft, gone = shop.made("invoices/", invoice_body(shop.customer())), shop.customer()
        shop.api.post(f"customers/{gone['id']}/archive/")
        fault = refused(shop, ledger, SALES, draft, **invoice_body(gone, line(2)))
        assert fault == (409, "customer_archived")


class TestRefusalsOfReplaceBill(RefusingToReplace):
    trade = PURCHASES

    def test_a_bill_number_of_the_new_vendor_is_a_duplicate(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        received(shop, vendor, vendor_bill_number="T-2")
        other = shop.made("bills/", bill_body(shop.vendor(), vendor_bill_number="T-2"))
        fault = refused(shop, ledger, PURCHASES, other, vendor_id=vendor["id"])
        assert fault == (409, "duplicate_bill_number")

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_a_new_vendor_must_be_active_and_the_current_vendor_need_not(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        doubtful, draft = shop.vendor(), shop.made("bills/", bill_body(vendor))
        own = received(shop, doubtful)
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": status})
        fault = refused(shop, ledger, PURCHASES, draft, vendor_id=doubtful["id"])
        assert fault == (409, "vendor_not_active")
        assert put(shop, PURCHASES, own, line_items=[line(5)])["total_amount"] == 5
