"""What a document says of tax, by code and rate."""

from decimal import Decimal
from typing import Any

from accounting.trade.commands import TaxGiven
from accounting.trade.line_items import by_code
from tests.accounting.trade.business import Trade, line
from tests.accounting.trade.test_coded_documents import CODES, buying, coded, selling

NAMES = {each.id: each.code for each in CODES.codes}


def totals(
    trade: Trade, *lines: Any, **facts: Any
) -> list[tuple[str | None, str | None, int, int]]:
    """Code, rate, net and tax of each."""
    document = trade.documents[trade.document(*lines, **facts)]
    found = by_code(document)
    assert sum(each.tax for each in found) == document.tax_total
    return [
        (
            NAMES[each.code_id] if each.code_id else None,
            None if each.rate is None else str(Decimal(each.rate)),
            each.net,
            each.tax,
        )
        for each in found
    ]


class TestByCode:
    def test_sums_up_lines_of_one_code_and_rate(self) -> None:
        lines = (coded(1_000, "S20"), coded(100, "S0"), coded(500, "S20"))
        assert totals(selling(), *lines) == [("S20", "20", 1_500, 300), ("S0", "0", 100, 0)]

    def test_takes_its_share_of_a_discount_off_each_net(self) -> None:
        lines = (coded(10_000, "S20"), coded(5_000, "S0"))
        assert totals(selling(), *lines, additional_discount=1_500) == [
            ("S20", "20", 9_000, 1_800),
            ("S0", "0", 4_500, 0),
        ]

    def test_tells_a_rate_without_a_code_and_leaves_out_what_is_not_taxed(self) -> None:
        lines = (line(1_000, tax_rate=19), line(700))
        assert totals(selling(), *lines) == [(None, "19", 1_000, 190)]

    def test_tells_what_is_charged_alone(self) -> None:
        assert totals(buying(), coded(1_000, "PR20")) == [("PR20", "20", 1_000, 0)]

    def test_takes_what_is_not_recovered_with_the_rest(self) -> None:
        assert totals(buying(), coded(1_000, "PH")) == [("PH", "10", 1_000, 100)]

    def test_tells_given_taxes_by_their_own_codes_on_the_same_net(self) -> None:
        taxes = (TaxGiven(150, tax_code="S20"), TaxGiven(20, tax_code="S21"), TaxGiven(7))
        assert totals(selling(), line(1_000, taxes=taxes)) == [
            ("S20", "20", 1_000, 150),
            ("S21", "21", 1_000, 20),
            (None, None, 1_000, 7),
        ]
