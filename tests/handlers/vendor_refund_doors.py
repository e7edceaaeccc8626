"""The operations on vendor refunds, each with a request that it would serve."""

from tests.handlers.doors import Door
from tests.handlers.vendor_refunding import REFUND_PAYMENTS, REFUNDS

_REFUND = "vendor_refund_not_found"
_PAYMENT = "vendor_refund_payment_not_found"
_ONE, _ONE_PAYMENT = f"{REFUNDS}{{}}/", f"{REFUND_PAYMENTS}{{}}/"
_WORDS = {"memo": "x"}

VENDOR_REFUND_DOORS = (
    Door("create_vendor_refund", "POST", REFUNDS, "vendor_refund", matched=False),
    Door("update_vendor_refund", "PATCH", _ONE, _WORDS, "vendor_refund", _REFUND),
    Door(
        "create_vendor_refund_payment",
        "POST",
        REFUND_PAYMENTS,
        "vendor_refund_payment",
        matched=False,
    ),
    Door(
        "update_vendor_refund_payment",
        "PATCH",
        _ONE_PAYMENT,
        _WORDS,
        "vendor_refund_payment",
        _PAYMENT,
    ),
    Door(
        "cancel_vendor_refund_payment",
        "POST",
        f"{_ONE_PAYMENT}delete/",
        None,
        "vendor_refund_payment",
        _PAYMENT,
    ),
)
VENDOR_REFUND_READS = (
    Door("list_vendor_refunds", "GET", REFUNDS),
    Door("get_vendor_refund", "GET", _ONE, None, "vendor_refund", _REFUND),
    Door("list_vendor_refund_payments", "GET", REFUND_PAYMENTS),
    Door("get_vendor_refund_payment", "GET", _ONE_PAYMENT, None, "vendor_refund_payment", _PAYMENT),
)
