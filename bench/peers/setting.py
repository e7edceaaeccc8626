"""What every peer stands on: its secret, its pool, who calls, and a new customer."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import jwt
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from bench.peers.tables import Customer

POOL_SIZE = 8  # As many connections as ours has with one worker.
ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a token was made for."""

    partner_id: UUID
    business_id: UUID


def secret() -> str:
    """The key of the tokens, from whoever started this process."""
    return os.environ["BENCH_SECRET"]


def sessions() -> async_sessionmaker[AsyncSession]:
    """The ORM's sessions over a pool."""
    url = make_url(os.environ["BENCH_DATABASE_URL"]).set(drivername="postgresql+psycopg")
    engine = create_async_engine(url, pool_size=POOL_SIZE, max_overflow=0)
    return async_sessionmaker(engine, expire_on_commit=False)


def issue(partner_id: UUID, business_id: UUID, key: str) -> str:
    """Make a token with the claims of ours."""
    issued = int(datetime.now(UTC).timestamp())
    claims = {
        "sub": str(partner_id),
        "business_id": str(business_id),
        "scope": "business_access",
        "iat": issued,
        "exp": issued + 3600,
    }
    return jwt.encode(claims, key, ALGORITHM)


def read(token: str, key: str) -> Caller | None:
    """Check a token; None where it proves nothing."""
    try:
        claims = jwt.decode(token, key, [ALGORITHM], options={"require": ["exp", "sub"]})
    except jwt.InvalidTokenError:
        return None
    return Caller(UUID(claims["sub"]), UUID(claims["business_id"]))


def new_customer(business_id: UUID, body: dict[str, Any]) -> Customer:
    """Make a customer of a valid body."""
    facts = dict(body)
    limit = facts.pop("credit_limit", None)
    facts.setdefault("credit_limit_cents", limit)
    now = datetime.now(UTC)
    return Customer(
        id=uuid4(),
        business_id=business_id,
        version=1,
        created_at=now,
        updated_at=now,
        extra=facts.pop("metadata", None),
        tax_exempt=facts.pop("tax_exempt", False),
        transaction_tags=facts.pop("transaction_tags", []),
        **facts,
    )
