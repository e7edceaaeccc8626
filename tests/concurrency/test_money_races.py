"""Many clients pay, number and change the same records concurrently."""

from functools import partial
from uuid import uuid4

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import PAYMENTS, invoice_body, paid, part, payment_body, sent
from tests.builders.trade import SENT, Record, line
from tests.concurrency.races import race_for_one_key, race_for_one_name, statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")

ACCOUNTS = "general-ledger/chart-of-accounts/"


class TestPaymentsOfOneInvoice:
    @pytest.mark.usefixtures("rounds")
    def test_one_of_two_payments_that_exceed_the_total_is_created(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        body = payment_body(buyer, 60, allocations=[part(invoice, 60)])
        ran = together([partial(shop.api.post, PAYMENTS, json=body)] * 2)
        assert statuses(ran) == {201: 1, 422: 1}
        [refused] = [each for each in ran if each.status == 422]
        assert refused.code == "allocation_exceeds_outstanding"
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert (shown["outstanding_balance"], len(shown["payment_allocations"])) == (40, 1)

    def test_as_many_payments_as_fit_are_created(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 100)
        body = payment_body(buyer, 30, allocations=[part(invoice, 30)])
        bodies = [{**body, "status": status} for status in ("completed", "pending")] * 6
        ran = together([partial(shop.api.post, PAYMENTS, json=body) for body in bodies])
        assert statuses(ran) == {201: 3, 422: 9}

    def test_an_invoice_is_voided_or_paid_once(self, shop: Business, buyer: Record) -> None:
        invoices = [sent(shop, buyer, 100) for _ in range(4)]
        waiting = [paid(shop, buyer, 100) for _ in range(4)]
        calls = []
        for invoice, payment in zip(invoices, waiting, strict=True):
            take = {"allocations": [part(invoice, 70)]}
            path = f"{PAYMENTS}{payment['id']}/"
            calls += [
                partial(shop.api.patch, path, json=take),
                partial(shop.api.post, PAYMENTS, json=payment_body(buyer, 70, **take)),
                partial(shop.api.post, f"invoices/{invoice['id']}/void/"),
            ]
        ran = together(calls)
        for place in range(4):
            won = [each for each in ran[place * 3 : place * 3 + 3] if each.status < 300]
            assert len(won) == 1
        assert {each.status for each in ran} <= {200, 201, 409, 422}

    def test_an_invoice_that_is_read_meanwhile_is_consistent(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        body = payment_body(buyer, 10, allocations=[part(invoice, 10)])
        pay = partial(shop.api.post, PAYMENTS, json=body)
        read = partial(shop.api.get, f"invoices/{invoice['id']}/")
        ran = together([pay, read, read] * 20)
        shown = [each.answer.json() for each in ran if each.status == 200]
        assert len(shown) == 40
        for each in shown:
            settled = sum(share["amount_cents"] for share in each["payment_allocations"])
            assert each["outstanding_balance"] == 1_000 - settled

    def test_crossing_allocations_do_not_deadlock(self, shop: Business, buyer: Record) -> None:
        invoices = [sent(shop, buyer, 1_000) for _ in range(6)]
        parts = [part(each, 10) for each in invoices]
        bodies = [payment_body(buyer, 60, allocations=each) for each in (parts, parts[::-1])] * 6
        ran = together([partial(shop.api.post, PAYMENTS, json=body) for body in bodies])
        assert statuses(ran) == {201: 12}


class TestOneKey:
    def test_forty_posts_are_one_payment(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 100)
        body = payment_body(buyer, 100, allocations=[part(invoice, 100)])
        race_for_one_key(shop, PAYMENTS, body)

    def test_forty_refusals_are_one_refusal(self, shop: Business, buyer: Record) -> None:
        body = payment_body(buyer, 5, allocations=[part(sent(shop, buyer, 1), 5)])
        key = {"Idempotency-Key": str(uuid4())}
        ran = together([partial(shop.api.post, PAYMENTS, json=body, headers=key)] * 40)
        assert statuses(ran) == {422: 40}
        assert len({each.answer.content for each in ran}) == 1

    def test_two_requests_with_one_key_are_one_and_a_refusal(
        self, shop: Business, buyer: Record
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        bodies = [payment_body(buyer, amount) for amount in (1, 2)]
        ran = together(
            [partial(shop.api.post, PAYMENTS, json=body, headers=key) for body in bodies]
        )
        assert statuses(ran) == {201: 1, 422: 1}
        assert {each.code for each in ran} == {None, "idempotency_key_reused"}


class TestNumbers:
    def test_numbers_have_no_gap_when_many_requests_fail(
        self, shop: Business, ledger: Ledger, api_server: ApiServer, buyer: Record
    ) -> None:
        shop.made("invoices/", invoice_body(buyer, invoice_number="Taken"))
        calls = []
        for place in range(72):
            facts: Record = {"sent_at": SENT if place % 2 else "2024-12-31T00:00:00Z"}
            if place % 3 == 0:
                facts["invoice_number"] = "Taken"
            if place % 6 == 1:
                facts["external_id"] = f"shared-{place % 4}"
            headers = {"Idempotency-Key": str(uuid4())} if place % 4 == 0 else {}
            body = invoice_body(buyer, line(10), **facts)
            calls.append(partial(shop.api.post, "invoices/", json=body, headers=headers))
        ran = [each for start in range(0, 72, 8) for each in together(calls[start : start + 8])]
        seen = statuses(ran)
        assert (seen[409], sum(seen.values())) == (24, 72)
        assert set(seen) == {200, 201, 409}
        made = [each.answer.json()["invoice_number"] for each in ran if each.status == 201]
        assert sorted(made) == [f"INV-{place:06d}" for place in range(1, len(made) + 1)]
        assert len(ledger.entries()) == len(made)

    def test_given_and_assigned_numbers_differ(self, shop: Business, buyer: Record) -> None:
        calls = []
        for place in range(12):
            given = {"invoice_number": f"INV-{place * 2 + 1:06d}"} if place % 2 else {}
            body = invoice_body(buyer, sent_at=SENT, **given)
            calls.append(partial(shop.api.post, "invoices/", json=body))
        ran = together(calls)
        assert set(statuses(ran)) <= {201, 409}
        assert all(each.status == 201 for each in ran[::2])
        numbers = [each.answer.json()["invoice_number"] for each in ran if each.status == 201]
        assert len(set(numbers)) == len(numbers)


class TestOneName:
    def test_a_customer_that_twenty_requests_name_is_created_once(self, shop: Business) -> None:
        invoice = {"customer_external_id": "newcomer", "line_items": [line()], "sent_at": SENT}
        payment = {**payment_body({"id": None}, 5), "customer_external_id": "newcomer"}
        del payment["customer_id"]
        calls = [partial(shop.api.post, "invoices/", json=invoice)] * 10
        calls += [partial(shop.api.post, PAYMENTS, json=payment)] * 10
        ran = together(calls)
        assert statuses(ran) == {201: 20}
        bodies = [each.answer.json() for each in ran]
        assert len({body.get("payment", body)["customer_id"] for body in bodies}) == 1
        assert shop.api.get("customers/").json()["count"] == 1

    def test_an_external_id_is_created_once(self, shop: Business, buyer: Record) -> None:
        race_for_one_name(shop, "invoices/", invoice_body(buyer, sent_at=SENT))

    def test_a_draft_that_is_deleted_meanwhile_is_answered_or_made_anew(
        self, shop: Business, buyer: Record
    ) -> None:
        create = partial(shop.api.post, "invoices/", json=invoice_body(buyer, external_id="back"))
        for _ in range(5):
            delete = partial(shop.api.delete, f"invoices/{create().json()['id']}/")
            assert set(statuses(together([*[create] * 6, delete]))) <= {200, 201}

    def test_an_account_code_is_created_once(self, shop: Business) -> None:
        kind = {"account_type": "asset", "account_subtype": "current_assets"}
        body = {"code": "1999", "name": "Raced", **kind}
        ran = together([partial(shop.api.post, ACCOUNTS, json=body)] * 8)
        assert statuses(ran) == {201: 1, 409: 7}


class TestChangesOfOnePayment:
    def test_each_change_is_whole_and_the_last_remains(self, shop: Business, buyer: Record) -> None:
        invoices = [sent(shop, buyer, 100) for _ in range(4)]
        payment = paid(shop, buyer, 100)
        path = f"{PAYMENTS}{payment['id']}/"
        changes = [{"allocations": [part(invoices[place % 4], 10 + place)]} for place in range(16)]
        ran = together([partial(shop.api.patch, path, json=change) for change in changes])
        assert statuses(ran) == {200: 16}
        assert {each.answer.headers["etag"] for each in ran} == {
            f'"{version}"' for version in range(2, 18)
        }
        [last] = [each.answer for each in ran if each.answer.headers["etag"] == '"17"']
        assert shop.api.get(path).json() == last.json()["payment"]

    def test_a_version_is_changed_once(self, shop: Business, buyer: Record) -> None:
        path = f"{PAYMENTS}{paid(shop, buyer, 100)['id']}/"
        change = partial(shop.api.patch, path, headers={"If-Match": '"1"'})
        ran = together([partial(change, json={"note": str(place)}) for place in range(12)])
        assert statuses(ran) == {200: 1, 412: 11}

    def test_a_payment_is_completed_while_it_is_cancelled(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 100), status="pending")
        path = f"{PAYMENTS}{payment['id']}/"
        complete = partial(shop.api.patch, path, json={"status": "completed"})
        ran = together([complete, partial(shop.api.post, f"{path}delete/")])
        ended = shop.api.get(path).json()["status"]
        owed = shop.api.get(f"invoices/{invoice['id']}/").json()["outstanding_balance"]
        # After the cancellation it may still be completed, without its allocation.
        assert (ran[0].status, ended) == (200, "completed")
        assert owed == (0 if ran[1].status == 409 else 100)
