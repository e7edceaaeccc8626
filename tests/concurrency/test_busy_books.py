"""Changes that concern a whole business, while others post to it without a pause."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import psycopg
import pytest

from tests.bookkeeping import Ledger
from tests.handlers.bodies import SENT, Record, invoice_body
from tests.house import House
from tests.partnership import Business, client

ACCOUNTS = "general-ledger/chart-of-accounts/"
CLIENTS = 8


@contextmanager
def busy(shop: Business, body: Record) -> Iterator[set[str | None]]:
    """Post invoices all the time, several at once; yields the codes they are refused with."""
    codes: set[str | None] = set()
    stopped, begun = threading.Event(), threading.Semaphore(0)

    def post() -> None:
        headers = {"Authorization": shop.api.headers["Authorization"]}
        with client(shop.base_url, headers=headers, timeout=60) as caller:
            while not stopped.is_set():
                codes.add(caller.post("invoices/", json=body).json().get("error_code"))
                begun.release()

    threads = [threading.Thread(target=post) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for _ in threads:
        begun.acquire(timeout=30)
    try:
        yield codes
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


@contextmanager
def held(house: House, table: str, id: str) -> Iterator[None]:
    """Hold a row as a posting does that names it."""
    with psycopg.connect(house.database_url) as connection:
        connection.execute(f"SELECT FROM {table} WHERE id = '{id}' FOR KEY SHARE")
        yield
        connection.rollback()


class TestBusyBusiness:
    def test_its_lock_date_is_moved_and_it_is_archived(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        business = f"/v1/platform/businesses/{shop.id}/"
        move = partial(shop.partner.api.patch, business, timeout=60)
        with busy(shop, invoice_body(buyer, sent_at=SENT)) as codes:
            answers = [
                move(json={"lock_date": "2024-12-31"}),
                move(json={"lock_date": None}),
                shop.partner.api.post(f"{business}archive/", timeout=60),
                shop.partner.api.post(f"{business}unarchive/", timeout=60),
            ]
        assert [answer.status_code for answer in answers] == [200] * 4
        assert codes <= {None, "business_archived"}


class TestPostingUnderWay:
    """What a posting holds against archiving is changed meanwhile, where nothing closes it."""

    @pytest.mark.parametrize("kind", ["customer", "vendor"])
    def test_its_party_is_changed(self, house: House, shop: Business, kind: str) -> None:
        one = shop.customer() if kind == "customer" else shop.vendor()
        with held(house, kind, one["id"]):
            answer = shop.api.patch(f"{kind}s/{one['id']}/", json={"email": "new@example.com"})
            again = shop.api.post(f"{kind}s/{one['id']}/unarchive/")
        assert (answer.status_code, answer.json()["email"]) == (200, "new@example.com")
        assert again.status_code == 200

    def test_its_account_is_renamed(self, house: House, shop: Business) -> None:
        path = f"{ACCOUNTS}4000/"
        with held(house, "account", shop.api.get(path).json()["id"]):
            answer = shop.api.patch(path, json={"name": "Coffee sold"})
        assert (answer.status_code, answer.json()["name"]) == (200, "Coffee sold")
