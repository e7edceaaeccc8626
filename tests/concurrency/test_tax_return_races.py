"""Returns are filed during postings: each acknowledged posting is in exactly one return."""

from functools import partial

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import INVOICES, invoice_body
from tests.builders.tax_returns import RETURNS, codes, drawn_up, read
from tests.builders.trade import Record, line
from tests.concurrency.races import statuses, together
from tests.partner import Business


class TestFilingAReturn:
    @pytest.mark.parametrize("quarter", [1, 2])
    def test_a_concurrent_posting_is_in_the_return_or_late_in_the_next(
        self, shop: Business, ledger: Ledger, buyer: Record, quarter: int
    ) -> None:
        sent_at = f"2025-0{3 * quarter}-15T00:00:00Z"
        body = invoice_body(buyer, line(1_000, tax_code="S20"), sent_at=sent_at)
        post = partial(shop.api.post, INVOICES, json=body)
        draft, due = drawn_up(shop, quarter), ledger.balances().get("2230", 0)
        file = partial(shop.api.post, f"{RETURNS}{draft['id']}/file/")
        before = net_of(draft["codes"])
        *ran, done = together([*[post] * 14, file])
        assert (statuses(ran), done.status) == ({201: 14}, 200)
        filed = net_of(read(shop, draft)["codes"])
        late = net_of(drawn_up(shop, quarter + 1)["late"])
        assert filed + late == before + 14_000
        assert filed % 1_000 == 0
        # The settlement has the tax of the filed lines, and of no others.
        after = ledger.balances().get("2230", 0)
        assert after - due == -codes(read(shop, draft)["codes"]).get("S20", {}).get("output", 0)
        ledger.audit()

    def test_one_of_several_returns_of_a_day_is_filed(self, shop: Business) -> None:
        drafts = [drawn_up(shop, 4) for _ in range(4)]
        ran = together([partial(shop.api.post, f"{RETURNS}{each['id']}/file/") for each in drafts])
        assert statuses(ran) == {200: 1, 409: 3}
        assert {each.code for each in ran} == {None, "return_overlaps"}


def net_of(figures: list[Record]) -> int:
    return codes(figures).get("S20", {}).get("net", 0)
