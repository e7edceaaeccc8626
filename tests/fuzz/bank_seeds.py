"""Seeds of the bank: accounts, rules, statements, and lines with matching payments.

A link is removed once and a line categorized once, so there are many of both.
"""

from tests.builders.bank import PAYMENT, made_rule, matching, open_account
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.fuzz.pools import LARGE, Pools, ids
from tests.partner import Business

BANKS = 3
EACH_IMPORT = 500


def plant_banks(pools: Pools, business: Business, many: int) -> None:
    """Create bank accounts with lines in both directions; put the IDs into the pools."""
    banks = [open_account(business, external_id=f"bank-{n}") for n in range(BANKS)]
    # Every second line is money out.
    lines = [
        {
            "external_id": f"bank-line-{n}",
            "date": f"2026-07-{n % 28 + 1:02}",
            "amount_cents": 1_000_000 + n,
            "direction": ("credit", "debit")[n % 2],
            "description": f"Line {n}",
        }
        for n in range(many)
    ]
    pools |= {
        "bank_accounts": ids(banks),
        "spare_bank_accounts": ids(open_account(business) for _ in range(BANKS)),
        "bank_transactions": import_lines(business, banks[0], lines),
        "asset_words": [asset(business, n) for n in range(many)],
    }
    plant_rules(pools, business, many)
    plant_statements(pools, business)


def plant_rules(pools: Pools, business: Business, many: int) -> None:
    """Create bank rules that match no line, and others to be deleted."""
    rules = ids(made_rule(business, f"nothing says this {n}", priority=n) for n in range(5 + many))
    pools["bank_rules"], pools["spare_bank_rules"] = rules[:5], rules[5:]


def plant_statements(pools: Pools, business: Business) -> None:
    """Create an account without lines and its closed statements; the newest can be reopened."""
    bank = open_account(business)
    path = f"bank-accounts/{bank['id']}/reconciliations/"
    pools["statement_accounts"] = [bank["id"]]
    *_, newest = [
        business.made(path, {"statement_date": f"2026-0{n}-28", "closing_balance_cents": 0})
        for n in range(1, 4)
    ]
    pools["statements"] = [newest["id"]]


def asset(business: Business, n: int) -> str:
    """Create an account that a bank account may use; return its code."""
    kind = {"account_type": "asset", "account_subtype": "current_assets"}
    account = {"code": f"11{n:03}-B", "name": f"Money {n}", **kind}
    return str(business.made("general-ledger/chart-of-accounts/", account)["code"])


def plant_links(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Create lines, their payments, and links between them; put the IDs into the pools."""
    bank = open_account(business)
    seen = [paid(business, customer, LARGE) for customer in customers]
    linked = lines(business, bank, [10] * many)
    pools |= {
        "seen_payments": ids(seen),
        "open_lines": lines(business, bank, [LARGE] * 12),
        "plain_lines": lines(business, bank, [1_000] * many),
        # A line and its link have the same index.
        "linked_lines": linked,
        "links": [link(business, line, seen[0]) for line in linked],
    }


def lines(business: Business, bank: Record, amounts: list[int]) -> list[str]:
    """Import lines of money in; return their IDs."""
    given = [
        {"date": "2026-07-12", "amount_cents": amount, "direction": "credit"} for amount in amounts
    ]
    return import_lines(business, bank, given)


def import_lines(business: Business, bank: Record, given: list[Record]) -> list[str]:
    """Import lines, with as many in a request as allowed; return their IDs."""
    found: list[str] = []
    for start in range(0, len(given), EACH_IMPORT):
        body = {"bank_account_id": bank["id"], "transactions": given[start : start + EACH_IMPORT]}
        answer = business.api.post("bank-transactions/", json=body)
        assert answer.status_code == 200, answer.text
        found += ids(answer.json()["results"])
    return found


def link(business: Business, line: str, payment: Record) -> str:
    """Link a line with a payment; return the ID of the link."""
    body = matching(PAYMENT, payment)
    answer = business.api.post(f"bank-transactions/{line}/match/", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["links"][0]["reconciliation_link_id"])
