import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.ledger import Split, added, negative, summed, take, times_sign
from tests.accounting.samples import part_on

NET, TAX, OTHER = part_on("4000"), part_on("2200"), part_on("4500")


class TestAdded:
    def test_amounts_of_one_account_are_added_and_zeros_disappear(self) -> None:
        sums = ((NET, 3), (TAX, 3), (OTHER, 5))
        assert added(((NET, 3), (TAX, 1)), ((TAX, 2), (OTHER, 5))) == sums
        assert added(sums, negative(sums)) == added(((NET, 0),)) == added() == ()


class TestSigns:
    def test_a_credit_turns_a_split_and_a_debit_does_not(self) -> None:
        split = ((NET, 3), (TAX, -1))
        turned = ((NET, -3), (TAX, 1))
        assert negative(split) == times_sign(split, -1) == turned
        assert times_sign(split, 1) == split

    def test_accounts_stand_in_the_order_in_which_they_first_appear(self) -> None:
        assert list(summed([(TAX, 1), (NET, 3), (TAX, 2)]).items()) == [(TAX, 3), (NET, 3)]


class TestTake:
    def test_each_step_is_split_over_what_is_left(self) -> None:
        parts = {NET: 8_333, TAX: 1_667}
        first = take(parts, (), 3_333)
        assert first == ((NET, 2_777), (TAX, 556))
        assert take(parts, first, 6_667) == ((NET, 5_556), (TAX, 1_111))

    def test_a_part_that_takes_nothing_is_left_out(self) -> None:
        assert take({NET: 100, TAX: 0, OTHER: 1}, (), 10) == ((NET, 10),)
        assert take({NET: 100}, (), 0) == ()

    def test_a_withheld_part_is_taken_in_proportion(self) -> None:
        parts = {NET: 1_000, TAX: 210, OTHER: -150}
        half = take(parts, (), 530)
        assert half == ((NET, 500), (TAX, 105), (OTHER, -75))
        assert take(parts, half, 530) == half

    def test_more_than_is_left_is_a_fault(self) -> None:
        with pytest.raises(ValueError, match="more than is left"):
            take({NET: 100}, ((NET, 60),), 41)

    @given(
        st.lists(st.integers(-300, 400), min_size=3, max_size=3).filter(
            lambda amounts: sum(amounts) > 0
        ),
        st.lists(st.integers(1, 300)),
        st.data(),
    )
    def test_no_part_passes_zero_and_the_last_step_closes_all(
        self, amounts: list[int], steps: list[int], data: st.DataObject
    ) -> None:
        parts = dict(zip((NET, TAX, OTHER), amounts, strict=True))
        taken: list[Split] = []
        for step in steps:
            if taken and data.draw(st.booleans()):
                taken.remove(data.draw(st.sampled_from(taken)))
            rest = sum(amounts) - sum(part for each in taken for _, part in each)
            taken.append(take(parts, added(*taken), min(step, rest)))
            gone = dict(added(*taken))
            assert all(
                min(0, amount) <= gone.get(part, 0) <= max(0, amount)
                for part, amount in parts.items()
            )
        rest = sum(amounts) - sum(part for each in taken for _, part in each)
        last = take(parts, added(*taken), rest)
        assert dict(added(*taken, last)) == {
            account: part for account, part in parts.items() if part
        }
