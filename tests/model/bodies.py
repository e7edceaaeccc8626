"""Bodies of requests, drawn from the records of the model: mostly right, sometimes wrong."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

from tests.model.books import Books, of
from tests.model.codes import CHARGED, WITHHELD, Code
from tests.model.hand import Hand
from tests.model.pricing import Line, price_of
from tests.model.records import Credit, Document, Party, Payment
from tests.model.rests import net_part

Body = dict[str, Any]

NOBODY = "0197f0c6-0000-7000-8000-000000000000"
DAYS = ("2025-01-10", "2025-02-15", "2025-03-01", "2025-05-20", "2026-06-30")
TIMES = ("09:00:00", "09:00:00", "00:30:00", "10:30:00", "23:30:00")
OLD_DAYS = ("2024-11-03", "2024-12-31", "2025-01-10", "2025-03-01")
NUMBERS = count(1)
PRICES = (1_000, 1, 99, 100, 333, 2_500, 10_000, 123_457)
EXACT_PRICES = ("16.48", "333.3333", "0.000000000001", "1000.50", "2500.0")
QUANTITIES = (1, 2, 3, "1.5", 0.5, 2.333333)
RATES = (20, 5, "7.5", 19.25, 0, "12.5")
TURNING = (10, 25, 15)
"""Rates that a code has on some of the days only."""
CODES = ("4500", "2400", "6000", "1200", "2250", "9999")
PLAIN = ("4000", "4100", "4500", "5100", "6000")
"""Accounts on which no tax is posted."""


class Bodies:
    """A source of random bodies for one side of one business."""

    def __init__(self, hand: Hand, books: Books) -> None:
        self.hand = hand
        self.books = books
        self.side = books.side

    def day(self) -> str:
        """Return a fixed day of the past, or today."""
        return self.books.today.isoformat() if self.hand.chance(20) else self.hand.one(DAYS)

    def moment(self) -> str:
        """Return a moment of a day; none is on a later day than today where the business is."""
        day, time = date.fromisoformat(self.day()), self.hand.one(TIMES)
        on = self.books.day_of(f"{day}T{time}Z")
        is_later = on is not None and on > self.books.today
        return f"{day - timedelta(days=1) if is_later else day}T{time}Z"

    def maybe(self, percent: int, name: str, value: Any) -> Body:
        """Return a field in some percent of the calls, else nothing; `value` may be a function."""
        if not self.hand.chance(percent):
            return {}
        return {name: value() if callable(value) else value}

    def external_id(self, percent: int = 15) -> Body:
        """Return one of a few external ids, so that they repeat."""
        return self.maybe(percent, "external_id", lambda: f"mine-{self.hand.number(1, 5)}")

    def account(self) -> Body:
        return {"type": "AccountCode", "code": self.hand.one(CODES)}

    def recoding(self, lines: Sequence[Line], field: str, *, together: bool) -> Body:
        """Return other accounts of lines; of a settled record, of all lines of one account.

        No tax is on these accounts: it would look like a net.
        """
        plain = [each for each in lines if each.account in PLAIN and each.id]
        if not plain:
            return {"memo": "Nothing moves.", "line_items": []}
        first = self.hand.one(plain)
        chosen = [each for each in plain if each.account == first.account]
        if not together and self.hand.chance(50):
            chosen = [first]
        code = self.hand.one(("1200", "9999") if self.hand.chance(6) else PLAIN)
        account = {"type": "AccountCode", "code": code}
        ids = [NOBODY] if self.hand.chance(3) else [each.id for each in chosen]
        return {"line_items": [{"id": id, field: account} for id in ids]}

    def party(self) -> Body:
        """Return a party by id, external id or both; now and then wrong or contradictory ids."""
        parties = list(self.books.parties.values())
        one, two = self.hand.one(parties), self.hand.one(parties)
        by_id = {self.side.party_id: one.id}
        by_name = {self.side.party_external_id: one.external_id}
        if not self.hand.chance(25):
            return by_id
        return self.hand.one(
            (
                by_name,
                {**by_id, **by_name},
                {**by_id, self.side.party_external_id: two.external_id},
                {self.side.party_id: NOBODY},
            )
        )

    def line(self, *, inclusive: bool = False) -> Body:
        hand = self.hand
        line = {"quantity": hand.one(QUANTITIES), **self.price()}
        if hand.chance(20):
            line["discount_amount"] = hand.one((1, 50, 400))
        if hand.chance(8):
            line["account_identifier"] = self.account()
        if hand.chance(30):
            line["tax_rate"] = hand.one((*RATES, *TURNING))
        elif hand.chance(60):
            line["tax_code"] = self.code()
        elif not inclusive and hand.chance(40):
            line["sales_taxes"] = [self.tax() for _ in range(hand.number(1, 2))]
        if hand.chance(6):
            line["withholding_code"] = "KEPT" if hand.chance(90) else self.code()
        return line

    def deduction(self, of: Body) -> Body:
        """Return a line that deducts of another, mostly at its tax: a part, all or too much."""
        hand, price = self.hand, price_of(of)
        parts = (price / 2, price / 3, price, Fraction(1), price + hand.number(0, 1))
        millionths = round(hand.one(parts) * 10**6)
        names = ("tax_rate", "tax_code", "withholding_code", "account_identifier")
        kept = names if hand.chance(90) else ("withholding_code",)
        line = {
            "quantity": of["quantity"] if hand.chance(70) else 1,
            "unit_price_decimal": f"{-Decimal(millionths) / 10**6:f}",
            **{name: of[name] for name in kept if name in of},
            **self.maybe(30, "account_identifier", self.account),
            **self.maybe(3, "discount_amount", 1),
        }
        if "tax_rate" not in line and hand.chance(3):
            line["sales_taxes"] = [self.tax()]
        return line

    def price(self) -> Body:
        """Return a price of one unit; some have parts of a minor unit."""
        if self.hand.chance(15):
            return {"unit_price_decimal": self.hand.one(EXACT_PRICES)}
        return {"unit_price": self.hand.one(PRICES)}

    def code(self) -> str:
        """Return a lasting code of the side; now and then any code, or an unknown one."""
        fitting = [e.name for e in self.books.codes.values() if e.is_lasting and self.taxes(e)]
        return self.hand.one([*self.books.codes, "none"] if self.hand.chance(6) else fitting)

    def taxes(self, code: Code) -> bool:
        return code.sales == (self.side.sign > 0) and code.kind != WITHHELD

    def tax(self) -> Body:
        # No line is on this account. The model keeps parts by account and mark: a tax without a
        # code on the account of a line would look like a net.
        account = {"type": "AccountCode", "code": "6200"}
        return {
            "amount": self.hand.one((1, 17, 200)),
            **self.maybe(30, "tax_account", account),
            **self.maybe(30, "tax_code", self.charged),
        }

    def charged(self) -> str:
        """Return a code whose tax the seller charges."""
        codes = self.books.codes.values()
        return self.hand.one([e.name for e in codes if e.kind == CHARGED and self.taxes(e)])

    def lines(self) -> Body:
        inclusive = self.maybe(20, "amounts_include_tax", True)
        lines = [self.line(inclusive=bool(inclusive)) for _ in range(self.hand.number(1, 3))]
        if self.hand.chance(25):
            lines.append(self.deduction(self.hand.one(lines)))
        discount = self.maybe(20, "additional_discount", lambda: self.hand.one((1, 90, 700)))
        return {"line_items": lines, **discount, **inclusive, **self.due()}

    def due(self) -> Body:
        at = ("2025-06-01T00:00:00Z", "2099-01-01T00:00:00Z")
        return self.maybe(40, "due_at", lambda: self.hand.one(at))

    def number(self, series: str, field: str) -> Body:
        """Return, now and then, a number of the caller, in the form of the series or not."""
        if not self.hand.chance(8):
            return {}
        given = f"{series}{self.hand.number(1, 12):06d}", f"Own {self.hand.number(1, 3)}"
        return {field: self.hand.one(given)}

    def document(self) -> Body:
        """Return a document; the taxes of a draft often depend on the day on which it opens."""
        opened = self.maybe(80, self.side.moment, self.moment)
        lines = self.lines()
        if not opened and self.hand.chance(50):
            of_days = {"tax_rate": self.hand.one(TURNING)}
            lines["line_items"].append({"quantity": 1, "unit_price": 333, **of_days})
        return {
            **self.party(),
            **lines,
            **opened,
            **self.external_id(),
            **self.number(self.side.series, self.side.number),
            **self.of_party(),
            **self.maybe(3, "currency", lambda: "GBP"),
        }

    def replacement(self) -> Body:
        return {
            **(self.party() if self.hand.chance(30) else {}),
            **self.lines(),
            **self.maybe(20, self.side.moment, self.moment),
            **self.external_id(10),
            **self.number(self.side.series, self.side.number),
            **self.of_party(),
        }

    def of_party(self) -> Body:
        """Return the dates of a document, and the number that a vendor wrote on a bill."""
        theirs = 0 if self.side.sells else 15
        return {
            **self.maybe(30 if self.side.sells else 60, self.side.dated, self.day),
            **self.maybe(15, "delivery_date", self.day),
            **self.maybe(theirs, "vendor_bill_number", lambda: f"Theirs {self.hand.number(1, 3)}"),
        }

    def money(self) -> Body:
        return {
            "payment_method": self.hand.one(self.side.methods),
            **(self.maybe(20, "payment_processor", "adyen") if self.side.clears else {}),
            **self.maybe(25, "processing_fee_cents", lambda: self.hand.one((1, 30, 250))),
            **self.bank(15),
        }

    def bank(self, percent: int) -> Body:
        """Return the bank account of money in some percent of the calls, if there is one."""
        accounts = list(self.books.bank_accounts)
        if not accounts or not self.hand.chance(percent):
            return {}
        return {"bank_account_id": NOBODY if self.hand.chance(3) else self.hand.one(accounts)}

    def payment(self) -> Body:
        party = self.party()
        total = self.amount_near(self.named(party))
        status = self.hand.one(self.side.statuses if self.hand.chance(35) else ("completed",))
        return {
            **party,
            self.side.total: total,
            "currency": "GBP",
            "payment_date": self.day(),
            **self.money(),
            **({} if status == "completed" else {"status": status}),
            **self.maybe(80, "allocations", lambda: self.parts(self.named(party), total)),
            **self.external_id(),
        }

    def named(self, body: Body) -> Party:
        """Return the party that a body names, else the first."""
        by_id, by_name = body.get(self.side.party_id), body.get(self.side.party_external_id)
        for party in self.books.parties.values():
            if by_id == party.id or (by_id is None and by_name == party.external_id):
                return party
        return next(iter(self.books.parties.values()))

    def amount_near(self, party: Party) -> int:
        """Return an amount related to the outstanding amounts of a party."""
        owed = self.books.owed_by(party)
        one = max((self.books.left(each) for each in self.open_ones(party)), default=100)
        return max(1, self.hand.one((one, owed, one // 2, one + 500, 100, 2 * owed)))

    def open_ones(self, party: Party) -> list[Document]:
        """Return the open documents of a party that have an amount left."""
        documents = of(party, self.books.documents)
        return [e for e in documents if e.state == "open" and self.books.left(e) > 0]

    def parts(self, party: Party, rest: int, amount: str = "amount_cents") -> list[Body]:
        """Return allocations to documents, mostly of the party and mostly up to the rest.

        `amount` is the name of the field of the amount.
        """
        hand, given = self.hand, []
        if hand.chance(10):
            documents: Sequence[Document] = list(self.books.documents.values())
        else:
            documents = self.open_ones(party)
        for document in hand.some(documents, 3):
            left = self.books.left(document)
            fits = min(left, rest)
            amounts = (fits, fits // 2, 1, fits) if hand.chance(93) else (left + 1, rest + 1)
            part = max(1, hand.one(amounts))
            rest -= part
            dated = self.maybe(15, "allocation_date", self.day)
            given.append({self.side.document_id: document.id, amount: part, **dated})
        if given and hand.chance(2):
            given.append(given[0])
        if hand.chance(2):
            given.append({self.side.document_id: NOBODY, amount: 1})
        return given

    def list_again(self, subject: Payment | Credit, amount: str = "amount_cents") -> list[Body]:
        """Return a list that replaces the allocations of a payment or credit; some stay."""
        field = self.side.document_id
        held: list[Body] = [{field: id, amount: part} for id, part in subject.parts.items()]
        free = subject.total - sum(subject.parts.values())
        mode = self.hand.number(0, 4)
        if mode == 0:
            return []
        if mode == 1:
            return [{**each, amount: max(1, each[amount] // 2)} for each in held]
        fresh = self.parts(subject.party, max(free, 1), amount)
        taken = {each[field] for each in held}
        return held + [each for each in fresh if each[field] not in taken]

    def facts(self, payment: Payment) -> Body:
        """Return corrections of the fields of a payment."""
        meant = self.books.allocated(payment)
        totals = (meant, payment.total + 100, meant - 1, payment.total)
        body = {
            **self.maybe(50, self.side.total, lambda: max(1, self.hand.one(totals))),
            **self.maybe(30, "payment_date", self.day),
            **(self.money() if self.hand.chance(40) else {}),
            **self.maybe(5, "bank_account_id", None),
            **self.external_id(10),
        }
        if self.side.clears and self.hand.chance(8):
            other = self.hand.one(list(self.books.parties.values()))
            body |= self.hand.one(({self.side.party_id: other.id}, {"currency": "GBP"}))
        return body

    def credit(self) -> Body:
        hand = self.hand
        party = self.party()
        lines = [self.credit_line() for _ in range(hand.number(1, 2))]
        sources = [*self.books.documents, NOBODY]
        source = self.maybe(10, self.side.source, lambda: hand.one(sources))
        of_lines = self.credits_of_lines()
        if of_lines and hand.chance(45):
            document = hand.one(of_lines)
            party = party if hand.chance(5) else {self.side.party_id: document.party.id}
            lines = self.credited_lines(document) + (lines[1:] if hand.chance(50) else [])
            source = {self.side.source: document.id}
        total = sum(each["amount"] + each.get("tax_amount_cents", 0) for each in lines)
        return {
            **party,
            "line_items": lines,
            **self.maybe(80, self.side.moment, self.moment),
            **self.maybe(60, "allocations", lambda: self.parts(self.named(party), total, "amount")),
            **source,
            **self.external_id(),
            **self.number(self.side.credit_series, self.side.credit_number),
            **self.maybe(3, "currency", lambda: "GBP"),
        }

    def credits_of_lines(self) -> list[Document]:
        """Return documents whose lines can be credited; now and then one that is not open."""
        told = [e for e in self.books.documents.values() if all(n.id for n in e.priced.lines)]
        return told if self.hand.chance(4) else [each for each in told if each.state == "open"]

    def credited_lines(self, document: Document) -> list[Body]:
        """Return the credited amounts of some lines of a document, mostly no more than is left."""
        given = []
        for line, rest in self.hand.some(list(self.books.rests(document).items()), 2):
            left = rest[net_part(self.side, line)]
            amounts = (left // 2, left // 3, 1, left, left + 1 if self.hand.chance(15) else left)
            amount = max(1, self.hand.one(amounts))
            given.append({"amount": amount, "source_line_id": line.id})
        if self.hand.chance(2):
            given.append({"amount": 1, "source_line_id": NOBODY})
        return given

    def refunded_lines(self, document: Document, most: int) -> list[Body]:
        """Return the refunded amounts of some lines of a document, with their tax."""
        given = []
        for line, rest in self.hand.some(list(self.books.rests(document).items()), 2):
            fits = min(sum(rest.values()), most)
            more = sum(rest.values()) + 1 if self.hand.chance(5) else fits
            amount = max(1, self.hand.one((fits, fits // 2, fits // 3, 1, more)))
            most = max(0, most - amount)
            given.append({"line_id": line.id, "amount_cents": amount})
        return given

    def opening(self) -> Body:
        """Return an opening: some open items of each kind, and money at the bank."""
        side, hand = self.side, self.hand
        money = {"account": "1100", "debit_amount": hand.one((5_000, 1, 99_999))}
        return {
            "date": self.day(),
            "accounts": [money],
            f"{side.noun}s": [self.owed() for _ in range(hand.number(0, 2))],
            f"{side.party}_credits": [self.unused() for _ in range(hand.number(0, 1))],
            "prepayments": [self.prepaid() for _ in range(hand.number(0, 1))],
        }

    def owed(self) -> Body:
        """Return an outstanding document; an invoice has its number."""
        own = {self.side.number: f"Old {next(NUMBERS)}"} if self.side.sign > 0 else {}
        dated = {self.side.dated: self.hand.one(OLD_DAYS)}
        open_ = self.open_part("outstanding_amount_cents")
        return {**self.party(), **own, **dated, **open_, **self.due()}

    def unused(self) -> Body:
        """Return an unused credit."""
        own = {self.side.credit_number: f"Old {next(NUMBERS)}"} if self.side.sign > 0 else {}
        opened = {self.side.moment: f"{self.hand.one(OLD_DAYS)}T09:00:00Z"}
        return {**self.party(), **own, **opened, **self.open_part("unapplied_amount_cents")}

    def open_part(self, name: str) -> Body:
        """Return an open amount, often by tax code: net and tax of each part."""
        hand, amount = self.hand, self.hand.one(PRICES)
        if not hand.chance(60):
            return {name: amount, **self.open_nets(amount)}
        parts = [amount]
        if amount > 1 and hand.chance(50):
            parts = [amount - amount // 3, amount // 3 or 1]
        more = 1 if hand.chance(4) else 0
        taxes = [self.open_tax(each) for each in parts]
        nets = self.open_nets(sum(each["net_cents"] for each in taxes))
        return {name: sum(parts) + more, "tax": taxes, **nets}

    def open_nets(self, net: int) -> Body:
        """Return, often, the net of an open amount by one or two accounts."""
        hand = self.hand
        if not hand.chance(40):
            return {}
        codes = ("4000", "4500") if self.side.sign > 0 else ("6000", "6300")
        parts = [net - net // 3, net // 3] if hand.chance(50) else [net]
        parts[0] += 1 if hand.chance(4) else 0
        found = [{"account": code, "net_cents": n} for code, n in zip(codes, parts, strict=False)]
        return {"accounts": found}

    def open_tax(self, amount: int) -> Body:
        """Return a part of an open amount by tax code; now and then with a tax that is wrong."""
        name = self.code()
        known = self.books.codes.get(name)
        charges = known is not None and known.kind == CHARGED
        tax = self.hand.one((amount // 6, amount // 21, 0)) if charges else 0
        if not charges and self.hand.chance(4):
            tax = amount // 2
        return {"tax_code": name, "net_cents": amount - tax, "tax_cents": tax}

    def prepaid(self) -> Body:
        """Return a prepayment."""
        money = {"unapplied_amount_cents": self.hand.one(PRICES)}
        return {**self.party(), "payment_date": self.hand.one(OLD_DAYS), **money}

    def credit_line(self) -> Body:
        return {
            "amount": self.hand.one((1_000, 1, 333, 5_000)),
            **self.taxes_credited(),
            **self.maybe(8, self.side.account_field, self.account),
        }

    def taxes_credited(self) -> Body:
        """Return the tax on a line of a credit: by a code, as an amount, or both."""
        given = self.maybe(40, "tax_amount_cents", lambda: self.hand.one((200, 1, 0)))
        if not self.hand.chance(35):
            return given
        return {**given, "tax_code": self.charged() if given else self.code()}

    def write_off(self, document: Document | None) -> Body:
        left = 0 if document is None else self.books.left(document)
        amounts = (left, left // 2, 1, left + 1)
        return {
            **self.maybe(60, "amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(40, "write_off_at", self.moment),
            **self.maybe(45, "tax_relief", True),
            **self.maybe(12, "destination_account", self.account),
            **self.external_id(),
        }
