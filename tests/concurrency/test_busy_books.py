"""Requests that close a record while other clients post to it continuously."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.builders.purchases import BILLS, bill_body
from tests.builders.sales import invoice_body
from tests.builders.trade import PURCHASES, RECEIVED, SALES, SENT, Record, Trade, line
from tests.concurrency.races import moving_lock_date
from tests.partner import PATIENCE_SECONDS, Business, client, within

pytestmark = pytest.mark.usefixtures("ledger")

ACCOUNTS = "general-ledger/chart-of-accounts/"
REVENUE = {"account_type": "revenue", "account_subtype": "revenue"}
CLIENTS = 8


@contextmanager
def busy(shop: Business, path: str, body: Record) -> Iterator[set[str | None]]:
    """Post continuously from several threads; yield the error codes of the answers."""
    codes: set[str | None] = set()
    stopped, begun = threading.Event(), threading.Semaphore(0)

    def post() -> None:
        headers = {"Authorization": shop.api.headers["Authorization"]}
        with client(shop.base_url, headers=headers, timeout=60) as caller:
            while not stopped.is_set():
                codes.add(caller.post(path, json=body).json().get("error_code"))
                begun.release()

    threads = [threading.Thread(target=post) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        for _ in threads:
            assert begun.acquire(timeout=PATIENCE_SECONDS)
        yield codes
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


@contextmanager
def held(
    api_server: ApiServer, table: str, id: str, how: str = "KEY SHARE"
) -> Iterator[psycopg.Connection]:
    """Lock a row as a posting that names it does, or with another lock mode."""
    with psycopg.connect(api_server.database_url) as connection:
        connection.execute(f"SELECT FROM {table} WHERE id = '{id}' FOR {how}")
        yield connection
        connection.rollback()


def in_turn(
    books: psycopg.Connection, *calls: Callable[[], httpx.Response]
) -> list[tuple[int, str | None]]:
    """Make each call once the earlier ones wait, then release the lock; return the answers."""
    waiting = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity a USING (pid) "
    waiting += "WHERE a.datname = current_database() AND NOT granted"
    ran: list[Future[httpx.Response]] = []

    def all_wait() -> bool:
        books.execute("SELECT pg_stat_clear_snapshot()")  # New connections may have opened.
        return books.execute(waiting).fetchone() == (len(ran),) or ran[-1].done()

    with ThreadPoolExecutor(len(calls)) as threads:
        for call in calls:
            ran.append(threads.submit(call))
            assert within(PATIENCE_SECONDS, all_wait)
        books.rollback()
        answers = [each.result() for each in ran]
    return [(answer.status_code, answer.json().get("error_code")) for answer in answers]


class TestBusyBusiness:
    def test_a_busy_business_is_locked_and_archived(self, shop: Business, buyer: Record) -> None:
        business = f"/v1/platform/businesses/{shop.id}/"
        with busy(shop, "invoices/", invoice_body(buyer, sent_at=SENT)) as codes:
            answers = [
                moving_lock_date(shop, "2024-12-31")(),
                moving_lock_date(shop, None)(),
                shop.partner.api.post(f"{business}archive/", timeout=60),
                shop.partner.api.post(f"{business}unarchive/", timeout=60),
            ]
        assert [answer.status_code for answer in answers] == [200] * 4
        assert codes <= {None, "business_archived"}


class TestBusyVendor:
    def test_a_busy_vendor_is_blocked_and_activated(self, shop: Business) -> None:
        vendor = shop.vendor()
        change = partial(shop.api.patch, f"vendors/{vendor['id']}/", timeout=60)
        with busy(shop, BILLS, bill_body(vendor, received_at=RECEIVED)) as codes:
            answers = [change(json={"status": status}) for status in ("BLOCKED", "ACTIVE")]
            refused = shop.api.post(f"vendors/{vendor['id']}/archive/", timeout=60)
        assert [answer.status_code for answer in answers] == [200] * 2
        assert refused.json()["error_code"] == "vendor_has_balance"
        assert codes <= {None, "vendor_not_active"}


class TestPostingUnderWay:
    """A posting that holds rows: a closing waits for it, and later postings for the closing."""

    @pytest.mark.parametrize(
        ("trade", "method", "move", "body", "code"),
        [
            (SALES, "POST", "archive", None, "customer_archived"),
            (PURCHASES, "PATCH", "", {"status": "BLOCKED"}, "vendor_not_active"),
        ],
        ids=["sales", "purchases"],
    )
    def test_the_party_is_closed_before_a_later_posting(
        self,
        api_server: ApiServer,
        shop: Business,
        trade: Trade,
        method: str,
        move: str,
        body: Record | None,
        code: str,
    ) -> None:
        party = trade.somebody(shop)
        close = partial(shop.api.request, method, trade.of_party(party, move), json=body)
        later = partial(shop.api.post, trade.path, json=trade.body(party))
        with held(api_server, trade.party, party["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (409, code)]

    @pytest.mark.parametrize("method", ["DELETE", "PATCH"])
    def test_the_account_is_archived_before_a_later_posting(
        self, api_server: ApiServer, shop: Business, buyer: Record, method: str
    ) -> None:
        account = shop.made(ACCOUNTS, {"code": "4900", "name": "Busy", **REVENUE})
        body = {"json": {"is_active": False}} if method == "PATCH" else {}
        close = partial(shop.api.request, method, f"{ACCOUNTS}4900/", **body)
        named = line(account_identifier={"type": "AccountCode", "code": "4900"})
        later = partial(shop.api.post, "invoices/", json=invoice_body(buyer, named))
        with held(api_server, "account", account["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (409, "account_archived")]

    def test_the_account_of_a_later_posting_is_active_again(
        self, api_server: ApiServer, shop: Business, buyer: Record
    ) -> None:
        account = shop.made(ACCOUNTS, {"code": "4910", "name": "Seldom", **REVENUE})
        named = line(account_identifier={"type": "AccountCode", "code": "4910"})
        draft = shop.made("invoices/", invoice_body(buyer, named))
        close = partial(shop.api.delete, f"{ACCOUNTS}4910/")
        later = partial(shop.api.post, f"invoices/{draft['id']}/send/")
        with held(api_server, "account", account["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (200, None)]
        assert shop.api.get(f"{ACCOUNTS}4910/").json()["is_active"] is True

    @pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=["sales", "purchases"])
    def test_a_document_whose_party_changed_is_read_again(
        self, api_server: ApiServer, shop: Business, trade: Trade
    ) -> None:
        party, other = trade.somebody(shop), trade.somebody(shop)
        draft = shop.made(trade.path, trade.body(party))
        opened = trade.body(other, **{trade.moment: trade.at})
        change = partial(shop.api.put, trade.of(draft), json=opened)
        shares = {"allocations": [trade.part(draft, 1)]}
        pay = partial(shop.api.post, trade.payments, json=trade.payment_body(other, **shares))
        with held(api_server, trade.noun, draft["id"], "UPDATE") as books:
            answers = in_turn(books, change, pay)
        assert answers == [(200, None), (201, None)]

    @pytest.mark.parametrize("kind", ["customer", "vendor"])
    def test_the_party_can_be_changed(
        self, api_server: ApiServer, shop: Business, kind: str
    ) -> None:
        one = getattr(shop, kind)()
        facts = {"email": "new@example.com", **({"status": "ACTIVE"} if kind == "vendor" else {})}
        with held(api_server, kind, one["id"]):
            answer = shop.api.patch(f"{kind}s/{one['id']}/", json=facts)
            again = shop.api.post(f"{kind}s/{one['id']}/unarchive/")
        assert (answer.status_code, answer.json()["email"]) == (200, "new@example.com")
        assert again.status_code == 200

    def test_the_account_can_be_renamed(self, api_server: ApiServer, shop: Business) -> None:
        path = f"{ACCOUNTS}4000/"
        with held(api_server, "account", shop.api.get(path).json()["id"]):
            answer = shop.api.patch(path, json={"name": "Coffee sold"})
        assert (answer.status_code, answer.json()["name"]) == (200, "Coffee sold")
