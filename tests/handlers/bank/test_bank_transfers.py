"""Transfers between two bank accounts of a business: two lines and one entry."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import TRANSFER, Bank, left, matching
from tests.builders.trade import Record


@pytest.fixture(scope="module")
def savings(bank: Bank) -> Bank:
    return bank


def other_of(line: Record) -> str | None:
    [link] = line["links"]
    other: str | None = link["other_bank_transaction_id"]
    return other


class TestMatchBankTransaction:
    def test_two_lines_are_one_transfer_and_one_entry(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        out = current.line(-500, date="2025-03-12")
        come = savings.line(500, date="2025-03-14")
        done = savings.match(come, TRANSFER, out)
        assert (left(done), left(current.read(out))) == ((500, 0, 0), (500, 0, 0))
        assert (other_of(done), other_of(current.read(out))) == (out["id"], come["id"])
        assert savings.read(come) == done
        [link] = done["links"]
        [entry] = ledger.entries({"id": link["target_id"]})
        assert (entry.on, entry.source_type) == ("2025-03-12", "bank_transfer")
        assert entry.lines == ((savings.code, 500), (current.code, -500))
        assert entry.description == "Transfer between bank accounts"

    def test_the_line_that_comes_first_waits_and_the_other_posts_nothing_more(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        come = savings.line(300, date="2025-03-12")
        with ledger.moving() as moves:
            waiting = savings.transfer(come, current, memo="Back")
        assert moves == {savings.code: 300, current.code: -300}
        assert (left(waiting), other_of(waiting)) == ((300, 0, 0), None)
        assert waiting["links"][0]["memo"] == "Back"
        out = current.line(-300, date="2025-03-13")
        with ledger.moving() as moves:
            done = current.match(out, TRANSFER, come)
        assert (moves, left(done), other_of(done)) == ({}, (300, 0, 0), come["id"])
        assert other_of(savings.read(come)) == out["id"]

    def test_the_one_that_waits_is_matched_with_the_one_that_has_come(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        out = current.line(-310)
        current.transfer(out, savings)
        come = savings.line(310)
        with ledger.moving() as moves:
            done = current.match(out, TRANSFER, come)
        assert (moves, left(done), other_of(done)) == ({}, (310, 0, 0), come["id"])
        assert left(savings.read(come)) == (310, 0, 0)

    def test_an_earlier_line_takes_the_entry_to_its_day(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        out = current.line(-320, date="2025-03-12")
        [link] = current.transfer(out, savings)["links"]
        savings.match(savings.line(320, date="2025-03-11"), TRANSFER, out)
        posted = ledger.postings({"id": link["target_id"]})
        assert sorted(on for on, _ in posted) == ["2025-03-11", "2025-03-12", "2025-03-12"]
        assert [amounts for on, amounts in posted if on == "2025-03-11"] == [
            {savings.code: 320, current.code: -320}
        ]

    def test_a_part_of_a_line_is_a_transfer(self, current: Bank, savings: Bank) -> None:
        out, come = current.line(-100), savings.line(60)
        assert left(current.match(out, TRANSFER, come)) == (60, 0, 40)
        assert left(current.transfer(out, savings, amount_cents=15)) == (75, 0, 25)

    def test_refusals_change_nothing(self, ledger: Ledger, current: Bank, savings: Bank) -> None:
        line, same, own = current.line(-40), savings.line(-40), current.line(40)
        used = savings.line(40)
        savings.categorize(used, "4500")
        waiting = savings.line(41)
        savings.transfer(waiting, current)
        nobody = {"id": current.account["id"]}
        own_account = {"target_type": TRANSFER, "bank_account_id": current.account["id"]}
        no_account = {"target_type": TRANSFER, "bank_account_id": line["id"]}
        with ledger.untouched():
            for body, code in (
                (matching(TRANSFER, same), "link_direction_mismatch"),
                (matching(TRANSFER, own), "same_account"),
                (matching(TRANSFER, used), "link_exceeds_remaining"),
                (matching(TRANSFER, waiting), "link_exceeds_remaining"),
                (matching(TRANSFER, savings.account), "reference_not_found"),
                (matching(TRANSFER, nobody), "reference_not_found"),
                (own_account, "same_account"),
                (no_account, "reference_not_found"),
            ):
                assert current.refused(line, "match", body) == (422, code), body

    def test_a_target_is_named_one_way(self, current: Bank, savings: Bank) -> None:
        line, there = current.line(-40), savings.account["id"]
        both = {"target_id": savings.line(40)["id"], "bank_account_id": there}
        for body in (
            {"target_type": TRANSFER},
            {"target_type": TRANSFER, **both},
            {"target_type": "payout"},
            {"target_type": "payout", "bank_account_id": there},
        ):
            answer = current.ask(line, "match", body)
            assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
            assert list(answer.json()["detail"]["field_errors"]) == ["target_id"]

    def test_nothing_is_posted_inside_the_lock(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        out, come = current.line(-50), savings.line(50, date="2025-04-02")
        waiting = {"target_type": TRANSFER, "bank_account_id": savings.account["id"]}
        with ledger.locked("2025-03-31"), ledger.untouched():
            for body in (matching(TRANSFER, come), waiting):
                assert current.refused(out, "match", body) == (409, "period_locked")

    def test_an_earlier_line_inside_the_lock_takes_it_to_the_day_after(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        come = savings.line(51, date="2025-04-02")
        [link] = savings.transfer(come, current)["links"]
        out = current.line(-51, date="2025-03-30")
        with ledger.locked("2025-03-31"):
            current.match(out, TRANSFER, come)
        posted = ledger.postings({"id": link["target_id"]})
        assert [on for on, _ in posted] == ["2025-04-02", "2025-04-01", "2025-04-02"]


class TestUnmatchBankTransaction:
    @pytest.mark.parametrize("first", [True, False])
    def test_either_line_takes_the_transfer_back(
        self, ledger: Ledger, current: Bank, savings: Bank, first: bool
    ) -> None:
        out, come = current.line(-600), savings.line(600)
        [link] = current.match(out, TRANSFER, come)["links"]
        with ledger.moving() as moves:
            free = current.unmatch(out) if first else savings.unmatch(come)
        assert moves == {current.code: 600, savings.code: -600}
        assert (left(free), free["links"]) == ((0, 0, 600), [])
        assert left(current.read(out)) == left(savings.read(come)) == (0, 0, 600)
        posted, back = ledger.entries({"id": link["target_id"]})
        assert (back.reversal_of, back.on) == (posted.id, posted.on)
        # Both lines can be matched again.
        assert left(savings.match(come, TRANSFER, out)) == (600, 0, 0)

    def test_a_waiting_transfer_is_undone(
        self, ledger: Ledger, current: Bank, savings: Bank
    ) -> None:
        out = current.line(-601)
        current.transfer(out, savings)
        with ledger.moving() as moves:
            assert left(current.unmatch(out)) == (0, 0, 601)
        assert moves == {current.code: 601, savings.code: -601}

    def test_a_transfer_is_undone_once(self, ledger: Ledger, current: Bank, savings: Bank) -> None:
        out, come = current.line(-602), savings.line(602)
        [link] = current.match(out, TRANSFER, come)["links"]
        current.unmatch(out)
        body = {"reconciliation_link_id": link["reconciliation_link_id"]}
        with ledger.untouched():
            assert current.refused(out, "unmatch", body) == (422, "reference_not_found")


class TestSuggestMatches:
    def test_a_line_of_another_account_that_goes_the_other_way(
        self, current: Bank, savings: Bank
    ) -> None:
        out = current.line(-9_731)
        current.line(9_731)
        line = savings.line(9_731, description="FROM CURRENT ACCOUNT")
        [found] = [each for each in savings.suggested(line) if each["amount_cents"] == 9_731]
        assert found == {
            "target_type": TRANSFER,
            "target_id": out["id"],
            "of": "original",
            "amount_cents": 9_731,
            "score": 70,
            "reasons": ["amount", "name", "date"],
        }

    def test_a_transfer_that_waits_for_it(self, current: Bank, savings: Bank) -> None:
        come = savings.line(9_732)
        savings.transfer(come, current)
        out = current.line(-9_732)
        [best, *_] = current.suggested(out)
        assert (best["target_type"], best["target_id"]) == (TRANSFER, come["id"])
        current.match(out, best["target_type"], {"id": best["target_id"]})
        again = current.suggested(current.line(-9_732))
        assert come["id"] not in {each["target_id"] for each in again}
