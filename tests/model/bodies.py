"""Bodies of requests, drawn with an eye on what the model knows: mostly right, sometimes wrong."""

from collections.abc import Sequence
from typing import Any

from tests.model.arithmetic import price
from tests.model.books import Books
from tests.model.hand import Hand
from tests.model.records import STATUSES, Credit, Customer, Invoice, Payment

Body = dict[str, Any]

NOBODY = "0197f0c6-0000-7000-8000-000000000000"
DAYS = ("2025-01-10", "2025-02-15", "2025-03-01", "2025-05-20", "2026-06-30")
PRICES = (1_000, 1, 99, 100, 333, 2_500, 10_000, 123_457)
QUANTITIES = (1, 2, 3, "1.5", 0.5, 2.333333)
RATES = (20, 5, "7.5", 19.25, 0)
METHODS = ("bank_transfer", "cash", "credit_card", "check", "paypal", "stripe", "other")
REFUND_METHODS = ("BANK_TRANSFER", "CASH", "CREDIT_CARD", "STRIPE", "OTHER")
CODES = ("4500", "2400", "6000", "1200", "2250", "9999")


class Bodies:
    """Draws bodies for one business."""

    def __init__(self, hand: Hand, books: Books) -> None:
        self.hand = hand
        self.books = books

    def day(self) -> str:
        """A fixed day of the past, or today."""
        return self.books.today.isoformat() if self.hand.chance(20) else self.hand.one(DAYS)

    def moment(self) -> str:
        return f"{self.day()}T09:00:00Z"

    def maybe(self, percent: int, name: str, value: Any) -> Body:
        """A field that is there as often as that; `value` is called for when it is."""
        if not self.hand.chance(percent):
            return {}
        return {name: value() if callable(value) else value}

    def external_id(self, percent: int = 15) -> Body:
        """One of a few, so that they meet again."""
        return self.maybe(percent, "external_id", lambda: f"mine-{self.hand.number(1, 5)}")

    def account(self) -> Body:
        return {"type": "AccountCode", "code": self.hand.one(CODES)}

    def customer(self) -> Body:
        """A customer by one name or both; now and then by two that disagree, or by a wrong one."""
        customers = list(self.books.customers.values())
        one, two = self.hand.one(customers), self.hand.one(customers)
        by_id, by_name = {"customer_id": one.id}, {"customer_external_id": one.external_id}
        if not self.hand.chance(25):
            return by_id
        return self.hand.one(
            (
                by_name,
                {**by_id, **by_name},
                {**by_id, "customer_external_id": two.external_id},
                {"customer_id": NOBODY},
            )
        )

    def currency(self) -> str:
        return "EUR" if self.hand.chance(2) else "GBP"

    # Invoices.

    def line(self) -> Body:
        hand = self.hand
        line = {"quantity": hand.one(QUANTITIES), "unit_price": hand.one(PRICES)}
        if hand.chance(20):
            line["discount_amount"] = hand.one((1, 50, 400))
        if hand.chance(8):
            line["account_identifier"] = self.account()
        if hand.chance(50):
            line["tax_rate"] = hand.one(RATES)
        elif hand.chance(40):
            line["sales_taxes"] = [self.tax() for _ in range(hand.number(1, 2))]
        return line

    def tax(self) -> Body:
        code = {"type": "AccountCode", "code": "2400"}
        return {"amount": self.hand.one((1, 17, 200)), **self.maybe(30, "tax_account", code)}

    def lines(self) -> Body:
        lines = [self.line() for _ in range(self.hand.number(1, 3))]
        discount = self.maybe(20, "additional_discount", lambda: self.hand.one((1, 90, 700)))
        return {"line_items": lines, **discount, **self.due()}

    def due(self) -> Body:
        at = ("2025-06-01T00:00:00Z", "2099-01-01T00:00:00Z")
        return self.maybe(40, "due_at", lambda: self.hand.one(at))

    def number(self, series: str, field: str) -> Body:
        """Now and then a number of the caller's own, in the form of the series or not."""
        if not self.hand.chance(8):
            return {}
        given = f"{series}-{self.hand.number(1, 12):06d}", f"Own {self.hand.number(1, 3)}"
        return {field: self.hand.one(given)}

    def invoice(self) -> Body:
        return {
            **self.customer(),
            **self.lines(),
            **self.maybe(85, "sent_at", self.moment),
            **self.external_id(),
            **self.number("INV", "invoice_number"),
            **self.maybe(3, "currency", self.currency),
        }

    def paid_invoice(self) -> Body:
        body = self.invoice()
        total = price(body).total
        body["payments"] = [self.paid_with(total) for _ in range(self.hand.number(1, 2))]
        return body

    def paid_with(self, total: int) -> Body:
        amounts = (total // 2, total // 3, 1, total + 1)
        return {
            **self.money(),
            **self.maybe(70, "total_amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(30, "payment_date", self.day),
            **self.external_id(10),
        }

    def replacement(self) -> Body:
        return {
            **(self.customer() if self.hand.chance(20) else {}),
            **self.lines(),
            **self.maybe(20, "sent_at", self.moment),
            **self.external_id(10),
            **self.number("INV", "invoice_number"),
        }

    def write_off(self, invoice: Invoice | None) -> Body:
        left = 0 if invoice is None else self.books.left(invoice)
        amounts = (left, left // 2, 1, left + 1)
        return {
            **self.maybe(60, "amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(40, "write_off_at", self.moment),
            **self.maybe(12, "destination_account", self.account),
            **self.external_id(),
        }

    # Money.

    def money(self) -> Body:
        return {
            "payment_method": self.hand.one(METHODS),
            **self.maybe(20, "payment_processor", "adyen"),
            **self.maybe(25, "processing_fee_cents", lambda: self.hand.one((1, 30, 250))),
        }

    def payment(self) -> Body:
        customer = self.customer()
        total = self.amount_near(self.named(customer))
        status = self.hand.one(STATUSES if self.hand.chance(35) else ("completed",))
        return {
            **customer,
            "total_amount_cents": total,
            "currency": self.currency(),
            "payment_date": self.day(),
            **self.money(),
            **({} if status == "completed" else {"status": status}),
            **self.maybe(80, "allocations", lambda: self.parts(self.named(customer), total)),
            **self.external_id(),
        }

    def named(self, body: Body) -> Customer:
        """The customer that a body means, or any where it means none."""
        for customer in self.books.customers.values():
            if body.get("customer_id", customer.id) == customer.id and (
                "customer_id" in body or body["customer_external_id"] == customer.external_id
            ):
                return customer
        return next(iter(self.books.customers.values()))

    def amount_near(self, customer: Customer) -> int:
        """An amount that has to do with what the customer owes."""
        owed = self.books.owed_by(customer)
        one = max((self.books.left(each) for each in self.open_ones(customer)), default=100)
        return max(1, self.hand.one((one, owed, one // 2, one + 500, 100, 2 * owed)))

    def open_ones(self, customer: Customer) -> list[Invoice]:
        """The open invoices of a customer of which something is left."""
        return [
            each
            for each in self.books.invoices.values()
            if each.customer is customer and each.state == "open" and self.books.left(each) > 0
        ]

    def parts(self, customer: Customer, rest: int, amount: str = "amount_cents") -> list[Body]:
        """Allocations of up to an amount, or of more, to invoices of the customer, or of another.

        `amount` is what its field is called.
        """
        hand, given = self.hand, []
        if hand.chance(10):
            invoices: Sequence[Invoice] = list(self.books.invoices.values())
        else:
            invoices = self.open_ones(customer)
        for invoice in hand.some(invoices, 3):
            left = self.books.left(invoice)
            fits = min(left, rest)
            amounts = (fits, fits // 2, 1, fits) if hand.chance(93) else (left + 1, rest + 1)
            part = max(1, hand.one(amounts))
            rest -= part
            given.append({"invoice_id": invoice.id, amount: part})
        if given and hand.chance(2):
            given.append(given[0])
        if hand.chance(2):
            given.append({"invoice_id": NOBODY, amount: 1})
        return given

    def list_again(self, subject: Payment | Credit, amount: str = "amount_cents") -> list[Body]:
        """A list in place of the one that a payment or credit has: some stays, some does not."""
        held = [{"invoice_id": id, amount: part} for id, part in subject.parts.items()]
        free = subject.total - sum(subject.parts.values())
        mode = self.hand.number(0, 4)
        if mode == 0:
            return []
        if mode == 1:
            return [{**each, amount: max(1, each[amount] // 2)} for each in held]
        fresh = self.parts(subject.customer, max(free, 1), amount)
        taken = {each["invoice_id"] for each in held}
        return held + [each for each in fresh if each["invoice_id"] not in taken]

    def facts(self, payment: Payment) -> Body:
        """Corrections of what a payment is."""
        meant = self.books.allocated(payment)
        totals = (meant, payment.total + 100, meant - 1, payment.total)
        body = {
            **self.maybe(50, "total_amount_cents", lambda: max(1, self.hand.one(totals))),
            **self.maybe(30, "payment_date", self.day),
            **(self.money() if self.hand.chance(40) else {}),
            **self.external_id(10),
        }
        if self.hand.chance(8):
            other = self.hand.one(list(self.books.customers.values()))
            body |= self.hand.one(({"customer_id": other.id}, {"currency": self.currency()}))
        return body

    # Credits and refunds.

    def credit(self) -> Body:
        hand = self.hand
        customer = self.customer()
        lines = [self.credit_line() for _ in range(hand.number(1, 2))]
        total = sum(each["amount"] + each.get("tax_amount_cents", 0) for each in lines)
        sources = [*self.books.invoices, NOBODY]
        return {
            **customer,
            "line_items": lines,
            **self.maybe(80, "sent_at", self.moment),
            **self.maybe(
                60, "allocations", lambda: self.parts(self.named(customer), total, "amount")
            ),
            **self.maybe(10, "source_invoice_id", lambda: hand.one(sources)),
            **self.external_id(),
            **self.number("CN", "credit_note_number"),
            **self.maybe(3, "currency", self.currency),
        }

    def credit_line(self) -> Body:
        return {
            "amount": self.hand.one((1_000, 1, 333, 5_000)),
            **self.maybe(40, "tax_amount_cents", lambda: self.hand.one((200, 1, 0))),
            **self.maybe(8, "revenue_account_identifier", self.account),
        }

    def refund(self, target: Invoice | Payment | None) -> Body:
        limit = 0 if target is None else self.books.refundable(target)
        amounts = (limit, limit // 2, 1, limit + 1)
        return {
            **self.maybe(65, "amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(35, "completed_at", self.moment),
            **self.means(),
            **self.external_id(),
        }

    def means(self) -> Body:
        """How refunded money moves."""
        return {
            **self.maybe(40, "method", lambda: self.hand.one(REFUND_METHODS)),
            **self.maybe(15, "processor", "adyen"),
            **self.maybe(15, "refund_processing_fee_cents", lambda: self.hand.one((5, 120))),
        }

    def refund_payment(self, rest: int) -> Body:
        amounts = (rest, rest // 2, 1, rest + 1)
        return {
            **self.maybe(60, "amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(40, "completed_at", self.moment),
            **self.means(),
            **self.external_id(),
        }
