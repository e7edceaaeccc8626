"""A shop's month with two bank accounts: payments, a transfer, a loan, a dispute and a rule.

In the end both statements are closed.
"""

from dataclasses import dataclass, field

from tests.api_server import ApiServer
from tests.builders.bank import (
    JOURNAL_ENTRY,
    LINES,
    PAYMENT,
    PAYOUT,
    TRANSFER,
    Bank,
    made_rule,
    open_account,
)
from tests.builders.journal_entries import credit, debit, posted
from tests.builders.payouts import by_card, paid_out
from tests.builders.sales import part, sent
from tests.builders.trade import Record
from tests.journeys.statements import Account, checked
from tests.partner import Partner

END = "2025-03-31"


@dataclass
class Month:
    """The shop's March in its current account (1100) and its savings account (1101)."""

    account: Account
    current: Bank
    savings: Bank
    lines: dict[str, Record] = field(default_factory=dict)

    def sees(self, bank: Bank, words: str, on: str, amount: int) -> Record:
        """Import a line of the statement of an account."""
        line = bank.line(amount, date=on, description=words)
        self.lines[words] = line
        return line


def begun(acme: Partner) -> Month:
    shop = acme.business()
    account = Account(shop, shop.customer(company_name="Blue Door Bakery Ltd"))
    current, savings = (
        Bank(shop, open_account(shop, display_name=name))
        for name in ("Current account", "Savings account")
    )
    assert (current.code, savings.code) == ("1100", "1101")
    return Month(account, current, savings)


def is_paid(month: Month) -> None:
    """Pay an invoice by transfer, and match the bank's line of the next day."""
    shop, guest = month.account.shop, month.account.party
    invoice = sent(shop, guest, 250_000, sent_at="2025-03-03T09:00:00Z")
    month.account.expect(invoice, "2025-03-03", on_1200=250_000, on_4000=-250_000)
    payment = month.account.pay("2025-03-10", 250_000, part(invoice, 250_000))
    month.account.expect(payment, "2025-03-10", on_1100=250_000, on_1200=-250_000)
    line = month.sees(month.current, "BLUE DOOR BAKERY", "2025-03-11", 250_000)
    [best, *_] = month.current.suggested(line)
    assert (best["target_type"], best["target_id"]) == (PAYMENT, payment["id"])
    month.current.match(line, PAYMENT, payment)


def is_lent_money(month: Month) -> None:
    """Post a loan of 1,000.00 by hand, and match its line."""
    lines = [debit("1101", 100_000), credit("2500", 100_000)]
    loan = posted(month.account.shop, entry_date="2025-03-12", lines=lines)
    month.account.expect(loan, "2025-03-12", on_1101=100_000, on_2500=-100_000)
    line = month.sees(month.savings, "LOAN", "2025-03-12", 100_000)
    [best, *_] = month.savings.suggested(line)
    assert (best["target_type"], best["target_id"]) == (JOURNAL_ENTRY, loan["id"])
    month.savings.match(line, JOURNAL_ENTRY, loan)


def moves_money(month: Month) -> None:
    """Transfer 400.00 to the savings account, whose line arrives first."""
    come = month.sees(month.savings, "FROM CURRENT", "2025-03-18", 40_000)
    waiting = month.savings.transfer(come, month.current)
    transfer = {"id": waiting["links"][0]["target_id"]}
    month.account.expect(transfer, "2025-03-18", on_1101=40_000, on_1100=-40_000)
    # The current account shows it a day earlier, which becomes the day of the transfer.
    out = month.sees(month.current, "TO SAVINGS", "2025-03-17", -40_000)
    [best, *_] = month.current.suggested(out)
    assert (best["target_type"], best["target_id"]) == (TRANSFER, come["id"])
    month.current.match(out, TRANSFER, come)
    month.account.expect(transfer, "2025-03-17", on_1101=40_000, on_1100=-40_000)
    month.account.expect(transfer, "2025-03-18", on_1101=-40_000, on_1100=40_000)


def keeps_a_rule(month: Month) -> None:
    """Post the fees of both accounts by an automatic rule."""
    rule = made_rule(month.account.shop, "account fee", "6300", apply="automatic")
    for bank, amount in ((month.current, 850), (month.savings, 150)):
        line = month.sees(bank, f"ACCOUNT FEE {bank.code}", END, -amount)
        assert line["categorized_by_rule_id"] == rule["id"]
        code = f"on_{bank.code}"
        month.account.expect(line, END, on_6300=amount, **{code: -amount})


def loses_a_dispute(month: Month) -> None:
    """Receive 200.00 by card, of which 50.00 are charged back; match the payout of the rest."""
    shop, guest = month.account.shop, month.account.party
    invoice = sent(shop, guest, 20_000, sent_at="2025-03-05T09:00:00Z")
    month.account.expect(invoice, "2025-03-05", on_1200=20_000, on_4000=-20_000)
    card = by_card(shop, guest, 20_000, allocations=[part(invoice, 20_000)])
    month.account.expect(card, "2025-03-10", on_1150=20_000, on_1200=-20_000)
    lost = {"type": "chargeback", "amount_cents": -5_000, "payment_id": card["id"]}
    payout = paid_out(shop, 15_000, card, other_items=[lost])
    month.account.expect(payout, END, on_1100=15_000, on_6150=5_000, on_1150=-20_000)
    line = month.sees(month.current, "STRIPE", END, 15_000)
    month.current.match(line, PAYOUT, payout)


def pays_at_once(month: Month) -> None:
    """Split one line over the rent and the electricity."""
    line = month.sees(month.current, "LANDLORD", "2025-03-28", -120_000)
    month.current.split(line, _6000=100_000, _2400=20_000)
    month.account.expect(line, "2025-03-28", on_6000=100_000, on_2400=20_000, on_1100=-120_000)


def closed(month: Month) -> dict[str, Record]:
    """Close both statements; the current account first shows 5.00 that no record explains."""
    savings = month.savings.closed(END, 139_850)
    interest = month.sees(month.current, "INTEREST", END, 500)
    first = month.current.reconcile(END, 104_650)
    assert (first["status"], first["ledger_balance_cents"]) == ("open", 104_150)
    assert (first["difference_cents"], first["unexplained_cents"]) == (500, 0)
    [strange] = first["lines_without_money"]
    assert strange["bank_transaction_id"] == interest["id"]
    assert first["money_without_lines"] == []
    month.current.categorize(interest, "4600")
    month.account.expect(interest, END, on_1100=500, on_4600=-500)
    current = month.current.closed(END, 104_650)
    assert (current["id"], current["difference_cents"]) == (first["id"], 0)
    return {"current": current, "savings": savings}


def holds(month: Month) -> None:
    """Check that changes to the lines and payments of closed statements are refused."""
    shop, held = month.account.shop, (409, "bank_reconciled")
    for bank, words in ((month.current, "TO SAVINGS"), (month.savings, "LOAN")):
        line = bank.read(month.lines[words])
        body = {"reconciliation_link_id": line["links"][0]["reconciliation_link_id"]}
        assert bank.refused(line, "unmatch", body) == held
    assert month.current.refused(month.lines["LANDLORD"], "uncategorize") == held
    linked = month.current.read(month.lines["BLUE DOOR BAKERY"])["links"][0]["target_id"]
    for changes in ({"payment_date": "2025-03-09"}, {"status": "failed", "status_date": END}):
        answer = shop.api.patch(f"invoices/payments/{linked}/", json=changes)
        assert (answer.status_code, answer.json()["error_code"]) == held


def goes_on(month: Month, statements: dict[str, Record]) -> None:
    """Reopen March, correct the rent and close it again; then close April."""
    current = month.current
    current.reopen(statements["current"])
    rent = month.lines["LANDLORD"]
    current.uncategorize(rent)
    month.account.expect(rent, "2025-03-28", on_6000=-100_000, on_2400=-20_000, on_1100=120_000)
    current.split(rent, _6000=120_000)
    month.account.expect(rent, "2025-03-28", on_6000=120_000, on_1100=-120_000)
    current.closed(END, 104_650)
    april = current.closed("2025-04-30", 104_650)
    assert april["opening_balance_cents"] == 104_650
    refused = month.account.shop.api.post(
        f"{current.statements}{statements['current']['id']}/reopen/"
    )
    assert (refused.status_code, refused.json()["error_code"]) == (409, "bank_reconciled")
    shown = month.account.listed(current.statements)
    assert [each["statement_date"] for each in shown] == ["2025-04-30", END]


class TestMonthOfTwoBankAccounts:
    def test_both_statements_are_closed_at_a_difference_of_nothing(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        month = begun(acme)
        is_paid(month)
        is_lent_money(month)
        moves_money(month)
        keeps_a_rule(month)
        loses_a_dispute(month)
        pays_at_once(month)
        statements = closed(month)
        account = month.account
        assert all(each["is_reconciled"] for each in account.listed(LINES))
        assert (account.held("1100"), account.held("1101")) == (104_650, 139_850)
        holds(month)
        goes_on(month, statements)
        entries = account.posted()
        for source, statement in account.statements.items():
            assert sorted(entries[source], key=str) == sorted(statement, key=str)
        account.prove(api_server)
        assert checked(account.shop.api.get("integrity/"))["status"] == "green"
