"""The German form: boxes of other rates, and the sum that the form computes in whole euros."""

from decimal import Decimal

import pytest

from accounting.books.ledger import TaxPart
from accounting.tax import german_form
from accounting.tax.starting_codes import boxes_of

NET, OUTPUT, INPUT = TaxPart.NET, TaxPart.OUTPUT, TaxPart.INPUT


class TestAtRate:
    @pytest.mark.parametrize(
        ("code", "rate", "net", "tax"),
        [
            ("S19", 19, ("81",), ()),
            ("S19", 16, ("35",), ("36",)),
            ("S7", 7, ("86",), ()),
            ("S7", 5, ("35",), ("36",)),
            ("PG19", 19, ("89",), ()),
            ("PG19", 16, ("95",), ("98",)),
            ("PG7", 5, ("95",), ("98",)),
            ("PU19", 16, ("46",), ("47",)),
            ("PR19", 16, ("84",), ("85",)),
            ("SG", 0, ("41",), ()),
        ],
    )
    def test_a_base_at_another_rate_has_boxes_of_its_own(
        self, code: str, rate: int, net: tuple[str, ...], tax: tuple[str, ...]
    ) -> None:
        boxes = boxes_of("DE", code)
        assert german_form.at_rate(boxes, NET, Decimal(rate)) == net
        assert german_form.at_rate(boxes, OUTPUT, Decimal(rate)) == tax

    def test_recovered_tax_stays_in_its_box(self) -> None:
        assert german_form.at_rate(boxes_of("DE", "P19"), INPUT, Decimal(16)) == ("66",)


class TestSummed:
    def test_tax_is_computed_from_whole_euros(self) -> None:
        assert german_form.summed({"81": 90_000, "86": -19_000}) == 17_100 - 1_330

    def test_tax_beside_a_base_counts_as_it_is(self) -> None:
        assert german_form.summed({"35": 90_000, "36": 14_407, "95": 100, "98": 16}) == 14_423

    def test_recovered_tax_lowers_it(self) -> None:
        recovered = {"61": 1, "62": 20, "66": 300, "67": 4_000}
        assert german_form.summed(recovered) == -4_321


class TestSignInSum:
    @pytest.mark.parametrize(
        ("code", "part", "rate", "sign"),
        [
            ("S19", OUTPUT, 19, 1),
            ("S19", OUTPUT, 16, 1),
            ("PU19", OUTPUT, 19, 1),
            ("P19", INPUT, 16, -1),
            ("PI", INPUT, 0, -1),
            ("SO", OUTPUT, 0, 0),
        ],
    )
    def test_tax_in_the_form_has_a_sign(
        self, code: str, part: TaxPart, rate: int, sign: int
    ) -> None:
        assert german_form.sign_in_sum(boxes_of("DE", code), part, Decimal(rate)) == sign
