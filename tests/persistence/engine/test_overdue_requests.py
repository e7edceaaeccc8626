"""Requests over HTTP that exceed their time while their rows are being stored."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg

from server.http.errors import REPEAT_WITH_KEY
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, sent
from tests.builders.trade import SENT
from tests.partner import Business, Partner, client, within

WAITING = (
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)
NOTICED_SECONDS = 30.0  # Half of the lock timeout in tests.


class TestOverdueRequest:
    def test_an_overdue_request_is_repeatable_by_its_key_and_releases_its_locks(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        shop: Business = acme.business()
        buyer = shop.customer()
        sent(shop, buyer, 5)
        body = invoice_body(buyer, sent_at=SENT)
        key = {"Idempotency-Key": str(uuid4())}

        with (
            ApiServer(api_server.database_url, answer_seconds=2) as hasty_server,
            client(hasty_server.url, headers=shop.api.headers) as hasty,
            psycopg.connect(api_server.database_url) as other,
            ThreadPoolExecutor(1) as thread,
        ):
            other.execute("SELECT FROM number_series WHERE business_id = %s FOR UPDATE", (shop.id,))
            path = f"/v1/platform/businesses/{shop.id}/invoices/"
            answering = thread.submit(hasty.post, path, json=body, headers=key)
            assert within(NOTICED_SECONDS, lambda: len(api_server.query(WAITING)) == 1)
            answer = answering.result()
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.json()["error_code"] == "service_unavailable"
            assert answer.json()["message"].endswith(REPEAT_WITH_KEY)
            assert within(NOTICED_SECONDS, lambda: not api_server.query(WAITING))

        made = shop.api.post("invoices/", json=body, headers=key)
        assert (made.status_code, "idempotent-replayed" in made.headers) == (201, False)
        assert shop.api.get("invoices/").json()["count"] == 2
        Ledger(api_server, shop).audit()
