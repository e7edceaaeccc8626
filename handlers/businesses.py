"""Businesses: what a partner opens, keeps up and archives."""

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from accounting.books import businesses, chart
from accounting.books.accounts import Account
from handlers.bodies import BusinessCreate, BusinessUpdate
from handlers.results import Created, Reply
from handlers.shared import warnings
from persistence.engine.identifiers import new_id
from persistence.engine.pages import Page, PageRequest
from persistence.partners.registry import RegisteredBusiness, Registry

CALENDAR_YEAR_END = date(2000, 12, 31)


async def create_business(registry: Registry, body: BusinessCreate) -> Reply:
    """Open a business with its starting chart; one with this external id is answered as it is."""
    existing = await registry.with_external_id(body["external_id"])
    if existing is not None:
        return {**shape(existing), "_meta": {"created": False, "matched_on": "external_id"}}
    opened = open_business(registry, body)
    registry.open(opened, starting_chart(registry, opened.coa_language))
    return Created({**shape(opened), "_meta": {"created": True, "matched_on": None}})


async def list_businesses(registry: Registry, page: PageRequest) -> Page[Reply]:
    """List the partner's businesses."""
    return (await registry.page(page)).of(summarize)


async def get_business(registry: Registry, business_id: UUID) -> Reply:
    """Read one business."""
    return shape(await registry.get(business_id))


async def update_business(registry: Registry, business_id: UUID, body: BusinessUpdate) -> Reply:
    """Change the supplied fields; a change of the lock date waits for postings under way."""
    found = await registry.lock(business_id, against_posting="lock_date" in body)
    businesses.refuse_archived_business(found.archived_at)
    businesses.refuse_fixed({name: getattr(found, name) for name in businesses.FIXED}, body)
    changed = replace(found, **facts(found, body))
    if changed == found:
        return shape(found)
    changed = replace(changed, updated_at=registry.now)
    registry.save(changed)
    return shape(changed)


async def archive_business(registry: Registry, business_id: UUID) -> Reply:
    """Archive a business: it may be read, and nothing is written to it."""
    found = await registry.lock(business_id, against_posting=True)
    if found.archived_at is not None:
        return shape(found)
    archived = replace(found, archived_at=registry.now, updated_at=registry.now)
    registry.save(archived)
    return shape(archived)


async def unarchive_business(registry: Registry, business_id: UUID) -> Reply:
    """Bring an archived business back."""
    found = await registry.lock(business_id, against_posting=True)
    if found.archived_at is None:
        return shape(found)
    active = replace(found, archived_at=None, updated_at=registry.now)
    registry.save(active)
    return shape(active)


def open_business(registry: Registry, body: BusinessCreate) -> RegisteredBusiness:
    """Make the record of a new business, with what its country implies."""
    country = body["country"].upper() if "country" in body else None
    return RegisteredBusiness(
        id=new_id(),
        version=1,
        created_at=registry.now,
        updated_at=registry.now,
        external_id=body["external_id"],
        legal_name=body["legal_name"],
        name=body.get("name") or body["legal_name"],
        entity_type=businesses.entity_type(country or "", body["entity_type"]),
        email=body["email"],
        phone_number=body.get("phone_number"),
        tin=body.get("tin"),
        vat_number=body.get("vat_number"),
        company_number=body.get("company_number"),
        country=country,
        province=body.get("province"),
        eu_nace_industry_code=body.get("eu_nace_industry_code"),
        base_currency=body.get("base_currency") or businesses.default_currency(country or ""),
        accounting_method=body.get("accounting_method", "accrual"),
        fiscal_year_end=body.get("fiscal_year_end", CALENDAR_YEAR_END),
        coa_language=body.get("coa_language", "en"),
        lock_date=None,
        activation_at=registry.now,
        archived_at=None,
        tokens_valid_from=registry.now.replace(microsecond=0),
        metadata=body.get("metadata", {}),
    )


def starting_chart(registry: Registry, language: str) -> list[Account]:
    """Make the accounts that every business starts with, named in its language."""
    return [
        Account(
            id=new_id(),
            version=1,
            created_at=registry.now,
            updated_at=registry.now,
            code=each.code,
            name=chart.starting_name(each, language),
            account_type=each.account_type,
            account_subtype=each.account_subtype,
            role=each.role,
        )
        for each in chart.STARTING_CHART
    ]


def facts(found: RegisteredBusiness, body: BusinessUpdate) -> dict[str, Any]:
    """Turn a body into fields of the record; a name that is cleared is the legal name again."""
    given = {name: value for name, value in body.items() if name not in businesses.FIXED}
    if "entity_type" in body:
        given["entity_type"] = businesses.entity_type(found.country or "", body["entity_type"])
    if "name" in body:
        given["name"] = body["name"] or body.get("legal_name", found.legal_name)
    return given


def shape(found: RegisteredBusiness) -> dict[str, Any]:
    """Show a business as the contract describes it."""
    return {
        **{name: getattr(found, name) for name in SHOWN},
        "currency": found.base_currency,
        "is_active": found.archived_at is None,
        "warnings": [
            *warnings.of_phones(phone_number=found.phone_number),
            *warnings.of_vat_number(found.vat_number, found.country),
        ],
    }


def summarize(found: RegisteredBusiness) -> dict[str, Any]:
    """Show a business in a list."""
    return {
        **{name: getattr(found, name) for name in LISTED},
        "tax_id": found.tin,
        "currency": found.base_currency,
        "is_active": found.archived_at is None,
    }


LISTED = (
    "id",
    "external_id",
    "name",
    "legal_name",
    "entity_type",
    "country",
    "province",
    "eu_nace_industry_code",
    "activation_at",
    "created_at",
    "updated_at",
    "vat_number",
    "company_number",
    "base_currency",
)
SHOWN = (
    *LISTED,
    "email",
    "phone_number",
    "tin",
    "accounting_method",
    "fiscal_year_end",
    "coa_language",
    "lock_date",
    "metadata",
)
