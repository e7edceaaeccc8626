import re

import pytest

from server.contract.document import Contract
from server.http.known_names import SYNONYMS, closest
from tests.contract.document import document, operations, walk

KNOWN = (
    "due_at",
    "sent_at",
    "status",
    "unit_price",
    "memo",
    "reference_number",
    "total_amount_cents",
)

INVOICE = ("customer_id", "due_at", "issue_date", "invoice_number", "line_items", "memo", "sent_at")
LINE = ("account_identifier", "description", "discount_amount", "quantity", "tax_rate")
LINE += ("unit_price",)
ENTRY_LINE = ("account", "credit_amount", "debit_amount", "description")
CREDIT_LINE = ("amount", "memo", "tax_amount_cents", "revenue_account_identifier")
BILL = ("vendor_id", "vendor_bill_number", "bill_number", "due_at", "received_at")
CUSTOMER = ("company_name", "office_phone", "postal_code", "payment_terms_days", "vat_number")
PAYMENT = ("allocations", "payment_date", "payment_reference", "references", "total_amount_cents")
LIST = ("created_at_from", "created_at_to", "cursor", "max_amount", "page", "page_size", "search")
LIST += ("min_amount", "sent_at_from", "sent_at_to", "sort", "status", "updated_at_from")
REPORT = ("as_of_date", "compare_to")


class TestClosest:
    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("due_date", "due_at"),
            ("sentAt", "sent_at"),
            ("state", "status"),
            ("price", "unit_price"),
            ("amount_cents", "total_amount_cents"),
            ("memo_text", "memo"),
            ("phone_number", None),
            ("colour", None),
            ("x" * 100_000, None),
            ("", None),
        ],
    )
    def test_the_closest_name_is_suggested_only_if_it_is_similar(
        self, name: str, meant: str | None
    ) -> None:
        assert closest(name, KNOWN) == meant

    @pytest.mark.parametrize(
        ("known", "meant"),
        [
            (LIST, "limit=page_size per_page=page_size pageSize=page_size offset=page"),
            (LIST, "starting_after=cursor page_token=cursor order_by=sort ordering=sort q=search"),
            (LIST, "created_after=created_at_from created_at[gte]=created_at_from"),
            (LIST, "created_at__lte=created_at_to modified_since=updated_at_from"),
            (LIST, "from=sent_at_from date_to=sent_at_to invoice_number=search paid=status"),
            (LIST, "amount_gte=min_amount amount_max=max_amount"),
            (REPORT, "date=as_of_date end_date=as_of_date"),
            (INVOICE, "customer=customer_id client_id=customer_id lines=line_items"),
            (INVOICE, "items=line_items number=invoice_number payment_terms=due_at"),
            (
                INVOICE,
                "date=issue_date invoiceDate=issue_date due-date=due_at notes=memo send=sent_at",
            ),
            (LINE, "amount=unit_price qty=quantity vat=tax_rate account_code=account_identifier"),
            (LINE, "name=description discount=discount_amount"),
            (ENTRY_LINE, "amount=debit_amount credit=credit_amount account_id=account"),
            (CREDIT_LINE, "amount_cents=amount unit_price=None"),
            (BILL, "supplier_id=vendor_id supplier=vendor_id invoice_number=vendor_bill_number"),
            (CUSTOMER, "name=company_name phone_number=office_phone zip=postal_code"),
            (CUSTOMER, "vat=vat_number payment_terms=payment_terms_days colour=None"),
            (PAYMENT, "amount=total_amount_cents date=payment_date invoice_id=allocations"),
            (PAYMENT, "reference=payment_reference paid_at=payment_date"),
            (("amount_cents",), "total_amount_cents=amount_cents amount=amount_cents"),
            (("company_number", "legal_name", "tin"), "company_name=legal_name tax_id=tin"),
            (("customer-credits", "bank-accounts"), "credit-notes=customer-credits"),
        ],
    )
    def test_a_name_of_another_api_leads_to_ours(self, known: tuple[str, ...], meant: str) -> None:
        pairs = [pair.split("=") for pair in meant.split()]
        found = [f"{name}={closest(name, known)}" for name, _ in pairs]
        assert found == meant.split()

    def test_no_synonym_is_suggested_that_the_operation_does_not_have(self) -> None:
        assert {closest(name, ("colour",)) for name in SYNONYMS} == {None}

    def test_every_suggested_synonym_is_a_name_of_the_contract_that_is_not_deprecated(
        self,
    ) -> None:
        paths = " ".join(Contract.load().document["paths"])
        found = [node.get("properties") for _, node in walk(document())]
        parts = [part for each in found if isinstance(each, dict) for part in each.items()]
        fields = {name for name, part in parts if not part.get("deprecated")}
        parameters = [each for operation in operations() for each in operation.parameters]
        fields |= {each["name"] for each in parameters if not each.get("deprecated")}
        known = fields | {*re.split(r"[/ ]", paths)}
        assert {ours for meant in SYNONYMS.values() for ours in meant} - known == set()

    def test_nothing_is_close_to_nothing(self) -> None:
        assert closest("due_at", ()) is None
