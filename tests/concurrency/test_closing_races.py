"""Closings during postings: the books hold every acknowledged posting and no other."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import psycopg
import pytest

from persistence.engine.topology import PASS_GATE
from persistence.partners import sandboxes
from tests.api_server import ApiServer, as_owner
from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS
from tests.builders.sales import sent
from tests.builders.trade import PURCHASES, RECEIVED, SALES, SENT, Record, Trade, line, read
from tests.concurrency.races import Call, Ran, moving_lock_date, statuses, together
from tests.partner import PATIENCE_SECONDS, Business, Partner, within
from tests.persistence.integrity.book_faults import faults_in

pytestmark = pytest.mark.usefixtures("ledger")

ACCOUNTS = "general-ledger/chart-of-accounts/"
REVENUE = {"account_type": "revenue", "account_subtype": "revenue"}
GONE = {"customer": "customer_archived", "vendor": "vendor_not_active"}

of_both_sides = pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=["sales", "purchases"])


def made(ran: list[Ran]) -> set[str]:
    return {each.answer.json()["id"] for each in ran if each.status == 201}


def sources(ledger: Ledger) -> set[str]:
    rows = ledger.ask(
        "SELECT DISTINCT source_id::text FROM journal_entry WHERE business_id = %(business)s"
    )
    return {source for (source,) in rows}


def posting(shop: Business, party: Record, trade: Trade = SALES, **facts: object) -> Call:
    """Return the request that opens a document on the first of March."""
    body = trade.body(party, **{trade.moment: trade.at, **facts})
    return partial(shop.api.post, trade.path, json=body)


def close_for_good(ledger: Ledger, post: Call, close: Call, code: str) -> None:
    """Post while a record is closed; check that each posting precedes the closing or is refused."""
    *ran, closed = together([*[post] * 14, close])
    late = together([post] * 2)
    assert closed.status == 200
    assert {each.code for each in ran} <= {None, code}
    assert all(each.status == 409 for each in ran if each.began > closed.ended)
    assert statuses(late) == {409: 2}
    assert sources(ledger) == made(ran)


class TestClosingAPeriod:
    @pytest.mark.usefixtures("rounds")
    def test_a_locked_period_takes_no_posting(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        close = moving_lock_date(shop, "2025-05-31")
        post = posting(shop, buyer, sent_at="2025-05-15T00:00:00Z")
        close_for_good(ledger, post, close, "period_locked")
        ledger.lock(None)

    def test_the_trail_has_the_order_of_postings_and_locks(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        post = posting(shop, buyer, sent_at="2025-05-15T00:00:00Z")
        close, reopen = moving_lock_date(shop, "2025-05-31"), moving_lock_date(shop, None)
        ran = together([post, post, close, post, post, reopen] * 4)
        assert {each.code for each in ran} <= {None, "period_locked"}
        ledger.lock(None)
        assert faults_in(ledger.api_server, shop) == set()


class TestArchivingABusiness:
    def test_an_archived_business_takes_no_posting(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        archive = f"/v1/platform/businesses/{shop.id}/archive/"
        close = partial(shop.partner.api.post, archive)
        close_for_good(ledger, posting(shop, buyer), close, "business_archived")


class TestDeletingASandbox:
    def test_a_deletion_waits_for_a_running_writing(
        self, api_server: ApiServer, partner: Partner
    ) -> None:
        shop = partner.business()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        with (
            ThreadPoolExecutor(1) as threads,
            psycopg.connect(as_owner(api_server.database_url), autocommit=True) as owner,
            psycopg.connect(api_server.database_url) as writing,
        ):
            writing.execute(PASS_GATE, {"business_id": shop.id})
            taken = threads.submit(sandboxes.take_away, owner, UUID(shop.id))
            assert within(PATIENCE_SECONDS, lambda: api_server.query(waiting) == [(1,)])
            writing.commit()
            taken.result()


class TestArchivingAnAccount:
    @pytest.mark.usefixtures("rounds")
    def test_an_account_that_callers_name_is_archived_empty_or_not_at_all(
        self, shop: Business, buyer: Record
    ) -> None:
        shop.made(ACCOUNTS, {"code": "4900", "name": "Raced", **REVENUE})
        named = line(10, account_identifier={"type": "AccountCode", "code": "4900"})
        post = posting(shop, buyer, line_items=[named])
        *ran, closed = together([*[post] * 6, partial(shop.api.delete, f"{ACCOUNTS}4900/")])
        account = shop.api.get(f"{ACCOUNTS}4900/").json()
        assert {each.code for each in ran} <= {None, "account_archived"}
        assert account["is_active"] is (closed.status == 409)
        assert account["current_balance"] == 10 * len(made(ran))
        assert (account["current_balance"] == 0) is (closed.status == 200)

    @pytest.mark.usefixtures("rounds")
    def test_an_account_that_gets_children_is_archived_without_them_or_not_at_all(
        self, shop: Business
    ) -> None:
        shop.made(ACCOUNTS, {"code": "4950", "name": "Raced", **REVENUE})
        path = f"{ACCOUNTS}4950/"
        children = [{"code": f"4950.{n}", "name": "Child"} for n in range(6)]
        posts = [partial(shop.api.post, f"{path}children/", json=body) for body in children]
        *ran, closed = together([*posts, partial(shop.api.delete, path)])
        account = shop.api.get(path).json()
        assert {each.code for each in ran} <= {None, "account_archived"}
        assert len(account["sub_accounts"]) == len(made(ran))
        assert account["is_active"] is (closed.status == 409)
        assert bool(account["sub_accounts"]) is (closed.status == 409)

    @pytest.mark.usefixtures("rounds")
    def test_an_account_that_the_system_posts_to_is_active_when_it_has_a_balance(
        self, shop: Business, buyer: Record
    ) -> None:
        close = partial(shop.api.delete, f"{ACCOUNTS}1200/")
        *ran, _ = together([*[posting(shop, buyer)] * 6, close])
        assert statuses(ran) == {201: 6}
        account = shop.api.get(f"{ACCOUNTS}1200/").json()
        assert (account["is_active"], account["current_balance"]) == (True, 6_000)


class TestClosingAParty:
    @of_both_sides
    @pytest.mark.usefixtures("rounds")
    def test_a_party_is_archived_without_a_balance_or_not_at_all(
        self, shop: Business, trade: Trade
    ) -> None:
        party = trade.somebody(shop)
        archive = partial(shop.api.post, trade.of_party(party, "archive"))
        *ran, closed = together([*[posting(shop, party, trade)] * 6, archive])
        party = read(shop, trade.parties, party)
        assert {each.code for each in ran} <= {None, GONE[trade.party]}
        assert party["is_archived"] is (closed.status == 200)
        assert party["outstanding_balance"] == 1_000 * len(made(ran))
        assert (party["outstanding_balance"] == 0) is (closed.status == 200)

    @pytest.mark.parametrize(
        ("trade", "method", "move", "body"),
        [
            (SALES, "POST", "send", None),
            (SALES, "PUT", "", {"line_items": [line()], "sent_at": SENT}),
            (PURCHASES, "POST", "receive", None),
        ],
        ids=["sent", "replaced", "received"],
    )
    def test_a_draft_that_is_opened_meanwhile_waits_for_the_closing(
        self,
        shop: Business,
        api_server: ApiServer,
        trade: Trade,
        method: str,
        move: str,
        body: Record | None,
    ) -> None:
        party = trade.somebody(shop)
        draft = trade.draft(shop, party)
        changed = "archived_at = now()" if trade is SALES else "standing = 'BLOCKED'"
        mine = "WHERE id = %s"
        answers = []

        def open_draft() -> None:
            answers.append(shop.api.request(method, trade.of(draft, move), json=body))

        with psycopg.connect(api_server.database_url) as connection:
            connection.execute(f"UPDATE {trade.party} SET {changed} {mine}", (party["id"],))
            connection.execute(f"SELECT FROM {trade.party} {mine} FOR UPDATE", (party["id"],))
            opening = threading.Thread(target=open_draft)
            opening.start()
            opening.join(timeout=0.3)
            assert opening.is_alive()
            connection.commit()
        opening.join()
        [answer] = answers
        assert (answer.status_code, answer.json()["error_code"]) == (409, GONE[trade.party])

    def test_a_draft_is_sent_or_its_customer_archived(self, shop: Business) -> None:
        buyers = [shop.customer() for _ in range(6)]
        drafts = [SALES.draft(shop, buyer) for buyer in buyers]
        calls = [partial(shop.api.post, SALES.of(each, "send")) for each in drafts]
        calls += [partial(shop.api.post, SALES.of_party(each, "archive")) for each in buyers]
        ran = together(calls)
        for sending, archiving in zip(ran[:6], ran[6:], strict=True):
            assert sorted((sending.status, archiving.status)) == [200, 409]

    def test_a_blocked_vendor_takes_no_bill(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        block = partial(shop.api.patch, f"vendors/{vendor['id']}/", json={"status": "BLOCKED"})
        close_for_good(ledger, posting(shop, vendor, PURCHASES), block, "vendor_not_active")

    def test_a_vendor_that_twenty_bills_name_is_created_once(self, shop: Business) -> None:
        body = {"vendor_external_id": "newcomer", "line_items": [line()], "received_at": RECEIVED}
        ran = together([partial(shop.api.post, BILLS, json=body)] * 20)
        assert statuses(ran) == {201: 20}
        assert len({each.answer.json()["vendor_id"] for each in ran}) == 1
        assert shop.api.get("vendors/").json()["count"] == 1


class TestOneDraft:
    def test_a_draft_is_sent_once_or_deleted(self, shop: Business, buyer: Record) -> None:
        paths = [SALES.of(SALES.draft(shop, buyer)) for _ in range(5)]
        calls = []
        for path in paths:
            calls += [partial(shop.api.post, f"{path}send/")] * 2 + [partial(shop.api.delete, path)]
        ran = together(calls)
        for place, path in enumerate(paths):
            *sending, deleting = ran[place * 3 : place * 3 + 3]
            gone = shop.api.get(path).status_code == 404
            assert gone is (deleting.status == 200)
            assert sum(each.status == 200 for each in sending) == (0 if gone else 1)
            assert {each.status for each in sending} <= {200, 404, 409}

    def test_an_invoice_is_voided_once(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        ran = together([partial(shop.api.post, SALES.of(invoice, "void"))] * 6)
        assert statuses(ran) == {200: 1, 409: 5}
        assert len(ledger.entries(invoice)) == 2
