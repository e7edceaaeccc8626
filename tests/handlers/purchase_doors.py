"""The operations on vendors and on what is bought, each with a request that it would serve."""

from tests.handlers.bodies import line
from tests.handlers.buying import BILLS, CREDITS, PAYMENTS
from tests.handlers.doors import Door

VENDORS = "vendors/"
_NO_VENDOR = "vendor_not_found"
_NO_BILL = "bill_not_found"
_NO_PAYMENT = "bill_payment_not_found"
_NO_CREDIT = "vendor_credit_not_found"
_VENDOR, _BILL = f"{VENDORS}{{}}/", f"{BILLS}{{}}/"
_PAYMENT, _CREDIT = f"{PAYMENTS}{{}}/", f"{CREDITS}{{}}/"
_LINES = {"line_items": [line(5)]}
_MEMO = {"memo": "x"}
_SELLER = {"company_name": "Door Makers Ltd"}

PURCHASE_DOORS = (
    Door("create_vendor", "POST", VENDORS, _SELLER, matched=False),
    Door("update_vendor", "PATCH", _VENDOR, _MEMO, "vendor", _NO_VENDOR),
    Door("archive_vendor", "POST", f"{_VENDOR}archive/", None, "vendor", _NO_VENDOR),
    Door("unarchive_vendor", "POST", f"{_VENDOR}unarchive/", None, "vendor", _NO_VENDOR),
    Door("create_bill", "POST", BILLS, "bill", matched=False),
    Door("replace_bill", "PUT", _BILL, _LINES, "draft_bill", _NO_BILL),
    Door("receive_bill", "POST", f"{_BILL}receive/", {}, "draft_bill", _NO_BILL),
    Door("void_bill", "POST", f"{_BILL}void/", {}, "bill", _NO_BILL),
    Door("delete_bill", "DELETE", _BILL, None, "draft_bill", _NO_BILL, keyed=False),
    Door("create_bill_payment", "POST", PAYMENTS, "bill_payment", matched=False),
    Door("update_bill_payment", "PATCH", _PAYMENT, _MEMO, "bill_payment", _NO_PAYMENT),
    Door(
        "cancel_bill_payment",
        "POST",
        f"{_PAYMENT}delete/",
        None,
        "pending_bill_payment",
        _NO_PAYMENT,
    ),
    Door("create_vendor_credit", "POST", CREDITS, "vendor_credit", matched=False),
    Door("replace_vendor_credit", "PUT", _CREDIT, _MEMO, "vendor_credit", _NO_CREDIT),
    Door("void_vendor_credit", "POST", f"{_CREDIT}void/", {}, "vendor_credit", _NO_CREDIT),
)
PURCHASE_READS = (
    Door("list_vendors", "GET", VENDORS),
    Door("get_vendor", "GET", _VENDOR, None, "vendor", _NO_VENDOR),
    Door("list_bills", "GET", BILLS),
    Door("get_bill", "GET", _BILL, None, "bill", _NO_BILL),
    Door("list_bill_payments", "GET", PAYMENTS),
    Door("get_bill_payment", "GET", _PAYMENT, None, "bill_payment", _NO_PAYMENT),
    Door("list_vendor_credits", "GET", CREDITS),
    Door("get_vendor_credit", "GET", _CREDIT, None, "vendor_credit", _NO_CREDIT),
)
