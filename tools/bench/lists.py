"""The lists of the contract, with each of their filters and sorts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accounting.books.report_filter import Basis
from persistence.bank import bank_accounts, bank_rules, bank_transactions, payouts, reconciliations
from persistence.engine.listings import Listing
from persistence.engine.pages import PageRequest
from persistence.engine.sql import Row
from persistence.files import stored_files
from persistence.integrity import audit_trail
from persistence.ledger import account_entries, exchange_rates, journal_lists, revaluations
from persistence.partners import registry, webhook_endpoints
from persistence.tax import return_lines, tax_codes, tax_returns
from persistence.trade import openings, parties, payables, receivables
from server.contract.document import Contract, Parameter
from tools.bench.statements import Connection

PAGE_SIZE = 20
LISTS: Mapping[str, Listing] = {
    "list_businesses": registry.LISTING,
    "list_customers": parties.CUSTOMERS.listing,
    "list_invoices": receivables.INVOICES.listing,
    "list_invoice_payments": receivables.PAYMENTS.listing,
    "list_invoice_refunds": receivables.REFUNDS.listing,
    "list_invoice_refund_payments": receivables.REFUND_PAYMENTS.of_one,
    "list_customer_credits": receivables.CREDITS.listing,
    "list_vendors": parties.VENDORS.listing,
    "list_bills": payables.BILLS.listing,
    "list_bill_payments": payables.PAYMENTS.listing,
    "list_vendor_credits": payables.CREDITS.listing,
    "list_vendor_refunds": payables.REFUNDS.listing,
    "list_vendor_refund_payments": payables.REFUND_PAYMENTS.listing,
    "list_opening_balances": openings.LISTING,
    "list_revaluations": revaluations.LISTING,
    "list_payouts": payouts.LISTING,
    "list_bank_accounts": bank_accounts.LISTING,
    "list_bank_transactions": bank_transactions.LISTING,
    "list_bank_rules": bank_rules.LISTING,
    "list_bank_reconciliations": reconciliations.LISTING,
    "list_documents": stored_files.LISTING,
    "list_audit_records": audit_trail.LISTING,
    "list_webhook_endpoints": webhook_endpoints.ENDPOINTS,
    "list_webhook_deliveries": webhook_endpoints.DELIVERIES,
    "list_tax_codes": tax_codes.LISTING,
    "list_tax_returns": tax_returns.LISTING,
    "list_exchange_rates": exchange_rates.OF_BUSINESS.listing,
    "list_partner_exchange_rates": exchange_rates.OF_PARTNER.listing,
    "list_tax_return_entries": return_lines.OF_RETURN,
    "list_vat_summary_entries": return_lines.OF_DAYS,
    "list_journal_entries": journal_lists.LISTING,
    "list_account_entries": account_entries.LISTINGS[Basis.ACCRUAL],
}
"""The lists that are read from a table, by operation."""
# These need a tax return with many lines or exchange rates, which the demo does not have, or belong
# to a partner: its endpoints are 20 at most, with the deliveries of 30 days.
UNPLANNED = {
    *("list_tax_return_entries", "list_vat_summary_entries"),
    *("list_webhook_endpoints", "list_webhook_deliveries"),
    *("list_exchange_rates", "list_partner_exchange_rates"),
}
NO_FILTERS = {"sort", "page", "page_size", "cursor", "count", "basis", "consistency"}
# The source of a value for a filter by id or text; other filters are columns of the list's table.
COLUMNS: Mapping[str, str] = {
    "customer_id": "party_id FROM invoice",
    "vendor_id": "party_id FROM bill",
    "invoice_id": "document_id FROM invoice_allocation",
    "bill_id": "document_id FROM bill_allocation",
    "payment_id": "payment_id FROM invoice_refund_allocation",
    "credit_id": "id FROM customer_credit",
    "source_invoice_id": "id FROM invoice",
    "source_bill_id": "id FROM bill",
    "vendor_refund_id": "refund_id FROM vendor_refund_payment",
    "refund_id": "refund_id FROM invoice_refund_payment",
    "customer_external_id": "external_id FROM customer",
    "vendor_external_id": "external_id FROM vendor",
    "account": "code FROM account WHERE role = 'bank'",
    "account_id": "account_id FROM journal_line",
    "tag": "tag FROM tagged_line WHERE tag <> ''",
    "transaction_tags": "tag FROM tagged_line WHERE tag <> ''",
    "name": "company_name FROM customer",
    "legal_name": "legal_name FROM business",
}
PARTS_OF_TEXT = ("search", "_contains")


@dataclass(frozen=True, slots=True)
class Owner:
    """The business and the partner whose lists are read."""

    business_id: Any
    partner_id: Any


@dataclass(frozen=True, slots=True)
class Case:
    """The first page of one list, with a filter, a sort or neither."""

    operation: str
    asked: PageRequest

    @property
    def name(self) -> str:
        """The operation with the filter or the sort."""
        filters = (f"{name}={_said(value)}" for name, value in self.asked.filters.items())
        sort = f"sort={self.asked.sort}" if self.asked.sort else ""
        return " ".join((self.operation, *filters, sort)).strip()


def cases(connection: Connection) -> Iterator[Case]:
    """Yield each list without parameters, by each sort, and by each value of each filter."""
    contract = Contract.load()
    for name in sorted(LISTS.keys() - UNPLANNED):
        yield Case(name, PageRequest())
        for parameter in contract.operations[name].parameters:
            schema = contract.follow(parameter.schema)
            if parameter.name == "sort":
                for sort in schema["enum"]:
                    yield Case(name, PageRequest(sort=sort))
            elif parameter.place == "query" and _filters(parameter):
                items = contract.follow(schema["items"]) if "items" in schema else None
                values = _values(connection, name, parameter.name, items or schema)
                for value in values:
                    asked = [value] if items is not None else value
                    yield Case(name, PageRequest(filters={parameter.name: asked}))


def _filters(parameter: Parameter) -> bool:
    return parameter.name not in NO_FILTERS and parameter.deprecation is None


def _values(connection: Connection, list_: str, name: str, schema: dict[str, Any]) -> list[Any]:
    if schema["type"] == "boolean":
        return [True, False]
    if "enum" in schema:
        return list(schema["enum"])
    if schema.get("format") in ("date-time", "date"):
        return _moments(connection, list_, name, schema["format"])
    if schema["type"] == "integer":
        return [10_000]
    if name.endswith(PARTS_OF_TEXT):
        return ["coffee"]
    return [common(connection, COLUMNS.get(name, f"{name} FROM {_table(list_)}"))]


def _table(list_: str) -> str:
    return str(LISTS[list_].key.table.name)


def _moments(connection: Connection, list_: str, name: str, kind: str) -> list[Any]:
    """Return two ends of a range, as moments or dates: for half and for 0.1 % of the rows."""
    table = _table(list_)
    column = "created_at" if table != "journal_line" else "entry_date"
    few = 0.001 if name.endswith("_to") else 0.999
    shares = (f"percentile_disc({share}) WITHIN GROUP (ORDER BY {column})" for share in (0.5, few))
    type_ = "date" if kind == "date" else "timestamptz"
    row = _one(connection, f"SELECT ARRAY[{', '.join(shares)}]::{type_}[] AS ends FROM {table}")
    return list(row["ends"])


def common(connection: Connection, said: str) -> Any:
    """Return the most frequent value of a column; `said` is the SQL `column FROM table`."""
    column = said.partition(" ")[0]
    return _one(
        connection,
        f"SELECT {said.replace(' FROM', ' AS value, count(*) FROM', 1)}"
        f"{' AND' if 'WHERE' in said else ' WHERE'} {column} IS NOT NULL"
        " GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    )["value"]


def _one(connection: Connection, text: str) -> Row:
    row = connection.execute(text).fetchone()
    assert row is not None, text
    return row


def _said(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
