"""Serializers of request and response bodies."""

from typing import Any

from django.db.models import Sum
from django.db.models.functions import Coalesce
from rest_framework import serializers

from tools.bench.peers import environment
from tools.bench.peers.drf.models import Customer, Invoice


class CustomerSerializer(serializers.ModelSerializer):
    """A customer with all the fields of this server's contract."""

    def to_representation(self, row: Customer) -> dict[str, Any]:
        owed = Invoice.objects.filter(
            business_id=row.business_id, customer_id=row.id, outstanding__gt=0
        ).aggregate(total=Coalesce(Sum("outstanding"), 0))["total"]
        facts = {name: getattr(row, name) for name in ("archived_at", "id")}
        return environment.show_customer(
            {**super().to_representation(row), **facts, "outstanding_balance": int(owed)}
        )

    class Meta:
        model = Customer
        exclude = ("business",)


class InvoiceRowSerializer(serializers.ModelSerializer):
    """An invoice in a list."""

    def to_representation(self, row: Invoice) -> dict[str, Any]:
        shown = super().to_representation(row)
        facts = {"customer_id": row.customer_id, "company_name": row.customer.company_name}
        return environment.show_invoice({**shown, **facts})

    class Meta:
        model = Invoice
        exclude = ("business", "customer", "state")


class CentsField(serializers.IntegerField):
    """A positive amount in minor units."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=99_999_999_999_999, **options)


class LineSerializer(serializers.Serializer):
    """A line of an invoice."""

    description = serializers.CharField(max_length=500)
    quantity = serializers.DecimalField(max_digits=30, decimal_places=10)
    unit_price = CentsField()
    tax_rate = serializers.DecimalField(
        max_digits=30, decimal_places=10, min_value=0, max_value=100
    )
    net = serializers.IntegerField(read_only=True)
    tax = serializers.IntegerField(read_only=True)


class InvoiceSerializer(serializers.ModelSerializer):
    """An invoice that is sent immediately, as input and output."""

    customer_id = serializers.UUIDField()
    customer_name = serializers.CharField(read_only=True)
    sent_at = serializers.DateTimeField()
    line_items = LineSerializer(many=True, allow_empty=False)

    class Meta:
        model = Invoice
        read_only_fields = (
            *("id", "number", "currency", "subtotal", "tax_total", "total_amount", "outstanding"),
            *("created_at", "updated_at"),
        )
        fields = (*read_only_fields, "customer_id", "customer_name", "sent_at", "line_items")


class ShareSerializer(serializers.Serializer):
    """The allocation of a payment to an invoice."""

    invoice_id = serializers.UUIDField()
    amount_cents = CentsField()
    invoice_number = serializers.CharField(read_only=True)
    outstanding_balance = serializers.IntegerField(read_only=True)


class PaymentSerializer(serializers.Serializer):
    """A received payment, as input and output."""

    id = serializers.UUIDField(read_only=True)
    customer_id = serializers.UUIDField()
    customer_name = serializers.CharField(read_only=True)
    total_amount_cents = CentsField()
    payment_date = serializers.DateField()
    currency = serializers.ChoiceField(["GBP"])
    payment_method = serializers.ChoiceField(["bank_transfer", "cash"])
    status = serializers.CharField(read_only=True)
    allocations = ShareSerializer(many=True, allow_empty=False, max_length=1)
    created_at = serializers.DateTimeField(read_only=True)
