"""replace_customer_credit and replace_vendor_credit: opened, applied, released, kept, cleared."""

from collections import Counter
from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import CREDITED, CREDITED_AT, PURCHASES, SALES, Record, Trade, line, read
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
DESCRIBED = {"memo": "kept", "tags": ["a", "b"], "metadata": {"m": 1}}


def put(shop: Business, trade: Trade, credit: Record, **body: object) -> Record:
    answer = shop.api.put(trade.of_credit(credit), json=body)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()
    return changed


def held(trade: Trade, credit: Record) -> list[tuple[str, int, str]]:
    return [
        (each[f"{trade.noun}_id"], each["amount_cents"], each["applied_at"][:10])
        for each in credit["allocations"]
    ]


@pytest.fixture
def document(shop: Business, trade: Trade, party: Record) -> Record:
    """An invoice or a bill of 100."""
    return trade.open(shop, party, 100)


@pytest.fixture
def draft(shop: Business, trade: Trade, party: Record) -> Record:
    return shop.made(trade.credits, trade.credit_body(party, **DESCRIBED))


class Replacing:
    def test_a_replacement_clears_descriptions_and_keeps_other_fields(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        facts = {**DESCRIBED, "external_id": "put-1", trade.source: document["id"]}
        before = trade.credit(shop, party, 150, trade.share(document, 100), **facts)
        posted = len(ledger.entries())
        answer = shop.api.put(trade.of_credit(before), json={})
        after = answer.json()
        cleared = {"memo": None, "tags": [], "metadata": None}
        assert after == {**before, **cleared, "updated_at": after["updated_at"]}
        assert (answer.headers["etag"], len(ledger.entries())) == ('"2"', posted)
        assert read(shop, trade.credits, before) == after
        described = put(shop, trade, before, **DESCRIBED)
        assert {name: described[name] for name in DESCRIBED} == DESCRIBED

    def test_an_equal_replacement_changes_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        share = trade.share(document, 60)
        credit = trade.credit(shop, party, 150, share, **DESCRIBED)
        for same in ({}, {"allocations": [share]}, {trade.moment: CREDITED_AT}):
            with ledger.untouched():
                answer = shop.api.put(trade.of_credit(credit), json={**DESCRIBED, **same})
            assert (answer.json(), answer.headers["etag"]) == (credit, '"1"')

    def test_a_moment_opens_a_draft(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, draft: Record
    ) -> None:
        moment = {trade.moment: CREDITED_AT}
        shown = put(shop, trade, draft, **moment)
        assert (shown["status"], shown[trade.moment]) == (trade.opened, CREDITED_AT)
        assert (shown["memo"], shown["unapplied_amount"]) == (None, 1_000)
        assert shown[trade.credit_number].startswith(trade.credit_series)
        [entry] = ledger.entries(draft)
        assert (entry.on, entry.amounts) == (CREDITED, trade.posted_by_credit(1_000))
        assert entry.reference == shown[trade.credit_number]
        number = {trade.credit_number: "Own-3"}
        given = shop.made(trade.credits, trade.credit_body(party, **number))
        assert put(shop, trade, given, **moment)[trade.credit_number] == "Own-3"

    def test_applications_of_a_draft_opened_by_the_replacement_are_dated_today(
        self, shop: Business, ledger: Ledger, trade: Trade, document: Record, draft: Record
    ) -> None:
        given = {trade.moment: CREDITED_AT, "allocations": [trade.share(document, 40)]}
        shown = put(shop, trade, draft, **given)
        assert shown["status"] == "partially_applied"
        assert held(trade, shown) == [(document["id"], 40, TODAY)]
        assert ledger.postings(draft) == [
            (CREDITED, trade.posted_by_credit(1_000)),
            (TODAY, trade.posted_by_applying(40)),
        ]

    def test_a_draft_is_described_anew_and_stays_one(
        self, shop: Business, ledger: Ledger, trade: Trade, draft: Record
    ) -> None:
        shown = put(shop, trade, draft, memo="new", allocations=[])
        assert (shown["status"], shown["memo"]) == ("draft", "new")
        assert shown[trade.credit_number] is None
        assert ledger.entries(draft) == []

    def test_a_list_replaces_the_list_and_what_it_repeats_keeps_its_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second, third = (trade.open(shop, party, 100) for _ in range(3))
        kept = trade.share(second, 50)
        credit = trade.credit(shop, party, 300, trade.share(first, 100), kept)
        after = put(shop, trade, credit, allocations=[trade.share(third, 70), kept])
        assert sorted(held(trade, after)) == sorted(
            [(second["id"], 50, CREDITED), (third["id"], 70, TODAY)]
        )
        assert (after["status"], after["unapplied_amount"]) == ("partially_applied", 180)
        assert ledger.postings(credit)[2:] == [(TODAY, trade.posted_by_applying(-30))]
        change = ledger.entries(credit)[-1]
        amounts = ((trade.control, -70), (trade.control, 100), (trade.credit_control, -30))
        assert sorted(change.lines) == sorted((code, trade.sign * each) for code, each in amounts)
        title = f"{trade.credit_title[0].lower()}{trade.credit_title[1:]}"
        assert change.description == f"Change of {title} {party['company_name']}, applied"
        assert trade.status_of(shop, first) == (trade.opened, 100)
        assert trade.status_of(shop, second) == ("partially_paid", 50)
        assert trade.status_of(shop, third) == ("partially_paid", 30)

    def test_a_new_amount_for_a_document_begins_today(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        credit = trade.credit(shop, party, 300, trade.share(document, 60))
        after = put(shop, trade, credit, allocations=[trade.share(document, 100)])
        assert held(trade, after) == [(document["id"], 100, TODAY)]
        assert ledger.postings(credit)[2:] == [(TODAY, trade.posted_by_applying(40))]
        shown = trade.read(shop, document)
        assert (shown["status"], shown["paid_at"]) == ("paid", f"{TODAY}T00:00:00Z")
        [allocation] = shown[trade.credit_allocations]
        assert (allocation["amount_cents"], allocation["applied_at"][:10]) == (100, TODAY)

    def test_an_empty_list_releases_everything_today(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        credit = trade.credit(shop, party, 100, trade.share(document, 100))
        assert credit["status"] == "applied"
        after = put(shop, trade, credit, allocations=[])
        assert (after["status"], after["applied_amount"]) == (trade.opened, 0)
        assert after["allocations"] == []
        assert ledger.postings(credit)[1:] == [
            (CREDITED, trade.posted_by_applying(100)),
            (TODAY, trade.posted_by_applying(-100)),
        ]
        assert trade.status_of(shop, document) == (trade.opened, 100)
        shown = trade.read(shop, document)
        assert (shown["paid_at"], shown[trade.credit_allocations]) == (None, [])

    def test_a_released_application_returns_its_own_parts(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        # 100 net and 20 of tax, credited in parts: the parts of the first come back.
        taxed = line(100, sales_taxes=[{"amount": 20}])
        document = trade.open(shop, party, line_items=[taxed])
        lines = [{"amount": 50, "tax_amount_cents": 50}]
        credit = trade.credit(shop, party, 0, trade.share(document, 33), line_items=lines)
        put(shop, trade, credit, allocations=[])
        put(shop, trade, credit, allocations=[trade.share(document, 100)])
        trade.pay(shop, party, 20, trade.part(document, 20))
        for id_, parts in ((document["id"], [20, 100]), (credit["id"], [50, 50])):
            rows = ledger.ask(
                "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
                " AND l.settles_id = %(id)s",
                id=id_,
            )
            total: Counter[str] = Counter()
            for (split,) in rows:
                for account, amount in split:
                    total[account] += amount
            assert sorted(map(abs, total.values())) == parts
        assert trade.status_of(shop, document) == ("paid", 0)

    def test_a_later_application_waits_for_a_later_document(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        ahead = str(today() + timedelta(days=9))
        document = trade.open(shop, party, 100, **trade.on(ahead))
        shares = [trade.share(document, 100)]
        credit = put(shop, trade, trade.credit(shop, party, 100), allocations=shares)
        assert held(trade, credit) == [(document["id"], 100, ahead)]
        assert ledger.postings(credit)[-1] == (ahead, trade.posted_by_applying(100))

    def test_a_released_application_keeps_its_day_when_the_document_moves(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        credit = trade.credit(shop, party, 100, trade.share(document, 100))
        put(shop, trade, credit, allocations=[])
        later = trade.body(party, line(100), **trade.on(TODAY))
        assert shop.api.put(trade.of(document), json=later).status_code == 200
        assert ledger.entries(document)[-1].on == TODAY
        posted = ledger.entries()
        put(shop, trade, credit, memo="Released before the document moved")
        assert ledger.entries() == posted

    def test_today_inside_the_lock_counts_as_the_day_after_it(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        until, after = (str(today() + timedelta(days=days)) for days in (0, 1))
        credit = trade.credit(shop, party, 100)
        with ledger.locked(until):
            put(shop, trade, credit, allocations=[trade.share(document, 100)])
        assert ledger.postings(credit)[-1] == (after, trade.posted_by_applying(100))
        assert trade.read(shop, document)["paid_at"][:10] == after

    def test_an_application_in_a_locked_period_is_released_after_the_lock(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, document: Record
    ) -> None:
        credit = trade.credit(shop, party, 100, trade.share(document, 100))
        with ledger.locked("2025-03-31"):
            put(shop, trade, credit, allocations=[])
        assert [on for on, _ in ledger.postings(credit)] == [CREDITED, CREDITED, TODAY]

    def test_the_credit_of_an_archived_party_may_still_be_described(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        gone = trade.somebody(shop)
        credit = trade.credit(shop, gone, 100, trade.share(trade.open(shop, gone, 100), 100))
        assert shop.api.post(trade.of_party(gone, "archive")).status_code == 200
        assert put(shop, trade, credit, memo="new")["memo"] == "new"

    def test_a_preview_shows_the_difference(
        self, shop: Business, trade: Trade, party: Record, document: Record, draft: Record
    ) -> None:
        applied, opened = (
            shop.api.put(f"{trade.of_credit(each)}?preview=true", json=body).json()
            for each, body in (
                (trade.credit(shop, party, 100), {"allocations": [trade.share(document, 9)]}),
                (draft, {trade.moment: CREDITED_AT}),
            )
        )
        assert (applied["status"], applied["applied_amount"]) == ("partially_applied", 9)
        assert applied["allocations"][0][f"{trade.noun}_outstanding_balance_cents"] == 91
        assert [each["entry_date"] for each in applied["journal_entries"]] == [TODAY]
        assert (opened["status"], opened[trade.credit_number]) == (trade.opened, None)
        assert [each["entry_date"] for each in opened["journal_entries"]] == [CREDITED]


class TestReplaceCustomerCredit(Replacing):
    trade = SALES


class TestReplaceVendorCredit(Replacing):
    trade = PURCHASES

    def test_a_credit_of_a_vendor_in_any_status_can_be_applied(
        self, shop: Business, ledger: Ledger
    ) -> None:
        doubtful = shop.vendor()
        bill, credit = (make(shop, doubtful, 100) for make in (PURCHASES.open, PURCHASES.credit))
        draft = shop.made("vendor-credits/", PURCHASES.credit_body(doubtful))
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": "BLOCKED"})
        shares = [PURCHASES.share(bill, 100)]
        assert put(shop, PURCHASES, credit, allocations=shares)["status"] == "applied"
        moment = {"received_at": CREDITED_AT}
        fault = ledger.refused("PUT", PURCHASES.of_credit(draft), json=moment)
        assert fault == (409, "vendor_not_active")
        assert put(shop, PURCHASES, credit, allocations=[])["status"] == "received"
