"""What is refused where payments of either side are made and changed, and leaves nothing behind."""

from tests.bookkeeping import Ledger
from tests.builders.trade import NOBODY, PAID, PURCHASES, SALES, Record, Trade
from tests.partner import Business


class RefusingToCreate:
    def test_its_party_is_known_and_its_currency_that_of_the_business(
        self, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for facts, status, code in (
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({f"{trade.party}_external_id": "nobody at all"}, 422, "reference_mismatch"),
            ({f"{trade.party}_id": None}, 400, "validation_error"),
        ):
            body = {**trade.payment_body(party), **facts}
            assert ledger.refused("POST", trade.payments, json=body) == (status, code)

    def test_allocations_stay_within_both_sides(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for total, amounts, code in (
            (2_000, [1_001], "allocation_exceeds_outstanding"),
            (999, [1_000], "allocation_exceeds_total"),
            (1_500, [1_000, 501], "allocation_exceeds_total"),
        ):
            parts = [trade.part(trade.open(shop, party, 1_000), amount) for amount in amounts]
            body = trade.payment_body(party, total, allocations=parts)
            assert ledger.refused("POST", trade.payments, json=body) == (422, code)

    def test_a_document_stands_in_the_list_once(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        twice = [trade.part(trade.open(shop, party, 10), 1)] * 2
        body = trade.payment_body(party, 2, allocations=twice)
        with ledger.untouched():
            answer = shop.api.post(trade.payments, json=body)
        assert answer.status_code == 400
        fault = {f"allocations.1.{trade.noun}_id": [f"repeats the {trade.noun} of an earlier item"]}
        assert answer.json()["detail"]["field_errors"] == fault

    def test_only_open_documents_of_the_same_party_are_paid(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        void = trade.open(shop, party, 10)
        shop.api.post(trade.of(void, "void"))
        other = PURCHASES if trade is SALES else SALES
        for document, status, code in (
            (void, 409, f"{trade.noun}_not_open"),
            (shop.made(trade.path, trade.body(party)), 409, f"{trade.noun}_not_open"),
            (trade.open(shop, trade.somebody(shop), 10), 422,
             f"{trade.noun}_{trade.party}_mismatch"),
            (other.open(shop, other.somebody(shop), 10), 422, "reference_not_found"),
            ({"id": NOBODY}, 422, "reference_not_found"),
        ):  # fmt: skip
            body = trade.payment_body(party, 5, allocations=[trade.part(document, 5)])
            assert ledger.refused("POST", trade.payments, json=body) == (status, code)

    def test_a_payment_that_is_not_live_is_refused_with_allocations(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        parts = [trade.part(trade.open(shop, party, 10), 1)]
        for status in trade.not_live:
            body = trade.payment_body(party, 5, status=status, allocations=parts)
            with ledger.untouched():
                answer = shop.api.post(trade.payments, json=body)
            assert (answer.status_code, answer.json()["error_code"]) == (409, "payment_not_live")
            assert answer.json()["detail"] == {"status": status}

    def test_not_into_a_locked_period_unless_it_posts_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", trade.payments, json=trade.payment_body(party))
            pending = trade.pay(shop, party, 10, status="pending")
        assert fault == (409, "period_locked")
        assert pending["payment_date"] == PAID


class TestRefusalsOfCreateInvoicePayment(RefusingToCreate):
    trade = SALES

    def test_not_from_an_archived_customer(self, shop: Business, ledger: Ledger) -> None:
        gone = shop.customer()
        shop.api.post(f"customers/{gone['id']}/archive/")
        fault = ledger.refused("POST", SALES.payments, json=SALES.payment_body(gone))
        assert fault == (409, "customer_archived")

    def test_references_are_texts(self, ledger: Ledger, buyer: Record) -> None:
        body = SALES.payment_body(buyer, references={"order": 7})
        assert ledger.refused("POST", SALES.payments, json=body) == (400, "validation_error")


class TestRefusalsOfCreateBillPayment(RefusingToCreate):
    trade = PURCHASES


class RefusingToUpdate:
    def test_allocations_stay_within_both_sides(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second, void = (trade.open(shop, party, 100) for _ in range(3))
        shop.api.post(trade.of(void, "void"))
        foreign = trade.open(shop, trade.somebody(shop), 100)
        path = trade.of_payment(trade.pay(shop, party, 150, trade.part(first, 100)))
        part = trade.part
        for parts, status, code in (
            ([part(first, 101)], 422, "allocation_exceeds_outstanding"),
            ([part(first, 100), part(second, 51)], 422, "allocation_exceeds_total"),
            ([part(first, 100), part(first, 1)], 400, "validation_error"),
            ([part(foreign, 1)], 422, f"{trade.noun}_{trade.party}_mismatch"),
            ([part(void, 1)], 409, f"{trade.noun}_not_open"),
            ([part({"id": NOBODY}, 1)], 422, "reference_not_found"),
        ):
            body = {"allocations": parts}
            assert ledger.refused("PATCH", path, json=body) == (status, code)

    def test_a_change_to_not_live_is_refused_with_allocations(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        parts = [trade.part(trade.open(shop, party, 100), 100)]
        path = trade.of_payment(trade.pay(shop, party, 150, *parts))
        for status in trade.not_live:
            body = {"status": status, "allocations": parts}
            assert ledger.refused("PATCH", path, json=body) == (409, "payment_not_live")

    def test_its_total_covers_its_allocations_and_its_external_id_is_its_own(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        trade.pay(shop, party, 1, external_id="taken")
        part = trade.part(trade.open(shop, party, 100), 100)
        path = trade.of_payment(trade.pay(shop, party, 150, part))
        for changes, status, code in (
            ({trade.total: 99}, 422, "total_below_allocated"),
            ({"external_id": "taken"}, 409, "duplicate_external_id"),
        ):
            assert ledger.refused("PATCH", path, json=changes) == (status, code)

    def test_its_own_allocation_does_not_stand_in_its_way(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        path = trade.of_payment(trade.pay(shop, party, 150, trade.part(document, 60)))
        for amount, total in ((100, 150), (30, 30)):
            body = {"allocations": [trade.part(document, amount)], trade.total: total}
            changed = shop.api.patch(path, json=body).json()["payment"]
            assert changed["allocated_amount_cents"] == amount
            assert changed["is_fully_allocated"] is (amount == total)
        shown = trade.read(shop, document)
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 70)


class TestRefusalsOfUpdateInvoicePayment(RefusingToUpdate):
    trade = SALES


class TestRefusalsOfUpdateBillPayment(RefusingToUpdate):
    trade = PURCHASES
