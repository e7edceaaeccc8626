"""Closed statements of bank accounts at the end of a run: what they hold, and their reopening."""

from tests.builders.journal_entries import credit, debit, entry_body
from tests.model.answer_ids import UNKNOWN
from tests.model.bank import ENTRIES, LINES
from tests.model.books import Body
from tests.model.ledger import balances
from tests.model.play import Play, code_of
from tests.model.records import BankAccount

HELD = (409, "bank_reconciled")


def reconcile(play: Play) -> None:
    """Close and reopen a statement of each bank account as of today, and check what it holds."""
    held = balances(play.books)
    for account in play.books.bank_accounts.values():
        path = f"bank-accounts/{account.id}/reconciliations/"
        balance = held.get(account.code, 0)
        send(play, account, path, balance, 1)
        id = send(play, account, path, balance, 0)
        refuse_changes(play, account)
        late = import_late(play, account, f"{path}{id}/")
        answer = play.caller.write("POST", f"{path}{id}/reopen/", None)
        if answer.status_code != 200 or answer.json()["status"] != "open":
            play.diverge("a statement should be open again", answer)
        if (answer := play.caller.get(f"{LINES}{late}/")).json()["after_closing"]:
            play.diverge("a reopened statement should include a line that came late", answer)
        play.counts.note("statement: closed")
    play.compare_balances()


def send(play: Play, account: BankAccount, path: str, balance: int, more: int) -> str:
    """Send a statement that exceeds the ledger by an amount, and compare the answer."""
    body = {
        "statement_date": play.books.today.isoformat(),
        "closing_balance_cents": balance + more,
    }
    answer = play.caller.write("POST", path, body)
    shown = answer.json()
    names = ("status", "ledger_balance_cents", "difference_cents", "lines_without_money_cents")
    expected = ("open" if more else "closed", balance, more, unexplained(play, account))
    if tuple(shown.get(name) for name in names) != expected:
        play.diverge(f"{names} of a statement should be {expected}", answer)
    return str(shown["id"])


def import_late(play: Play, account: BankAccount, statement: str) -> str:
    """Import a line after the closing, check that the statement stays; return its id."""
    before = play.caller.get(statement).json()
    today = play.books.today.isoformat()
    line = {"date": today, "amount_cents": 7, "direction": "credit", "description": "Late"}
    body = {"bank_account_id": account.id, "transactions": [line]}
    answer = play.caller.write("POST", LINES, body)
    [result] = answer.json()["results"]
    if (result["status"], result["after_closing"]) != ("imported", True):
        play.diverge("a line should be imported after the closing", answer)
    again = play.caller.get(statement)
    if again.json() != before:
        play.diverge("a line that came late should change no figure", again)
    return str(result["id"])


def unexplained(play: Play, account: BankAccount) -> int:
    """Return the unexplained amount of the lines of an account, above zero where money came in."""
    books = play.books
    lines = [each for each in books.bank_lines.values() if each.account is account]
    return sum(books.unexplained(e) * (1 if e.moves > 0 else -1) for e in lines)


def refuse_changes(play: Play, account: BankAccount) -> None:
    """Check that no line of a closed statement, and no balance of its account, can change."""
    books, today = play.books, play.books.today.isoformat()
    lines = [debit(account.code, 1), credit("6000", 1)]
    entry = entry_body(entry_date=today, post=True, lines=lines)
    writes: list[tuple[str, Body | None]] = [(ENTRIES, entry)]
    for link in [each for each in books.links if each.line.account is account]:
        if not link.id.startswith(UNKNOWN):
            path = f"{LINES}{link.line.id}/unmatch/"
            writes.append((path, {"reconciliation_link_id": link.id}))
    for line in [each for each in books.bank_lines.values() if each.account is account]:
        if line.parts:
            writes.append((f"{LINES}{line.id}/uncategorize/", None))
    for path, body in writes:
        answer = play.caller.write("POST", path, body)
        if code_of(answer) != HELD:
            play.diverge("a closed statement should hold it", answer)
