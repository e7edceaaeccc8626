"""Many clients set the exchange rates of one day: it has one table at the end, with each change."""

from functools import partial
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.builders.exchange_rates import put, table_body
from tests.concurrency.races import statuses, together
from tests.partner import Business

DAY = "2026-07-31"


class TestOneDay:
    @pytest.mark.usefixtures("rounds")
    @pytest.mark.parametrize("of", ["business", "partner"])
    def test_has_one_table_and_each_change_of_it(
        self, api_server: ApiServer, shop: Business, of: str
    ) -> None:
        owner: Any = shop if of == "business" else api_server.partner("Racing")
        assert put(owner, table_body("2026-07-30")).status_code == 200
        bodies = [table_body(DAY, rates={"USD": 1 + n / 100}) for n in range(1, 9)]
        ran = together([partial(put, owner, body) for body in bodies])
        assert statuses(ran) == {200: 8}
        [table_id] = {each.answer.json()["id"] for each in ran}
        prefix = "" if of == "business" else "partner_"
        [(version,)] = api_server.query(
            f"SELECT version FROM {prefix}exchange_rate_table WHERE id = %s", table_id
        )
        [(changes,)] = api_server.query(
            f"SELECT count(*) FROM {prefix}audit_record WHERE object_id = %s", table_id
        )
        assert version == changes == 8
