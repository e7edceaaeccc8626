"""replace_customer_credit: what a PUT sends, applies, releases, keeps and clears."""

from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import credit_body, credited, invoice_body, paid, part, sent, share
from tests.builders.trade import CREDITED, NOBODY, Record, line
from tests.clock import today
from tests.handlers.promises import keeps_its_key_and_version
from tests.partner import Business, Partner

CREDITS = "customer-credits/"
AT = f"{CREDITED}T09:00:00Z"
TODAY = str(today())
DESCRIBED = {"memo": "kept", "tags": ["a", "b"], "metadata": {"m": 1}}


def put(shop: Business, credit: Record, **body: object) -> Record:
    answer = shop.api.put(f"{CREDITS}{credit['id']}/", json=body)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()
    return changed


def held(credit: Record) -> list[tuple[str, int, str]]:
    return [
        (each["invoice_id"], each["amount_cents"], each["applied_at"][:10])
        for each in credit["allocations"]
    ]


def status_of(shop: Business, invoice: Record) -> tuple[str, int]:
    shown = shop.api.get(f"invoices/{invoice['id']}/").json()
    return shown["status"], shown["outstanding_balance"]


class TestReplaceCustomerCredit:
    def test_it_clears_what_only_describes_and_keeps_the_rest(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        facts = {**DESCRIBED, "external_id": "put-1", "source_invoice_id": invoice["id"]}
        before = credited(shop, buyer, 150, share(invoice, 100), **facts)
        posted = len(ledger.entries())
        answer = shop.api.put(f"{CREDITS}{before['id']}/", json={})
        after = answer.json()
        cleared = {"memo": None, "tags": [], "metadata": None}
        assert after == {**before, **cleared, "updated_at": after["updated_at"]}
        assert (answer.headers["etag"], len(ledger.entries())) == ('"2"', posted)
        assert shop.api.get(f"{CREDITS}{before['id']}/").json() == after
        assert {name: put(shop, before, **DESCRIBED)[name] for name in DESCRIBED} == DESCRIBED

    def test_the_same_again_changes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        credit = credited(shop, buyer, 150, share(invoice, 60), **DESCRIBED)
        for same in ({}, {"allocations": [share(invoice, 60)]}, {"sent_at": AT}):
            with ledger.untouched():
                answer = shop.api.put(f"{CREDITS}{credit['id']}/", json={**DESCRIBED, **same})
            assert (answer.json(), answer.headers["etag"]) == (credit, '"1"')

    def test_a_moment_sends_a_draft(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        draft = shop.made(CREDITS, credit_body(buyer, **DESCRIBED))
        shown = put(shop, draft, sent_at=AT)
        assert (shown["status"], shown["sent_at"], shown["memo"]) == ("sent", AT, None)
        assert shown["credit_note_number"].startswith("CN-")
        assert shown["unapplied_amount"] == 1_000
        [entry] = ledger.entries(draft)
        assert (entry.on, entry.amounts) == (CREDITED, {"4100": 1_000, "2250": -1_000})
        assert entry.reference == shown["credit_note_number"]
        given = shop.made(CREDITS, credit_body(buyer, credit_note_number="Own-3"))
        assert put(shop, given, sent_at=AT)["credit_note_number"] == "Own-3"

    def test_one_that_is_sent_on_the_way_is_applied_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 400)
        draft = shop.made(CREDITS, credit_body(buyer))
        shown = put(shop, draft, sent_at=AT, allocations=[share(invoice, 400)])
        assert (shown["status"], held(shown)) == (
            "partially_applied",
            [(invoice["id"], 400, TODAY)],
        )
        assert ledger.postings(draft) == [
            (CREDITED, {"4100": 1_000, "2250": -1_000}),
            (TODAY, {"2250": 400, "1200": -400}),
        ]

    def test_a_draft_is_described_anew_and_stays_one(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        draft = shop.made(CREDITS, credit_body(buyer))
        shown = put(shop, draft, memo="new", allocations=[])
        assert (shown["status"], shown["memo"], shown["credit_note_number"]) == (
            "draft",
            "new",
            None,
        )
        assert ledger.entries(draft) == []

    def test_a_list_replaces_the_list_and_what_it_repeats_keeps_its_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first, second, third = (sent(shop, buyer, 100) for _ in range(3))
        credit = credited(shop, buyer, 300, share(first, 100), share(second, 50))
        after = put(shop, credit, allocations=[share(third, 70), share(second, 50)])
        assert sorted(held(after)) == sorted(
            [(second["id"], 50, CREDITED), (third["id"], 70, TODAY)]
        )
        assert (after["status"], after["unapplied_amount"]) == ("partially_applied", 180)
        assert ledger.postings(credit)[2:] == [(TODAY, {"2250": -30, "1200": 30})]
        change = ledger.entries(credit)[-1]
        assert sorted(change.lines) == [("1200", -70), ("1200", 100), ("2250", -30)]
        assert change.description == "Change of credit note to Blue Door Bakery, applied"
        assert status_of(shop, first) == ("sent", 100)
        assert status_of(shop, second) == ("partially_paid", 50)
        assert status_of(shop, third) == ("partially_paid", 30)

    def test_another_amount_for_the_same_invoice_begins_anew_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        credit = credited(shop, buyer, 300, share(invoice, 60))
        assert held(put(shop, credit, allocations=[share(invoice, 100)])) == [
            (invoice["id"], 100, TODAY)
        ]
        assert ledger.postings(credit)[2:] == [(TODAY, {"2250": 40, "1200": -40})]
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert (shown["status"], shown["paid_at"]) == ("paid", f"{TODAY}T00:00:00Z")
        [allocation] = shown["credit_allocations"]
        assert (allocation["amount_cents"], allocation["applied_at"][:10]) == (100, TODAY)

    def test_an_empty_list_releases_everything_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        credit = credited(shop, buyer, 100, share(invoice, 100))
        assert credit["status"] == "applied"
        after = put(shop, credit, allocations=[])
        assert (after["status"], after["applied_amount"], after["allocations"]) == ("sent", 0, [])
        assert ledger.postings(credit)[1:] == [
            (CREDITED, {"2250": 100, "1200": -100}),
            (TODAY, {"2250": -100, "1200": 100}),
        ]
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert (shown["status"], shown["paid_at"], shown["credit_allocations"]) == (
            "sent",
            None,
            [],
        )

    def test_what_is_released_gives_its_own_parts_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        # 100 of sales and 20 of tax, credited in parts: the parts of the first come back.
        taxed = line(100, sales_taxes=[{"amount": 20}])
        invoice = shop.made("invoices/", invoice_body(buyer, taxed, sent_at="2025-03-01T00:00:00Z"))
        body = credit_body(buyer, {"amount": 50, "tax_amount_cents": 50}, sent_at=AT)
        credit = shop.made(CREDITS, {**body, "allocations": [share(invoice, 33)]})
        put(shop, credit, allocations=[])
        put(shop, credit, allocations=[share(invoice, 100)])
        paid(shop, buyer, 20, part(invoice, 20))
        for id_, parts in ((invoice["id"], [20, 100]), (credit["id"], [50, 50])):
            rows = ledger.ask(
                "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
                " AND l.settles_id = %(id)s",
                id=id_,
            )
            total: dict[str, int] = {}
            for (split,) in rows:
                for account, amount in split:
                    total[account] = total.get(account, 0) + amount
            assert sorted(map(abs, total.values())) == parts
        assert status_of(shop, invoice) == ("paid", 0)

    def test_a_later_application_waits_for_a_later_invoice(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        ahead = str(today() + timedelta(days=9))
        invoice = sent(shop, buyer, 100, sent_at=f"{ahead}T09:00:00Z")
        credit = put(shop, credited(shop, buyer, 100), allocations=[share(invoice, 100)])
        assert held(credit) == [(invoice["id"], 100, ahead)]
        assert ledger.postings(credit)[-1] == (ahead, {"2250": 100, "1200": -100})

    def test_what_was_released_stays_where_it_was_when_the_invoice_moves(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        credit = credited(shop, buyer, 100, share(invoice, 100))
        put(shop, credit, allocations=[])
        later = {**invoice_body(buyer, line(100)), "sent_at": f"{today()}T00:00:00Z"}
        assert shop.api.put(f"invoices/{invoice['id']}/", json=later).status_code == 200
        posted = ledger.entries()
        put(shop, credit, memo="Released before the invoice moved")
        assert ledger.entries() == posted

    def test_today_inside_the_lock_counts_as_the_day_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        until, after = today() + timedelta(days=1), str(today() + timedelta(days=2))
        invoice = sent(shop, buyer, 100)
        credit = credited(shop, buyer, 100)
        with ledger.locked(str(until)):
            put(shop, credit, allocations=[share(invoice, 100)])
        assert ledger.postings(credit)[-1] == (after, {"2250": 100, "1200": -100})
        assert shop.api.get(f"invoices/{invoice['id']}/").json()["paid_at"][:10] == after

    def test_what_was_applied_inside_the_lock_is_released_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 100, share(sent(shop, buyer, 100), 100))
        with ledger.locked("2025-03-31"):
            put(shop, credit, allocations=[])
        assert [on for on, _ in ledger.postings(credit)] == [CREDITED, CREDITED, TODAY]

    def test_an_archived_customers_credit_may_still_be_described(
        self, shop: Business, ledger: Ledger
    ) -> None:
        gone = shop.customer()
        credit = credited(shop, gone, 100)
        assert shop.api.post(f"customers/{gone['id']}/archive/").status_code == 200
        assert put(shop, credit, memo="new")["memo"] == "new"

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        path = f"{CREDITS}{credited(shop, buyer, 10)['id']}/"
        keeps_its_key_and_version(shop, ledger, "PUT", path, "memo")

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        credit = credited(shop, buyer, 100)
        draft = shop.made(CREDITS, credit_body(buyer))
        with ledger.untouched():
            applied = shop.api.put(
                f"{CREDITS}{credit['id']}/?preview=true", json={"allocations": [share(invoice, 9)]}
            ).json()
            opened = shop.api.put(
                f"{CREDITS}{draft['id']}/?preview=true", json={"sent_at": AT}
            ).json()
        assert applied["status"] == "partially_applied"
        assert applied["allocations"][0]["invoice_outstanding_balance_cents"] == 91
        [entry] = applied["journal_entries"]
        assert (entry["entry_date"], entry["sequence_number"]) == (TODAY, None)
        assert (opened["status"], opened["credit_note_number"]) == ("sent", None)
        assert [each["entry_date"] for each in opened["journal_entries"]] == [CREDITED]

    def test_one_of_another_business_is_not_there(
        self, shop: Business, ledger: Ledger, rival: Partner
    ) -> None:
        elsewhere = rival.business()
        foreign = credited(elsewhere, elsewhere.customer(), 10)
        for id_ in (foreign["id"], NOBODY):
            answer = shop.api.put(f"{CREDITS}{id_}/", json={"memo": "mine"})
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "customer_credit_not_found"
        assert elsewhere.api.get(f"{CREDITS}{foreign['id']}/").json() == foreign


class TestRefusalsOfReplaceCustomerCredit:
    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"allocations": [{"invoice_id": NOBODY, "amount": 0}]}, "allocations.0.amount"),
            ({"allocations": None}, "allocations"),
            ({"sent_at": "tomorrow"}, "sent_at"),
            ({"sent_at": None}, "sent_at"),
            ({"memo": 7}, "memo"),
            ({"line_items": [{"amount": 1}]}, "line_items"),
            ({"customer_id": NOBODY}, "customer_id"),
            ({"credit_note_number": "X"}, "credit_note_number"),
            ({"external_id": "X"}, "external_id"),
            ({"source_invoice_id": NOBODY}, "source_invoice_id"),
        ],
    )
    def test_what_the_request_alone_shows_to_be_wrong(
        self, shop: Business, ledger: Ledger, buyer: Record, body: Record, field: str
    ) -> None:
        credit = credited(shop, buyer, 10)
        with ledger.untouched():
            answer = shop.api.put(f"{CREDITS}{credit['id']}/", json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    @pytest.mark.parametrize("moment", ["2025-03-05T09:00:01Z", "2025-03-04T09:00:00Z"])
    def test_the_moment_of_sending_does_not_change(
        self, shop: Business, ledger: Ledger, buyer: Record, moment: str
    ) -> None:
        credit = credited(shop, buyer, 10)
        with ledger.untouched():
            answer = shop.api.put(f"{CREDITS}{credit['id']}/", json={"sent_at": moment})
        assert (answer.status_code, answer.json()["error_code"]) == (422, "immutable_field")
        assert answer.json()["detail"] == {"field": "sent_at"}

    def test_its_own_allocation_does_not_stand_in_its_way(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, other = sent(shop, buyer, 100), sent(shop, buyer, 100)
        credit = credited(shop, buyer, 100, share(invoice, 60))
        put(shop, credit, allocations=[share(invoice, 100)])
        assert status_of(shop, invoice) == ("paid", 0)
        put(shop, credit, allocations=[share(other, 100)])
        assert status_of(shop, invoice) == ("sent", 100)
        assert status_of(shop, other) == ("paid", 0)
