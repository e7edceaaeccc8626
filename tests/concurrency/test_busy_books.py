"""What closes something, while others post to it without a pause."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS, bill_body
from tests.builders.sales import invoice_body
from tests.builders.trade import PURCHASES, RECEIVED, SALES, SENT, Record, Trade, line
from tests.partner import PATIENCE_SECONDS, Business, client, within

ACCOUNTS = "general-ledger/chart-of-accounts/"
CLIENTS = 8


@contextmanager
def busy(shop: Business, path: str, body: Record) -> Iterator[set[str | None]]:
    """Post all the time, several at once; yields the codes that is refused with."""
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
    """Hold a row as a posting does that names it, or in another way."""
    with psycopg.connect(api_server.database_url) as connection:
        connection.execute(f"SELECT FROM {table} WHERE id = '{id}' FOR {how}")
        yield connection
        connection.rollback()


def in_turn(
    books: psycopg.Connection, *calls: Callable[[], httpx.Response]
) -> list[tuple[int, str | None]]:
    """Make each call once those before wait, then let go what is held; statuses and codes."""
    waiting = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity a USING (pid) "
    waiting += "WHERE a.datname = current_database() AND NOT granted"
    ran: list[Future[httpx.Response]] = []

    def all_wait() -> bool:
        books.execute("SELECT pg_stat_clear_snapshot()")  # There may be new connections.
        return books.execute(waiting).fetchone() == (len(ran),) or ran[-1].done()

    with ThreadPoolExecutor(len(calls)) as threads:
        for call in calls:
            ran.append(threads.submit(call))
            assert within(PATIENCE_SECONDS, all_wait)
        books.rollback()
        answers = [each.result() for each in ran]
    return [(answer.status_code, answer.json().get("error_code")) for answer in answers]


class TestBusyBusiness:
    def test_its_lock_date_is_moved_and_it_is_archived(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        business = f"/v1/platform/businesses/{shop.id}/"
        move = partial(shop.partner.api.patch, business, timeout=60)
        with busy(shop, "invoices/", invoice_body(buyer, sent_at=SENT)) as codes:
            answers = [
                move(json={"lock_date": "2024-12-31"}),
                move(json={"lock_date": None}),
                shop.partner.api.post(f"{business}archive/", timeout=60),
                shop.partner.api.post(f"{business}unarchive/", timeout=60),
            ]
        assert [answer.status_code for answer in answers] == [200] * 4
        assert codes <= {None, "business_archived"}


class TestBusyVendor:
    def test_it_is_blocked_and_let_in_again(self, shop: Business, ledger: Ledger) -> None:
        vendor = shop.vendor()
        change = partial(shop.api.patch, f"vendors/{vendor['id']}/", timeout=60)
        with busy(shop, BILLS, bill_body(vendor, received_at=RECEIVED)) as codes:
            answers = [change(json={"status": status}) for status in ("BLOCKED", "ACTIVE")]
            refused = shop.api.post(f"vendors/{vendor['id']}/archive/", timeout=60)
        assert [answer.status_code for answer in answers] == [200] * 2
        assert refused.json()["error_code"] == "vendor_has_balance"
        assert codes <= {None, "vendor_not_active"}


class TestPostingUnderWay:
    """What it holds is changed meanwhile; who closes it waits, and so do postings after that."""

    def test_the_customer_is_archived_before_who_comes_later(
        self, api_server: ApiServer, shop: Business, buyer: Record
    ) -> None:
        close = partial(shop.api.post, f"customers/{buyer['id']}/archive/")
        later = partial(shop.api.post, "invoices/", json=invoice_body(buyer))
        with held(api_server, "customer", buyer["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (409, "customer_archived")]

    def test_the_vendor_is_blocked_before_who_comes_later(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        vendor = shop.vendor()
        close = partial(shop.api.patch, f"vendors/{vendor['id']}/", json={"status": "BLOCKED"})
        later = partial(shop.api.post, BILLS, json=bill_body(vendor))
        with held(api_server, "vendor", vendor["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (409, "vendor_not_active")]

    @pytest.mark.parametrize("method", ["DELETE", "PATCH"])
    def test_the_account_is_archived_before_who_comes_later(
        self, api_server: ApiServer, shop: Business, buyer: Record, method: str
    ) -> None:
        kind = {"account_type": "revenue", "account_subtype": "revenue"}
        account = shop.made(ACCOUNTS, {"code": "4900", "name": "Busy", **kind})
        body = {"json": {"is_active": False}} if method == "PATCH" else {}
        close = partial(shop.api.request, method, f"{ACCOUNTS}4900/", **body)
        named = line(account_identifier={"type": "AccountCode", "code": "4900"})
        later = partial(shop.api.post, "invoices/", json=invoice_body(buyer, named))
        with held(api_server, "account", account["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (409, "account_archived")]

    def test_the_account_of_who_comes_later_is_active_again(
        self, api_server: ApiServer, shop: Business, buyer: Record
    ) -> None:
        kind = {"account_type": "revenue", "account_subtype": "revenue"}
        account = shop.made(ACCOUNTS, {"code": "4910", "name": "Seldom", **kind})
        named = line(account_identifier={"type": "AccountCode", "code": "4910"})
        draft = shop.made("invoices/", invoice_body(buyer, named))
        close = partial(shop.api.delete, f"{ACCOUNTS}4910/")
        later = partial(shop.api.post, f"invoices/{draft['id']}/send/")
        with held(api_server, "account", account["id"]) as books:
            answers = in_turn(books, close, later)
        assert answers == [(200, None), (200, None)]
        assert shop.api.get(f"{ACCOUNTS}4910/").json()["is_active"] is True

    @pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=["sales", "purchases"])
    def test_a_document_that_got_another_party_is_read_again(
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
    def test_its_party_is_changed(self, api_server: ApiServer, shop: Business, kind: str) -> None:
        one = shop.customer() if kind == "customer" else shop.vendor()
        facts = {"email": "new@example.com", **({"status": "ACTIVE"} if kind == "vendor" else {})}
        with held(api_server, kind, one["id"]):
            answer = shop.api.patch(f"{kind}s/{one['id']}/", json=facts)
            again = shop.api.post(f"{kind}s/{one['id']}/unarchive/")
        assert (answer.status_code, answer.json()["email"]) == (200, "new@example.com")
        assert again.status_code == 200

    def test_its_account_is_renamed(self, api_server: ApiServer, shop: Business) -> None:
        path = f"{ACCOUNTS}4000/"
        with held(api_server, "account", shop.api.get(path).json()["id"]):
            answer = shop.api.patch(path, json={"name": "Coffee sold"})
        assert (answer.status_code, answer.json()["name"]) == (200, "Coffee sold")
