"""The records of one business in the model, and the amounts computed from them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from tests import clock
from tests.model.codes import Code, codes_of
from tests.model.records import (
    BankAccount,
    BankLine,
    BankRule,
    Credit,
    Document,
    Entry,
    Link,
    Money,
    Opening,
    Party,
    Payment,
    Payout,
    Refund,
    RefundPayment,
    Settlement,
    Transfer,
    VendorRefund,
    VendorRefundPayment,
    WriteOff,
)
from tests.model.refusals import Faults, find
from tests.model.rests import Rests, Split, left_of, rest_of
from tests.model.sides import Side

Body = Mapping[str, Any]
P = TypeVar("P", Document, Payment, Credit, Refund, VendorRefund)


class Series:
    """A series of numbers such as INV-000001."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.last = 0

    def take(self) -> str:
        """Return the next number."""
        self.last += 1
        return f"{self.prefix}{self.last:06d}"

    def see(self, number: str | None) -> None:
        """Note a number from a caller: a number of this series moves the series on."""
        if number is not None and number.startswith(self.prefix):
            self.last = max(self.last, int(number.removeprefix(self.prefix)))


class Books:
    """The records of one side of one business by id, and the amounts computed from them."""

    def __init__(self, side: Side, timezone: str) -> None:
        self.side = side
        self.zone = ZoneInfo(timezone)
        self.today = clock.now().astimezone(self.zone).date()
        self.lock_date: date | None = None
        self.codes: dict[str, Code] = {e.name: e for e in codes_of(sales=side.sign > 0)}
        self.parties: dict[str, Party] = {}
        self.documents: dict[str, Document] = {}
        self.write_offs: dict[str, WriteOff] = {}
        self.payments: dict[str, Payment] = {}
        self.credits: dict[str, Credit] = {}
        self.refunds: dict[str, Refund] = {}
        self.refund_payments: dict[str, RefundPayment] = {}
        self.payouts: dict[str, Payout] = {}
        self.vendor_refunds: dict[str, VendorRefund] = {}
        self.vendor_refund_payments: dict[str, VendorRefundPayment] = {}
        self.bank_accounts: dict[str, BankAccount] = {}
        self.bank_lines: dict[str, BankLine] = {}
        self.links: list[Link] = []
        self.rules: dict[str, BankRule] = {}
        self.tolerance = 0
        self.entries: dict[str, Entry] = {}
        self.openings: dict[str, Opening] = {}
        self.scheme = ""  # That of all filed returns.
        self.filed: dict[int, str] = {}  # The id of the return of each filed quarter.
        self.settled_tax: Counter[str] = Counter()  # What settlements of returns posted.
        self.settlements: dict[Any, dict[Any, Settlement]] = {}
        self.again: dict[tuple[Any, Any], Settlement] = {}
        self.settled_of: dict[Any, Counter[Any]] = {}
        self.document_numbers = Series(side.series)
        self.credit_numbers = Series(side.credit_series)

    def document(self, id: str) -> Document:
        """Find an invoice or a bill by its id in a path."""
        return find(self.documents, id, f"{self.side.noun}_not_found")

    def party_named(self, faults: Faults, body: Body, without: Party | None = None) -> Party | None:
        """Find the party that a body names, or note the faults of the name."""
        by_id, by_name = body.get(self.side.party_id), body.get(self.side.party_external_id)
        found = self.parties.get(by_id) if by_id else None
        if by_id and found is None:
            faults.add(422, "reference_not_found")
        if by_name and found and found.external_id != by_name:
            faults.add(422, "reference_mismatch")
        if by_name and not by_id:
            found = next(each for each in self.parties.values() if each.external_id == by_name)
        return found if by_id or by_name else without

    def bank_named(
        self, faults: Faults, body: Body, without: BankAccount | None = None
    ) -> BankAccount | None:
        """Find the bank account that a body names for money, or note that it is unknown."""
        if "bank_account_id" not in body:
            return without
        id = body["bank_account_id"]
        faults.add(422, "reference_not_found", id is not None and id not in self.bank_accounts)
        return self.bank_accounts.get(id)

    def inactive(self, faults: Faults, party: Party | None) -> None:
        """Note a fault where no new business is done with a party."""
        faults.add(409, self.side.not_active, party and party.status != "ACTIVE")

    def locked(self, faults: Faults, day: date | None) -> None:
        """Note a fault where a day lies in the locked period."""
        inside = day is not None and self.lock_date is not None and day <= self.lock_date
        faults.add(409, "period_locked", inside)

    # Moments and days.

    def move(self, timezone: str) -> None:
        """Change the time zone: only later moments are read in it."""
        self.zone = ZoneInfo(timezone)
        self.today = clock.now().astimezone(self.zone).date()

    def moment(self, text: str | None) -> datetime | None:
        """Read a moment from a body in the time zone of now, in which its day then stays."""
        return None if text is None else datetime.fromisoformat(text).astimezone(self.zone)

    def day_of(self, text: str | None) -> date | None:
        """Return the day of a moment or of a date in a body."""
        if text is not None and "T" not in text:
            return date.fromisoformat(text)
        at = self.moment(text)
        return None if at is None else at.date()

    def start_of(self, day: date) -> datetime:
        """Return the first moment of a day."""
        return datetime.combine(day, time(), self.zone)

    # Amounts of documents.

    def payments_of(self, document: Document) -> Iterator[tuple[Payment, int]]:
        for payment in self.payments.values():
            if document.id in payment.parts:
                yield payment, payment.parts[document.id]

    def paid(self, document: Document) -> int:
        """Return the amount that completed payments settle."""
        return sum(n for each, n in self.payments_of(document) if each.status == "completed")

    def reserved(self, document: Document) -> int:
        """Return the amount that payments on their way are to settle."""
        return sum(n for each, n in self.payments_of(document) if each.status != "completed")

    def credited(self, document: Document) -> int:
        return sum(each.parts.get(document.id, 0) for each in self.credits.values())

    def written_off(self, document: Document) -> int:
        return sum(each.amount for each in self.write_offs_of(document))

    def write_offs_of(self, document: Document) -> list[WriteOff]:
        """Return the write-offs that are not reversed."""
        return [w for w in self.write_offs.values() if w.document is document and not w.reversed]

    def refunds_of(self, target: Document | Payment | Credit) -> list[Refund]:
        """Return the refunds that are not cancelled."""
        return [
            each
            for each in self.refunds.values()
            if target in (each.document, each.payment, each.credit) and not each.cancelled
        ]

    def given_back(self, target: Document | Payment) -> Iterator[tuple[Any, int]]:
        """Yield the live refunds of a document or payment on either side, with their amounts."""
        yield from ((each, each.amount) for each in self.refunds_of(target))
        for refund in self.vendor_refunds.values():
            yield from ((refund, each.amount) for each in refund.shares if each.target is target)

    def refunded(self, target: Document | Payment) -> int:
        return sum(amount for _, amount in self.given_back(target))

    def taken(self, document: Document) -> list[Split]:
        """Return the amounts that live refunds, open credits and tax relief took from the lines."""
        splits = [each.split for each in self.refunds_of(document)]
        splits += [e.takes for e in self.credits.values() if e.state == "open"]
        splits += [each.relieved for each in self.write_offs_of(document)]
        for refund in self.vendor_refunds.values():
            splits += [each.split for each in refund.shares if each.target is document]
        return splits

    def rests(self, document: Document) -> Rests:
        """Return the parts of each line of a document that can still be credited or refunded."""
        taken = self.taken(document)
        return {line: rest_of(self.side, line, taken) for line in document.priced.lines}

    def outstanding(self, document: Document) -> int:
        """Return the outstanding amount."""
        if document.state == "void":
            return 0
        settled = self.paid(document) + self.credited(document) + self.written_off(document)
        return document.priced.total - settled

    def left(self, document: Document) -> int:
        """Return the outstanding amount less payments on their way."""
        return self.outstanding(document) - self.reserved(document)

    def is_touched(self, document: Document) -> bool:
        """Return whether an amount is allocated, credited, refunded or written off."""
        return any(
            (
                self.paid(document),
                self.reserved(document),
                self.credited(document),
                self.written_off(document),
                self.refunded(document),
                self.credited_by_line(document),
            )
        )

    def credited_by_line(self, document: Document) -> bool:
        """Return whether an open credit names one of the document's lines."""
        credits = [each for each in self.credits.values() if each.state == "open"]
        return any(line in document.priced.lines for each in credits for line, _ in each.takes)

    def days_late(self, document: Document) -> int:
        """Return the number of days since the due day, in the present time zone."""
        due = document.due_at
        return 0 if due is None else (self.today - due.astimezone(self.zone).date()).days

    def is_overdue(self, document: Document) -> bool:
        late = self.days_late(document) > 0
        return document.state == "open" and late and self.outstanding(document) > 0

    def status(self, document: Document) -> str:
        """Return the status of a document: the first that fits."""
        paid = self.paid(document)
        owed = self.outstanding(document)
        words = (
            ("voided", document.state == "void"),
            ("draft", document.state == "draft"),
            ("refunded", owed == 0 and paid > 0 and self.refunded(document) >= paid),
            ("written_off", owed == 0 and self.written_off(document) > 0),
            ("paid", owed == 0),
            ("partially_written_off", self.written_off(document) > 0),
            ("overdue", self.is_overdue(document)),
            ("partially_paid", paid + self.credited(document) > 0),
        )
        return next((word for word, fits in words if fits), self.side.opened)

    # Amounts of payments and credits.

    def allocated(self, payment: Payment) -> int:
        return sum(payment.parts.values()) + self.refunded(payment)

    def applied(self, payment: Payment) -> int:
        return sum(payment.parts.values()) if payment.status == "completed" else 0

    def remaining(self, payment: Payment) -> int:
        return payment.total - self.allocated(payment)

    def refundable(self, target: Document | Payment | Credit) -> int:
        """Return the refundable amount."""
        if isinstance(target, Credit):
            return self.unapplied(target)
        if isinstance(target, Document):
            rest = sum(left_of(self.side, self.rests(target)).values())
            return min(max(0, self.paid(target) - self.refunded(target)), max(0, rest))
        if target.status != "completed":
            return 0
        # A vendor may also refund money that settles bills: the refund takes it off them.
        free = self.side.sign > 0
        return self.remaining(target) if free else target.total - self.refunded(target)

    def payout_of(self, money: Money) -> Payout | None:
        """Return the live payout that contains some money."""
        for payout in self.payouts.values():
            if payout.is_live and money in (*payout.payments, *payout.refund_payments):
                return payout
        return None

    def credit_status(self, credit: Credit) -> str:
        if credit.state != "open":
            return credit.state
        if self.unapplied(credit) == 0:
            return "applied"
        used = credit.used + self.paid_out(credit)
        return "partially_applied" if used else self.side.opened

    def paid_out(self, credit: Credit) -> int:
        """Return the amount of a credit that live refunds pay out."""
        shares = [each for refund in self.vendor_refunds.values() for each in refund.shares]
        in_cash = [e.amount for e in shares if e.target is credit and not e.is_kept]
        return sum(each.amount for each in self.refunds_of(credit)) + sum(in_cash)

    def unapplied(self, credit: Credit) -> int:
        used = credit.used + self.paid_out(credit)
        return credit.total - used if credit.state == "open" else 0

    # Amounts at the bank.

    def links_of(self, end: Money | Transfer | Entry | BankLine | None) -> list[Link]:
        """Return the links of a line, or of money."""
        return [each for each in self.links if end in (each.line, each.money)]

    def linked(self, end: Money | BankLine) -> int:
        whole = isinstance(end, BankLine)
        return sum(each.amount + (each.more if whole else 0) for each in self.links_of(end))

    @property
    def transfers(self) -> list[Transfer]:
        """The linked transfers between own accounts."""
        found = [each.money for each in self.links if isinstance(each.money, Transfer)]
        return list(dict.fromkeys(found))

    def unexplained(self, line: BankLine) -> int:
        """Return the amount of a line that no link and no category explains."""
        return line.amount - self.linked(line) - line.categorized

    def account_of(self, money: Money) -> str:
        """Return the account of money: of the bank account that shows it, else that it names.

        Otherwise its method decides.
        """
        if isinstance(money, Payment) and money.opening is not None:
            return "3290"
        for link in self.links_of(money):
            return link.line.account.code
        if money.bank is not None:
            return money.bank.code
        if isinstance(money, Payout):
            return "1100"
        return self.side.money(money.method, getattr(money, "processor", None))

    # Amounts of parties.

    def owed_by(self, party: Party) -> int:
        """Return the outstanding amount of the open documents of a party."""
        documents = of(party, self.documents)
        return sum(self.outstanding(each) for each in documents if each.state == "open")

    def is_open_with(self, party: Party) -> bool:
        """Return whether an amount is owed, paid in advance, credited or to be refunded."""
        payments, agreed = of(party, self.payments), of(party, self.vendor_refunds)
        in_advance = [self.remaining(each) for each in payments if each.status == "completed"]
        bounced = [self.refunded(each) for each in payments if each.status != "completed"]
        credited = [self.unapplied(each) for each in of(party, self.credits)]
        to_pay = [each.rest for each in of(party, self.refunds) if not each.cancelled]
        to_come = [each.cash - each.paid for each in agreed if not each.cancelled]
        open_ = (self.owed_by(party), *in_advance, *bounced, *credited, *to_pay, *to_come)
        return any(open_)


def of(party: Party, records: Mapping[str, P]) -> list[P]:
    """Return the records of a party."""
    return [each for each in records.values() if each.party is party]
