"""The tax in money that no document stands behind."""

from accounting.books.ledger import TaxPart
from accounting.tax.codes import Direction, Treatment
from accounting.tax.taxed_amounts import DayCode, Gross, HeldTax, held_taxes, net_and_taxes
from tests.accounting.samples import ROLES, account_id
from tests.accounting.tax.test_codes import TODAY, code_of, percent, rate_on

COST, INPUT = account_id("6300"), account_id("1300")
P20 = code_of("P20", percent("20"), direction=Direction.PURCHASES, tax_account_id=INPUT)
ABROAD = code_of(
    "PA20",
    percent("20"),
    direction=Direction.PURCHASES,
    treatment=Treatment.REVERSE_CHARGE,
    tax_account_id=INPUT,
)


def on_day(code: object) -> DayCode:
    held = rate_on(code, TODAY)  # type: ignore[arg-type]
    assert held is not None
    return DayCode(code, held.rate)  # type: ignore[arg-type]


def held(amount: int, code: object) -> HeldTax:
    [found] = held_taxes([Gross(amount, COST, on_day(code))], ROLES)
    assert found is not None
    return found


class TestHeldTaxes:
    def test_tax_is_taken_out_of_the_amount(self) -> None:
        found = held(1_200, P20)
        assert found.total == 200
        laid_out = list(net_and_taxes(1_200, COST, found))
        assert [(account, amount) for account, amount, _ in laid_out] == [
            (COST, 1_000),
            (INPUT, 200),
        ]
        assert [mark.part for *_, mark in laid_out if mark] == [TaxPart.NET, TaxPart.INPUT]

    def test_parts_of_one_code_are_rounded_together(self) -> None:
        parts = [Gross(33, COST, on_day(P20)) for _ in range(3)]
        assert [each.total for each in held_taxes(parts, ROLES) if each] == [6, 6, 5]

    def test_self_assessed_tax_is_not_in_the_amount(self) -> None:
        found = held(1_000, ABROAD)
        assert (found.total, [each.amount for each in found.self_assessed]) == (0, [-200, 200])

    def test_without_a_code_there_is_none(self) -> None:
        assert held_taxes([Gross(5, COST)], ROLES) == [None]
        assert list(net_and_taxes(5, COST, None)) == [(COST, 5, None)]
