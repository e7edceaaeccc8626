"""Accounts of the chart, however a body names or describes them."""

from accounting.absent import Absent, or_none
from accounting.books.accounts import AccountReference
from accounting.books.commands import AccountDetails, ChangeAccount, CreateAccount
from handlers.bodies import AccountChildCreate, AccountCreate, AccountIdentifier, AccountUpdate


def account(identifier: AccountIdentifier | Absent) -> AccountReference | None:
    """Read how a line names an account: `AccountId` by its id, `AccountCode` by its code."""
    if isinstance(identifier, Absent):
        return None
    by_code = identifier["type"] == "AccountCode"
    value = identifier["code"] if by_code else identifier["id"]
    assert not isinstance(value, Absent), "the contract asks for it"
    return AccountReference("code" if by_code else "id", value)


def any_account(name: str) -> AccountReference:
    """Read an account that is named by its id, its code or its external id."""
    return AccountReference("any", name)


def create_account(body: AccountCreate) -> CreateAccount:
    """Read a new account."""
    return CreateAccount(
        code=body["code"],
        name=body["name"],
        account_type=body["account_type"],
        account_subtype=body["account_subtype"],
        balance_behavior=or_none(body["balance_behavior"]),
        currency=or_none(body["currency"]),
        parent=or_none(body["parent_id"]),
        details=_details(body),
    )


def create_child_account(body: AccountChildCreate) -> CreateAccount:
    """Read a new account under another one."""
    return CreateAccount(
        code=body["code"],
        name=body["name"],
        account_type=body["account_type"],
        account_subtype=body["account_subtype"],
        balance_behavior=or_none(body["balance_behavior"]),
        currency=or_none(body["currency"]),
        details=_details(body),
    )


def change_account(body: AccountUpdate) -> ChangeAccount:
    """Read changes to an account."""
    return ChangeAccount(
        code=body["code"],
        name=body["name"],
        active=body["is_active"],
        details=_details(body),
    )


def _details(body: AccountCreate | AccountChildCreate | AccountUpdate) -> AccountDetails:
    return AccountDetails(
        external_id=body["external_id"],
        description=body["description"],
        institution_name=body["institution_name"],
        iban=body["iban"],
        sort_code=body["sort_code"],
        account_number_mask=body["account_number_mask"],
        cash_flow=body["cash_flow"],
    )
