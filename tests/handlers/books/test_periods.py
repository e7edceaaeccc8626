"""A locked period at every operation that posts: refused, or moved to the day after.

The database enforces the same: `tests/persistence/database/test_guards.py`.
"""

from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.clock import today
from tests.contract.document import operations
from tests.handlers.period_cases import MOVED, REFUSED, Case, Trader
from tests.partner import Business

MARCH = "2025-03-31"
TOMORROW = today() + timedelta(days=1)


@pytest.fixture(scope="module")
def trader(shop: Business) -> Trader:
    return Trader(shop)


def each_of(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: f"{case[0]}, {case[1]}")


class TestLockedPeriod:
    @each_of(REFUSED)
    def test_nothing_that_is_dated_in_it_is_posted(
        self, shop: Business, ledger: Ledger, trader: Trader, case: Case
    ) -> None:
        method, path, body = case[2](trader)
        with ledger.locked(MARCH), ledger.untouched():
            for preview in ("true", "false"):
                query = {"preview": preview}
                answer = shop.api.request(method, path, json=body, params=query)
                assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
                assert answer.json()["detail"]["lock_date"] == MARCH

    @each_of(MOVED)
    def test_consequences_of_locked_entries_are_posted_on_the_day_after_the_lock(
        self, shop: Business, ledger: Ledger, trader: Trader, case: Case
    ) -> None:
        method, path, body = case[2](trader)
        before = {entry.id for entry in ledger.entries()}
        with ledger.locked(str(today())):
            answer = shop.api.request(method, path, json=body)
            assert answer.status_code in (200, 201), answer.text
        posted = [entry for entry in ledger.entries() if entry.id not in before]
        assert {entry.on for entry in posted} == {str(TOMORROW)}

    def test_every_operation_that_posts_is_among_these(self) -> None:
        posting = {each.name for each in operations() if each.takes("preview")}
        # A batch posts what its items post.
        assert {name for name, _, _ in (*REFUSED, *MOVED)} == posting - {"run_batch"}
