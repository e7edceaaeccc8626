"""Accounts of the chart, and references to them in bodies."""

from accounting.absent import Absent, or_none, present
from accounting.books.accounts import AccountReference
from accounting.books.commands import AccountDetails, ChangeAccount, CreateAccount
from handlers.bodies import AccountChildCreate, AccountCreate, AccountIdentifier, AccountUpdate


def account(identifier: AccountIdentifier | Absent) -> AccountReference | None:
    """Parse the account reference of a line, by id, code or external id as its type says."""
    if isinstance(identifier, Absent):
        return None
    match identifier["type"]:
        case "AccountId":
            return AccountReference("id", present(identifier["id"]))
        case "AccountCode":
            return AccountReference("code", present(identifier["code"]))
        case "AccountExternalId":
            return AccountReference("external_id", present(identifier["external_id"]))


def any_account(name: str) -> AccountReference:
    """Return a reference to an account by its id, code or external id."""
    return AccountReference("any", name)


def create_account(body: AccountCreate) -> CreateAccount:
    """Parse a new account."""
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
    """Parse a new account under a parent."""
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
    """Parse changes to an account."""
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
