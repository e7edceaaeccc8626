"""Backfill of existing businesses: accounts for withheld tax, and default tax codes."""

from collections.abc import Collection
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, text

from accounting.books.chart import (
    STARTING_CHART,
    Role,
    StartingAccount,
    starting_name,
)
from accounting.tax.codes import TaxCode
from accounting.tax.starting_codes import made, starting_codes
from persistence.engine.ids import new_id
from persistence.tax.tax_codes import boxes_as_json, rates_as_json

_TAX = {Role.OUTPUT_TAX, Role.INPUT_TAX}
_WITHHELD = {Role.WITHHOLDING_TAX_RECEIVABLE, Role.WITHHOLDING_TAX_PAYABLE}
_BUSINESSES = text("SELECT id, country, coa_language FROM business ORDER BY id")
_ACCOUNTS = text("SELECT id, code, role FROM account WHERE business_id = :business_id")
_ADD_ACCOUNT = text("""
INSERT INTO account (business_id, id, version, created_at, updated_at, code, name, role,
  account_type, account_subtype)
VALUES (:business_id, :id, 1, :now, :now, :code, :name, :role, :account_type, :account_subtype)
""")
_ADD_CODE = text("""
INSERT INTO tax_code (business_id, id, version, created_at, updated_at, code, name, direction,
  treatment, rates, tax_account_id, boxes, is_default)
VALUES (:business_id, :id, 1, :now, :now, :code, :name, :direction, :treatment,
  CAST(:rates AS jsonb), :tax_account_id, CAST(:boxes AS jsonb), :is_default)
""")


def give_first_tax_codes(connection: Connection) -> None:
    """Add to each business its starting tax codes and accounts; triggers write the audit trail.

    A business without accounts for input and output tax gets no tax codes.
    """
    now = datetime.now(UTC)
    for business_id, country, language in connection.execute(_BUSINESSES).all():
        roles = _with_accounts(connection, business_id, language, now)
        if set(roles) >= _TAX:
            codes = made(starting_codes(country), roles, now, new_id)
            _insert(connection, business_id, codes, now)


def _with_accounts(
    connection: Connection, business_id: UUID, language: str, now: datetime
) -> dict[Role, UUID]:
    """Add the missing withholding accounts; return the accounts of the business by role."""
    accounts = connection.execute(_ACCOUNTS, {"business_id": business_id}).all()
    roles = {Role(each.role): each.id for each in accounts if each.role is not None}
    taken = {each.code for each in accounts}
    for account in _starting(_WITHHELD - set(roles)):
        assert account.role is not None, "found by it"
        # The business may use the code already. Any code will do: the account is found by its role.
        code = next(each for each in map(str, count(int(account.code))) if each not in taken)
        roles[account.role] = new_id()
        taken.add(code)
        row: dict[str, Any] = {
            "business_id": business_id,
            "id": roles[account.role],
            "now": now,
            "code": code,
            "name": starting_name(account, language),
            "role": account.role,
            "account_type": account.account_type,
            "account_subtype": account.account_subtype,
        }
        connection.execute(_ADD_ACCOUNT, row)
    return roles


def _starting(roles: Collection[Role]) -> list[StartingAccount]:
    return [each for each in STARTING_CHART if each.role in roles]


def _insert(connection: Connection, business_id: UUID, codes: list[TaxCode], now: datetime) -> None:
    rows = [
        {
            "business_id": business_id,
            "id": each.id,
            "now": now,
            "code": each.code,
            "name": each.name,
            "direction": each.direction,
            "treatment": each.treatment,
            "rates": orjson.dumps(rates_as_json(each.rates)).decode(),
            "tax_account_id": each.tax_account_id,
            "boxes": orjson.dumps(boxes_as_json(each.boxes)).decode(),
            "is_default": each.is_default,
        }
        for each in codes
    ]
    if rows:
        connection.execute(_ADD_CODE, rows)
