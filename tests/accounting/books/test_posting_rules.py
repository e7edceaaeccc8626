"""Names of posting rules."""

import pytest

from accounting.books.manual_entries import POSTING_RULES, posting_rule
from tests.contract.document import document


class TestPostingRule:
    @pytest.mark.parametrize(
        ("source", "stream", "reverses", "expected"),
        [
            ("invoice", "main", False, "invoice_sent"),
            ("invoice", "main", True, "invoice_sent"),
            ("payment", "main", False, "invoice_payment"),
            ("payment", "fee", False, "invoice_payment_fee"),
            ("customer_credit", "applied", False, "customer_credit_applied"),
            ("write_off", "main", False, "invoice_written_off"),
            ("write_off", "main", True, "invoice_write_off_reversed"),
            ("bill", "self_assessed", False, "self_assessed_tax"),
            ("bank_transaction", "rounding", False, "bank_rounding"),
            ("manual", "manual", True, "manual_entry"),
        ],
    )
    def test_a_posting_rule_is_named_after_its_event(
        self, source: str, stream: str, reverses: bool, expected: str
    ) -> None:
        assert posting_rule(source, stream, reverses=reverses) == expected

    def test_every_source_has_one_and_the_contract_names_all(self) -> None:
        schemas = document()["components"]["schemas"]
        for source in schemas["JournalSourceType"]["enum"]:
            assert posting_rule(source, "main") in POSTING_RULES
        assert set(schemas["PostingRule"]["enum"]) == POSTING_RULES
