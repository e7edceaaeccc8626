"""Statements of the bank account, of another one, and of accounts that cannot be compared."""

import pytest

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.statement_accounts import StatementChoice, belongs, choose_statements
from accounting.errors import RuleViolation
from tests.accounting.bank.statements import bank_account

GERMAN, BRITISH, DUTCH = "DE89370400440532013000", "GB33BUKB20201555555555", "NL91ABNA0417164300"


class TestBelongs:
    @pytest.mark.parametrize(
        ("number", "iban", "mask", "expected"),
        [
            (GERMAN, GERMAN, None, True),
            ("DE89 3704 0044 0532 0130 00", GERMAN, None, True),
            (DUTCH, GERMAN, None, False),
            ("37040044/0532013000", GERMAN, None, True),
            ("37040044/532013000EUR", GERMAN, None, True),
            ("37040044/0532013001", GERMAN, None, False),
            ("20201555555555", BRITISH, None, True),
            ("20-20-15 55555555", BRITISH, None, True),
            ("55555555", BRITISH, None, True),
            ("20201566666666", BRITISH, None, False),
            ("41.71.64.300EUR", DUTCH, None, True),
            ("4111111111111111", GERMAN, None, False),
            ("************5555", BRITISH, None, True),
            ("XXXXXX6666", BRITISH, None, False),
            ("1", GERMAN, None, None),
            (BRITISH, None, "****5555", True),
            (BRITISH, None, "6666", False),
            ("4111111111111111", None, "1111", True),
            ("4111111111112222", None, "**** 1111", False),
            ("4111XXXXXXXX1111", None, "XXXX-1111", True),
            ("123", None, "****5555", False),
            ("12", None, "****5555", None),
            (GERMAN, None, None, None),
            ("37040044/0532013000", None, None, None),
        ],
    )
    def test_numbers_of_every_kind_are_compared(
        self, number: str, iban: str | None, mask: str | None, expected: bool | None
    ) -> None:
        assert belongs(number, bank_account(iban=iban, mask=mask)) is expected


def choose(bank: BankAccount, *numbers: str, chosen: str | None = None) -> StatementChoice:
    return choose_statements(numbers, bank, chosen)


def refused(*numbers: str, **more: str) -> frozenset[str]:
    return choose(bank_account(**more), *numbers).refused


class TestChooseStatements:
    def test_statements_of_another_account_are_refused(self) -> None:
        assert refused(GERMAN, DUTCH, iban=GERMAN) == {DUTCH}
        assert refused(DUTCH, iban=GERMAN) == {DUTCH}
        assert refused("37040044/0532013000", "37040044/77", iban=GERMAN) == {"37040044/77"}

    def test_beside_the_own_account_a_number_without_a_comparison_is_another_one(self) -> None:
        assert refused(GERMAN, "1", iban=GERMAN) == {"1"}

    def test_a_single_account_is_accepted_where_nothing_can_be_compared(self) -> None:
        assert refused(GERMAN) == frozenset()
        assert refused("12345678/77", "12345678/77 EUR") == frozenset()
        assert refused() == frozenset()

    def test_two_accounts_are_a_question_where_nothing_can_be_compared(self) -> None:
        with pytest.raises(RuleViolation) as asked:
            choose(bank_account(), GERMAN, DUTCH)
        assert asked.value.code == "statement_account_unclear"
        assert asked.value.detail == {"accounts": [GERMAN, DUTCH]}

    def test_a_chosen_account_leaves_the_others_out(self) -> None:
        choice = choose(bank_account(), "370/53", DUTCH, chosen="370 / 53")
        assert choice == StatementChoice(frozenset(), frozenset({DUTCH}))

    def test_a_caller_may_choose_a_national_number_but_no_other_iban(self) -> None:
        own = bank_account(iban=GERMAN)
        assert choose(own, "8327-9", chosen="8327-9").refused == frozenset()
        assert choose(own, DUTCH, chosen=DUTCH).refused == {DUTCH}

    def test_a_chosen_account_must_be_in_the_file(self) -> None:
        with pytest.raises(RuleViolation) as asked:
            choose(bank_account(), GERMAN, chosen=DUTCH)
        assert asked.value.detail == {"accounts": [GERMAN]}
