"""What is planted of the bank: accounts, lines of their statements, and accounts to be had."""

from typing import Any

from tests.partner import Business

Record = dict[str, Any]
Pools = dict[str, list[str]]
BANKS = 3
EACH_IMPORT = 100


def plant_banked(pools: Pools, business: Business, many: int) -> None:
    """Plant bank accounts with lines of money that came and went; the pools hold the ids."""
    banks = [
        business.made("bank-accounts/", {"display_name": f"Bank {n}", "external_id": f"bank-{n}"})
        for n in range(BANKS)
    ]
    spare = [
        business.made("bank-accounts/", {"display_name": f"Spare bank {n}"}) for n in range(BANKS)
    ]
    pools |= {
        "bank_accounts": [each["id"] for each in banks],
        "spare_bank_accounts": [each["id"] for each in spare],
        "bank_transactions": plant_lines(business, banks[0], many),
        "asset_words": [asset(business, n) for n in range(many)],
    }
    plant_rules(pools, business, many)
    plant_statements(pools, business)


def plant_rules(pools: Pools, business: Business, many: int) -> None:
    """Plant bank rules that no line fits, and others to be deleted."""
    rules = [
        business.made(
            "bank-rules/",
            {
                "name": f"Rule {n}",
                "priority": n,
                "conditions": {"text": f"nothing says this {n}"},
                "result": {"account": "6300"},
            },
        )["id"]
        for n in range(5 + many)
    ]
    pools["bank_rules"], pools["spare_bank_rules"] = rules[:5], rules[5:]


def plant_statements(pools: Pools, business: Business) -> None:
    """Plant an account on which nothing is, with closed statements; the newest can be reopened."""
    bank = business.made("bank-accounts/", {"display_name": "Bank of statements"})
    path = f"bank-accounts/{bank['id']}/reconciliations/"
    pools["statement_accounts"] = [bank["id"]]
    *_, newest = [
        business.made(path, {"statement_date": f"2026-0{n}-28", "closing_balance_cents": 0})
        for n in range(1, 4)
    ]
    pools["statements"] = [newest["id"]]


def plant_lines(business: Business, bank: Record, many: int) -> list[str]:
    """Import lines, every second one of money that went out; return their ids."""
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
    found: list[str] = []
    for start in range(0, many, EACH_IMPORT):
        body = {"bank_account_id": bank["id"], "transactions": lines[start : start + EACH_IMPORT]}
        answer = business.api.post("bank-transactions/", json=body)
        found += [each["id"] for each in answer.json()["results"]]
    return found


def asset(business: Business, n: int) -> str:
    """Make an account that a bank account may stand for; return its code."""
    kind = {"account_type": "asset", "account_subtype": "current_assets"}
    account = {"code": f"11{n:03}-B", "name": f"Money {n}", **kind}
    return str(business.made("general-ledger/chart-of-accounts/", account)["code"])
