"""Code that all peers share: secret, tokens, invoice lines and response bodies."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

import jwt

POOL_SIZE = 8  # Connections per worker.
ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True)
class Caller:
    """The partner and the business that a token was issued for."""

    partner_id: UUID
    business_id: UUID


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an invoice with its net amount and tax, in cents."""

    description: str
    quantity: Decimal
    unit_price: int
    tax_rate: Decimal
    net: int
    tax: int


def database_url() -> str:
    """Return the URL of the peers' database, from the environment."""
    return os.environ["BENCH_DATABASE_URL"]


def secret() -> str:
    """Return the signing key of the tokens, from the environment."""
    return os.environ["BENCH_SECRET"]


def issue(partner_id: UUID, business_id: UUID, key: str) -> str:
    """Issue a token with the same claims as this server's tokens."""
    issued = int(datetime.now(UTC).timestamp())
    claims = {
        "sub": str(partner_id),
        "business_id": str(business_id),
        "scope": "business_access",
        "iat": issued,
        "exp": issued + 24 * 3600,
    }
    return jwt.encode(claims, key, ALGORITHM)


def read(token: str, key: str) -> Caller | None:
    """Verify a token and return its caller; None if the token is invalid."""
    try:
        claims = jwt.decode(token, key, [ALGORITHM], options={"require": ["exp", "sub"]})
    except jwt.InvalidTokenError:
        return None
    return Caller(UUID(claims["sub"]), UUID(claims["business_id"]))


def draw_line(item: Mapping[str, Any]) -> Line:
    """Compute the net amount and the tax of a line, each rounded half up."""
    quantity, price = Decimal(str(item["quantity"])), int(item["unit_price"])
    rate = Decimal(str(item["tax_rate"]))
    net = _cents(quantity * price)
    return Line(item["description"], quantity, price, rate, net, _cents(net * rate / 100))


def _cents(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))


PLAIN = [
    "id",
    "external_id",
    "reference_number",
    "individual_name",
    "company_name",
    "email",
    "mobile_phone",
    "office_phone",
    "address_line1",
    "address_line2",
    "city",
    "state_county",
    "postal_code",
    "country",
    "address_string",
    "vat_number",
    "tax_exempt",
    "transaction_tags",
    "notes",
    "metadata",
    "payment_terms_days",
    "credit_limit_cents",
    "created_at",
    "updated_at",
    "archived_at",
]
_ADDRESS = ("address_line1", "address_line2", "city", "state_county", "postal_code", "country")


def show_customer(row: Mapping[str, Any]) -> dict[str, Any]:
    """Serialize a customer with all the fields of this server's contract."""
    archived = row["archived_at"] is not None
    return {
        "type": "CustomerData",
        **{name: row[name] for name in PLAIN},
        "display_name": row["company_name"] or row["individual_name"],
        "full_address": ", ".join(row[part] for part in _ADDRESS if row[part]) or None,
        "status": "ARCHIVED" if archived else "ACTIVE",
        "is_active": not archived,
        "is_archived": archived,
        "credit_limit": row["credit_limit_cents"],
        "outstanding_balance": row["outstanding_balance"],
        "documents": [],
        "warnings": [],
    }


def show_invoice(row: Mapping[str, Any]) -> dict[str, Any]:
    """Serialize an overdue invoice for a list."""
    return {
        "id": row["id"],
        "customer_id": row["customer_id"],
        "customer_name": row["company_name"],
        "invoice_number": row["number"],
        "status": "overdue",
        "is_overdue": True,
        "currency": row["currency"],
        "sent_at": row["sent_at"],
        "due_at": row["due_at"],
        "subtotal": row["subtotal"],
        "tax_total": row["tax_total"],
        "total_amount": row["total_amount"],
        "amount_paid": row["total_amount"] - row["outstanding"],
        "outstanding_balance": row["outstanding"],
        "memo": row["memo"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def show_balance(code: str, name: str, debits: int, credits_: int) -> dict[str, Any]:
    """Serialize an account for the trial balance."""
    return {
        "code": code,
        "name": name,
        "debits": debits,
        "credits": credits_,
        "balance": debits - credits_,
    }
