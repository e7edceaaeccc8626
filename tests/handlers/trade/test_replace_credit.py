"""replace_customer_credit and replace_vendor_credit: open, apply, release, keep and clear."""

from collections import Counter
from datetime import timedelta

import pytest

from tests.builders.trade import CREDITED, CREDITED_AT, PURCHASES, SALES, Record, line, read
from tests.clock import today
from tests.handlers.trade.side import Side

TODAY = str(today())
DESCRIBED = {"memo": "kept", "tags": ["a", "b"], "metadata": {"m": 1}}


def put(side: Side, credit: Record, **body: object) -> Record:
    answer = side.api.put(side.trade.of_credit(credit), json=body)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()
    return changed


def held(side: Side, credit: Record) -> list[tuple[str, int, str]]:
    """Return document, amount and day of each allocation."""
    return [
        (each[f"{side.trade.noun}_id"], each["amount_cents"], each["applied_at"][:10])
        for each in credit["allocations"]
    ]


@pytest.fixture
def document(side: Side) -> Record:
    """An invoice or a bill of 100."""
    return side.open(100)


@pytest.fixture
def draft(side: Side) -> Record:
    return side.credit_draft(**DESCRIBED)


class Replacement:
    def test_a_replacement_clears_descriptions_and_keeps_other_fields(
        self, side: Side, document: Record
    ) -> None:
        facts = {**DESCRIBED, "external_id": "put-1", side.trade.source: document["id"]}
        before = side.credit(150, side.trade.share(document, 100), **facts)
        posted = len(side.ledger.entries())
        answer = side.api.put(side.trade.of_credit(before), json={})
        after = answer.json()
        cleared: Record = {"memo": None, "tags": [], "metadata": None}
        assert after == {**before, **cleared, "updated_at": after["updated_at"]}
        assert (answer.headers["etag"], len(side.ledger.entries())) == ('"2"', posted)
        assert read(side.shop, side.trade.credits, before) == after
        described = put(side, before, **DESCRIBED)
        assert {name: described[name] for name in DESCRIBED} == DESCRIBED

    def test_an_equal_replacement_changes_nothing(self, side: Side, document: Record) -> None:
        share = side.trade.share(document, 60)
        credit = side.credit(150, share, **DESCRIBED)
        for same in ({}, {"allocations": [share]}, {side.trade.moment: CREDITED_AT}):
            with side.ledger.untouched():
                answer = side.api.put(side.trade.of_credit(credit), json={**DESCRIBED, **same})
            assert (answer.json(), answer.headers["etag"]) == (credit, '"1"')

    def test_a_moment_opens_a_draft(self, side: Side, draft: Record) -> None:
        moment = {side.trade.moment: CREDITED_AT}
        shown = put(side, draft, **moment)
        assert (shown["status"], shown[side.trade.moment]) == (side.trade.opened, CREDITED_AT)
        assert (shown["memo"], shown["unapplied_amount"]) == (None, 1_000)
        assert shown[side.trade.credit_number].startswith(side.trade.credit_series)
        [entry] = side.ledger.entries(draft)
        assert (entry.on, entry.amounts) == (CREDITED, side.trade.posted_by_credit(1_000))
        assert entry.reference == shown[side.trade.credit_number]
        number = {side.trade.credit_number: "Own-3"}
        given = side.credit_draft(**number)
        assert put(side, given, **moment)[side.trade.credit_number] == "Own-3"

    def test_applications_of_a_draft_opened_by_the_replacement_are_dated_today(
        self, side: Side, document: Record, draft: Record
    ) -> None:
        given = {side.trade.moment: CREDITED_AT, "allocations": [side.trade.share(document, 40)]}
        shown = put(side, draft, **given)
        assert shown["status"] == "partially_applied"
        assert held(side, shown) == [(document["id"], 40, TODAY)]
        assert side.ledger.postings(draft) == [
            (CREDITED, side.trade.posted_by_credit(1_000)),
            (TODAY, side.trade.posted_by_applying(40)),
        ]

    def test_a_draft_is_described_anew_and_stays_one(self, side: Side, draft: Record) -> None:
        shown = put(side, draft, memo="new", allocations=[])
        assert (shown["status"], shown["memo"]) == ("draft", "new")
        assert shown[side.trade.credit_number] is None
        assert side.ledger.entries(draft) == []

    def test_a_list_replaces_the_list_and_what_it_repeats_keeps_its_day(self, side: Side) -> None:
        first, second, third = (side.open(100) for _ in range(3))
        kept = side.trade.share(second, 50)
        credit = side.credit(300, side.trade.share(first, 100), kept)
        after = put(side, credit, allocations=[side.trade.share(third, 70), kept])
        assert sorted(held(side, after)) == sorted(
            [(second["id"], 50, CREDITED), (third["id"], 70, TODAY)]
        )
        assert (after["status"], after["unapplied_amount"]) == ("partially_applied", 180)
        assert side.ledger.postings(credit)[2:] == [(TODAY, side.trade.posted_by_applying(-30))]
        change = side.ledger.entries(credit)[-1]
        amounts = (
            (side.trade.control, -70),
            (side.trade.control, 100),
            (side.trade.credit_control, -30),
        )
        assert sorted(change.lines) == sorted(
            (code, side.trade.sign * each) for code, each in amounts
        )
        title = f"{side.trade.credit_title[0].lower()}{side.trade.credit_title[1:]}"
        name = side.counterparty["company_name"]
        assert change.description == f"Change of {title} {name}, applied"
        assert side.status_of(first) == (side.trade.opened, 100)
        assert side.status_of(second) == ("partially_paid", 50)
        assert side.status_of(third) == ("partially_paid", 30)

    def test_a_new_amount_for_a_document_begins_today(self, side: Side, document: Record) -> None:
        credit = side.credit(300, side.trade.share(document, 60))
        after = put(side, credit, allocations=[side.trade.share(document, 100)])
        assert held(side, after) == [(document["id"], 100, TODAY)]
        assert side.ledger.postings(credit)[2:] == [(TODAY, side.trade.posted_by_applying(40))]
        shown = side.read(document)
        assert (shown["status"], shown["paid_at"]) == ("paid", f"{TODAY}T00:00:00Z")
        [allocation] = shown[side.trade.credit_allocations]
        assert (allocation["amount_cents"], allocation["applied_at"][:10]) == (100, TODAY)

    def test_an_empty_list_releases_everything_today(self, side: Side, document: Record) -> None:
        credit = side.credit(100, side.trade.share(document, 100))
        assert credit["status"] == "applied"
        after = put(side, credit, allocations=[])
        assert (after["status"], after["applied_amount"]) == (side.trade.opened, 0)
        assert after["allocations"] == []
        assert side.ledger.postings(credit)[1:] == [
            (CREDITED, side.trade.posted_by_applying(100)),
            (TODAY, side.trade.posted_by_applying(-100)),
        ]
        assert side.status_of(document) == (side.trade.opened, 100)
        shown = side.read(document)
        assert (shown["paid_at"], shown[side.trade.credit_allocations]) == (None, [])

    def test_a_released_application_returns_its_own_parts(self, side: Side) -> None:
        # Parts of 100 net and 20 tax are credited; each release returns its own parts.
        taxed = line(100, sales_taxes=[{"amount": 20}])
        document = side.open(line_items=[taxed])
        lines = [{"amount": 50, "tax_amount_cents": 50}]
        credit = side.credit(0, side.trade.share(document, 33), line_items=lines)
        put(side, credit, allocations=[])
        put(side, credit, allocations=[side.trade.share(document, 100)])
        side.pay(20, side.trade.part(document, 20))
        for id_, parts in ((document["id"], [20, 100]), (credit["id"], [50, 50])):
            rows = side.ledger.ask(
                "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
                " AND l.settles_id = %(id)s",
                id=id_,
            )
            total: Counter[str] = Counter()
            for (split,) in rows:
                for account, amount in split:
                    total[account] += amount
            assert sorted(map(abs, total.values())) == parts
        assert side.status_of(document) == ("paid", 0)

    def test_a_later_application_waits_for_a_later_document(self, side: Side) -> None:
        ahead = str(today() + timedelta(days=9))
        document = side.open(100, **side.trade.on(ahead))
        credit = put(side, side.credit(100), allocations=[side.trade.share(document, 100)])
        assert held(side, credit) == [(document["id"], 100, ahead)]
        assert side.ledger.postings(credit)[-1] == (ahead, side.trade.posted_by_applying(100))

    def test_a_released_application_keeps_its_day_when_the_document_moves(
        self, side: Side, document: Record
    ) -> None:
        credit = side.credit(100, side.trade.share(document, 100))
        put(side, credit, allocations=[])
        later = side.body(line(100), **side.trade.on(TODAY))
        assert side.api.put(side.trade.of(document), json=later).status_code == 200
        assert side.ledger.entries(document)[-1].on == TODAY
        posted = side.ledger.entries()
        put(side, credit, memo="Released before the document moved")
        assert side.ledger.entries() == posted

    def test_the_credit_of_an_archived_party_may_still_be_described(self, side: Side) -> None:
        gone = side.with_new_party()
        credit = gone.credit(100, side.trade.share(gone.open(100), 100))
        archive = side.trade.of_party(gone.counterparty, "archive")
        assert side.api.post(archive).status_code == 200
        assert put(side, credit, memo="new")["memo"] == "new"


class TestReplaceCustomerCredit(Replacement):
    trade = SALES


class TestReplaceVendorCredit(Replacement):
    trade = PURCHASES

    def test_a_credit_of_a_vendor_in_any_status_can_be_applied(self, side: Side) -> None:
        blocked = side.with_new_party()
        bill, credit, draft = blocked.open(100), blocked.credit(100), blocked.credit_draft()
        side.api.patch(side.trade.of_party(blocked.counterparty), json={"status": "BLOCKED"})
        shares = [side.trade.share(bill, 100)]
        assert put(side, credit, allocations=shares)["status"] == "applied"
        moment = {"received_at": CREDITED_AT}
        fault = side.ledger.refused("PUT", side.trade.of_credit(draft), json=moment)
        assert fault == (409, "vendor_not_active")
        assert put(side, credit, allocations=[])["status"] == "received"
