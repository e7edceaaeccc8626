"""Purchases: the builders of `trade` named for this side."""

from tests.builders.trade import PURCHASES

BILLS = PURCHASES.path
PAYMENTS = PURCHASES.payments
CREDITS = PURCHASES.credits

bill_body = PURCHASES.body
bill_payment_body = PURCHASES.payment_body
vendor_credit_body = PURCHASES.credit_body
part = PURCHASES.part
share = PURCHASES.share
received = PURCHASES.open
bill_paid = PURCHASES.pay
settled = PURCHASES.settle
vendor_credited = PURCHASES.credit
status_of = PURCHASES.status_of
