"""Deliveries that are deleted when they are old."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.deliveries import Deliverer
from persistence.partners.webhook_upkeep import delete_old_deliveries
from tests.api_server import ApiServer
from tests.builders.receivers import receiving
from tests.jobs.webhooks import (
    ENDPOINTS,
    delivered,
    deliveries,
    delivering,
    endpoint,
)
from tests.partner import Business, Partner

pytestmark = pytest.mark.usefixtures("no_endpoints")


class TestUpkeep:
    def test_deletes_deliveries_of_30_days_and_those_without_an_endpoint(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            gone = endpoint(partner, receiver.url(), types=["customer.created"])
            for _ in range(2):
                shop.customer()
            delivered(own_server)
        assert partner.api.delete(f"{ENDPOINTS}{gone['id']}/").status_code == 200
        assert deleted(own_server, days=29) == 2
        assert len(deliveries(partner, made)) == 2
        assert deleted(own_server, days=31) == 2
        assert deliveries(partner, made) == []

    @pytest.mark.parametrize("again", ["retry", "replay"])
    def test_keeps_an_old_delivery_that_is_due_again_for_another_30_days(
        self, own_server: ApiServer, partner: Partner, shop: Business, again: str
    ) -> None:
        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            delivered(own_server)
        [before] = deliveries(partner, made)
        own_server.watcher.execute(
            "UPDATE webhook_delivery SET id = '0190f0c4-8a20-7d3e-8c44-2e9b7f5a6b02',"
            " created_at = created_at - interval '40 days'"
        )
        path, body = f"{ENDPOINTS}{made['id']}/", {}
        if again == "retry":
            path += "deliveries/0190f0c4-8a20-7d3e-8c44-2e9b7f5a6b02/retry/"
        else:
            path += "replay/"
            body = {"business_id": shop.id, "after": before["sequence"] - 1}
        assert partner.api.post(path, json=body or None).status_code == 200
        assert deleted(own_server, days=29) == 0
        [due] = deliveries(partner, made)
        assert (due["status"], due["attempts"]) == ("pending", 0)
        assert (due["created_at"] >= before["created_at"]) == (again == "replay")
        assert deleted(own_server, days=31) == 1


def deleted(server: ApiServer, **ahead: int) -> Any:
    """Delete old deliveries as upkeep does some time later."""

    async def work(one: Deliverer) -> int:
        return await delete_old_deliveries(one.pool, datetime.now(UTC) + timedelta(**ahead))

    return delivering(server, work)
