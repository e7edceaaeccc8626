"""Agings: open amounts by party and bucket."""

from uuid import UUID

from accounting.trade.aging import BUCKETS, FIRST_DAYS_LATE, AgedBalance, OpenAmount, aged, in_total

BLUE, GREEN = UUID(int=1), UUID(int=2)


class TestAged:
    def test_each_amount_stands_in_its_bucket_and_the_largest_party_comes_first(self) -> None:
        found = [
            OpenAmount(BLUE, "Blue", 0, 100),
            OpenAmount(GREEN, "Green", 4, 500),
            OpenAmount(BLUE, "Blue", 1, 40),
            OpenAmount(BLUE, "Blue", None, 5),
        ]
        green, blue = aged(found)
        assert (green.buckets, green.unapplied, green.total) == ((0, 0, 0, 0, 500), 0, 500)
        assert (blue.buckets, blue.unapplied, blue.total) == ((100, 40, 0, 0, 0), 5, 140)

    def test_a_party_is_omitted_without_open_amounts_and_not_at_zero(self) -> None:
        blue = [OpenAmount(BLUE, "Blue", 0, amount) for amount in (3, -3)]
        found = [OpenAmount(GREEN, "Green", 0, -3), OpenAmount(GREEN, "Green", 2, 3)]
        [green] = aged([*blue, *found])
        assert (green.party_id, green.total) == (GREEN, 0)

    def test_equal_ones_come_by_name_and_then_by_id(self) -> None:
        found = [OpenAmount(UUID(int=n), name, 0, 1) for n, name in ((3, "b"), (2, "A"), (1, "b"))]
        assert [each.party_id.int for each in aged(found)] == [2, 1, 3]

    def test_a_bucket_begins_for_each_but_the_first(self) -> None:
        assert len(FIRST_DAYS_LATE) == len(BUCKETS) - 1

    def test_buckets_are_added_up(self) -> None:
        total = in_total([AgedBalance((9, 4, 0, 0, 0), 2), AgedBalance((1, 0, 0, 0, 7), -1)])
        assert (total.buckets, total.unapplied, total.total) == ((10, 4, 0, 0, 7), 1, 21)
        assert in_total([]) == AgedBalance((0, 0, 0, 0, 0), 0)
