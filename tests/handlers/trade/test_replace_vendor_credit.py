"""replace_vendor_credit and void_vendor_credit: received, applied, released, taken back."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    CREDITS,
    received,
    share,
    status_of,
    vendor_credit_body,
    vendor_credited,
)
from tests.builders.trade import CREDITED, CREDITED_AT, NOBODY, Record, read
from tests.clock import today
from tests.handlers.promises import keeps_its_key_and_version
from tests.partner import Business, Partner

TODAY = str(today())
DESCRIBED = {"memo": "kept", "tags": ["a", "b"], "metadata": {"m": 1}}


def put(shop: Business, credit: Record, **body: object) -> Record:
    answer = shop.api.put(f"{CREDITS}{credit['id']}/", json=body)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()
    return changed


def refused(shop: Business, ledger: Ledger, credit: Record, **body: object) -> tuple[int, str]:
    with ledger.untouched():
        answer = shop.api.put(f"{CREDITS}{credit['id']}/", json=body)
    return answer.status_code, answer.json()["error_code"]


def held(credit: Record) -> list[tuple[str, int, str]]:
    return [
        (each["bill_id"], each["amount_cents"], each["applied_at"][:10])
        for each in credit["allocations"]
    ]


class TestReplaceVendorCredit:
    def test_it_clears_what_only_describes_and_keeps_the_rest(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        facts = {**DESCRIBED, "external_id": "put-1", "source_bill_id": bill["id"]}
        before = vendor_credited(shop, vendor, 150, share(bill, 100), **facts)
        posted = len(ledger.entries())
        answer = shop.api.put(f"{CREDITS}{before['id']}/", json={})
        after = answer.json()
        cleared = {"memo": None, "tags": [], "metadata": None}
        assert after == {**before, **cleared, "updated_at": after["updated_at"]}
        assert (answer.headers["etag"], len(ledger.entries())) == ('"2"', posted)
        assert read(shop, CREDITS, before) == after

    def test_the_same_again_changes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        credit = vendor_credited(shop, vendor, 150, share(bill, 60), **DESCRIBED)
        for same in ({}, {"allocations": [share(bill, 60)]}, {"received_at": CREDITED_AT}):
            with ledger.untouched():
                answer = shop.api.put(f"{CREDITS}{credit['id']}/", json={**DESCRIBED, **same})
            assert (answer.json(), answer.headers["etag"]) == (credit, '"1"')

    def test_a_moment_receives_a_draft_and_what_it_settles_is_dated_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 400)
        draft = shop.made(CREDITS, vendor_credit_body(vendor))
        shown = put(shop, draft, received_at=CREDITED_AT, allocations=[share(bill, 400)])
        assert shown["vendor_credit_number"].startswith("VC-")
        assert (shown["status"], held(shown)) == ("partially_applied", [(bill["id"], 400, TODAY)])
        assert ledger.postings(draft) == [
            (CREDITED, {"1260": 1_000, "5100": -1_000}),
            (TODAY, {"2000": 400, "1260": -400}),
        ]

    def test_a_list_replaces_the_list_and_what_it_repeats_keeps_its_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first, second, third = (received(shop, vendor, 100) for _ in range(3))
        credit = vendor_credited(shop, vendor, 300, share(first, 100), share(second, 50))
        after = put(shop, credit, allocations=[share(third, 70), share(second, 50)])
        assert sorted(held(after)) == sorted(
            [(second["id"], 50, CREDITED), (third["id"], 70, TODAY)]
        )
        assert after["unapplied_amount"] == 180
        assert ledger.postings(credit)[2:] == [(TODAY, {"2000": -30, "1260": 30})]
        assert status_of(shop, first) == ("received", 100)
        assert status_of(shop, third) == ("partially_paid", 30)

    def test_an_empty_list_releases_everything_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        credit = vendor_credited(shop, vendor, 100, share(bill, 100))
        after = put(shop, credit, allocations=[])
        assert (after["status"], after["applied_amount"]) == ("received", 0)
        assert ledger.postings(credit)[1:] == [
            (CREDITED, {"2000": 100, "1260": -100}),
            (TODAY, {"2000": -100, "1260": 100}),
        ]
        assert status_of(shop, bill) == ("received", 100)

    def test_what_a_vendor_owes_is_used_whatever_its_status(
        self, shop: Business, ledger: Ledger
    ) -> None:
        doubtful = shop.vendor()
        bill, credit = received(shop, doubtful, 100), vendor_credited(shop, doubtful, 100)
        draft = shop.made(CREDITS, vendor_credit_body(doubtful))
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": "BLOCKED"})
        assert put(shop, credit, allocations=[share(bill, 100)])["status"] == "applied"
        assert refused(shop, ledger, draft, received_at=CREDITED_AT) == (409, "vendor_not_active")
        assert put(shop, credit, allocations=[])["status"] == "received"

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill, credit = received(shop, vendor, 100), vendor_credited(shop, vendor, 100)
        with ledger.untouched():
            seen = shop.api.put(
                f"{CREDITS}{credit['id']}/?preview=true", json={"allocations": [share(bill, 9)]}
            ).json()
        [entry] = seen["journal_entries"]
        assert (seen["applied_amount"], entry["entry_date"]) == (9, TODAY)

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        path = f"{CREDITS}{vendor_credited(shop, vendor, 10)['id']}/"
        keeps_its_key_and_version(shop, ledger, "PUT", path, "memo")

    def test_it_refuses_and_changes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill, foreign = received(shop, vendor, 100), received(shop, shop.vendor(), 100)
        credit, draft = (
            vendor_credited(shop, vendor, 150),
            shop.made(CREDITS, vendor_credit_body(vendor)),
        )
        void = vendor_credited(shop, vendor, 10)
        shop.api.post(f"{CREDITS}{void['id']}/void/")
        for which, body, status, code in (
            (credit, {"received_at": "2025-03-06T09:00:00Z"}, 422, "immutable_field"),
            (credit, {"allocations": [share(bill, 101)]}, 422, "allocation_exceeds_outstanding"),
            (credit, {"allocations": [share(bill, 100), share(received(shop, vendor), 51)]}, 422,
             "allocation_exceeds_total"),
            (credit, {"allocations": [share(foreign, 1)]}, 422, "bill_vendor_mismatch"),
            (credit, {"allocations": [share({"id": NOBODY}, 1)]}, 422, "reference_not_found"),
            (credit, {"allocations": [share(bill, 1)] * 2}, 400, "validation_error"),
            (credit, {"vendor_id": vendor["id"]}, 400, "validation_error"),
            (draft, {"allocations": [share(bill, 1)]}, 409, "credit_not_sent"),
            (void, {"memo": "x"}, 409, "invalid_state_transition"),
            ({"id": NOBODY}, {}, 404, "vendor_credit_not_found"),
        ):  # fmt: skip
            assert refused(shop, ledger, which, **body) == (status, code)


class TestVoidVendorCredit:
    def test_it_mirrors_what_stands(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        credit = vendor_credited(shop, vendor, 100)
        shown = shop.api.post(
            f"{CREDITS}{credit['id']}/void/", json={"voided_at": "2025-03-20T12:00:00Z"}
        ).json()
        assert (shown["status"], shown["unapplied_amount"]) == ("void", 0)
        assert shown["vendor_credit_number"] == credit["vendor_credit_number"]
        first, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == ("2025-03-20", first.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in first.lines)

    def test_without_a_day_it_is_voided_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 100)
        shop.api.post(f"{CREDITS}{credit['id']}/void/")
        assert ledger.entries(credit)[-1].on == TODAY

    def test_not_while_it_is_applied(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        credit = vendor_credited(shop, vendor, 100, share(received(shop, vendor), 40))
        with ledger.untouched():
            answer = shop.api.post(f"{CREDITS}{credit['id']}/void/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "credit_applied")
        put(shop, credit, allocations=[])
        assert shop.api.post(f"{CREDITS}{credit['id']}/void/").status_code == 200
        kept = sum(entry.amounts.get("1260", 0) for entry in ledger.entries(credit))
        assert kept == 0

    def test_only_a_received_one_and_only_once(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        draft, void = (
            shop.made(CREDITS, vendor_credit_body(vendor)),
            vendor_credited(shop, vendor, 10),
        )
        shop.api.post(f"{CREDITS}{void['id']}/void/")
        for credit, state, following in ((draft, "draft", ["received"]), (void, "void", [])):
            with ledger.untouched():
                answer = shop.api.post(f"{CREDITS}{credit['id']}/void/")
            assert answer.json()["error_code"] == "invalid_state_transition"
            detail = {"current_state": state, "allowed_next_states": following}
            assert (answer.status_code, answer.json()["detail"]) == (409, detail)

    def test_not_into_a_locked_period(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        credit = vendor_credited(shop, vendor, 10)
        with ledger.locked("2025-03-31"), ledger.untouched():
            answer = shop.api.post(
                f"{CREDITS}{credit['id']}/void/", json={"voided_at": "2025-03-31T00:00:00Z"}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")

    def test_a_key_a_version_and_a_preview(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        path = f"{CREDITS}{vendor_credited(shop, vendor, 10)['id']}/void/"
        with ledger.untouched():
            stale = shop.api.post(path, headers={"If-Match": '"2"'})
            seen = shop.api.post(f"{path}?preview=true").json()
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        assert (seen["status"], len(seen["journal_entries"])) == ("void", 1)
        headers = {"Idempotency-Key": str(uuid4())}
        first = shop.api.post(path, headers=headers)
        with ledger.untouched():
            assert shop.api.post(path, headers=headers).content == first.content

    def test_one_of_another_business_is_not_there(
        self, shop: Business, ledger: Ledger, rival: Partner
    ) -> None:
        elsewhere = rival.business()
        foreign = vendor_credited(elsewhere, elsewhere.vendor(), 10)
        for id_ in (foreign["id"], NOBODY):
            for method, path in (("POST", f"{CREDITS}{id_}/void/"), ("GET", f"{CREDITS}{id_}/")):
                answer = shop.api.request(method, path)
                assert answer.status_code == 404
                assert answer.json()["error_code"] == "vendor_credit_not_found"

    def test_its_bill_is_free_to_be_voided_after_it(self, shop: Business, vendor: Record) -> None:
        bill = received(shop, vendor, 100)
        credit = vendor_credited(shop, vendor, 100, share(bill, 100))
        put(shop, credit, allocations=[])
        shop.api.post(f"{CREDITS}{credit['id']}/void/")
        assert shop.api.post(f"{BILLS}{bill['id']}/void/").json()["status"] == "voided"


@pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED", "ARCHIVED"])
class TestVendorsThatAreNotActive:
    def test_take_no_new_business(self, shop: Business, ledger: Ledger, status: str) -> None:
        gone = shop.vendor()
        if status == "ARCHIVED":
            shop.api.post(f"vendors/{gone['id']}/archive/")
        else:
            shop.api.patch(f"vendors/{gone['id']}/", json={"status": status})
        outlay = {"amount_cents": 5, "payment_date": CREDITED, "currency": "GBP",
                  "payment_method": "cash"}  # fmt: skip
        lines = {"line_items": [{"quantity": 1, "unit_price": 5}]}
        for path, body in (
            (BILLS, lines),
            (BILLS, {**lines, "received_at": CREDITED_AT}),
            ("bills/payments/", outlay),
            ("bills/payments/", {**outlay, "status": "pending"}),
            (CREDITS, {"line_items": [{"amount": 5}]}),
            (CREDITS, {"line_items": [{"amount": 5}], "received_at": CREDITED_AT}),
        ):
            with ledger.untouched():
                answer = shop.api.post(path, json={"vendor_id": gone["id"], **body})
            assert (answer.status_code, answer.json()["error_code"]) == (409, "vendor_not_active")
            assert answer.json()["detail"] == {"status": status, "vendor_id": gone["id"]}
