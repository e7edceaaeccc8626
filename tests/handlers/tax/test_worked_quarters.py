"""get_tax_return: a British and a German quarter, with boxes worked out by hand."""

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.tax_returns import (
    boxes,
    brought,
    codes,
    drawn_up,
    explain_themselves,
    filed,
    lines,
    read,
)
from tests.builders.taxed_quarters import bought, british_quarter, german_quarter, of, sold
from tests.partner import Business, Partner

# Great Britain. In cents:
#
#                                          accrual               cash
#                                     net        tax        net        tax
# invoice, paid in full   S20     100,000     20,000    100,000     20,000
#                         S5       20,000      1,000     20,000      1,000
#                         S0        5,000          -      5,000          -
# invoice, not paid       SX       30,000          -          -          -
# credit, not applied     S20     -10,000     -2,000          -          -
# refund of a line, paid  S5      -10,000       -500    -10,000       -500
# bill, half of it paid   P20      40,000      8,000     20,000      4,000
#                         P5        6,000        300      3,000        150
#                         P0        1,000          -        500          -
# bill, not paid          PA20     50,000     10,000     50,000     10,000  owed and recovered
# vendor's credit         P20      -2,000       -400          -          -
# entry by hand           S20       2,500        500      2,500        500
BRITISH = {
    "accrual": {
        "1": 20_000 + 1_000 - 2_000 - 500 + 10_000 + 500,  # 29,000
        "3": 29_000,
        "4": 8_000 + 300 + 10_000 - 400,  # 17,900
        "5": 11_100,
        "6": 100_000 + 20_000 + 5_000 + 30_000 - 10_000 - 10_000 + 50_000 + 2_500,  # 187,500
        "7": 40_000 + 6_000 + 1_000 + 50_000 - 2_000,  # 95,000
    },
    "cash": {
        "1": 20_000 + 1_000 - 500 + 10_000 + 500,  # 31,000
        "3": 31_000,
        "4": 4_000 + 150 + 10_000,  # 14,150
        "5": 16_850,
        "6": 100_000 + 20_000 + 5_000 - 10_000 + 50_000 + 2_500,  # 167,500
        "7": 20_000 + 3_000 + 500 + 50_000,  # 73,500
    },
}

# Germany. In cents; the invoice is of 170,460, and half of it is paid:
#
#                                          accrual               cash
#                                     net        tax        net        tax
# invoice, half paid      S19     100,050     19,010     50,025      9,505
#                         S7       20,000      1,400     10,000        700
#                         SG       30,000          -     15,000          -
# invoice, not paid       SU       12,000          -     12,000          -  reverse charge
# credit, not applied     S19     -10,000     -1,900          -          -
# refund of a line, paid  S7       -1,000        -70     -1,000        -70
# bill, half of it paid   P19      40,000      7,600     40,000      7,600  by the bill
#                         P7       10,000        700     10,000        700
# bill, not paid          PG19     20,000      3,800     20,000      3,800
#                         PU19     10,000      1,900     10,000      1,900
#                         PR19      5,000        950      5,000        950
GERMAN = {
    "accrual": {
        "21": 12_000,
        "41": 30_000,
        "46": 10_000,
        "47": 1_900,
        "61": 3_800,
        "66": 8_300,
        "67": 2_850,
        "81": 90_000,  # 900.50 in whole euros
        "83": 17_100 + 1_330 + 3_800 + 1_900 + 950 - 8_300 - 3_800 - 2_850,  # 10,130
        "84": 5_000,
        "85": 950,
        "86": 19_000,
        "89": 20_000,
    },
    "cash": {
        "21": 12_000,
        "41": 15_000,
        "46": 10_000,
        "47": 1_900,
        "61": 3_800,
        "66": 8_300,
        "67": 2_850,
        "81": 50_000,  # 500.25 in whole euros
        "83": 9_500 + 630 + 3_800 + 1_900 + 950 - 8_300 - 3_800 - 2_850,  # 1,830
        "84": 5_000,
        "85": 950,
        "86": 9_000,
        "89": 20_000,
    },
}


@pytest.fixture(scope="module")
def british(acme: Partner) -> Business:
    shop = acme.business()
    british_quarter(shop)
    return shop


@pytest.fixture(scope="module")
def german(acme: Partner) -> Business:
    shop = acme.business(country="DE", entity_type="gmbh")
    german_quarter(shop)
    return shop


@pytest.mark.parametrize("scheme", ["accrual", "cash"])
class TestGetTaxReturn:
    def test_of_great_britain_has_its_nine_boxes(self, british: Business, scheme: str) -> None:
        draft = read(british, drawn_up(british, 1, scheme))
        assert [each["box"] for each in draft["boxes"]] == list("123456789")
        assert boxes(draft) == BRITISH[scheme]
        assert draft["tax_due_cents"] == BRITISH[scheme]["5"]
        explain_themselves(
            british, {**draft, "boxes": [e for e in draft["boxes"] if e["box"] in "1347"]}
        )

    def test_of_germany_has_its_kennzahlen(self, german: Business, scheme: str) -> None:
        draft = read(german, drawn_up(german, 1, scheme))
        assert boxes(draft) == GERMAN[scheme]

    def test_of_all_the_lines_no_part_is_missing(self, german: Business, scheme: str) -> None:
        draft = drawn_up(german, 1, scheme)
        every = lines(german, draft)
        by_code = [
            line for code in codes(draft["codes"]) for line in lines(german, draft, tax_code=code)
        ]
        assert brought(every) == brought(by_code)


class TestFileTaxReturn:
    @pytest.mark.parametrize("scheme", ["accrual", "cash"])
    def test_a_late_entry_is_in_the_next_return(
        self, acme: Partner, api_server: ApiServer, scheme: str
    ) -> None:
        shop = acme.business()
        british_quarter(shop)
        first = filed(shop, drawn_up(shop, 1, scheme))
        bought(shop, "2025-02-02", of("PA20", 10_000))
        sold(shop, "2025-04-02", of("SR", 7_000))
        assert boxes(read(shop, first)) == BRITISH[scheme]
        second = drawn_up(shop, 2, scheme)
        reverse = {"net": 10_000, "output": 2_000, "input": 2_000}
        assert codes(second["late"]) == {"PA20": reverse}
        assert codes(second["codes"]) == {"PA20": reverse, "SR": {"net": 7_000}}
        assert boxes(second) == {"1": 2_000, "3": 2_000, "4": 2_000, "6": 17_000, "7": 10_000}
        Ledger(api_server, shop).audit()

    @pytest.mark.parametrize("scheme", ["accrual", "cash"])
    def test_of_germany_a_late_entry_is_in_the_next_return_too(
        self, acme: Partner, api_server: ApiServer, scheme: str
    ) -> None:
        shop = acme.business(country="DE", entity_type="gmbh")
        german_quarter(shop)
        first = filed(shop, drawn_up(shop, 1, scheme))
        bought(shop, "2025-02-02", of("PR19", 10_000))
        assert boxes(read(shop, first)) == GERMAN[scheme]
        second = drawn_up(shop, 2, scheme)
        assert codes(second["late"]) == {"PR19": {"net": 10_000, "output": 1_900, "input": 1_900}}
        assert boxes(second) == {"67": 1_900, "84": 10_000, "85": 1_900}
        Ledger(api_server, shop).audit()
