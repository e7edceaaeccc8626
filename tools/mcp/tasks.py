"""The functions that run the tools, of a context and of arguments that fit the schema.

A tool serves a task, which may take several operations of the API. Names are those of the API.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from tools.mcp.client import ApiProblem, BusinessClient
from tools.mcp.previews import LIFETIME_SECONDS, Preview, Previews, State

Arguments = Mapping[str, Any]

BY_AI: Final = {"created_by": "ai"}
ENTRIES: Final = "general-ledger/journal-entries/"
ACCOUNTS: Final = "general-ledger/chart-of-accounts/"

# The kinds of records, with their paths; also the `source_type` of entries.
RECORDS: Final = {
    "customer": "customers/",
    "vendor": "vendors/",
    "invoice": "invoices/",
    "bill": "bills/",
    "payment": "invoices/payments/",
    "bill_payment": "bills/payments/",
    "bank_transaction": "bank-transactions/",
    "journal_entry": ENTRIES,
    "refund": "invoices/refunds/",
    "customer_credit": "customer-credits/",
    "vendor_credit": "vendor-credits/",
    "vendor_refund": "vendor-refunds/",
    "vendor_refund_payment": "vendor-refunds/payments/",
    "payout": "payouts/",
    "bank_account": "bank-accounts/",
    "tax_return": "tax-returns/",
    "opening_balance": "opening-balances/",
}
# Those that a search goes through if it names no kind.
SEARCHED: Final = tuple(RECORDS)[:8]
NOT_POSTED: Final = ("customer", "vendor", "journal_entry", "bank_account", "tax_return")
# The fields of a record that a list shows.
BRIEF: Final = frozenset(
    """
    id display_name email external_id invoice_number bill_number vendor_bill_number
    credit_note_number vendor_credit_number sequence_number reference description memo
    payment_reference counterparty_name bank_account_name direction status is_overdue is_reconciled
    issue_date bill_date sent_at received_at due_at payment_date date entry_date start_date
    end_date currency total_amount total_amount_cents amount amount_cents total_debit
    outstanding_balance remaining_amount_cents unallocated_amount_cents created_by name
    """.split()  # noqa: SIM905
)
REPORTS: Final = {
    "profit_and_loss": ("start_date", "end_date", "compare_to", "interval", "tag", "detail_level"),
    "balance_sheet": ("as_of_date", "compare_to", "detail_level"),
    "cash_flow": ("start_date", "end_date", "compare_to", "interval", "detail_level"),
    "trial_balance": ("as_of_date",),
}


class WrongArguments(Exception):
    """Arguments that do not fit one another; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class Context:
    """The client of the business and the previews of the process."""

    client: BusinessClient
    previews: Previews


# Tasks that read.


async def business(context: Context, _arguments: Arguments) -> Any:
    """Return the record of the business, and its bank accounts."""
    client = context.client
    accounts = await client.get("bank-accounts/", {"page_size": 100})
    return {
        "business": await client.get(""),
        "bank_accounts": [brief(each) for each in accounts["results"]],
        "access": "read" if client.reads_only else "read and write",
    }


async def find(context: Context, arguments: Arguments) -> Any:
    """Return a page of each kind that has records with a text, with few fields of each."""
    kinds = arguments.get("kinds") or list(SEARCHED)
    filters = arguments.get("filters") or {}
    if len(kinds) > 1 and (filters or "page" in arguments):
        raise WrongArguments("With `filters` or `page`, name exactly one kind in `kinds`.")
    if not filters and len(kinds) > 1 and "text" not in arguments:
        raise WrongArguments("Send `text`, or name exactly one kind in `kinds`.")
    query = {
        "search": arguments.get("text"),
        "page": arguments.get("page"),
        "page_size": arguments.get("page_size", 10),
        **filters,
    }
    found = {kind: await listed(context.client, RECORDS[kind], query) for kind in kinds}
    if not any(page["count"] for page in found.values()):
        return {"count": 0, "searched": kinds}
    return {kind: page for kind, page in found.items() if page["count"]}


async def show(context: Context, arguments: Arguments) -> Any:
    """Return a record with the entries that it posted."""
    client = context.client
    kind, record_id, address = (arguments.get(name) for name in ("kind", "id", "address"))
    if address:
        return await client.get_at(address, {})
    if not (kind and record_id):
        raise WrongArguments("Send `kind` and `id`, or an `address` from another answer.")
    record = await client.get(f"{RECORDS[kind]}{record_id}/")
    if kind in NOT_POSTED:
        return record
    query = {"source_id": record_id, "sort": "entry_date", "page_size": 100}
    entries = await client.get(ENTRIES, query)
    return {"record": record, "journal_entries": entries["results"]}


async def explain_figure(context: Context, arguments: Arguments) -> Any:
    """Return what a figure of a report is made of."""
    query = {name: arguments.get(name) for name in ("page", "page_size")}
    return await context.client.get_at(arguments["explain"], query)


async def report(context: Context, arguments: Arguments) -> Any:
    """Return a financial statement; raises WrongArguments for an argument of another report."""
    query = dict(arguments)
    name = query.pop("report")
    taken = (*REPORTS[name], "basis")
    if wrong := [each for each in query if each not in taken]:
        raise WrongArguments(f"{name} has no {', '.join(wrong)}. It has: {', '.join(taken)}.")
    return await context.client.get(f"reports/{name.replace('_', '-')}/", query)


async def vat(context: Context, arguments: Arguments) -> Any:
    """Return the tax of a period, and the latest tax returns."""
    returns = await listed(context.client, "tax-returns/", {"page_size": 10})
    summary = await context.client.get("reports/vat-summary/", arguments)
    return {"summary": summary, "tax_returns": returns}


async def aging(context: Context, arguments: Arguments) -> Any:
    """Return what is open by age, for each party."""
    query = {"as_of_date": arguments.get("as_of_date")}
    short = "ar" if arguments["side"] == "receivable" else "ap"
    return await context.client.get(f"insights/{short}-aging/", query)


async def statement(context: Context, arguments: Arguments) -> Any:
    """Return the statement of a customer or a vendor; raises WrongArguments without one."""
    query = {name: arguments.get(name) for name in ("start_date", "end_date")}
    party, party_id = one_party(arguments)
    return await context.client.get(f"{RECORDS[party]}{party_id}/statement/", query)


async def what_to_do(context: Context, _arguments: Arguments) -> Any:
    """Return what is late or waits for a person, the first ten of each."""
    asked = {
        "overdue_invoices": ("invoices/", {"is_overdue": "true", "sort": "due_at"}),
        "overdue_bills": ("bills/", {"is_overdue": "true", "sort": "due_at"}),
        "draft_invoices": ("invoices/", {"status": "draft"}),
        "draft_bills": ("bills/", {"status": "draft"}),
        "unmatched_bank_transactions": ("bank-transactions/", {"is_reconciled": "false"}),
        "entries_to_approve": (ENTRIES, {"status": "draft"}),
    }
    client = context.client
    lists = {
        name: await listed(client, path, {**query, "page_size": 10})
        for name, (path, query) in asked.items()
    }
    return {
        "receivables": await client.get("ar/stats/"),
        "payables": await client.get("ap/stats/"),
        **lists,
    }


async def list_accounts(context: Context, arguments: Arguments) -> Any:
    """Return accounts of the chart with their balances."""
    renamed = {"search": arguments.get("text")}
    given = {name: word for name, word in arguments.items() if name != "text"}
    page = await context.client.get(ACCOUNTS, {"page_size": 100, **renamed, **given})
    fields = ("id", "code", "name", "account_type", "account_subtype", "current_balance")
    return shortened(page, lambda each: {name: each.get(name) for name in fields})


async def list_tax_codes(context: Context, arguments: Arguments) -> Any:
    """Return the active tax codes."""
    query = {"page_size": 100, "is_active": "true", **arguments}
    fields = ("id", "code", "name", "direction", "treatment", "current_rate", "is_default")
    page = await context.client.get("tax-codes/", query)
    return shortened(page, lambda each: {name: each.get(name) for name in fields})


async def check_integrity(context: Context, _arguments: Arguments) -> Any:
    """Return whether the books agree: the names of the checks, and those that failed."""
    told = await context.client.get("integrity/")
    checks = told["checks"]
    return {
        "status": told["status"],
        "passed": [each["name"] for each in checks if each["ok"]],
        "failed": [each for each in checks if not each["ok"]],
        "newest_seal": told["newest_seal"],
    }


async def suggest_matches(context: Context, arguments: Arguments) -> Any:
    """Return a bank transaction with its possible matches, the likeliest first."""
    path = f"bank-transactions/{arguments['bank_transaction_id']}/"
    suggested = await context.client.get(f"{path}suggestions/")
    return {"bank_transaction": await context.client.get(path), "suggestions": suggested}


async def listed(client: BusinessClient, path: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of a list with few fields of each record."""
    return shortened(await client.get(path, query), brief)


def shortened(page: Mapping[str, Any], fields: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a page of a list with some fields of each record."""
    more = {"more": "Send the next `page`."} if page["next"] else {}
    return {"count": page["count"], "results": [fields(each) for each in page["results"]], **more}


def brief(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the main fields of a record that have a value, and the name of its party."""
    kept = {name: fact for name, fact in record.items() if name in BRIEF and fact is not None}
    for side in ("customer", "vendor"):
        if isinstance(party := record.get(side), Mapping):
            kept[side] = {name: party.get(name) for name in ("id", "display_name")}
    return kept


def one_party(arguments: Arguments) -> tuple[str, str]:
    """Return the kind and the id of the only party; raises WrongArguments without one."""
    given = [kind for kind in ("customer", "vendor") if arguments.get(f"{kind}_id")]
    if len(given) != 1:
        raise WrongArguments("Send either `customer_id` or `vendor_id`.")
    return given[0], arguments[f"{given[0]}_id"]


# Tasks that write: a preview, and its commit.


async def preview_invoice(context: Context, arguments: Arguments) -> Any:
    """Preview a draft of an invoice."""
    body = {**arguments, "metadata": BY_AI}
    return await previewed(context, "commit_invoice", "invoices/", body)


async def preview_bill(context: Context, arguments: Arguments) -> Any:
    """Preview a draft of a bill."""
    return await previewed(context, "commit_bill", "bills/", {**arguments, "metadata": BY_AI})


async def preview_payment(context: Context, arguments: Arguments) -> Any:
    """Preview a payment from a customer or to a vendor."""
    body: dict[str, Any] = {**arguments, "metadata": BY_AI}
    party, _party_id = one_party(arguments)
    if party == "customer":
        body["total_amount_cents"] = body.pop("amount_cents")
        path = "invoices/payments/"
    else:
        if "note" in body:
            body["memo"] = body.pop("note")
        path = "bills/payments/"
    return await previewed(context, "commit_payment", path, body)


async def preview_bank_match(context: Context, arguments: Arguments) -> Any:
    """Preview a match of a bank transaction."""
    return await previewed_line(context, "commit_bank_match", "match/", arguments)


async def preview_bank_category(context: Context, arguments: Arguments) -> Any:
    """Preview the posting of a bank transaction to accounts."""
    return await previewed_line(context, "commit_bank_category", "categorize/", arguments)


async def preview_journal_entry(context: Context, arguments: Arguments) -> Any:
    """Preview a draft of a journal entry."""
    return await previewed(context, "commit_journal_entry", ENTRIES, {**arguments, **BY_AI})


async def previewed_line(context: Context, commit: str, action: str, arguments: Arguments) -> Any:
    """Preview a change of a bank transaction as it is now."""
    body = dict(arguments)
    line = f"bank-transactions/{body.pop('bank_transaction_id')}/"
    return await previewed(
        context, commit, f"{line}{action}", body, await context.client.etag_of(line)
    )


async def previewed(
    context: Context, commit: str, path: str, body: Arguments, if_match: str | None = None
) -> Any:
    """Return the API's preview of a body, with the id under which it is kept."""
    content = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
    headers = {"If-Match": if_match} if if_match else {}
    answer = await context.client.post(path, content, headers, preview=True)
    kept = context.previews.keep(commit, path, content, if_match)
    return {
        "preview_id": kept.id,
        "digest": kept.digest,
        "body": body,
        "next": f"Nothing is saved. Show this to the user; {commit} with preview_id saves it."
        f" The id is valid for {LIFETIME_SECONDS // 60} minutes.",
        "preview": answer.value,
    }


async def commit(context: Context, arguments: Arguments, *, tool: str) -> Any:
    """Send the body of a preview; raises PreviewRefused for an id that cannot be committed."""
    preview = context.previews.take(tool, arguments["preview_id"])
    try:
        with anyio.CancelScope(shield=True):  # A cancelled call must not leave its outcome open.
            answer = await context.client.post(preview.path, preview.body, preview.headers)
    except ApiProblem as problem:
        raise after_failure(context, preview, problem) from problem
    preview.state = State.USED
    return {"saved": True, "digest": preview.digest, "record": answer.value}


def after_failure(context: Context, preview: Preview, problem: ApiProblem) -> ApiProblem:
    """Return the problem with what follows for the preview: it is used up, or open again."""
    if problem.final:
        preview.state = State.USED
        told = "Nothing was saved, and this preview is used up. Correct it by a new preview."
    else:
        context.previews.reopen(preview)
        told = "It may be saved or not. Commit this preview id again: it takes effect once."
    return ApiProblem(f"{problem}\n{told}", final=problem.final)
