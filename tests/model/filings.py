"""Filed tax returns in the model: their settlements add up to what the books declare.

The model has no days of its own: it takes the lines that each filing posts, and in the end, when
all days are filed on one scheme, compares their sums by account with its own.
"""

from collections import Counter
from datetime import date, timedelta

from tests.model.play import Play
from tests.model.returns import on_accrual, on_cash, read, settled

RETURNS = "tax-returns/"
DAY = timedelta(days=1)
FIRST = date(2020, 1, 1)
QUARTERS = {
    1: (date(2025, 1, 1), date(2025, 3, 31)),
    2: (date(2025, 4, 1), date(2025, 6, 30)),
    3: (date(2025, 7, 1), date(2025, 9, 30)),
    4: (date(2025, 10, 1), date(2025, 12, 31)),
}


def file_quarter(play: Play, quarter: int, scheme: str, *, lock: bool) -> None:
    """Create and file the return of a quarter; a filed quarter is superseded."""
    books = play.books
    old = books.filed.get(quarter)
    if old is None:
        first, last = QUARTERS[quarter]
        books.filed[quarter] = file_days(play, first, last, scheme, lock=lock)
    else:
        body = {"reason": "Forgotten"}
        draft = play.caller.write("POST", f"{RETURNS}{old}/supersede/", body)
        books.filed[quarter] = file(play, draft.json()["id"], lock=lock)
    books.scheme = scheme
    play.counts.note(f"{'supersede' if old else 'file'} return: done")
    if lock:
        books.lock_date = max(books.lock_date or FIRST, QUARTERS[quarter][1])


def file_days(play: Play, first: date, last: date, scheme: str, *, lock: bool = False) -> str:
    """Create and file a return of some days; return its id."""
    body = {"start_date": first.isoformat(), "end_date": last.isoformat(), "scheme": scheme}
    draft = play.caller.write("POST", RETURNS, body).json()
    play.caller.name(draft["id"], "return")
    return file(play, draft["id"], lock=lock)


def file(play: Play, id: str, *, lock: bool) -> str:
    """Send a draft as filed, note the lines of its settlement, and return its id."""
    before = tax_accounts(play)
    answer = play.caller.write("POST", f"{RETURNS}{id}/file/", {"lock": lock})
    if answer.status_code != 200:
        play.diverge("a draft should be filed", answer)
    after = tax_accounts(play)
    moved = {code: after[code] - before[code] for code in {*before, *after}}
    play.hold("a settlement does not balance:", {"sum": 0}, {"sum": sum(moved.values())})
    play.books.settled_tax.update(moved)
    return id


def tax_accounts(play: Play) -> Counter[str]:
    """Return the debits less the credits of all accounts."""
    answer = play.caller.get("general-ledger/chart-of-accounts/", page_size=100)
    shown = answer.json()["results"]
    return Counter({e["code"]: e["debit_balance"] - e["credit_balance"] for e in shown})


def file_the_rest(play: Play) -> None:
    """Create returns of all other days, and compare all settlements with the declared tax."""
    books = play.books
    scheme = books.scheme or "accrual"
    begin = FIRST
    for quarter in sorted(books.filed):
        first, last = QUARTERS[quarter]
        if begin < first:
            file_days(play, begin, first - DAY, scheme)
        begin = last + DAY
    file_days(play, begin, books.today, scheme)
    for quarter in sorted(books.filed):
        file_quarter(play, quarter, scheme, lock=False)
    declared = on_accrual(books) if scheme == "accrual" else on_cash(books)
    posted = {code: amount for code, amount in books.settled_tax.items() if amount}
    play.hold(f"the settlements on {scheme} differ:", settled(declared, books), posted)
    body = {"start_date": "2020-01-01", "end_date": "2026-12-31", "scheme": scheme}
    left = play.caller.write("POST", RETURNS, body).json()["codes"]
    play.hold("something is in no return:", {}, read(left))
    play.compare_balances()
    play.compare_proof()
