from dataclasses import replace
from typing import Any

import pytest

from accounting.errors import Conflict, Malformed, RuleBroken
from accounting.parties import (
    Customer,
    display_name,
    full_address,
    party_of,
    refuse_archived_customer,
    refuse_archiving_customer,
    refuse_nameless,
    refuse_reference_mismatch,
)
from tests.accounting.trade import ACME, BORN


def customer(**facts: Any) -> Customer:
    return Customer(id=ACME.id, version=1, created_at=BORN, updated_at=BORN, **facts)


class TestCustomer:
    def test_a_company_goes_before_a_person(self) -> None:
        assert display_name(customer(company_name="Acme", individual_name="Ada")) == "Acme"
        assert display_name(customer(individual_name="Ada")) == "Ada"
        assert display_name(customer()) == ""

    def test_an_address_is_written_from_its_parts(self) -> None:
        parts = customer(
            address_line1="1 High Street",
            postal_code="AB1 2CD",
            city="Leeds",
            country="GB",
            address_string="somewhere",
        )
        assert full_address(parts) == "1 High Street, AB1 2CD Leeds, GB"

    def test_an_address_in_one_piece_stays_as_given(self) -> None:
        assert full_address(customer(address_string="1 High St, Leeds")) == "1 High St, Leeds"
        assert full_address(customer()) == ""

    def test_a_party_knows_what_documents_need(self) -> None:
        party = party_of(customer(company_name="Acme", payment_terms_days=14, archived_at=BORN))
        assert (party.name, party.payment_terms_days, party.archived) == ("Acme", 14, True)


class TestRefusals:
    def test_a_customer_has_a_name(self) -> None:
        refuse_nameless("Ada", None)
        refuse_nameless(None, "Acme")
        with pytest.raises(Malformed):
            refuse_nameless(None, "")

    def test_an_archived_customer_takes_no_new_business(self) -> None:
        refuse_archived_customer(ACME)
        with pytest.raises(Conflict) as refusal:
            refuse_archived_customer(replace(ACME, archived=True))
        assert refusal.value.code == "customer_archived"

    def test_id_and_external_id_name_one_party(self) -> None:
        refuse_reference_mismatch(ACME, None)
        refuse_reference_mismatch(ACME, "acme")
        with pytest.raises(RuleBroken) as refusal:
            refuse_reference_mismatch(ACME, "other")
        assert refusal.value.code == "reference_mismatch"

    def test_a_customer_who_owes_is_not_archived(self) -> None:
        refuse_archiving_customer(0)
        with pytest.raises(Conflict) as refusal:
            refuse_archiving_customer(5)
        assert refusal.value.code == "customer_has_balance"
        assert refusal.value.detail == {"outstanding_balance": 5}
