"""Many clients change one manual entry: it is posted once, and reversed once."""

from functools import partial

import pytest

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import ENTRIES, credit, debit, drafted, entry_body, posted
from tests.concurrency.races import statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")

CHART = "general-ledger/chart-of-accounts/"


class TestOneDraft:
    @pytest.mark.usefixtures("rounds")
    def test_a_draft_is_approved_or_rejected_once(self, shop: Business, ledger: Ledger) -> None:
        draft = drafted(shop, 10)
        path = f"{ENTRIES}{draft['id']}/"
        moves = [partial(shop.api.post, f"{path}{move}/") for move in ("approve", "reject")] * 4
        changes = [partial(shop.api.put, path, json=entry_body(20))] * 4
        ran = together([*moves, *changes])
        after = shop.api.get(path).json()
        assert sum(each.status == 200 for each in ran[: len(moves)]) == 1
        assert {each.code for each in ran} <= {None, "invalid_state_transition"}
        assert ledger.balances() == (
            {"6000": after["total_debit"], "2400": -after["total_debit"]}
            if after["status"] == "approved"
            else {}
        )
        assert len(ledger.entries(draft)) == (after["status"] == "approved")


class TestOneEntry:
    @pytest.mark.usefixtures("rounds")
    def test_an_entry_is_reversed_once(self, shop: Business, ledger: Ledger) -> None:
        entry = posted(shop, 10)
        reverse = partial(shop.api.post, f"{ENTRIES}{entry['id']}/reverse/")
        ran = together([reverse] * 8)
        assert statuses(ran) == {201: 1, 409: 7}
        assert {each.code for each in ran} == {None, "already_reversed"}
        assert ledger.balances() == {}


class TestOneAccount:
    @pytest.mark.usefixtures("rounds")
    def test_an_account_is_archived_empty_or_not_at_all(self, shop: Business) -> None:
        lines = [debit("1400", 5), credit("2400", 5)]
        drafts = [drafted(shop, lines=lines) for _ in range(6)]
        approvals = [partial(shop.api.post, f"{ENTRIES}{each['id']}/approve/") for each in drafts]
        *ran, closed = together([*approvals, partial(shop.api.delete, f"{CHART}1400/")])
        account = shop.api.get(f"{CHART}1400/").json()
        approved = sum(each.status == 200 for each in ran)
        assert {each.code for each in ran} <= {None, "account_archived"}
        assert account["is_active"] is (closed.status == 409)
        assert account["current_balance"] == 5 * approved
        assert (approved == 0) is (closed.status == 200)
