"""Bank accounts and the account of the chart that each represents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.bank.bank_accounts import facts, free_code
from accounting.bank.commands import BankAccountDetails


class TestFreeCode:
    @pytest.mark.parametrize(
        ("code", "taken", "free"),
        [
            ("1100", {"1100"}, "1101"),
            ("1100", {"1100", "1101", "1102", "1150"}, "1103"),
            ("0099", {"0099", "0100"}, "0101"),
            ("999", {"999"}, "1000"),
            ("BANK", {"BANK"}, "BANK-1"),
            ("BANK", {"BANK", "BANK-1"}, "BANK-2"),
            ("B" * 50, set(), "B" * 40 + "-1"),
        ],
    )
    def test_a_free_code_is_the_next_one(self, code: str, taken: set[str], free: str) -> None:
        assert free_code(code, taken) == free

    @given(st.text("0129AB-", min_size=1, max_size=4), st.sets(st.text("0129AB-", max_size=5)))
    def test_nobody_has_it(self, code: str, taken: set[str]) -> None:
        assert free_code(code, taken) not in taken


class TestFacts:
    def test_an_iban_has_one_spelling(self) -> None:
        assert facts(BankAccountDetails(iban="gb33 bukb-2020")) == {"iban": "GB33BUKB2020"}

    def test_null_and_absent_facts_stay_null_and_absent(self) -> None:
        assert facts(BankAccountDetails(iban=None)) == {"iban": None}
        assert facts(BankAccountDetails(mask="5")) == {"mask": "5"}
