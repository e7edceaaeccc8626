"""Secrets of webhook endpoints: which of them sign, and how they are stored."""

import pytest

from access.master_secrets import MasterSecret
from jobs.deliveries import Deliverer
from tests.api_server import SECRET, ApiServer
from tests.builders.receivers import receiving
from tests.jobs.webhooks import (
    ENDPOINTS,
    delivered,
    deliveries,
    delivering,
    due_now,
    endpoint,
)
from tests.partner import Business, Partner

NEWER = MasterSecret("newer", bytes(range(64, 96)))
pytestmark = pytest.mark.usefixtures("no_endpoints")


class TestSecrets:
    def test_both_sign_after_a_rotation_until_the_old_one_ends(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            path = f"{ENDPOINTS}{made['id']}/rotate-secret/"
            middle, newest = (partner.api.post(path).json()["secret"] for _ in range(2))
            shop.customer()
            delivered(own_server)
            own_server.watcher.execute(
                "UPDATE webhook_secret SET expires_at = now() WHERE expires_at IS NOT NULL"
            )
            shop.customer()
            delivered(own_server)
        both, one = receiver.requests
        for secret in (middle, newest):
            both.verify(secret)
        one.verify(newest)
        for request, secret in ((both, made["secret"]), (one, middle)):
            with pytest.raises(Exception, match="No matching signature"):
                request.verify(secret)

    def test_are_sealed_again_under_the_newest_master_secret(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        async def seal(one: Deliverer) -> None:
            await one.seal_again()

        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            delivering(own_server, seal, ring=(NEWER, SECRET))
            assert own_server.query("SELECT key_name FROM webhook_secret") == [("newer",)]
            shop.customer()
            delivered(own_server, ring=(NEWER,))
            [request] = receiver.requests
            request.verify(made["secret"])

    def test_that_this_process_cannot_read_leave_the_attempt_to_another(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            assert delivered(own_server, ring=(NEWER,)).outcomes == ["postponed"]
            assert receiver.requests == []
            [waiting] = deliveries(partner, made)
            assert (waiting["status"], waiting["attempts"]) == ("pending", 0)
            assert "cannot read the secret" in waiting["error"]
            assert own_server.query("SELECT failing_since FROM webhook_health") == [(None,)]
            due_now(own_server)
            delivered(own_server)
        [done] = deliveries(partner, made)
        assert (done["status"], done["attempts"], done["error"]) == ("delivered", 1, None)

    def test_lie_encrypted(self, own_server: ApiServer, partner: Partner) -> None:
        made = endpoint(partner, "https://hooks.example.com/")
        plain = made["secret"].removeprefix("whsec_")
        for table in ("webhook_endpoint", "webhook_secret", "partner_reply"):
            [(text,)] = own_server.query(
                f"SELECT coalesce(string_agg({table}::text, ''), '') FROM {table}"
            )
            assert plain not in text
