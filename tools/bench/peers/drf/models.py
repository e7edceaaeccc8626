"""The peers' schema (`../schema.sql`) for Django's ORM."""

from uuid import uuid4

from django.db import models


class Row(models.Model):
    """The base of all models."""

    id = models.UUIDField(primary_key=True, default=uuid4)

    class Meta:
        abstract = True


class Business(Row):
    partner_id = models.UUIDField()
    archived_at = models.DateTimeField(null=True)

    class Meta:
        managed, db_table = False, "business"


class Account(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    code = models.TextField()
    name = models.TextField()

    class Meta:
        managed, db_table = False, "account"


class Customer(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    external_id = models.TextField(null=True)
    reference_number = models.TextField(null=True)
    individual_name = models.TextField(null=True)
    company_name = models.TextField(null=True)
    email = models.TextField(null=True)
    mobile_phone = models.TextField(null=True)
    office_phone = models.TextField(null=True)
    address_line1 = models.TextField(null=True)
    address_line2 = models.TextField(null=True)
    city = models.TextField(null=True)
    state_county = models.TextField(null=True)
    postal_code = models.TextField(null=True)
    country = models.TextField(null=True)
    address_string = models.TextField(null=True)
    vat_number = models.TextField(null=True)
    tax_exempt = models.BooleanField()
    transaction_tags = models.JSONField()
    notes = models.TextField(null=True)
    metadata = models.JSONField(null=True)
    payment_terms_days = models.BigIntegerField(null=True)
    credit_limit_cents = models.BigIntegerField(null=True)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        managed, db_table = False, "customer"


class Counter(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    series = models.TextField()
    last = models.BigIntegerField()

    class Meta:
        managed, db_table = False, "counter"


class Invoice(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    customer = models.ForeignKey(Customer, models.PROTECT)
    number = models.TextField(null=True)
    state = models.TextField()
    currency = models.TextField()
    sent_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    subtotal = models.BigIntegerField()
    tax_total = models.BigIntegerField()
    total_amount = models.BigIntegerField()
    outstanding = models.BigIntegerField()
    memo = models.TextField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        managed, db_table = False, "invoice"


class InvoiceLine(Row):
    invoice = models.ForeignKey(Invoice, models.PROTECT)
    place = models.IntegerField()
    description = models.TextField()
    quantity = models.DecimalField(max_digits=30, decimal_places=10)
    unit_price = models.BigIntegerField()
    tax_rate = models.DecimalField(max_digits=30, decimal_places=10)
    net = models.BigIntegerField()
    tax = models.BigIntegerField()

    class Meta:
        managed, db_table = False, "invoice_line"


class Payment(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    customer = models.ForeignKey(Customer, models.PROTECT)
    total = models.BigIntegerField()
    currency = models.TextField()
    method = models.TextField()
    payment_date = models.DateField()
    created_at = models.DateTimeField()

    class Meta:
        managed, db_table = False, "payment"


class Allocation(Row):
    payment = models.ForeignKey(Payment, models.PROTECT)
    invoice = models.ForeignKey(Invoice, models.PROTECT)
    amount = models.BigIntegerField()

    class Meta:
        managed, db_table = False, "allocation"


class Entry(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    number = models.TextField()
    entry_date = models.DateField()
    description = models.TextField()
    source_id = models.UUIDField()

    class Meta:
        managed, db_table = False, "entry"


class EntryLine(Row):
    business = models.ForeignKey(Business, models.PROTECT)
    entry = models.ForeignKey(Entry, models.PROTECT)
    account = models.ForeignKey(Account, models.PROTECT, related_name="lines")
    entry_date = models.DateField()
    debit = models.BigIntegerField()
    credit = models.BigIntegerField()

    class Meta:
        managed, db_table = False, "entry_line"
