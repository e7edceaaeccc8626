"""The search for open amounts, at a cost independent of table statistics."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from accounting.trade.aging import late_moments
from persistence.trade.owed import PURCHASES, SALES, OwedSql
from tests.api_server import ApiServer
from tests.builders.purchases import bill_body
from tests.builders.sales import invoice_body
from tests.builders.trade import SENT
from tests.partner import Business, Partner

PARTIES = 40


@pytest.fixture(scope="module")
def shop(partner: Partner) -> Business:
    """A business with many new parties, whose tables have no statistics yet."""
    shop = partner.business()
    for _ in range(PARTIES):
        shop.made("invoices/", invoice_body(shop.customer(), sent_at=SENT))
        shop.made("bills/", bill_body(shop.vendor(), received_at=SENT))
    return shop


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


class TestAging:
    @pytest.mark.parametrize("sql", [SALES, PURCHASES], ids=["sales", "purchases"])
    def test_open_amounts_are_not_read_for_each_party(
        self, own_server: ApiServer, shop: Business, sql: OwedSql
    ) -> None:
        counted = "SELECT reltuples FROM pg_class WHERE relname = %s"
        assert own_server.query(counted, sql.document.name) == [(-1,)]
        held = "SELECT role, id FROM account WHERE business_id = %s AND role IS NOT NULL"
        roles = dict(own_server.query(held, shop.id))
        side = sql.side
        accounts = [roles[role] for role in (side.control, side.prepayments, side.credits)]
        asked = {
            "business_id": shop.id,
            "as_of": "2026-12-31",
            "late": late_moments(date(2026, 12, 31), "UTC"),
            "control": accounts[0],
            "accounts": accounts,
        }
        explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {sql.aging}"
        [(told,)] = own_server.watcher.execute(explain.encode(), asked).fetchall()
        times = Counter[str]()
        for node in nodes(told[0]["Plan"]):
            times[node.get("Relation Name", "")] += int(node["Actual Loops"])
        assert times[sql.party.name] >= 1
        assert times[sql.document.name] <= 3
        assert times[sql.payment.name] <= 3
        assert times[sql.credit.name] <= 2
