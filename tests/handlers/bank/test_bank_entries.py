"""Bank lines matched with manual entries."""

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, JOURNAL_ENTRY, Bank, left, matching, open_account
from tests.builders.journal_entries import ENTRIES, credit, debit, moved
from tests.builders.sales import paid
from tests.builders.trade import Record, read
from tests.partner import Business


def entry(shop: Business, *lines: Record, **facts: object) -> Record:
    body = {"entry_date": BOOKED, "lines": list(lines), "post": True, **facts}
    return shop.made(ENTRIES, body)


def lent(bank: Bank, amount: int, **facts: object) -> Record:
    """Create a manual entry of a loan: money that came to the account."""
    return entry(bank.shop, debit(bank.code, amount), credit("2500", amount), **facts)


class TestMatchBankTransaction:
    def test_a_line_shows_an_entry_and_posts_nothing(self, ledger: Ledger, bank: Bank) -> None:
        loan, line = lent(bank, 5_000), bank.line(5_000)
        with ledger.moving() as moves:
            done = bank.match(line, JOURNAL_ENTRY, loan)
        assert (moves, left(done)) == ({}, (5_000, 0, 0))
        [link] = done["links"]
        assert (link["target_type"], link["target_id"]) == (JOURNAL_ENTRY, loan["id"])
        assert bank.read(line) == done

    def test_the_entry_shows_the_lines(self, shop: Business, bank: Bank) -> None:
        loan, line = lent(bank, 100), bank.line(60)
        assert loan["reconciled_bank_transactions"] == []
        [link] = bank.match(line, JOURNAL_ENTRY, loan)["links"]
        [shown] = read(shop, ENTRIES, loan)["reconciled_bank_transactions"]
        assert shown["bank_transaction_id"] == line["id"]
        assert shown["reconciliation_link_id"] == link["reconciliation_link_id"]
        assert shown["payment_type"] == JOURNAL_ENTRY
        assert shown["reconciled_amount_cents"] == shown["bank_transaction_amount_cents"] == 60

    def test_many_lines_show_one_and_no_more_than_it_moves(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        loan = lent(bank, 100)
        bank.match(bank.line(60), JOURNAL_ENTRY, loan)
        rest = bank.line(60)
        assert left(bank.match(rest, JOURNAL_ENTRY, loan)) == (40, 0, 20)
        with ledger.untouched():
            body = matching(JOURNAL_ENTRY, loan)
            assert bank.refused(rest, "match", body) == (422, "link_exceeds_remaining")

    def test_two_accounts_show_the_same_entry(self, shop: Business, bank: Bank) -> None:
        other = Bank(shop, open_account(shop))
        moving = entry(shop, debit(bank.code, 70), credit(other.code, 70))
        assert left(bank.match(bank.line(70), JOURNAL_ENTRY, moving)) == (70, 0, 0)
        assert left(other.match(other.line(-70), JOURNAL_ENTRY, moving)) == (70, 0, 0)

    def test_a_reversed_entry_and_its_reversal_moved_money_both(
        self, shop: Business, bank: Bank
    ) -> None:
        loan, line = lent(bank, 30), bank.line(30)
        bank.match(line, JOURNAL_ENTRY, loan)
        back = moved(shop, loan, "reverse")
        assert left(bank.read(line)) == (30, 0, 0)
        assert left(bank.match(bank.line(-30), JOURNAL_ENTRY, back)) == (30, 0, 0)

    def test_refusals_change_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line, out, loan = bank.line(10), bank.line(-10), lent(bank, 10)
        payment = paid(shop, buyer, 10)
        [posted] = ledger.entries(payment)
        draft = lent(bank, 10, post=False)
        elsewhere = entry(shop, debit("1100", 10), credit("2500", 10))
        with ledger.untouched():
            for asked, target, refusal in (
                (line, {"id": posted.id}, (409, "system_entry")),
                (line, draft, (409, "item_not_completed")),
                (line, elsewhere, (422, "bank_account_mismatch")),
                (line, payment, (422, "reference_not_found")),
                (out, loan, (422, "link_direction_mismatch")),
            ):
                body = matching(JOURNAL_ENTRY, target)
                assert bank.refused(asked, "match", body) == refusal


class TestUnmatchBankTransaction:
    def test_the_line_and_the_entry_are_free(self, ledger: Ledger, bank: Bank) -> None:
        loan, line = lent(bank, 45), bank.line(45)
        bank.match(line, JOURNAL_ENTRY, loan)
        with ledger.moving() as moves:
            assert left(bank.unmatch(line)) == (0, 0, 45)
        assert moves == {}
        assert left(bank.match(bank.line(45), JOURNAL_ENTRY, loan)) == (45, 0, 0)


class TestSuggestMatches:
    def test_an_entry_of_just_what_is_left_is_suggested(self, bank: Bank) -> None:
        loan, other = lent(bank, 7_531, reference="LOAN 7"), lent(bank, 7_530)
        line = bank.line(7_531, description="Loan 7 paid out")
        [best, *rest] = bank.suggested(line)
        assert best == {
            "target_type": JOURNAL_ENTRY,
            "target_id": loan["id"],
            "of": "original",
            "amount_cents": 7_531,
            "score": 85,
            "reasons": ["amount", "reference", "date"],
        }
        assert other["id"] not in {each["target_id"] for each in rest}
        bank.match(line, JOURNAL_ENTRY, loan)
        again = bank.suggested(bank.line(7_531))
        assert loan["id"] not in {each["target_id"] for each in again}

    def test_the_unlinked_rest_of_an_entry_is_suggested(self, bank: Bank) -> None:
        loan = lent(bank, 6_000)
        bank.match(bank.line(1_877), JOURNAL_ENTRY, loan)
        found = bank.suggested(bank.line(4_123))
        assert loan["id"] in {each["target_id"] for each in found}

    def test_an_entry_whose_number_the_line_names_may_be_of_any_day(self, bank: Bank) -> None:
        loan = lent(bank, 8_642, entry_date="2024-01-02")
        line = bank.line(8_642, reference=loan["sequence_number"])
        assert bank.suggested(line)[0]["target_id"] == loan["id"]
