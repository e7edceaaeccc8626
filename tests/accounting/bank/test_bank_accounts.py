"""Bank accounts and the account of the chart that each represents."""

from accounting.bank.bank_accounts import facts
from accounting.bank.commands import BankAccountDetails


class TestFacts:
    def test_an_iban_has_one_spelling(self) -> None:
        assert facts(BankAccountDetails(iban="gb33 bukb-2020")) == {"iban": "GB33BUKB2020"}

    def test_null_and_absent_facts_stay_null_and_absent(self) -> None:
        assert facts(BankAccountDetails(iban=None)) == {"iban": None}
        assert facts(BankAccountDetails(mask="5")) == {"mask": "5"}
