"""Seeds of the bank: accounts, rules, statements, and lines with what they are matched with.

A link is ended once, and a line categorized once; both are there many times over.
"""

from tests.builders.bank import PAYMENT, made_rule, matching, open_account
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.fuzz.pools import LARGE, Pools, ids
from tests.partner import Business

BANKS = 3
EACH_IMPORT = 500


def plant_banks(pools: Pools, business: Business, many: int) -> None:
    """Plant bank accounts with lines of money that came and went; the pools hold the ids."""
    banks = [open_account(business, external_id=f"bank-{n}") for n in range(BANKS)]
    # Every second line is money that went out.
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
    """Plant bank rules that no line fits, and others to be deleted."""
    rules = ids(made_rule(business, f"nothing says this {n}", priority=n) for n in range(5 + many))
    pools["bank_rules"], pools["spare_bank_rules"] = rules[:5], rules[5:]


def plant_statements(pools: Pools, business: Business) -> None:
    """Plant an account on which nothing is, with closed statements; the newest can be reopened."""
    bank = open_account(business)
    path = f"bank-accounts/{bank['id']}/reconciliations/"
    pools["statement_accounts"] = [bank["id"]]
    *_, newest = [
        business.made(path, {"statement_date": f"2026-0{n}-28", "closing_balance_cents": 0})
        for n in range(1, 4)
    ]
    pools["statements"] = [newest["id"]]


def asset(business: Business, n: int) -> str:
    """Make an account that a bank account may stand for; return its code."""
    kind = {"account_type": "asset", "account_subtype": "current_assets"}
    account = {"code": f"11{n:03}-B", "name": f"Money {n}", **kind}
    return str(business.made("general-ledger/chart-of-accounts/", account)["code"])


def plant_links(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Plant lines, the money they are, and links between them; the pools hold the ids."""
    bank = open_account(business)
    seen = [paid(business, customer, LARGE) for customer in customers]
    linked = lines(business, bank, [10] * many)
    pools |= {
        "seen_payments": ids(seen),
        "open_lines": lines(business, bank, [LARGE] * 12),
        "plain_lines": lines(business, bank, [1_000] * many),
        # The link of each line stands in the same place.
        "linked_lines": linked,
        "links": [link(business, line, seen[0]) for line in linked],
    }


def lines(business: Business, bank: Record, amounts: list[int]) -> list[str]:
    """Import lines of money that came in; return their ids."""
    given = [
        {"date": "2026-07-12", "amount_cents": amount, "direction": "credit"} for amount in amounts
    ]
    return import_lines(business, bank, given)


def import_lines(business: Business, bank: Record, given: list[Record]) -> list[str]:
    """Import lines, as many at once as a request may have; return their ids."""
    found: list[str] = []
    for start in range(0, len(given), EACH_IMPORT):
        body = {"bank_account_id": bank["id"], "transactions": given[start : start + EACH_IMPORT]}
        answer = business.api.post("bank-transactions/", json=body)
        assert answer.status_code == 200, answer.text
        found += ids(answer.json()["results"])
    return found


def link(business: Business, line: str, payment: Record) -> str:
    """Link a line with a payment; return the id of the link."""
    body = matching(PAYMENT, payment)
    answer = business.api.post(f"bank-transactions/{line}/match/", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["links"][0]["reconciliation_link_id"])
