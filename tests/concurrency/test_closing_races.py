"""Something is closed while others post to it: whatever was acknowledged is there, and no more."""

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
from tests.builders.purchases import BILLS, bill_body
from tests.builders.sales import invoice_body, sent
from tests.builders.trade import RECEIVED, SENT, Record, line
from tests.concurrency.racing import Ran, statuses, together
from tests.partner import PATIENCE_SECONDS, Business, Partner, within
from tests.persistence.integrity.book_faults import faults_in

ACCOUNTS = "general-ledger/chart-of-accounts/"


def made(ran: list[Ran]) -> set[str]:
    return {each.answer.json()["id"] for each in ran if each.status == 201}


def sources(ledger: Ledger) -> set[str]:
    found = ledger.ask(
        "SELECT DISTINCT source_id::text FROM journal_entry WHERE business_id = %(business)s"
    )
    return {source for (source,) in found}


class TestClosingAPeriod:
    @pytest.mark.parametrize("_round", range(2))
    def test_nothing_is_posted_into_it_afterwards(
        self, shop: Business, ledger: Ledger, buyer: Record, _round: int
    ) -> None:
        body = invoice_body(buyer, sent_at="2025-05-15T00:00:00Z")
        business = f"/v1/platform/businesses/{shop.id}/"
        posts = [partial(shop.api.post, "invoices/", json=body)] * 14
        close = partial(shop.partner.api.patch, business, json={"lock_date": "2025-05-31"})
        *ran, closed = together([*posts, close])
        late = together(posts[:2])
        assert closed.status == 200
        assert set(statuses(ran)) <= {201, 409}
        assert {each.code for each in ran} <= {None, "period_locked"}
        assert all(each.status == 409 for each in ran if each.began > closed.ended)
        assert statuses(late) == {409: 2}
        assert sources(ledger) == made(ran)
        ledger.lock(None)

    def test_the_trail_tells_in_which_order_postings_and_locks_went(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = invoice_body(buyer, sent_at="2025-05-15T00:00:00Z")
        post = partial(shop.api.post, "invoices/", json=body)
        business = f"/v1/platform/businesses/{shop.id}/"
        close, reopen = (
            partial(shop.partner.api.patch, business, json={"lock_date": day})
            for day in ("2025-05-31", None)
        )
        ran = together([post, post, close, post, post, reopen] * 4)
        assert {each.code for each in ran} <= {None, "period_locked"}
        ledger.lock(None)
        assert faults_in(ledger.api_server, shop) == set()


class TestArchivingABusiness:
    def test_nothing_is_written_to_it_afterwards(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = invoice_body(buyer, sent_at=SENT)
        business = f"/v1/platform/businesses/{shop.id}/"
        posts = [partial(shop.api.post, "invoices/", json=body)] * 14
        *ran, closed = together([*posts, partial(shop.partner.api.post, f"{business}archive/")])
        assert closed.status == 200
        assert {each.code for each in ran} <= {None, "business_archived"}
        assert all(each.status == 409 for each in ran if each.began > closed.ended)
        assert statuses(together(posts[:2])) == {409: 2}
        assert sources(ledger) == made(ran)


class TestTakingASandboxAway:
    def test_waits_for_who_writes_to_it(self, api_server: ApiServer, partner: Partner) -> None:
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
    @pytest.mark.parametrize("_round", range(3))
    def test_one_that_callers_name_is_archived_empty_or_not_at_all(
        self, shop: Business, ledger: Ledger, buyer: Record, _round: int
    ) -> None:
        kind = {"account_type": "revenue", "account_subtype": "revenue"}
        shop.made(ACCOUNTS, {"code": "4900", "name": "Raced", **kind})
        named = line(10, account_identifier={"type": "AccountCode", "code": "4900"})
        body = invoice_body(buyer, named, sent_at=SENT)
        *ran, closed = together(
            [
                *[partial(shop.api.post, "invoices/", json=body)] * 6,
                partial(shop.api.delete, f"{ACCOUNTS}4900/"),
            ]
        )
        account = shop.api.get(f"{ACCOUNTS}4900/").json()
        assert {each.code for each in ran} <= {None, "account_archived"}
        assert account["is_active"] is (closed.status == 409)
        assert account["current_balance"] == 10 * len(made(ran))
        assert (account["current_balance"] == 0) is (closed.status == 200)

    @pytest.mark.parametrize("_round", range(3))
    def test_one_that_gets_children_is_archived_without_them_or_not_at_all(
        self, shop: Business, _round: int
    ) -> None:
        kind = {"account_type": "revenue", "account_subtype": "revenue"}
        shop.made(ACCOUNTS, {"code": "4950", "name": "Raced", **kind})
        *ran, closed = together(
            [
                *[
                    partial(
                        shop.api.post,
                        f"{ACCOUNTS}4950/children/",
                        json={"code": f"4950.{n}", "name": "Child"},
                    )
                    for n in range(6)
                ],
                partial(shop.api.delete, f"{ACCOUNTS}4950/"),
            ]
        )
        account = shop.api.get(f"{ACCOUNTS}4950/").json()
        assert {each.code for each in ran} <= {None, "account_archived"}
        assert len(account["sub_accounts"]) == len(made(ran))
        assert account["is_active"] is (closed.status == 409)
        assert bool(account["sub_accounts"]) is (closed.status == 409)

    @pytest.mark.parametrize("_round", range(3))
    def test_one_that_the_system_posts_to_is_active_when_it_holds_something(
        self, shop: Business, ledger: Ledger, buyer: Record, _round: int
    ) -> None:
        body = invoice_body(buyer, sent_at=SENT)
        *ran, _ = together(
            [
                *[partial(shop.api.post, "invoices/", json=body)] * 6,
                partial(shop.api.delete, f"{ACCOUNTS}1200/"),
            ]
        )
        assert statuses(ran) == {201: 6}
        account = shop.api.get(f"{ACCOUNTS}1200/").json()
        assert (account["is_active"], account["current_balance"]) == (True, 6_000)


class TestArchivingACustomer:
    @pytest.mark.parametrize("_round", range(3))
    def test_one_is_archived_owing_nothing_or_not_at_all(
        self, shop: Business, ledger: Ledger, buyer: Record, _round: int
    ) -> None:
        body = invoice_body(buyer, sent_at=SENT)
        *ran, closed = together(
            [
                *[partial(shop.api.post, "invoices/", json=body)] * 6,
                partial(shop.api.post, f"customers/{buyer['id']}/archive/"),
            ]
        )
        customer = shop.api.get(f"customers/{buyer['id']}/").json()
        assert {each.code for each in ran} <= {None, "customer_archived"}
        assert customer["is_archived"] is (closed.status == 200)
        assert customer["outstanding_balance"] == 1_000 * len(made(ran))
        assert (customer["outstanding_balance"] == 0) is (closed.status == 200)

    @pytest.mark.parametrize("move", ["send", "replace"])
    def test_a_draft_that_is_sent_meanwhile_waits_for_the_archiving(
        self, shop: Business, ledger: Ledger, api_server: ApiServer, buyer: Record, move: str
    ) -> None:
        draft = shop.made("invoices/", invoice_body(buyer))
        path = f"invoices/{draft['id']}/"
        answers = []

        def send() -> None:
            answers.append(
                shop.api.post(f"{path}send/")
                if move == "send"
                else shop.api.put(path, json={"line_items": [line()], "sent_at": SENT})
            )

        with psycopg.connect(api_server.database_url) as connection:
            connection.execute(
                "UPDATE customer SET archived_at = now() WHERE id = %s", (buyer["id"],)
            )
            connection.execute("SELECT FROM customer WHERE id = %s FOR UPDATE", (buyer["id"],))
            sending = threading.Thread(target=send)
            sending.start()
            sending.join(timeout=0.3)
            assert sending.is_alive()
            connection.commit()
        sending.join()
        assert [answer.status_code for answer in answers] == [409]
        assert answers[0].json()["error_code"] == "customer_archived"

    def test_sending_and_archiving_end_in_one_of_both(self, shop: Business, ledger: Ledger) -> None:
        buyers = [shop.customer() for _ in range(6)]
        drafts = [shop.made("invoices/", invoice_body(buyer)) for buyer in buyers]
        calls = [partial(shop.api.post, f"invoices/{each['id']}/send/") for each in drafts]
        calls += [partial(shop.api.post, f"customers/{each['id']}/archive/") for each in buyers]
        ran = together(calls)
        for sending, archiving in zip(ran[:6], ran[6:], strict=True):
            assert sorted((sending.status, archiving.status)) == [200, 409]


class TestVendorsOutOfUse:
    @pytest.mark.parametrize("_round", range(3))
    def test_one_is_archived_owed_nothing_or_not_at_all(
        self, shop: Business, ledger: Ledger, _round: int
    ) -> None:
        vendor = shop.vendor()
        body = bill_body(vendor, received_at=RECEIVED)
        address = f"vendors/{vendor['id']}/"
        *ran, closed = together(
            [
                *[partial(shop.api.post, BILLS, json=body)] * 6,
                partial(shop.api.post, f"{address}archive/"),
            ]
        )
        vendor = shop.api.get(address).json()
        assert {each.code for each in ran} <= {None, "vendor_not_active"}
        assert vendor["is_archived"] is (closed.status == 200)
        assert vendor["outstanding_balance"] == 1_000 * len(made(ran))
        assert (vendor["outstanding_balance"] == 0) is (closed.status == 200)

    def test_once_one_is_blocked_no_bill_comes_in(self, shop: Business, ledger: Ledger) -> None:
        vendor = shop.vendor()
        bills = [partial(shop.api.post, BILLS, json=bill_body(vendor, received_at=RECEIVED))] * 14
        block = partial(shop.api.patch, f"vendors/{vendor['id']}/", json={"status": "BLOCKED"})
        *ran, closed = together([*bills, block])
        assert closed.status == 200
        assert {each.code for each in ran} <= {None, "vendor_not_active"}
        assert all(each.status == 409 for each in ran if each.began > closed.ended)
        assert statuses(together(bills[:2])) == {409: 2}
        assert sources(ledger) == made(ran)

    def test_a_draft_that_is_received_meanwhile_waits_for_the_block(
        self, shop: Business, ledger: Ledger, api_server: ApiServer
    ) -> None:
        vendor = shop.vendor()
        draft = shop.made(BILLS, bill_body(vendor))
        answers = []

        def receive() -> None:
            answers.append(shop.api.post(f"{BILLS}{draft['id']}/receive/"))

        with psycopg.connect(api_server.database_url) as connection:
            block = "UPDATE vendor SET standing = 'BLOCKED' WHERE id = %s"
            connection.execute(block, (vendor["id"],))
            connection.execute("SELECT FROM vendor WHERE id = %s FOR UPDATE", (vendor["id"],))
            receiving = threading.Thread(target=receive)
            receiving.start()
            receiving.join(timeout=0.3)
            assert receiving.is_alive()
            connection.commit()
        receiving.join()
        assert [answer.status_code for answer in answers] == [409]
        assert answers[0].json()["error_code"] == "vendor_not_active"

    def test_a_vendor_made_on_the_way_by_twenty_is_one(
        self, shop: Business, ledger: Ledger
    ) -> None:
        body = {"vendor_external_id": "newcomer", "line_items": [line()], "received_at": RECEIVED}
        ran = together([partial(shop.api.post, BILLS, json=body)] * 20)
        assert statuses(ran) == {201: 20}
        assert len({each.answer.json()["vendor_id"] for each in ran}) == 1
        assert shop.api.get("vendors/").json()["count"] == 1


class TestOneDraft:
    def test_it_is_sent_once_or_deleted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        drafts = [shop.made("invoices/", invoice_body(buyer)) for _ in range(5)]
        calls = []
        for draft in drafts:
            path = f"invoices/{draft['id']}/"
            calls += [partial(shop.api.post, f"{path}send/")] * 2 + [partial(shop.api.delete, path)]
        ran = together(calls)
        for place, draft in enumerate(drafts):
            *sending, deleting = ran[place * 3 : place * 3 + 3]
            gone = shop.api.get(f"invoices/{draft['id']}/").status_code == 404
            assert gone is (deleting.status == 200)
            assert sum(each.status == 200 for each in sending) == (0 if gone else 1)
            assert {each.status for each in sending} <= {200, 404, 409}

    def test_it_is_voided_once(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        ran = together([partial(shop.api.post, f"invoices/{invoice['id']}/void/")] * 6)
        assert statuses(ran) == {200: 1, 409: 5}
        assert len(ledger.entries(invoice)) == 2
