"""The records that a body names by external id, before a handler gets it."""

import asyncio
from typing import Any, cast
from uuid import uuid4

import pytest

from accounting.absent import RequestObject
from accounting.errors import RuleViolation, ValidationError
from handlers.results import ExistingRecord
from handlers.shared.external_names import NamedBody, names_record, with_ids
from persistence.books import Books
from server.contract.document import Contract
from server.http.named_records import places_of_names

NO_BOOKS = cast(Books, None)
"""Books that nothing may be read from."""


@pytest.fixture(scope="module")
def contract() -> Contract:
    return Contract.load()


class TestWithIds:
    def test_a_body_that_names_ids_only_is_not_looked_up(self, contract: Contract) -> None:
        places = places_of_names(contract.operations["create_invoice_payment"], contract)
        assert places == (
            ("allocations", "*", "invoice_external_id"),
            ("bank_account_external_id",),
        )
        allocation = RequestObject(invoice_id=uuid4(), amount_cents=1)
        for body in (RequestObject(allocations=[allocation]), RequestObject(), None):
            named = asyncio.run(with_ids(NO_BOOKS, body, places))
            assert named.body is body

    def test_only_a_bank_rule_names_parties_in_this_way(self) -> None:
        assert names_record(("result", "customer_external_id"))
        assert not names_record(("customer_external_id",))
        assert not names_record(("invoices", "*", "customer_external_id"))


class TestRestore:
    def restored(self, error: Any) -> Any:
        stand_in = str(uuid4())
        error.message = error.message.replace("ID", stand_in)
        error.detail = {
            name: stand_in if each == "ID" else each for name, each in error.detail.items()
        }
        sent_as = {
            stand_in: "order-1",
            "allocations.1.invoice_id": "allocations.1.invoice_external_id",
            "invoice_id": "invoice_external_id",
        }
        NamedBody(None, sent_as).restore(error)
        return error

    def test_paths_and_external_ids_are_those_that_were_sent(self) -> None:
        error = self.restored(
            RuleViolation(
                "reference_not_found",
                "allocations.1.invoice_id: There is no invoice ID.",
                field="allocations.1.invoice_id",
                reference="ID",
            )
        )
        assert error.message == "allocations.1.invoice_external_id: There is no invoice order-1."
        assert error.detail == {
            "field": "allocations.1.invoice_external_id",
            "reference": "order-1",
        }

    def test_fields_of_faults_are_those_that_were_sent_and_others_stay(self) -> None:
        error = self.restored(
            ValidationError.fields(
                **{"allocations.1.invoice_id": ["is wrong"], "allocations.11.invoice_id": ["too"]}
            )
        )
        assert error.detail["field_errors"] == {
            "allocations.1.invoice_external_id": ["is wrong"],
            "allocations.11.invoice_id": ["too"],
        }

    def test_names_of_details_stay(self) -> None:
        error = self.restored(RuleViolation("refund_exceeds_refundable", "Too much.", invoice_id=7))
        assert error.detail == {"invoice_id": 7}


class TestRefuse:
    def test_an_existing_record_is_returned_whatever_the_body_names(self) -> None:
        refusal = RuleViolation("reference_mismatch", "Different")
        named = NamedBody(None, mismatched={"invoice_external_id": refusal})
        named.refuse(ExistingRecord({}))
        with pytest.raises(RuleViolation, match="Different"):
            named.refuse({})
