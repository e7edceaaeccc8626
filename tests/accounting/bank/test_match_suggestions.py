"""Suggested matches of a line: the score of each reason, and the order."""

from uuid import UUID

import pytest

from accounting.bank import match_suggestions
from accounting.bank.match_suggestions import OpenItem
from tests.accounting.bank.statements import line
from tests.accounting.samples import day


def item(number: int = 1, **facts: object) -> OpenItem:
    known = {"target_type": "invoice_payment", "target_id": UUID(int=number), "party_name": None}
    return OpenItem(**{**known, "amount": 100, "on": day("12"), **facts})


def only(told: dict[str, str], **facts: object) -> tuple[int, tuple[str, ...]]:
    """Return the score and the reasons of one candidate for a line of 100 on the twelfth."""
    found = match_suggestions.rank(line(100, **told), [item(**facts)])
    return (found[0].score, found[0].reasons) if found else (0, ())


class TestRank:
    def test_every_reason_counts(self) -> None:
        said = {"reference": "INV-000001", "counterparty_name": "Blue Door Cafe"}
        facts = {"references": ("INV-000001",), "party_name": "Blue Door Café Ltd"}
        score, reasons = only(said, **facts)
        assert reasons == ("amount", "reference", "name", "date")
        assert score == 99  # The accented letter differs.

    @pytest.mark.parametrize(
        ("reference", "description", "named"),
        [
            ("INV-000001", "", True),
            ("", "PAYMENT INV 000001 THANKS", True),
            ("", "inv000001", True),
            ("", "INV-0000012", False),
            ("77", "", True),
            ("", "we sent 77 today", False),
        ],
    )
    def test_a_line_names_money_by_what_it_is_known_by(
        self, reference: str, description: str, named: bool
    ) -> None:
        said = {"reference": reference, "description": description}
        _, reasons = only(said, references=("INV-000001", "77"))
        assert ("reference" in reasons) is named

    @pytest.mark.parametrize(
        ("said", "names"),
        [
            ({"counterparty_name": "BLUE DOOR BAKERY LIMITED"}, True),
            ({"counterparty_name": "Blue Door Bakry"}, True),
            ({"description": "Transfer of Blue Door Bakery, March"}, True),
            ({"counterparty_name": "Red Barn"}, False),
        ],
    )
    def test_a_name_may_be_written_differently(self, said: dict[str, str], names: bool) -> None:
        assert ("name" in only(said, party_name="Blue Door Bakery Ltd")[1]) is names

    def test_a_day_alone_says_nothing(self) -> None:
        assert only({}, amount=99) == (0, ())
        assert only({}, amount=100) == (55, ("amount", "date"))
        assert only({}, amount=100, on=day("02-26")) == (52, ("amount", "date"))
        assert only({}, amount=100, on=None) == (50, ("amount",))

    def test_the_likeliest_comes_first_and_no_more_than_twenty(self) -> None:
        near = [item(number, on=day("11")) for number in range(1, 30)]
        best = item(99, references=("ABCD",))
        found = match_suggestions.rank(line(100, reference="abcd"), [*near, best])
        assert len(found) == 20
        assert [each.target_id.int for each in found[:3]] == [99, 1, 2]

    def test_the_suggested_amount_is_the_rest_of_line_and_item(self) -> None:
        [found] = match_suggestions.rank(line(100, linked=70), [item(amount=30)])
        assert (found.amount, found.reasons) == (30, ("amount", "date"))
        named = line(100, linked=70, reference="abcd")
        [found] = match_suggestions.rank(named, [item(references=("ABCD",))])
        assert found.amount == 30


ANNA, BERT = UUID(int=1_001), UUID(int=1_002)


def combined(amount: int, *items: OpenItem, **told: str) -> list[tuple[int, ...]]:
    found = match_suggestions.combine(line(amount, **told), items)
    return [tuple(sorted(each.target_id.int for each in one.items)) for one in found]


def of(party: UUID, number: int, amount: int, **facts: object) -> OpenItem:
    return item(number, amount=amount, party_id=party, party_name="Anna Ltd", **facts)


class TestCombine:
    def test_payments_of_one_party_that_add_up_are_a_combination(self) -> None:
        items = [of(ANNA, 1, 40), of(ANNA, 2, 60), of(ANNA, 3, 70), of(BERT, 4, 30)]
        assert combined(100, *items) == [(1, 2)]

    def test_it_has_at_most_five_payments(self) -> None:
        items = [of(ANNA, number, 20) for number in range(1, 6)]
        assert combined(100, *items) == [(1, 2, 3, 4, 5)]
        assert combined(96, *(of(ANNA, number, 16) for number in range(1, 7))) == []

    def test_it_says_why(self) -> None:
        said = {"counterparty_name": "Anna", "description": "INV-000001 INV-000002"}
        items = [
            of(ANNA, 1, 40, references=("INV-000001",)),
            of(ANNA, 2, 60, references=("INV-000002",)),
            of(ANNA, 3, 40),
        ]
        best, other = match_suggestions.combine(line(100, **said), items)
        assert (best.score, best.reasons) == (100, ("amount", "reference", "name", "date"))
        assert [each.target_id.int for each in best.items] == [2, 1]
        assert (other.score, [each.target_id.int for each in other.items]) == (85, [2, 3])

    def test_other_amounts_and_items_without_a_party_are_none(self) -> None:
        assert combined(100, of(ANNA, 1, 40), of(ANNA, 2, 61)) == []
        assert combined(100, of(ANNA, 1, 100), of(ANNA, 2, 0)) == []
        assert combined(100, item(1, amount=40), item(2, amount=60)) == []

    def test_many_equal_payments_do_not_take_long(self) -> None:
        items = [of(ANNA, number, 20) for number in range(1, 200)]
        assert len(combined(100, *items)) == 5
        assert combined(101, *items) == []
