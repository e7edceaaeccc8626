"""The bank account that money names."""

from dataclasses import replace
from uuid import UUID

from accounting.absent import ABSENT
from accounting.errors import RuleViolation
from accounting.trade.payments import MoneyBank, chosen_bank
from tests.accounting.samples import refused

BANK, CARD = (MoneyBank(UUID(int=n), UUID(int=1000 + n)) for n in (1, 2))
BANKS = {each.id: each for each in (BANK, CARD)}


class TestChosenBank:
    def test_a_silent_body_keeps_it_null_removes_it_and_an_id_chooses_another(self) -> None:
        assert chosen_bank(ABSENT, {}, BANK) is BANK
        assert chosen_bank(None, {}, BANK) is None
        assert chosen_bank(CARD.id, BANKS, BANK) is CARD

    def test_only_a_new_one_must_be_active(self) -> None:
        retired = replace(CARD, is_active=False)
        refusal = refused(chosen_bank, CARD.id, {CARD.id: retired}, BANK)
        assert (type(refusal), refusal.code) == (RuleViolation, "bank_account_inactive")
        assert chosen_bank(CARD.id, {CARD.id: retired}, CARD) == CARD
