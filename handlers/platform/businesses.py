"""Businesses of a partner: create, change and archive them."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from babel.numbers import get_currency_precision

from accounting.absent import ABSENT, or_else, said
from accounting.books import businesses, chart, time_zones
from accounting.books.accounts import Account
from accounting.books.businesses import refuse_given_up
from accounting.books.chart import Role
from accounting.books.commands import ChangeBusiness, OpenBusiness
from accounting.tax.codes import TaxCode
from accounting.tax.starting_codes import made, starting_codes
from handlers.bodies import BusinessCreate, BusinessUpdate
from handlers.platform import business_commands
from handlers.results import Created, ExistingRecord, Reply
from handlers.shared import responses
from persistence.engine.ids import new_id
from persistence.engine.pages import Page, PageRequest
from persistence.partners.registry import RegisteredBusiness, Registry

# Serialization of businesses.


def serialize(found: RegisteredBusiness) -> dict[str, Any]:
    """Serialize a business."""
    return {
        **{name: getattr(found, name) for name in SHOWN},
        "currency": found.base_currency,
        "is_active": found.archived_at is None,
        "is_sandbox": found.sandbox is not None,
        "warnings": [
            *responses.of_phones(phone_number=found.phone_number),
            *responses.of_vat_number(found.vat_number, found.country),
        ],
    }


def summarize(found: RegisteredBusiness) -> dict[str, Any]:
    """Serialize a business for a list."""
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
    "unknown_parties",
)
SHOWN = (
    *LISTED,
    "email",
    "phone_number",
    "tin",
    "accounting_method",
    "fiscal_year_end",
    "coa_language",
    "timezone",
    "lock_date",
    "matching_tolerance_cents",
    "metadata",
)


async def create_business(registry: Registry, body: BusinessCreate) -> Reply:
    """Create a business with its starting chart of accounts and tax codes.

    If the external id is in use, the existing business is returned unchanged.
    """
    command = business_commands.open_business(body)
    existing = await registry.with_external_id(command.external_id)
    if existing is not None:
        meta = {"created": False, "matched_on": "external_id"}
        return ExistingRecord({**serialize(existing), "_meta": meta})
    opened = open_business(registry, command)
    refuse_large_tolerance(opened)
    accounts = starting_chart(registry, opened.coa_language)
    registry.open(opened, accounts, starting_tax_codes(registry, opened.country, accounts))
    return Created({**serialize(opened), "_meta": {"created": True, "matched_on": None}})


async def list_businesses(registry: Registry, page: PageRequest) -> Page[Reply]:
    """List the partner's businesses."""
    return (await registry.page(page)).of(summarize)


async def get_business(registry: Registry, business_id: UUID) -> Reply:
    """Return one business."""
    return serialize(await registry.get(business_id))


async def update_business(registry: Registry, business_id: UUID, body: BusinessUpdate) -> Reply:
    """Change the supplied fields; a change of the lock date waits for postings in progress."""
    command = business_commands.change_business(body)
    locks = command.lock_date is not ABSENT
    found = await registry.lock(business_id, against_posting=locks)
    businesses.refuse_archived_business(found.archived_at)
    businesses.refuse_fixed({name: getattr(found, name) for name in businesses.FIXED}, command)
    changed = replace(found, **facts(found, command))
    if (changed.lock_date, changed.timezone) != (found.lock_date, found.timezone):
        now = registry.now_in(found)
        businesses.refuse_future_lock(changed.lock_date, now, changed.timezone)
    refuse_large_tolerance(changed)
    if changed == found:
        return serialize(found)
    changed = replace(changed, updated_at=registry.now_in(found))
    registry.save(changed)
    return serialize(changed)


async def archive_business(registry: Registry, business_id: UUID) -> Reply:
    """Archive a business: its books stay readable, and accept no more changes."""
    found = await registry.lock(business_id, against_posting=True)
    if found.archived_at is not None:
        return serialize(found)
    now = registry.now_in(found)
    archived = replace(found, archived_at=now, updated_at=now)
    registry.save(archived)
    return serialize(archived)


async def unarchive_business(registry: Registry, business_id: UUID) -> Reply:
    """Unarchive a business; an active business is returned unchanged."""
    found = await registry.lock(business_id, against_posting=True)
    if found.archived_at is None:
        return serialize(found)
    refuse_given_up(found.sandbox)
    active = replace(found, archived_at=None, updated_at=registry.now_in(found))
    registry.save(active)
    return serialize(active)


def open_business(registry: Registry, command: OpenBusiness) -> RegisteredBusiness:
    """Build the record of a new business, with the defaults of its country."""
    country = command.country.upper() if command.country is not None else None
    return RegisteredBusiness(
        id=new_id(),
        version=1,
        created_at=registry.now,
        updated_at=registry.now,
        external_id=command.external_id,
        legal_name=command.legal_name,
        name=command.name or command.legal_name,
        entity_type=businesses.entity_type(country or "", command.entity_type),
        email=command.email,
        phone_number=command.phone_number,
        tin=command.tin,
        vat_number=command.vat_number,
        company_number=command.company_number,
        country=country,
        province=command.province,
        eu_nace_industry_code=command.eu_nace_industry_code,
        base_currency=command.base_currency or businesses.default_currency(country or ""),
        accounting_method=command.accounting_method,
        fiscal_year_end=command.fiscal_year_end,
        coa_language=command.coa_language,
        timezone=command.timezone or time_zones.of_country(country),
        lock_date=None,
        activation_at=registry.now,
        archived_at=None,
        tokens_valid_from=registry.now.replace(microsecond=0),
        metadata=command.metadata,
        matching_tolerance_cents=command.matching_tolerance_cents,
        unknown_parties=command.unknown_parties,
    )


def refuse_large_tolerance(business: RegisteredBusiness) -> None:
    """Raise ValidationError if the matching tolerance is above the limit for the currency."""
    currency = business.base_currency
    exponent = get_currency_precision(currency)
    businesses.refuse_large_tolerance(business.matching_tolerance_cents, currency, exponent)


def starting_chart(registry: Registry, language: str) -> list[Account]:
    """Build the accounts that every business starts with, named in its language."""
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


def starting_tax_codes(
    registry: Registry, country: str | None, accounts: list[Account]
) -> list[TaxCode]:
    """Build the tax codes that every business of a country starts with."""
    roles = {Role(each.role): each.id for each in accounts if each.role is not None}
    return made(starting_codes(country), roles, registry.now, new_id)


def facts(found: RegisteredBusiness, command: ChangeBusiness) -> dict[str, Any]:
    """Return the changed fields; a cleared name becomes the legal name."""
    given = {name: value for name, value in said(command).items() if name not in businesses.FIXED}
    if "entity_type" in given:
        given["entity_type"] = businesses.entity_type(found.country or "", given["entity_type"])
    if "name" in given:
        given["name"] = given["name"] or or_else(command.legal_name, found.legal_name)
    return given
