"""The routes and their views."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from tools.bench.peers import environment
from tools.bench.peers.drf import books
from tools.bench.peers.drf.models import Account, Business, Customer, Invoice
from tools.bench.peers.drf.serializers import (
    CustomerSerializer,
    InvoiceRowSerializer,
    InvoiceSerializer,
    PaymentSerializer,
)
from tools.bench.peers.environment import Caller


class TokenAuthentication(BaseAuthentication):
    """Authentication of the caller by a token."""

    def authenticate(self, request: Request) -> tuple[Caller, None]:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        caller = environment.read(token, environment.secret()) if scheme == "Bearer" else None
        if caller is None:
            raise AuthenticationFailed
        return caller, None


class View(APIView):
    """A view that checks access to the business."""

    authentication_classes = (TokenAuthentication,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        wanted, caller = kwargs["business_id"], request.user
        found = Business.objects.filter(id=wanted, partner_id=caller.partner_id).first()
        if found is None or caller.business_id != wanted:
            raise PermissionDenied


class CustomerView(View):
    """A customer."""

    def get(self, _request: Request, business_id: UUID, customer_id: UUID) -> Response:
        found = get_object_or_404(Customer, business_id=business_id, id=customer_id)
        return Response(CustomerSerializer(found).data)


class InvoicesView(View):
    """Invoices: twenty overdue ones, or a new one."""

    def get(self, _request: Request, business_id: UUID) -> Response:
        overdue = Invoice.objects.filter(
            business_id=business_id, outstanding__gt=0, due_at__lt=datetime.now(UTC)
        )
        page = overdue.select_related("customer").order_by("-sent_at", "-id")[:20]
        shown = InvoiceRowSerializer(page, many=True).data
        return Response({"results": shown, "total": overdue.count()})

    def post(self, request: Request, business_id: UUID) -> Response:
        body = InvoiceSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        with transaction.atomic():
            shown = books.create_invoice(business_id, body.validated_data)
        return Response(shown, 201)


class PaymentsView(View):
    """A new payment."""

    def post(self, request: Request, business_id: UUID) -> Response:
        body = PaymentSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        with transaction.atomic():
            shown = books.create_payment(business_id, body.validated_data)
        return Response(shown, 201)


class ReportView(View):
    """The balance of every account."""

    def get(self, _request: Request, business_id: UUID) -> Response:
        rows = (
            Account.objects.filter(business_id=business_id)
            .annotate(
                debits=Coalesce(Sum("lines__debit"), 0), credits=Coalesce(Sum("lines__credit"), 0)
            )
            .order_by("code")
            .values_list("code", "name", "debits", "credits")
        )
        return Response(
            {
                "accounts": [
                    environment.show_balance(row[0], row[1], *map(int, row[2:])) for row in rows
                ]
            }
        )


_BASE = "v1/platform/businesses/<uuid:business_id>"
urlpatterns = [
    path(f"{_BASE}/customers/<uuid:customer_id>/", CustomerView.as_view()),
    path(f"{_BASE}/invoices/", InvoicesView.as_view()),
    path(f"{_BASE}/invoices/payments/", PaymentsView.as_view()),
    path(f"{_BASE}/general-ledger/chart-of-accounts/hierarchy/", ReportView.as_view()),
]
