"""The operations on money, each with a request that it would serve."""

from dataclasses import dataclass
from typing import Any

from tests.handlers.bodies import line

ACCOUNTS = "general-ledger/chart-of-accounts/"
ENTRIES = "general-ledger/journal-entries/"
REFUNDS = "invoices/refunds/"
REFUND_PAYMENT = REFUNDS + "{refund}/payments/{}/"
CREDITS = "customer-credits/"
NO_CREDIT = "customer_credit_not_found"
WRITE_OFFS = "invoices/{}/write-offs/"
WRITE_OFF = "invoices/{written_off}/write-offs/{}/"


@dataclass(frozen=True)
class Door:
    """An operation with a request that it would serve.

    `target` names what `{}` stands for in its path; what else the path needs stands in it by name.
    """

    name: str
    method: str
    path: str
    body: Any = None
    target: str | None = None
    missing: str | None = None
    keyed: bool = True
    matched: bool = True

    def __str__(self) -> str:
        return self.name


ACCOUNT = {
    "code": "door",
    "name": "Door",
    "account_type": "asset",
    "account_subtype": "current_assets",
}
LINES = {"line_items": [line(5)]}
DOORS = (
    Door("create_invoice", "POST", "invoices/", "invoice", matched=False),
    Door("replace_invoice", "PUT", "invoices/{}/", LINES, "draft", "invoice_not_found"),
    Door("send_invoice", "POST", "invoices/{}/send/", {}, "draft", "invoice_not_found"),
    Door("void_invoice", "POST", "invoices/{}/void/", {}, "invoice", "invoice_not_found"),
    Door("delete_invoice", "DELETE", "invoices/{}/", None, "draft", "invoice_not_found", False),
    Door("write_off_invoice", "POST", WRITE_OFFS, {}, "invoice", "invoice_not_found"),
    Door("reverse_write_off", "DELETE", WRITE_OFF, None, "write_off", "write_off_not_found", False),
    Door("create_invoice_payment", "POST", "invoices/payments/", "payment", matched=False),
    Door(
        "replace_invoice_payment",
        "PUT",
        "invoices/payments/{}/",
        {"note": "x"},
        "payment",
        "payment_not_found",
    ),
    Door(
        "update_invoice_payment",
        "PATCH",
        "invoices/payments/{}/",
        {"note": "x"},
        "payment",
        "payment_not_found",
    ),
    Door(
        "cancel_invoice_payment",
        "POST",
        "invoices/payments/{}/delete/",
        None,
        "pending",
        "payment_not_found",
    ),
    Door("create_invoice_refund", "POST", REFUNDS, "refund", matched=False),
    Door(
        "cancel_invoice_refund",
        "DELETE",
        REFUNDS + "{}/",
        None,
        "refund",
        "invoice_refund_not_found",
        keyed=False,
    ),
    Door(
        "create_invoice_refund_payment",
        "POST",
        REFUNDS + "{}/payments/",
        {},
        "refund",
        "invoice_refund_not_found",
        matched=False,
    ),
    Door(
        "cancel_invoice_refund_payment",
        "POST",
        REFUND_PAYMENT + "delete/",
        None,
        "refund_payment",
        "invoice_refund_payment_not_found",
    ),
    Door("create_customer_credit", "POST", CREDITS, "credit", matched=False),
    Door("replace_customer_credit", "PUT", CREDITS + "{}/", {"memo": "x"}, "credit", NO_CREDIT),
    Door("void_customer_credit", "POST", CREDITS + "{}/void/", {}, "credit", NO_CREDIT),
    Door("create_account", "POST", ACCOUNTS, ACCOUNT, matched=False),
    Door(
        "create_child_account",
        "POST",
        ACCOUNTS + "{}/children/",
        {"code": "door.1", "name": "Child"},
        "account",
        "account_not_found",
        matched=False,
    ),
    Door(
        "update_account", "PATCH", ACCOUNTS + "{}/", {"name": "x"}, "account", "account_not_found"
    ),
    Door(
        "archive_account", "DELETE", ACCOUNTS + "{}/", None, "account", "account_not_found", False
    ),
)
READS = (
    Door("list_invoices", "GET", "invoices/"),
    Door("get_invoice", "GET", "invoices/{}/", None, "invoice", "invoice_not_found"),
    Door("list_invoice_payments", "GET", "invoices/payments/"),
    Door(
        "get_invoice_payment", "GET", "invoices/payments/{}/", None, "payment", "payment_not_found"
    ),
    Door("list_invoice_refunds", "GET", REFUNDS),
    Door("get_invoice_refund", "GET", REFUNDS + "{}/", None, "refund", "invoice_refund_not_found"),
    Door(
        "list_invoice_refund_payments",
        "GET",
        REFUNDS + "{}/payments/",
        None,
        "refund",
        "invoice_refund_not_found",
    ),
    Door(
        "get_invoice_refund_payment",
        "GET",
        REFUND_PAYMENT,
        None,
        "refund_payment",
        "invoice_refund_payment_not_found",
    ),
    Door("list_customer_credits", "GET", CREDITS),
    Door("get_customer_credit", "GET", CREDITS + "{}/", None, "credit", NO_CREDIT),
    Door("list_accounts", "GET", ACCOUNTS),
    Door("get_account", "GET", ACCOUNTS + "{}/", None, "account", "account_not_found"),
    Door("get_account_hierarchy", "GET", ACCOUNTS + "hierarchy/"),
    Door("export_accounts", "GET", ACCOUNTS + "export/"),
    Door(
        "list_account_entries",
        "GET",
        ACCOUNTS + "{}/entries/",
        None,
        "account",
        "account_not_found",
    ),
    Door("list_journal_entries", "GET", ENTRIES),
    Door("get_journal_entry", "GET", ENTRIES + "{}/", None, "entry", "journal_entry_not_found"),
)
