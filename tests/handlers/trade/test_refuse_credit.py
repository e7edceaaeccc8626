"""What credits of either side refuse; what is in braces is a word of the trade."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import CREDITED_AT, NOBODY, PURCHASES, SALES, Record, Trade
from tests.partner import Business


def named(account: Record) -> Record:
    return {"line_items": [{"amount": 1, "{account_field}": account}]}


class RefusingToCreate:
    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"line_items": []}, 400, "validation_error"),
            ({"line_items": [{}]}, 400, "validation_error"),
            (named({"type": "AccountId"}), 400, "validation_error"),
            ({"external_id": ""}, 400, "validation_error"),
            ({"{credit_number}": ""}, 400, "validation_error"),
            ({"{party}_id": NOBODY}, 422, "reference_not_found"),
            ({"{party}_external_id": "somebody else"}, 422, "reference_mismatch"),
            ({"{source}": NOBODY}, 422, "reference_not_found"),
            ({"allocations": [{"{noun}_id": NOBODY, "amount": 1}]}, 422, "reference_not_found"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            (named({"type": "AccountCode", "code": "1260"}), 422, "control_account"),
            (named({"type": "AccountCode", "code": "9999"}), 422, "reference_not_found"),
        ],
    )
    def test_an_invalid_credit_is_refused_and_nothing_is_kept(
        self,
        shop: Business,
        ledger: Ledger,
        trade: Trade,
        party: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        body = trade.credit_body(party, **{trade.moment: CREDITED_AT}) | trade.named(facts)
        assert ledger.refused("POST", trade.credits, json=body) == (status, code)

    def test_a_credit_without_a_party_is_refused(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        for nobody in ({}, {f"{trade.party}_id": None}):
            with ledger.untouched():
                body = {"line_items": [{"amount": 1}], **nobody}
                answer = shop.api.post(trade.credits, json=body)
            assert answer.status_code == 400
            assert list(answer.json()["detail"]["field_errors"]) == [f"{trade.party}_id"]

    @pytest.mark.parametrize("moment", [{}, {"{moment}": CREDITED_AT}])
    def test_a_number_is_taken_once(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, moment: Record
    ) -> None:
        number = {trade.credit_number: f"Taken-{uuid4()}"}
        shop.made(trade.credits, trade.credit_body(party, **number))
        for each in (party, trade.somebody(shop)):
            body = trade.credit_body(each, **number, **trade.named(moment))
            fault = ledger.refused("POST", trade.credits, json=body)
            assert fault == (409, f"duplicate_{trade.credit_number}")

    def test_allocations_stay_within_both_sides(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        share, foreign = trade.share, trade.open(shop, trade.somebody(shop), 10)
        void, document = trade.open(shop, party, 10), trade.open(shop, party, 100)
        shop.api.post(trade.of(void, "void"))
        draft = shop.made(trade.path, trade.body(party))
        for shares, status, code in (
            ([share(document, 101)], 422, "allocation_exceeds_outstanding"),
            ([share(document, 100), share(trade.open(shop, party), 901)], 422,
             "allocation_exceeds_total"),
            ([share(document, 1), share(document, 1)], 400, "validation_error"),
            ([share(foreign, 1)], 422, f"{trade.noun}_{trade.party}_mismatch"),
            ([share(void, 1)], 409, f"{trade.noun}_not_open"),
            ([share(draft, 1)], 409, f"{trade.noun}_not_open"),
        ):  # fmt: skip
            opened = {trade.moment: CREDITED_AT, "allocations": shares}
            body = trade.credit_body(party, **opened)
            assert ledger.refused("POST", trade.credits, json=body) == (status, code)

    def test_a_draft_settles_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        body = trade.credit_body(party, allocations=[trade.share(trade.open(shop, party), 1)])
        assert ledger.refused("POST", trade.credits, json=body) == (409, "credit_not_sent")

    def test_not_into_a_locked_period(self, ledger: Ledger, trade: Trade, party: Record) -> None:
        body = trade.credit_body(party, **{trade.moment: CREDITED_AT})
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", trade.credits, json=body)
        assert fault == (409, "period_locked")


class TestRefusalsOfCreateCustomerCredit(RefusingToCreate):
    trade = SALES


class TestRefusalsOfCreateVendorCredit(RefusingToCreate):
    trade = PURCHASES


class RefusingToReplace:
    def test_a_fixed_field_is_refused_in_a_replacement(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        credit = trade.credit(shop, party, 10, external_id=f"fixed-{uuid4()}")
        number, party_id = trade.credit_number, f"{trade.party}_id"
        for name in ("line_items", party_id, number, "external_id", trade.source, "currency"):
            with ledger.untouched():
                answer = shop.api.put(trade.of_credit(credit), json={name: credit[name]})
            assert answer.status_code == 400
            assert list(answer.json()["detail"]["field_errors"]) == [name]

    @pytest.mark.parametrize("moment", ["2025-03-05T09:00:01Z", "2025-03-04T09:00:00Z"])
    def test_the_moment_does_not_change(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, moment: str
    ) -> None:
        credit = trade.credit(shop, party, 10)
        with ledger.untouched():
            answer = shop.api.put(trade.of_credit(credit), json={trade.moment: moment})
        assert (answer.status_code, answer.json()["error_code"]) == (422, "immutable_field")
        assert answer.json()["detail"] == {"field": trade.moment}

    def test_allocations_stay_within_both_sides(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        share, credit = trade.share, trade.credit(shop, party, 150)
        draft = shop.made(trade.credits, trade.credit_body(party))
        document, foreign = trade.open(shop, party, 100), trade.open(shop, trade.somebody(shop))
        for which, shares, status, code in (
            (credit, [share(document, 101)], 422, "allocation_exceeds_outstanding"),
            (credit, [share(document, 100), share(trade.open(shop, party), 51)], 422,
             "allocation_exceeds_total"),
            (credit, [share(foreign, 1)], 422, f"{trade.noun}_{trade.party}_mismatch"),
            (credit, [share({"id": NOBODY}, 1)], 422, "reference_not_found"),
            (credit, [share(document, 1)] * 2, 400, "validation_error"),
            (draft, [share(document, 1)], 409, "credit_not_sent"),
        ):  # fmt: skip
            fault = ledger.refused("PUT", trade.of_credit(which), json={"allocations": shares})
            assert fault == (status, code)

    def test_its_own_allocation_does_not_stand_in_its_way(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second = (trade.open(shop, party, 100) for _ in range(2))
        path = trade.of_credit(trade.credit(shop, party, 100, trade.share(first, 60)))
        shop.api.put(path, json={"allocations": [trade.share(first, 100)]})
        assert trade.status_of(shop, first) == ("paid", 0)
        shop.api.put(path, json={"allocations": [trade.share(second, 100)]})
        assert trade.status_of(shop, first) == (trade.opened, 100)
        assert trade.status_of(shop, second) == ("paid", 0)


class TestRefusalsOfReplaceCustomerCredit(RefusingToReplace):
    trade = SALES


class TestRefusalsOfReplaceVendorCredit(RefusingToReplace):
    trade = PURCHASES
