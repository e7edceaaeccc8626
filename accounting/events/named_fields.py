"""The fields of answers that show attributes as they are stored, by kind of record."""

from collections.abc import Mapping
from typing import Final

Names = Mapping[str, tuple[str, ...]]
"""Fields by attribute; an attribute that is not here has a field of its own name."""


def _not_shown(names: str) -> Names:
    return {name: () for name in names.split()}


_LINKED: Final[Names] = {
    "linked": ("reconciled_bank_transactions",),
    "bank": ("bank_account_id",),
    **_not_shown("money_account_id own_account_id completions"),
}
_DOCUMENT: Final[Names] = {
    "paid_on": ("paid_at",),
    "lines": ("line_items",),
    "tax_total": ("tax_total", "additional_sales_taxes_total"),
    "transaction_tags": ("tags", "transaction_tags"),
    "opening_id": ("opening_balance_id",),
    # Fields that are computed from these are in `COMPUTED`.
    **_not_shown("state opened_on voided_on dated_by_issue settled returned reduced"),
    **_not_shown("paid reserved credited written_off refunded worth base_settled"),
}
_PAYMENT: Final[Names] = {
    **_LINKED,
    "linked_back": ("reconciled_bank_transactions",),
    "method": ("payment_method",),
    "fee": ("processing_fee_cents",),
    "opening_id": ("opening_balance_id",),
    **_not_shown("allocations worth"),
}
_CREDIT: Final[Names] = {
    "lines": ("line_items",),
    "refunded": ("refunded_amount",),
    "transaction_tags": ("tags",),
    "opening_id": ("opening_balance_id",),
    **_not_shown("state tax_account_id allocations settled opened_on voided_on worth"),
}
_REFUND: Final[Names] = _not_shown("cancelled_at cancelled_on allocations settled is_foreign")
_REFUND_PAYMENT: Final[Names] = {
    **_LINKED,
    "linked_back": ("reconciled_bank_transactions",),
    "amount": ("refunded_amount",),
    **_not_shown("party splits about completed_on payout_id worth"),
}
_WRITE_OFF: Final[Names] = {
    "amount": ("amount_cents",),
    "account_id": ("destination_account",),
    "relieved": ("tax_relieved_cents",),
    **_not_shown("document_id document_number document_date party reversed_at split"),
    **_not_shown("written_off_on reversed_on lines"),
}
SHOWN: Final[Mapping[str, Names]] = {
    "business": _not_shown("archived_at tokens_valid_from sandbox clock_seconds_ahead"),
    "account": {
        "account_type": ("account_type", "account_type_display"),
        "account_subtype": ("account_subtype", "account_subtype_display"),
        "role": ("is_control_account",),
        "parent_id": ("parent_id", "parent_account_code", "hierarchy_level"),
    },
    "tax_code": {"tax_account_id": ("tax_account",)},
    "customer": {"credit_limit_cents": ("credit_limit", "credit_limit_cents")},
    "vendor": {"standing": ()},
    "invoice": {
        **_DOCUMENT,
        "party": ("customer", "customer_id"),
        "number": ("invoice_number",),
        "opened_at": ("sent_at",),
        **_not_shown("party_number terms"),
    },
    "bill": {
        **_DOCUMENT,
        "party": ("vendor", "vendor_id"),
        "number": ("bill_number",),
        "issue_date": ("bill_date",),
        "opened_at": ("received_at",),
        "party_number": ("vendor_bill_number",),
    },
    "invoice_payment": {
        **_PAYMENT,
        "party": ("customer", "customer_id"),
        "total": ("total_amount_cents",),
        "processor": ("payment_processor",),
        "payout_id": ("payouts",),
        "note": ("note", "notes"),
        **_not_shown("refunded check_number"),
    },
    "bill_payment": {
        **_PAYMENT,
        "party": ("vendor", "vendor_id"),
        "total": ("amount_cents",),
        "refunded": ("refunded_amount_cents",),
        "note": ("memo",),
        **_not_shown("processor payout_id bank_reference processor_reference references"),
    },
    "customer_credit": {
        **_CREDIT,
        "party": ("customer", "customer_id"),
        "number": ("credit_note_number",),
        "opened_at": ("sent_at",),
        "source_document_id": ("source_invoice_id",),
        "refund_id": (),
    },
    "vendor_credit": {
        **_CREDIT,
        "party": ("vendor", "vendor_id"),
        "number": ("vendor_credit_number",),
        "opened_at": ("received_at",),
        "source_document_id": ("source_bill_id",),
        "refund_id": ("source_refund_id",),
    },
    "write_off": _WRITE_OFF,
    "bill_write_off": _WRITE_OFF,
    "invoice_refund": {
        **_REFUND,
        "party": ("customer_id", "customer_name"),
        "amount": ("refunded_amount",),
        "paid": ("paid_amount",),
        "bank": ("bank_account_id",),
        **_not_shown("agreed_on fee"),
    },
    "invoice_refund_payment": {
        **_REFUND_PAYMENT,
        "fee": ("refund_processing_fee",),
        "payment_date": (),
    },
    "vendor_refund": {
        **_REFUND,
        "party": ("vendor_id", "vendor_name"),
        "amount": ("total_refunded_amount",),
        "agreed_on": ("refund_date",),
        **_not_shown("completed_at paid by_target"),
    },
    "vendor_refund_payment": {
        **_REFUND_PAYMENT,
        "refund_id": ("vendor_refund_id",),
        "method": ("payment_method",),
        "fee": ("processing_fee",),
        **_not_shown("external_id shares"),
    },
    "payout": {
        **_LINKED,
        "paid_out": ("paid_out_amount_cents",),
        "fee": ("fee_cents",),
        "additional_refunds": ("additional_refunds_amount_cents",),
        "gross_payments": ("gross_payments_amount_cents",),
        "total_refunds": ("total_refunds_amount_cents",),
        **_not_shown("deleted_at fee_steps items completed_on worth"),
    },
    "bank_account": {"account_id": ("account",)},
    "bank_transaction": {
        "booked_on": ("date",),
        "amount": ("amount_cents",),
        "linked": ("linked_amount_cents", "links"),
        "rounding": ("rounding_difference_cents",),
        "categorized": ("categorized_amount_cents",),
        "parts": ("splits",),
        "rule_id": ("categorized_by_rule_id",),
        **_not_shown("account_id reconciled_through worth exchanged"),
    },
    "bank_rule": {
        **{
            name: ("conditions",)
            for name in ("text", "direction", "min_amount", "max_amount", "bank_account_id")
        },
        **{
            name: ("result",)
            for name in ("account_id", "tax_code_id", "customer_id", "vendor_id", "memo")
        },
        "deleted_at": (),
    },
    "bank_transfer": _not_shown(
        "amount arrived from_account_id to_account_id out_transaction_id in_transaction_id moved_on"
        " ended_at"
    ),
    "bank_reconciliation": {"account_id": (), "closing_balance": ("closing_balance_cents",)},
    "opening_balance": {
        "opened_on": ("date",),
        "stated": ("accounts",),
        "documented": ("control_accounts",),
        "reversed_on": (),
    },
    "revaluation": {"revalued_on": ("date",), "currency": ("base_currency",), "rates": ()},
    "document": _not_shown("sha256 storage_key"),
    "tax_return": _not_shown("slices figures settlement"),
    "journal_entry": {
        "entry_date": ("accounting_period", "entry_date"),
        "reference": ("reference", "source_reference"),
        "created_by": ("created_by", "created_by_display"),
        "status": ("status", "status_display"),
    },
}
