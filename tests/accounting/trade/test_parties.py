from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from accounting.errors import Conflict, RuleViolation, ValidationError
from accounting.trade.parties import (
    Customer,
    CustomerDetails,
    OpenAmounts,
    Party,
    Vendor,
    VendorDetails,
    archive,
    display_name,
    facts,
    full_address,
    party_of,
    refuse_inactive,
    refuse_nameless,
    refuse_reference_mismatch,
    refuse_status_change,
    unarchive,
)
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import ACME, BORN, STORED, no_move, refusal_of, refused

LATER = BORN.replace(month=6)


def customer(**known: Any) -> Customer:
    return Customer(id=ACME.id, **STORED, **known)


def vendor(**known: Any) -> Vendor:
    return Vendor(id=ACME.id, **STORED, **known)


class TestNames:
    def test_a_company_goes_before_a_person(self) -> None:
        assert display_name(customer(company_name="Acme", individual_name="Ada")) == "Acme"
        assert display_name(customer(individual_name="Ada")) == "Ada"
        assert display_name(customer()) == ""

    def test_an_address_is_written_from_its_parts(self) -> None:
        parts = {
            **{"address_line1": "1 High Street", "address_line2": "Flat 2"},
            **{"postal_code": "AB1 2CD", "city": "Leeds", "state_county": "Yorkshire"},
            **{"country": "GB", "address_string": "somewhere"},
        }
        whole = "1 High Street, Flat 2, AB1 2CD Leeds, Yorkshire, GB"
        assert full_address(customer(**parts)) == whole
        assert full_address(customer(address_string="1 High St, Leeds")) == "1 High St, Leeds"
        assert full_address(customer()) == ""

    @pytest.mark.parametrize("make", [customer, vendor])
    def test_a_party_knows_what_documents_need(self, make: Any) -> None:
        known = {"email": "books@acme.test", "external_id": "acme", "payment_terms_days": 14}
        party = party_of(make(company_name="Acme", archived_at=BORN, **known))
        names = {"name": "Acme", "company_name": "Acme"}
        assert party == Party(id=ACME.id, status="ARCHIVED", **names, **known)

    def test_only_what_is_said_is_listed_with_the_country_in_capitals(self) -> None:
        assert facts(CustomerDetails(country="gb", email=None)) == {"country": "GB", "email": None}
        blocked: dict[str, Any] = {"country": None, "standing": "BLOCKED"}
        assert facts(VendorDetails(**blocked)) == blocked


class TestStatus:
    def test_a_party_is_what_it_was_set_to_until_it_is_archived(self) -> None:
        assert (customer().status, customer(archived_at=BORN).status) == ("ACTIVE", "ARCHIVED")
        for standing in ("ACTIVE", "INACTIVE", "BLOCKED"):
            assert vendor(standing=standing).status == standing
            assert vendor(standing=standing, archived_at=BORN).status == "ARCHIVED"

    @pytest.mark.parametrize(
        ("side", "status", "code"),
        [
            (RECEIVABLE, "ARCHIVED", "customer_archived"),
            (PAYABLE, "ARCHIVED", "vendor_not_active"),
            (PAYABLE, "INACTIVE", "vendor_not_active"),
            (PAYABLE, "BLOCKED", "vendor_not_active"),
        ],
    )
    def test_an_inactive_party_takes_no_business(self, side: Side, status: str, code: str) -> None:
        refuse_inactive(side, ACME)
        refusal = refused(refuse_inactive, side, replace(ACME, status=status))
        assert (type(refusal), refusal.code) == (Conflict, code)
        assert refusal.detail == {"status": status, side.names.party_id: str(ACME.id)}

    @pytest.mark.parametrize("wanted", ["ACTIVE", "INACTIVE", "BLOCKED"])
    def test_the_status_of_an_archived_vendor_cannot_change(self, wanted: str) -> None:
        for standing in ("ACTIVE", "INACTIVE", "BLOCKED"):
            refuse_status_change(vendor(standing=standing), wanted)
        archived = vendor(archived_at=BORN)
        refuse_status_change(archived, None)
        refusal = refusal_of(refuse_status_change, archived, wanted)
        assert refusal == no_move("ARCHIVED", "ACTIVE")


class TestArchiving:
    def test_takes_out_of_use_once(self) -> None:
        assert archive(RECEIVABLE, customer(), OpenAmounts(), LATER) == customer(archived_at=LATER)
        assert archive(PAYABLE, vendor(), OpenAmounts(), LATER) == vendor(archived_at=LATER)
        once = vendor(archived_at=BORN)
        assert archive(PAYABLE, once, OpenAmounts(), LATER) is once
        assert archive(PAYABLE, once, OpenAmounts(5), LATER) is once

    @pytest.mark.parametrize(("side", "trader"), [(RECEIVABLE, customer()), (PAYABLE, vendor())])
    @pytest.mark.parametrize("name", [item.name for item in fields(OpenAmounts)])
    def test_archiving_with_an_open_amount_is_refused(
        self, side: Side, trader: Any, name: str
    ) -> None:
        refusal = refused(archive, side, trader, OpenAmounts(**{name: 5}), LATER)
        code = "customer_has_balance" if side is RECEIVABLE else "vendor_has_balance"
        assert (type(refusal), refusal.code) == (Conflict, code)
        assert refusal.detail == {**asdict(OpenAmounts()), name: 5}

    def test_unarchiving_makes_a_party_active_once(self) -> None:
        assert unarchive(customer(archived_at=BORN)) == customer()
        assert unarchive(vendor(standing="BLOCKED", archived_at=BORN)) == vendor()
        active: list[Any] = [customer(), vendor(standing="BLOCKED")]
        assert all(unarchive(party) is party for party in active)


class TestRefusals:
    def test_everybody_has_a_name(self) -> None:
        refuse_nameless("Ada", None)
        refuse_nameless(None, "Acme")
        assert isinstance(refused(refuse_nameless, None, ""), ValidationError)

    def test_id_and_external_id_name_one_party(self) -> None:
        refuse_reference_mismatch(ACME, None)
        refuse_reference_mismatch(ACME, "acme")
        refusal = refused(refuse_reference_mismatch, ACME, "other")
        assert (type(refusal), refusal.code) == (RuleViolation, "reference_mismatch")
