"""The tools, in the order of a list of tools: those that read, then pairs that write.

Each is chosen by a task, not by an operation of the API. A pair is a tool that previews a write,
and a tool that commits that very preview.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tools.mcp import tasks
from tools.mcp.tasks import Arguments, Context

Schema = Mapping[str, Any]

MOST_CENTS: Final = 99_999_999_999_999


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool: its text, the JSON Schema of its arguments, and the function that runs it."""

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    run: Callable[[Context, Arguments], Awaitable[Any]]
    writes: bool = False
    commits: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of all arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


def text(description: str = "", **more: Any) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", **({"description": description} if description else {}), **more}


def choice(*words: str, description: str = "") -> Schema:
    """Return the schema of one of some words."""
    return text(description, enum=list(words))


def uuid(description: str = "") -> Schema:
    """Return the schema of an id."""
    return text(description, format="uuid")


def day(description: str = "") -> Schema:
    """Return the schema of a day: 2026-07-31."""
    return text(description, format="date")


def cents(description: str = "") -> Schema:
    """Return the schema of an amount in minor units; the API's limit is the same."""
    told = {"description": description} if description else {}
    return {"type": "integer", "maximum": MOST_CENTS, **told}


def items(about: str, required: tuple[str, ...], /, **properties: Schema) -> Schema:
    """Return the schema of a list of objects."""
    one = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "type": "array",
        "minItems": 1,
        "description": about,
        "items": {**one, "additionalProperties": False},
    }


PAGES: Final = {
    "page": {"type": "integer", "minimum": 1, "description": "From 1."},
    "page_size": {"type": "integer", "minimum": 1, "maximum": 100},
}
PERIOD: Final = {
    "start_date": day("First day; by default the first of the fiscal year."),
    "end_date": day("Last day; today by default."),
}
BASIS: Final = {"basis": choice("accrual", "cash", description="By default that of the business.")}
SIDE: Final = choice(
    "receivable", "payable", description="receivable: customers; payable: vendors."
)
LINES: Final = items(
    "The items. Price each by `unit_price`; tax by `tax_code` (see list_tax_codes) or `tax_rate`.",
    ("quantity", "unit_price"),
    description=text(),
    quantity={"type": "number"},
    unit_price=cents("Of one unit, in minor units, before discount and tax."),
    account_identifier=text("Account code or id; by default that of the business."),
    discount_amount=cents("Of the line, in minor units."),
    tax_code=text(),
    tax_rate={"type": "number", "description": "In percent: 20 is 20 %."},
)
DOCUMENT: Final = {
    "line_items": LINES,
    "delivery_date": day("Day of supply, which decides the tax rates."),
    "due_at": text("UTC time; by default after the party's payment terms.", format="date-time"),
    "currency": text("ISO code; by default that of the business."),
    "memo": text(),
    "additional_discount": cents("On the whole document, in minor units."),
    "amounts_include_tax": {"type": "boolean", "description": "Whether prices include tax."},
    "transaction_tags": {"type": "array", "items": text()},
}

# The table.


def reads(
    name: str,
    description: str,
    run: Callable[[Context, Arguments], Awaitable[Any]],
    required: tuple[str, ...] = (),
    /,
    **properties: Schema,
) -> AgentTool:
    """Return a tool that reads."""
    return AgentTool(name, description, properties, required, run)


def pair(
    subject: str,
    description: str,
    run: Callable[[Context, Arguments], Awaitable[Any]],
    required: tuple[str, ...],
    /,
    **properties: Schema,
) -> tuple[AgentTool, AgentTool]:
    """Return a tool that previews a write of a subject, and the tool that commits its preview."""
    name = f"commit_{subject}"
    commit = AgentTool(
        name,
        f"Save exactly what preview_{subject} showed, once. Ask the user first.",
        {"preview_id": text(f"From preview_{subject}.")},
        ("preview_id",),
        partial(tasks.commit, tool=name),
        writes=True,
        commits=True,
    )
    preview = f"{description} Saves nothing: returns a preview_id for {name}."
    return AgentTool(f"preview_{subject}", preview, properties, required, run, writes=True), commit


READING: Final = (
    reads(
        "business",
        "The business whose books these are: name, country, currency, time zone, fiscal year, lock"
        " date, settings, and its bank accounts. Begin here.",
        tasks.business,
    ),
    reads(
        "what_to_do",
        "What is late or waits for a person: overdue invoices and bills, drafts, bank transactions"
        " without a match, entries to approve, with counts and the first ten of each.",
        tasks.what_to_do,
    ),
    reads(
        "find",
        "Find records by a part of a number, name, reference, external id or text. Without `kinds`"
        " it searches customers, vendors, invoices, bills, payments, bank transactions and journal"
        " entries. With one kind, `filters` narrows the list, and `text` may be absent.",
        tasks.find,
        text=text(minLength=1, maxLength=255),
        kinds={"type": "array", "minItems": 1, "items": choice(*tasks.RECORDS)},
        filters={
            "type": "object",
            "description": 'Filters of the API\'s list of this kind, for example {"status":'
            ' "draft"}, {"is_overdue": true}, {"customer_id": "..."}, {"min_amount":'
            ' 10000}, {"date_from": "2026-07-01"}, {"sort": "due_at"}.',
        },
        **PAGES,
    ),
    reads(
        "show",
        "One record with all its fields and the journal entries that it posted. Name it by `kind`"
        " and `id` (the `source_type` and `source_id` of an entry), or by an `address` that another"
        " answer has, such as a `document_url`.",
        tasks.show,
        kind=choice(*tasks.RECORDS),
        id=uuid(),
        address=text("Begins with /v1/platform/businesses/."),
    ),
    reads(
        "explain_figure",
        "What a figure of a report is made of: the lines of its account, each with its journal"
        " entry and its source. Then use show with `source_type` and `source_id`, or with kind"
        " journal_entry and `journal_entry_id`.",
        tasks.explain_figure,
        ("explain",),
        explain=text("The `explain` of a line in report, or another address in a report."),
        **PAGES,
    ),
    reads(
        "report",
        "A financial statement. profit_and_loss and cash_flow have start_date and end_date;"
        " balance_sheet and trial_balance have as_of_date. Each line has `explain`, for"
        " explain_figure.",
        tasks.report,
        ("report",),
        report=choice(*tasks.REPORTS),
        as_of_date=day("Today by default."),
        **PERIOD,
        **BASIS,
        compare_to=choice("previous_period", "previous_year"),
        interval=choice("month", "quarter", "year", description="Columns."),
        tag=text("profit_and_loss only: records with this tag."),
        detail_level=choice("summary", "detailed"),
    ),
    reads(
        "vat",
        "VAT or sales tax of a period by tax code, what is due, and the latest tax returns with"
        " their status.",
        tasks.vat,
        **PERIOD,
        **BASIS,
    ),
    reads(
        "aging",
        "What customers owe (receivable) or what is owed to vendors (payable) at the end of a day,"
        " by how late it is, for each party.",
        tasks.aging,
        ("side",),
        side=SIDE,
        as_of_date=day("Today by default."),
    ),
    reads(
        "statement",
        "The statement of one customer or vendor: opening balance, each invoice, bill, payment and"
        " credit, closing balance.",
        tasks.statement,
        customer_id=uuid(),
        vendor_id=uuid(),
        start_date=day("By default all lines up to end_date."),
        end_date=day("Today by default."),
    ),
    reads(
        "list_accounts",
        "Accounts of the chart with code, name, type and balance.",
        tasks.list_accounts,
        text=text("Part of code, name or description.", minLength=1, maxLength=255),
        account_type=choice("asset", "liability", "equity", "revenue", "expense"),
        page=PAGES["page"],
    ),
    reads(
        "list_tax_codes",
        "Active tax codes with their rates.",
        tasks.list_tax_codes,
        direction=choice("sales", "purchases"),
    ),
    reads(
        "check_integrity",
        "Whether the books agree: debits equal credits, balances equal their entries, documents"
        " equal their postings, the audit trail is unbroken.",
        tasks.check_integrity,
    ),
    reads(
        "suggest_matches",
        "A bank transaction, and the payments, payouts, entries or transfers that it may be, the"
        " likeliest first; and the account that a bank rule names.",
        tasks.suggest_matches,
        ("bank_transaction_id",),
        bank_transaction_id=uuid(),
    ),
)
WRITING: Final = (
    *pair(
        "invoice",
        "Preview a new draft of an invoice. A draft posts nothing until a person sends it.",
        tasks.preview_invoice,
        ("customer_id", "line_items"),
        customer_id=uuid("Use find first; tools create no customers."),
        invoice_number=text("The next number by default."),
        issue_date=day("The day on which it is posted; by default the day it is sent."),
        **DOCUMENT,
    ),
    *pair(
        "bill",
        "Preview a new draft of a bill from a vendor. A draft posts nothing until a person marks it"
        " received.",
        tasks.preview_bill,
        ("vendor_id", "line_items"),
        vendor_id=uuid("Use find first; tools create no vendors."),
        vendor_bill_number=text("The vendor's number; it prevents duplicates."),
        bill_date=day("The day on which it is posted; by default the day it is received."),
        **DOCUMENT,
    ),
    *pair(
        "payment",
        "Preview a payment: with customer_id money received, with vendor_id money paid. It posts,"
        " and settles the documents in `allocations`.",
        tasks.preview_payment,
        ("amount_cents", "payment_date", "currency", "payment_method"),
        customer_id=uuid(),
        vendor_id=uuid(),
        amount_cents=cents("In minor units."),
        payment_date=day(),
        currency=text("ISO code."),
        payment_method=choice(
            *("bank_transfer", "credit_card", "debit_card", "ach", "wire", "check", "cash"),
            *("paypal", "stripe", "other"),
            description="wire: paid only. paypal, stripe: received only.",
        ),
        allocations=items(
            "With customer_id by invoice_id, with vendor_id by bill_id.",
            ("amount_cents",),
            invoice_id=uuid(),
            bill_id=uuid(),
            amount_cents=cents(),
        ),
        bank_account_id=uuid(),
        payment_reference=text(),
        note=text(),
    ),
    *pair(
        "bank_match",
        "Preview a match of a bank transaction with money that is recorded; see suggest_matches.",
        tasks.preview_bank_match,
        ("bank_transaction_id", "target_type"),
        bank_transaction_id=uuid(),
        target_type=choice(
            *("invoice_payment", "invoice_refund_payment", "bill_payment"),
            *("vendor_refund_payment", "payout", "journal_entry", "transfer"),
        ),
        target_id=uuid("For a transfer, the bank transaction of the other account."),
        bank_account_id=uuid("Transfer only: the other account, if its line is not imported yet."),
        of=choice("original", "return", description="return: money that a bank sent back."),
        amount_cents=cents("By default the rest of both."),
        memo=text(),
    ),
    *pair(
        "bank_category",
        "Preview the posting of a bank transaction to an account: charges, interest, taxes, and"
        " anything else without a document.",
        tasks.preview_bank_category,
        ("bank_transaction_id",),
        bank_transaction_id=uuid(),
        account=text("Code or id; absent with `splits`."),
        memo=text(),
        tags={"type": "array", "items": text()},
        splits=items(
            "Parts that add up to the rest of the transaction.",
            ("account", "amount_cents"),
            account=text(),
            amount_cents=cents(),
            tax_code=text(),
            memo=text(),
        ),
    ),
    *pair(
        "journal_entry",
        "Preview a draft of a journal entry, created by ai: it counts nowhere until a person"
        " approves it. Accounts receivable, payable and other control accounts are refused.",
        tasks.preview_journal_entry,
        ("entry_date", "lines"),
        entry_date=day(),
        description=text(),
        reference=text(),
        lines=items(
            "Debits and credits with equal totals; each line has one of both.",
            ("account",),
            account=text("Code or id."),
            debit_amount=cents(),
            credit_amount=cents(),
            description=text(),
            tax_code=text(),
        ),
    ),
)
TOOLS: Final = {tool.name: tool for tool in (*READING, *WRITING)}
