"""Everything the model knows of one business, and the amounts that follow from it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from tests.model.arithmetic import DISCOUNTS
from tests.model.records import (
    LIVE,
    Credit,
    Customer,
    Invoice,
    Payment,
    Refund,
    RefundPayment,
    WriteOff,
)
from tests.model.refusals import Faults, gone

Body = Mapping[str, Any]


class Series:
    """A series of numbers such as INV-000001."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.last = 0

    def take(self) -> str:
        """The next number."""
        self.last += 1
        return f"{self.prefix}-{self.last:06d}"

    def see(self, number: str | None) -> None:
        """A caller gave a number; one of this series moves it on."""
        if number is not None and number.startswith(f"{self.prefix}-"):
            self.last = max(self.last, int(number.removeprefix(f"{self.prefix}-")))


class Books:
    """The records of one business by id, and what follows from them."""

    def __init__(self, today: date) -> None:
        self.today = today
        self.lock_date: date | None = None
        self.customers: dict[str, Customer] = {}
        self.invoices: dict[str, Invoice] = {}
        self.write_offs: dict[str, WriteOff] = {}
        self.payments: dict[str, Payment] = {}
        self.credits: dict[str, Credit] = {}
        self.refunds: dict[str, Refund] = {}
        self.refund_payments: dict[str, RefundPayment] = {}
        self.invoice_numbers = Series("INV")
        self.credit_numbers = Series("CN")

    def invoice(self, id: str) -> Invoice:
        """Find an invoice by its id in a path."""
        if id not in self.invoices:
            raise gone("invoice_not_found")
        return self.invoices[id]

    def customer_named(
        self, faults: Faults, body: Body, without: Customer | None = None
    ) -> Customer | None:
        """Find the customer that a body names, or note what is wrong with the name."""
        by_id, by_name = body.get("customer_id"), body.get("customer_external_id")
        found = self.customers.get(by_id) if by_id else None
        if by_id and found is None:
            faults.add(422, "reference_not_found")
        if by_name and found and found.external_id != by_name:
            faults.add(422, "reference_mismatch")
        if by_name and not by_id:
            found = next(each for each in self.customers.values() if each.external_id == by_name)
        return found if by_id or by_name else without

    def locked(self, faults: Faults, day: date | None) -> None:
        """Note where a day that was given lies in the locked period."""
        inside = day is not None and self.lock_date is not None and day <= self.lock_date
        faults.add(409, "period_locked", inside)

    # What follows for an invoice.

    def payments_of(self, invoice: Invoice) -> Iterator[tuple[Payment, int]]:
        for payment in self.payments.values():
            if invoice.id in payment.parts:
                yield payment, payment.parts[invoice.id]

    def paid(self, invoice: Invoice) -> int:
        """What completed payments have settled."""
        return sum(n for each, n in self.payments_of(invoice) if each.status == "completed")

    def reserved(self, invoice: Invoice) -> int:
        """What payments on their way are meant to settle."""
        return sum(n for each, n in self.payments_of(invoice) if each.status != "completed")

    def credited(self, invoice: Invoice) -> int:
        return sum(each.parts.get(invoice.id, 0) for each in self.credits.values())

    def written_off(self, invoice: Invoice) -> int:
        return sum(each.amount for each in self.write_offs_of(invoice))

    def write_offs_of(self, invoice: Invoice) -> list[WriteOff]:
        """The write-offs that stand."""
        return [w for w in self.write_offs.values() if w.invoice is invoice and not w.reversed]

    def refunds_of(self, target: Invoice | Payment) -> list[Refund]:
        """The refunds that are not cancelled."""
        return [
            each
            for each in self.refunds.values()
            if (each.invoice is target or each.payment is target) and not each.cancelled
        ]

    def refunded(self, target: Invoice | Payment) -> int:
        return sum(each.amount for each in self.refunds_of(target))

    def outstanding(self, invoice: Invoice) -> int:
        """What is still asked for."""
        if invoice.state == "void":
            return 0
        settled = self.paid(invoice) + self.credited(invoice) + self.written_off(invoice)
        return invoice.priced.total - settled

    def left(self, invoice: Invoice) -> int:
        """What nobody has laid a hand on yet."""
        return self.outstanding(invoice) - self.reserved(invoice)

    def is_touched(self, invoice: Invoice) -> bool:
        """Whether anything is allocated, credited, refunded or written off."""
        return any(
            (
                self.paid(invoice),
                self.reserved(invoice),
                self.credited(invoice),
                self.written_off(invoice),
                self.refunded(invoice),
            )
        )

    def is_overdue(self, invoice: Invoice) -> bool:
        due = invoice.due_at is not None and invoice.due_at.date() < self.today
        return invoice.state == "open" and due and self.outstanding(invoice) > 0

    def status(self, invoice: Invoice) -> str:
        """The word for an invoice: the first that fits."""
        paid = self.paid(invoice)
        owed = self.outstanding(invoice)
        words = (
            ("voided", invoice.state == "void"),
            ("draft", invoice.state == "draft"),
            ("refunded", owed == 0 and paid > 0 and self.refunded(invoice) >= paid),
            ("written_off", owed == 0 and self.written_off(invoice) > 0),
            ("paid", owed == 0),
            ("partially_written_off", self.written_off(invoice) > 0),
            ("overdue", self.is_overdue(invoice)),
            ("partially_paid", paid + self.credited(invoice) > 0),
        )
        return next((word for word, fits in words if fits), "sent")

    # What follows for money and credits.

    def allocated(self, payment: Payment) -> int:
        return sum(payment.parts.values()) + self.refunded(payment)

    def applied(self, payment: Payment) -> int:
        return sum(payment.parts.values()) if payment.status == "completed" else 0

    def remaining(self, payment: Payment) -> int:
        return payment.total - self.allocated(payment)

    def refundable(self, target: Invoice | Payment) -> int:
        """How much can be given back."""
        if isinstance(target, Invoice):
            return max(0, self.paid(target) - self.refunded(target))
        return self.remaining(target) if target.status == "completed" else 0

    def credit_status(self, credit: Credit) -> str:
        if credit.state != "sent":
            return credit.state
        if credit.used == credit.total:
            return "applied"
        return "partially_applied" if credit.used else "sent"

    def unapplied(self, credit: Credit) -> int:
        return credit.total - credit.used if credit.state == "sent" else 0

    # What follows for the ledger.

    def owed_by(self, customer: Customer) -> int:
        """What the sent invoices of a customer ask for."""
        return sum(
            self.outstanding(each)
            for each in self.invoices.values()
            if each.customer is customer and each.state == "open"
        )

    def balances(self) -> Counter[str]:
        """Debits less credits of every account that holds something."""
        held: Counter[str] = Counter()
        for invoice in self.invoices.values():
            # One that comes to nothing posts nothing, not even its discount.
            if invoice.state == "open" and invoice.priced.total:
                held["1200"] += self.outstanding(invoice)
                held[DISCOUNTS] += invoice.priced.discount
                held.subtract(invoice.priced.revenue)
                held.subtract(invoice.priced.taxes)
        for write_off in self.write_offs.values():
            held[write_off.account] += 0 if write_off.reversed else write_off.amount
        self._add_payments(held)
        self._add_credits(held)
        self._add_refunds(held)
        return Counter({code: amount for code, amount in held.items() if amount})

    def _add_payments(self, held: Counter[str]) -> None:
        for payment in self.payments.values():
            if payment.status == "completed":
                held[payment.account] += payment.total - payment.fee
                held["6100"] += payment.fee
                held["2100"] -= self.remaining(payment)
            else:
                held["2100"] += self.refunded(payment)

    def _add_credits(self, held: Counter[str]) -> None:
        for credit in self.credits.values():
            if credit.state == "sent":
                held.update(credit.lines)
                held["2200"] += credit.tax
                held["2250"] -= self.unapplied(credit)

    def _add_refunds(self, held: Counter[str]) -> None:
        for refund in self.refunds.values():
            if not refund.cancelled:
                held["2300"] -= refund.rest
                held.update(refund.split)
            for paid in refund.payments:
                if not paid.cancelled:
                    held[paid.account] -= paid.amount + paid.fee
                    held["6100"] += paid.fee


def is_live(payment: Payment) -> bool:
    """Whether a payment may hold allocations."""
    return payment.status in LIVE


def moment(text: str | None) -> datetime | None:
    """Read a moment as a body has it."""
    return None if text is None else datetime.fromisoformat(text)


def day_of(text: str | None) -> date | None:
    """The day of a moment as a body has it."""
    at = moment(text)
    return None if at is None else at.date()
