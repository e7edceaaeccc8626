"""What may be done with invoices and write-offs, and what that changes."""

from datetime import timedelta

from tests.model.arithmetic import faults_of, named, price
from tests.model.books import Body, Books, day_of, moment
from tests.model.payment_moves import receive
from tests.model.records import Customer, Invoice, Payment, WriteOff
from tests.model.refusals import Faults, gone, refused


def create(books: Books, body: Body) -> tuple[Invoice, list[Payment]]:
    """Draw up an invoice, with the payments that came with it."""
    faults = Faults()
    priced = price(body)
    faults.add_all(422, priced.wrong)
    customer = books.customer_named(faults, body)
    refuse_taken(books, faults, body, None)
    faults.add(422, "currency_mismatch", body.get("currency", "GBP") != "GBP")
    faults.add(409, "customer_archived", customer and customer.archived)
    books.locked(faults, day_of(body.get("sent_at")))
    check_payments(books, faults, body, priced.total)
    faults.refuse()
    assert customer is not None
    books.invoice_numbers.see(body.get("invoice_number"))
    number, external_id = body.get("invoice_number"), body.get("external_id")
    invoice = Invoice(customer, external_id, number, priced, "draft")
    invoice.due_at = moment(body.get("due_at"))
    if "sent_at" in body:
        opened(books, invoice, body["sent_at"])
    return invoice, [paid_with(invoice, each) for each in body.get("payments", ())]


def check_payments(books: Books, faults: Faults, body: Body, total: int) -> None:
    """Look at the payments that come with a new invoice."""
    given = body.get("payments", ())
    faults.add(409, "invoice_not_open", given and "sent_at" not in body)
    amounts = [each.get("total_amount_cents", total) for each in given]
    too_much = sum(amounts) > total or 0 in amounts
    faults.add(422, "allocation_exceeds_outstanding", too_much)
    names = [each["external_id"] for each in given if "external_id" in each]
    taken = {each.external_id for each in books.payments.values()}
    twice = len(set(names)) < len(names) or taken & set(names)
    faults.add(409, "duplicate_external_id", twice)
    for each in given:
        books.locked(faults, day_of(each.get("payment_date", body.get("sent_at"))))


def paid_with(invoice: Invoice, body: Body) -> Payment:
    """Make a payment that came with an invoice; the invoice has no id yet, nor has its part."""
    assert invoice.sent_at is not None
    day = invoice.sent_at.date()
    amount = body.get("total_amount_cents", invoice.priced.total)
    whole = {"payment_date": day.isoformat(), **body, "total_amount_cents": amount}
    return receive(invoice.customer, whole)


def replace(books: Books, id: str, body: Body) -> Invoice:
    """Replace what an invoice says."""
    invoice = books.invoice(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", invoice.state == "void")
    faults.add(409, "invoice_has_allocations", books.is_touched(invoice))
    priced = price(body)
    faults.add_all(422, priced.wrong)
    faults.add(422, "currency_mismatch", body.get("currency", "GBP") != "GBP")
    customer = books.customer_named(faults, body, invoice.customer)
    refuse_taken(books, faults, body, invoice)
    opens = invoice.state == "draft" and "sent_at" in body
    moves = customer is not invoice.customer
    faults.add(409, "customer_archived", customer and customer.archived and (opens or moves))
    day = day_of(body.get("sent_at"))
    if invoice.sent_at is None or day != invoice.sent_at.date():
        books.locked(faults, day)
    faults.refuse()
    assert customer is not None
    books.invoice_numbers.see(body.get("invoice_number"))
    invoice.customer, invoice.priced = customer, priced
    invoice.number = body.get("invoice_number", invoice.number)
    invoice.external_id = body.get("external_id", invoice.external_id)
    invoice.due_at = moment(body.get("due_at"))
    sent_at = body.get("sent_at") or (invoice.sent_at and invoice.sent_at.isoformat())
    if sent_at:
        opened(books, invoice, sent_at)
    return invoice


def send(books: Books, id: str, body: Body) -> Invoice:
    """Open a draft."""
    invoice = books.invoice(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", invoice.state != "draft")
    faults.add(409, "customer_archived", invoice.customer.archived)
    books.locked(faults, day_of(body.get("sent_at")))
    faults.refuse()
    invoice.due_at = moment(body.get("due_at")) or invoice.due_at
    opened(books, invoice, body.get("sent_at", f"{books.today}T12:00:00Z"))
    return invoice


def void(books: Books, id: str, body: Body) -> Invoice:
    """Take a sent invoice back."""
    invoice = books.invoice(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", invoice.state != "open")
    faults.add(409, "invoice_has_allocations", books.is_touched(invoice))
    books.locked(faults, day_of(body.get("voided_at")))
    faults.refuse()
    invoice.state = "void"
    return invoice


def delete(books: Books, id: str) -> Invoice:
    """Delete a draft."""
    invoice = books.invoice(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", invoice.state != "draft")
    source = id in {each.source for each in books.credits.values()}
    faults.add(409, "invoice_has_allocations", source)
    faults.refuse()
    return books.invoices.pop(id)


def write_off(books: Books, id: str, body: Body) -> WriteOff:
    """Give up an amount of an open invoice."""
    invoice = books.invoice(id)
    faults = Faults()
    external_id = body.get("external_id")
    taken = external_id and external_id in {each.external_id for each in books.write_offs.values()}
    faults.add(409, "duplicate_external_id", taken)  # Of another invoice, or it were answered.
    faults.add(409, "invoice_not_open", invoice.state != "open")
    amount = body.get("amount_cents", books.left(invoice))
    faults.add(422, "allocation_exceeds_outstanding", not 1 <= amount <= books.left(invoice))
    account = named(body.get("destination_account"), "6200")
    faults.add_all(422, faults_of(account))
    books.locked(faults, day_of(body.get("write_off_at")))
    faults.refuse()
    return WriteOff(invoice, external_id, amount, account)


def reverse(books: Books, id: str, write_off_id: str) -> Invoice:
    """Take a write-off back."""
    invoice = books.invoice(id)
    found = books.write_offs.get(write_off_id)
    if found is None or found.invoice is not invoice:
        raise gone("write_off_not_found")
    if found.reversed:
        raise refused(409, "invalid_state_transition")
    found.reversed = True
    return invoice


def archive(books: Books, id: str) -> Customer:
    """Take a customer out of use."""
    if id not in books.customers:
        raise gone("customer_not_found")
    customer = books.customers[id]
    if not customer.archived and books.owed_by(customer):
        raise refused(409, "customer_has_balance")
    customer.archived = True
    return customer


def unarchive(books: Books, id: str) -> Customer:
    """Bring a customer back."""
    if id not in books.customers:
        raise gone("customer_not_found")
    books.customers[id].archived = False
    return books.customers[id]


def opened(books: Books, invoice: Invoice, sent_at: str) -> None:
    """Fill in what follows from sending."""
    invoice.state = "open"
    invoice.sent_at = moment(sent_at)
    terms = invoice.customer.terms
    if invoice.due_at is None and terms is not None and invoice.sent_at is not None:
        invoice.due_at = invoice.sent_at + timedelta(days=terms)
    if invoice.number is None:
        invoice.number = books.invoice_numbers.take()


def refuse_taken(books: Books, faults: Faults, body: Body, own: Invoice | None) -> None:
    """Look whether the number or the external id is another invoice's."""
    others = [each for each in books.invoices.values() if each is not own]
    number, external_id = body.get("invoice_number"), body.get("external_id")
    if number is not None:
        taken = number in {each.number for each in others}
        faults.add(409, "duplicate_invoice_number", taken)
    if external_id is not None:
        taken = external_id in {each.external_id for each in others}
        faults.add(409, "duplicate_external_id", taken)
