"""Batches beside batches, single writes and their own repeats."""

from functools import partial
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.builders.trade import SENT, Record, line
from tests.concurrency.races import DEADLOCKS, statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")

MODES = pytest.mark.parametrize("mode", ["atomic", "independent"])


def invoice(buyer: Record) -> Record:
    return {"customer_id": buyer["id"], "sent_at": SENT, "line_items": [line()]}


def batch(mode: str, *items: Record) -> Record:
    keyed = [{"key": str(number), **each} for number, each in enumerate(items)]
    return {"mode": mode, "items": keyed}


def change(path: str, record: Record, name: str) -> Record:
    return {
        "operation": f"update_{path}",
        "path": {f"{path}_id": record["id"]},
        "body": {"individual_name": name},
    }


class TestCrossingBatches:
    @MODES
    @pytest.mark.usefixtures("rounds")
    def test_do_not_deadlock_with_one_another_or_with_single_writes(
        self, api_server: ApiServer, shop: Business, buyer: Record, mode: str
    ) -> None:
        before = api_server.query(DEADLOCKS)
        customers = [shop.customer() for _ in range(4)]
        vendors = [shop.vendor() for _ in range(4)]
        items = [
            *(change("customer", each, mode) for each in customers),
            *(change("vendor", each, mode) for each in vendors),
            {"operation": "create_invoice", "body": invoice(buyer)},
        ]
        bodies = [batch(mode, *items[:: (-1) ** place]) for place in range(4)]
        calls = [partial(shop.api.post, "batch/", json=body) for body in bodies]
        single: dict[str, Any] = {"json": {"individual_name": "alone"}}
        calls += [partial(shop.api.patch, f"vendors/{each['id']}/", **single) for each in vendors]
        calls += [partial(shop.api.post, "invoices/", json=invoice(buyer)) for _ in range(4)]
        assert statuses(together(calls)) == {200: 8, 201: 4}
        assert api_server.query(DEADLOCKS) == before


class TestRepeatsOfARunningBatch:
    @MODES
    def test_record_each_item_once(self, shop: Business, buyer: Record, mode: str) -> None:
        item = {"operation": "create_invoice", "body": invoice(buyer)}
        body = batch(mode, *[item] * 120)
        headers = {"Idempotency-Key": "one batch"}
        send = partial(shop.api.post, "batch/", json=body, headers=headers)
        ran = together([send] * 4)
        assert set(statuses(ran)) <= {200, 409}
        contents = {each.answer.content for each in ran if each.status == 200}
        assert len(contents) == 1
        assert shop.api.get("invoices/?count=true").json()["count"] == 120
