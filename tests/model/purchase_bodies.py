"""Bodies of purchases alone: refunds from vendors."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.builders.vendor_refunds import as_credit, of_bill, of_credit, of_payment
from tests.model.bodies import NOBODY, Bodies, Body
from tests.model.records import Credit, Document, Party, Payment, VendorRefund, VendorRefundPayment

METHODS = ("bank_transfer", "cash", "credit_card", "check", "wire", "ach", "other")


class PurchaseBodies(Bodies):
    """A source of random bodies for the purchases of one business."""

    def refund(self) -> Body:
        """Return a refund in one payment."""
        vendors = list(self.books.parties.values())
        paid = [each for each in vendors if self.refundable(each, self.books.payments)]
        vendor = self.hand.one(vendors if not paid or self.hand.chance(15) else paid)
        shares = self.shares(vendor, self.hand.one((1_000_000, 20_000, 1_000)))
        return {
            "vendor_id": NOBODY if self.hand.chance(2) else vendor.id,
            "total_amount_cents": self.total_of(shares),
            "currency": "GBP",
            **({"allocations": shares} if shares else {}),
            **self.maybe(60, "refund_date", self.day),
            **self.means(30),
            **self.external_id(),
        }

    def refund_in_parts(self) -> Body:
        """Return a refund with its payments, which mostly add up."""
        body = self.refund()
        total = body.pop("total_amount_cents")
        for name in ("payment_method", "processing_fee_cents", "bank_account_id"):
            body.pop(name, None)
        body["total_refunded_amount_cents"] = total
        credits = [e for e in body.get("allocations", ()) if e["allocation_type"] == "credit"]
        cash = total - sum(each["amount_cents"] for each in credits)
        if cash > 1 and self.hand.chance(85):
            first = self.hand.one((cash // 2, cash // 3 or 1, 1))
            rest = cash - first + (1 if self.hand.chance(4) else 0)
            body["payments"] = [self.paid(first), self.paid(rest)]
        return body

    def paid(self, amount: int) -> Body:
        day = self.maybe(30, "payment_date", self.day)
        return {"amount_cents": amount, **self.means(30), **day}

    def means(self, fee: int) -> Body:
        """Return the method of a payment, and in `fee` percent of the calls a fee."""
        return {
            **self.maybe(40, "payment_method", lambda: self.hand.one(METHODS)),
            **self.maybe(fee, "processing_fee_cents", lambda: self.hand.one((5, 120))),
            **self.bank(15),
        }

    def total_of(self, shares: Sequence[Body]) -> int:
        """Return the allocated amount or more; now and then less."""
        meant: int = sum(each["amount_cents"] for each in shares)
        if self.hand.chance(4):
            return max(1, meant - 1)
        more = self.hand.one((0, 0, 0, 700)) if meant else self.hand.one((500, 3_000))
        return meant + more

    def shares(self, vendor: Party, most: int) -> list[Body]:
        """Return up to three allocations, nearly always within an amount."""
        books, given, rest = self.books, list[Body](), most
        bills = self.refundable(vendor, books.documents)
        paid = self.refundable(vendor, books.payments)
        credits = self.refundable(vendor, books.credits)
        for _ in range(self.hand.one((0, 1, 1, 2, 2, 3))):
            targets = [*bills, *paid, *credits]
            kept = not targets or self.hand.chance(25)
            target = None if kept else self.hand.one(targets)
            share = self.share(target, rest)
            for each in (bills, paid, credits):
                if target in each:
                    each.remove(target)
            rest -= share["amount_cents"]
            if rest < 0:
                break
            given.append(share)
        if given and self.hand.chance(2):
            given.append(given[0])
        return given

    def refundable(self, vendor: Party, records: Mapping[str, Any]) -> list[Any]:
        """Return the refundable records of a vendor; now and then all records."""
        if self.hand.chance(3):
            return list(records.values())
        return [e for e in records.values() if e.party is vendor and self.books.refundable(e)]

    def share(self, target: Document | Payment | Credit | None, rest: int) -> Body:
        """Return an allocation to a target, up to its refundable amount; now and then more."""
        limit = 2_000 if target is None else self.books.refundable(target)
        fits = min(limit, rest)
        amounts = (fits, fits // 2, 1, limit + 1 if self.hand.chance(15) else fits)
        given = self.as_given(target, max(1, self.hand.one(amounts)))
        if target is None:
            given |= self.maybe(35, "tax_code", self.code)
        if isinstance(target, Document) and self.hand.chance(30):
            given["lines"] = self.refunded_lines(target, fits)
            total = sum(each["amount_cents"] for each in given["lines"])
            given["amount_cents"] = total + (1 if self.hand.chance(3) else 0)
        if "bill_payment_id" in given and self.hand.chance(2):
            given["bill_payment_id"] = NOBODY
        return given

    def shares_again(self, refund: VendorRefund) -> list[Body]:
        """Return a list that replaces the allocations of a refund; some stay the same."""
        held = [dict(each.body) for each in refund.shares]
        mode = self.hand.number(0, 4)
        if mode == 0:
            return []
        if mode == 1:
            return [{**e, "amount_cents": max(1, e["amount_cents"] // 2)} for e in held]
        if mode == 3:
            held = [{k: v for k, v in e.items() if k not in ("lines", "tax_code")} for e in held]
        if mode == 2:
            held = held[1:]
        rest = refund.total - sum(each["amount_cents"] for each in held)
        named = {self.named_in(each) for each in held} - {None}
        fresh = self.shares(refund.party, max(rest, 1))
        if any(each.status == "completed" for each in refund.payments) and self.hand.chance(80):
            fresh = [each for each in fresh if each["allocation_type"] != "credit"]
        return held + [each for each in fresh if self.named_in(each) not in named]

    def named_in(self, given: Body) -> str | None:
        names = ("bill_id", "bill_payment_id", "vendor_credit_id")
        return next((given[name] for name in names if name in given), None)

    def as_given(self, target: Document | Payment | Credit | None, amount: int) -> Body:
        """Return the body of an allocation."""
        match target:
            case Document():
                return of_bill({"id": target.id}, amount)
            case Payment():
                return of_payment({"id": target.id}, amount)
            case Credit():
                return of_credit({"id": target.id}, amount)
        return as_credit(amount)

    def refund_payment(self, payment: VendorRefundPayment | None) -> Body:
        """Return a new status of a payment, now and then with other fields."""
        status = {"status": self.hand.one(self.side.statuses)}
        if payment is None:
            return status
        open_moves = self.side.moves[payment.status]
        if open_moves and not self.hand.chance(25):
            status = {"status": self.hand.one(open_moves)}
        return {
            **({} if self.hand.chance(10) else status),
            **self.maybe(30, "payment_date", self.day),
            **self.maybe(15, "payment_method", lambda: self.hand.one(METHODS)),
            **self.maybe(15, "processing_fee_cents", lambda: self.hand.one((0, 7, 90))),
            **self.bank(15),
            **self.maybe(10, "failure_reason", "Sent back by the bank"),
        }
