"""Suggestions of a known name for an unknown one: of a field, a parameter or an address."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from itertools import chain
from types import MappingProxyType
from typing import Final

ALIKE: Final = 0.72  # `state` suggests `status`; `phone_number` not `reference_number`.
LONGEST: Final = 64

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAKS = re.compile(r"[^A-Za-z0-9]+")

# Names of other APIs, and ours in the order of preference: the first that is known is suggested.
_SYNONYMS: Final = """
limit per_page size page_length max_results max take top first: page_size
offset skip page_number page_no: page
after starting_after page_token next_token next_page next continuation_token: cursor
order order_by ordering sort_by sort_order sorting: sort
q query keyword keywords text term find: search
from start start_date date_from from_date period_start date_start begin: start_date date_from
 sent_at_from received_at_from payment_date_from refund_date_from completed_at_from
 as_of_date created_at_from
to end end_date date_to to_date period_end date_end until: end_date date_to
 sent_at_to received_at_to payment_date_to refund_date_to completed_at_to as_of_date created_at_to
since modified_since changed_since updated_since modified_after updated_after: updated_at_from
 start_date
amount_gte amount_from total_min: min_amount
amount_lte amount_to total_max: max_amount
paid is_paid unpaid state: status

amount amount_cents total total_amount total_amount_cents sum value: amount_cents total_amount_cents
 paid_out_amount_cents total_refunded_amount outstanding_amount_cents amount debit_amount
 unit_price
price unit_amount unit_cost unit_price_cents cost: unit_price
qty count units: quantity
tax tax_percent tax_percentage tax_pct vat vat_rate vat_percent vat_percentage rate: tax_rate
 vat_number rates
date: date issue_date bill_date payment_date entry_date refund_date statement_date sent_at
 received_at completed_at as_of_date
issued issued_at issued_on invoice_date document_date: issue_date bill_date sent_at
due due_date due_on payment_due: due_at
payment_terms net_days: payment_terms_days terms due_at
paid_at paid_on payment_day: payment_date
status send sent is_sent posted: status sent_at received_at post
customer customer_ref customer_number client_id contact contact_id debtor_id buyer_id: customer_id
 customer_external_id vendor_id
vendor vendor_ref vendor_number supplier supplier_id creditor_id: vendor_id vendor_external_id
invoice invoice_id invoices bill bill_id bills applied_to: invoice_id bill_id allocations
invoice_number supplier_invoice_number: vendor_bill_number invoice_number search invoice_id
number document_number: invoice_number bill_number credit_note_number vendor_credit_number code
 search
reference reference_no ref po_number order_number: reference_number payment_reference reference
 external_id search
id uid external_ref external_reference client_reference: external_id
name title company company_name organisation organization business_name: company_name legal_name
 display_name name description
first_name last_name full_name contact_name person_name: individual_name
note notes memo comment comments remark remarks description reason message: memo notes note
 description
line lines items line_item rows entries: line_items lines transactions splits
account_number: account_number_mask iban mask
account account_code account_id gl_account ledger_account: account account_identifier
 revenue_account_identifier expense_account_identifier destination_account
sku product_id product_code item item_id: product
method type payment_type kind: payment_method method account_type entity_type refund_type
phone telephone tel phone_number mobile: office_phone phone_number mobile_phone
zip zipcode zip_code postcode: postal_code
street address address1 line1: address_line1 address_string
region county province: state_county province
tax_id tax_number: tin vat_number
vat_id: vat_number
mail email_address: email
ccy currency_code: currency base_currency
attachment attachments file files document: document file
custom custom_fields meta: metadata

accounts: chart-of-accounts
clients contacts: customers
suppliers: vendors
credit_notes credits: customer-credits
purchases expenses: bills
journals manual_journals: journal-entries
income_statement pnl profit_loss: profit-and-loss
tax_rates vat_codes: tax-codes
vat_returns: tax-returns
attachments files: documents
cancel: void
"""
# Words of other APIs within longer names: `created_at[gte]` is our `created_at_from`.
_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys(("gte", "gt", "after", "since", "start", "begin"), "from"),
        **dict.fromkeys(("lte", "lt", "before", "until", "end"), "to"),
        **dict.fromkeys(("supplier", "creditor"), "vendor"),
        **dict.fromkeys(("client", "debtor", "buyer", "contact"), "customer"),
        **dict.fromkeys(("modified", "changed"), "updated"),
    }
)


def _read(table: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in re.sub(r"\n (?=\S)", " ", table).split("\n"):
        names, _, ours = row.partition(":")
        for name in names.split():
            found[name] = (*found.get(name, ()), *ours.split())
    return found


SYNONYMS: Final = MappingProxyType(_read(_SYNONYMS))


def closest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that an unknown one probably means, or None.

    It is the same name in another spelling, a synonym, the most similar spelling, or a name that
    shares all words of either. Of `due_at` and `memo`, `due_date` is similar to the first; of
    `unit_price` and `memo`, `price` is a word of the first. A search among fifty names takes up to
    a millisecond.
    """
    asked = _spelled(name[:LONGEST])
    by_spelling = {_spelled(each): each for each in known}
    worded = "_".join(_WORDS.get(word, word) for word in asked.split("_"))
    synonyms = (_spelled(each) for each in SYNONYMS.get(asked, ()))
    for meant in chain((asked,), synonyms, (worded,)):
        if meant in by_spelling:
            return by_spelling[meant]
    return next(filter(None, (_similar(each, by_spelling) for each in (worded, asked))), None)


def _spelled(name: str) -> str:
    """Return a name in the spelling of our fields: `invoiceNumber` is `invoice_number`."""
    return _BREAKS.sub("_", _CAMEL.sub("_", name)).strip("_").lower()


def _similar(name: str, known: Mapping[str, str]) -> str | None:
    words = set(name.split("_"))
    related = [each for each in known if words <= (its := set(each.split("_"))) or its <= words]
    found = get_close_matches(name, known, n=1, cutoff=ALIKE)
    found = found or get_close_matches(name, related, n=1, cutoff=0)
    return known[found[0]] if found else None
