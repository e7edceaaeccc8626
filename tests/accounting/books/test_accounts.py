from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.accounts import AccountReference, free_code, refuse_archiving, usable
from accounting.errors import Conflict, RuleViolation
from tests.accounting.samples import account, refused

REFERENCE = AccountReference("code", "4000")


class TestUsable:
    def test_an_active_account_passes(self) -> None:
        assert usable(REFERENCE, account("4000")) == account("4000")

    @pytest.mark.parametrize(
        ("found", "kind", "code"),
        [
            (None, RuleViolation, "reference_not_found"),
            (account("1200", "accounts_receivable"), RuleViolation, "control_account"),
            (account("4000", archived=True), Conflict, "account_archived"),
        ],
    )
    def test_an_unusable_account_is_refused(self, found: Any, kind: Any, code: str) -> None:
        refusal = refused(usable, REFERENCE, found)
        assert (type(refusal), refusal.code) == (kind, code)
        missing = {"resource": "account", "reference": "4000"}
        assert found is not None or refusal.detail == missing


class TestArchiving:
    @pytest.mark.parametrize(
        ("balance", "children", "code"),
        [(-5, 0, "account_has_balance"), (0, 2, "account_has_children")],
    )
    def test_an_account_in_use_stays(self, balance: int, children: int, code: str) -> None:
        refusal = refused(refuse_archiving, balance, [account(f"400{n}") for n in range(children)])
        assert (type(refusal), refusal.code) == (Conflict, code)

    def test_a_refused_archiving_reports_the_balance_and_active_children(self) -> None:
        refuse_archiving(0, [])
        assert refused(refuse_archiving, -5, []).detail == {"current_balance": -5}
        detail = refused(refuse_archiving, 0, [], currency_balance=5).detail
        assert detail == {"current_balance": 0, "currency_balance": 5}
        children = [account(str(4_000 + n)) for n in range(25)]
        detail = refused(refuse_archiving, 0, children).detail
        assert detail["active_children"] == 25
        assert detail["children"] == [
            {"id": str(each.id), "code": each.code, "name": each.name} for each in children[:20]
        ]


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
            ("B" * 50, {"B" * 50}, "B" * 40 + "-1"),
            ("2230", {"2200"}, "2230"),
        ],
    )
    def test_a_taken_code_becomes_the_next_free_one(
        self, code: str, taken: set[str], free: str
    ) -> None:
        assert free_code(code, taken) == free

    @given(st.text("0129AB-", min_size=1, max_size=4), st.sets(st.text("0129AB-", max_size=5)))
    def test_nobody_has_it(self, code: str, taken: set[str]) -> None:
        assert free_code(code, taken) not in taken
