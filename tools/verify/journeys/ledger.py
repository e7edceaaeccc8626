"""The ledger: it balances, and its control accounts agree with the documents."""

from functools import partial
from typing import Final

from tools.verify.contract import Node
from tools.verify.story import Story, UnexpectedAnswer, same

CHART: Final = "general-ledger/chart-of-accounts/"


def tie_out(story: Story) -> None:
    """Check the ledger, and compare its control accounts with the documents."""
    prove(story, "ledger")
    with story.check("ledger", "the control accounts hold what the documents say"):
        for code, cents in _told_by_documents(story).items():
            account = story.books.get(f"{CHART}{code}/")
            same(f"current_balance of {code}", account["current_balance"], cents)


def prove(story: Story, journey: str) -> None:
    """Check the ledger with the data of the API, and with the server's own integrity checks."""
    check, books = partial(story.check, journey), story.books
    with check("every journal entry balances"):
        entries = books.walk("general-ledger/journal-entries/", is_posted="true")
        for entry in entries:
            name = f"total_debit of {entry['sequence_number']}"
            same(name, entry["total_debit"], entry["total_credit"])
    with check("the trial balance is that of the entries, and even"):
        accounts = books.walk(CHART, include_archived="true", include_zero_balance="true")
        balances = sum(account["debit_balance"] - account["credit_balance"] for account in accounts)
        same("debits less credits of all accounts", balances, 0)
        for side in ("debit", "credit"):
            posted = sum(entry[f"total_{side}"] for entry in entries)
            held = sum(account[f"{side}_balance"] for account in accounts)
            same(f"{side}s of all accounts", held, posted)
    with check("the server's own proof is green"):
        proof = books.get("integrity/")
        if red := [each["name"] for each in proof["checks"] if not each["ok"]]:
            raise UnexpectedAnswer(f"The proof is red: {', '.join(red)}.")
        same("status", proof["status"], "green")


def _told_by_documents(story: Story) -> dict[str, int]:
    """Return the sums of the documents of each control account, as in the guide to month-end
    closing.
    """
    walk = story.books.walk
    return {
        "1200": _sum(walk("invoices/", status="issued"), "outstanding_balance"),
        "2000": _sum(walk("bills/", status="issued"), "outstanding_balance"),
        "2100": _sum(walk("invoices/payments/", status="completed"), "remaining_amount_cents"),
        "2250": _sum(walk("customer-credits/"), "unapplied_amount"),
    }


def _sum(items: list[Node], name: str) -> int:
    return sum(item[name] for item in items)
