"""Reports from the ledger: profit and loss, balance sheet, cash flow, ledgers and VAT summary."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from accounting.books.accounts import Account
from accounting.books.periods import Period
from accounting.books.report_filter import ReportFilter
from accounting.reports import balance_sheets, cash_flows, ledgers, statements, tables
from accounting.reports.layouts import Layout
from accounting.tax import returns
from accounting.tax.commands import CreateTaxReturn, Scheme
from accounting.tax.returns import TaxReturn
from handlers.books.charts import serialize_entry
from handlers.reports.report_printables import paper_of
from handlers.reports.report_requests import (
    ReportRequest,
    account_named,
    asked,
    cut_of,
    layout_of,
    layout_of_day,
    period_of,
    refuse_stray_cursor,
)
from handlers.reports.report_responses import ReportPresenter
from handlers.results import AnswerFormat, Csv, Pdf, Reply
from handlers.shared.links import lines_asked, lines_of_vat_summary
from handlers.tax.tax_return_responses import (
    members_of,
    selected,
    serialize_line,
    serialize_preview,
    serialize_summary,
    worked_out,
)
from libraries.pdf_files import Term
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.tax.return_lines import OF_DAYS


async def get_profit_and_loss(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv | Pdf:
    """Return the profit and loss statement of a period."""
    report = await asked(books, query)
    layout = layout_of(query, books.context)
    found = statements.profit_and_loss(await report.posted(layout.periods))
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.PDF:
        return await paper_of(Term.PROFIT_AND_LOSS, found, shown)
    if answer_format is AnswerFormat.CSV:
        table = tables.of_statement(found, layout, detailed=report.detailed)
        return shown.file("profit-and-loss", table)
    return {
        **shown.head(),
        **shown.period(),
        **await report.tagged(layout.whole),
        "summary": shown.summary(found.summary),
        "columns": shown.columns(found.summary),
        "comparison": shown.comparison(found.summary),
        **shown.sections(found),
    }


async def get_balance_sheet(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv | Pdf:
    """Return the balance sheet of a day."""
    report = await asked(books, query)
    layout, year_end = layout_of_day(query, books.context), report.year_end
    posted = await report.posted(balance_sheets.periods(layout.days, year_end))
    found = balance_sheets.balance_sheet(posted, layout.days, year_end)
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.PDF:
        return await paper_of(Term.BALANCE_SHEET, found, shown)
    if answer_format is AnswerFormat.CSV:
        table = tables.of_statement(found, layout, detailed=report.detailed)
        return shown.file("balance-sheet", table)
    return {
        **shown.head(),
        "as_of_date": layout.whole.last,
        "summary": shown.summary(found.summary),
        "comparison": shown.comparison(found.summary),
        **shown.sections(found),
    }


async def get_cash_flow(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the cash flow statement of a period, derived from the net profit."""
    report = await asked(books, query)
    layout = layout_of(query, books.context)
    found = cash_flows.cash_flow(await report.posted(cash_flows.periods(layout)), layout)
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.CSV:
        profit = ("net_profit", found.net_profit)
        table = tables.of_statement(found.statement, layout, profit, detailed=report.detailed)
        return shown.file("cash-flow", table)
    summary, told = found.statement.summary, shown.sections(found.statement)
    return {
        **shown.head(),
        **shown.period(),
        "summary": shown.summary(summary),
        "columns": shown.columns(summary),
        "comparison": shown.comparison(summary),
        "cash_reconciliation": {
            "opening_cash_cents": summary["opening_cash"][0],
            "net_change_cents": summary["net_change_in_cash"][0],
            "calculated_closing_cents": summary["closing_cash"][0],
            "actual_closing_cents": found.actual_closing,
            "reconciles": found.reconciles,
        },
        "operating_activities": {
            **shown.figure("net_profit_cents", found.net_profit),
            "explain": shown.addresses.profit_and_loss(layout.whole),
            "non_cash_adjustments": told.pop("non_cash_adjustments"),
            "working_capital_changes": told.pop("working_capital_changes"),
        },
        **told,
    }


async def get_trial_balance(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the trial balance of a day."""
    report = await asked(books, query)
    layout, year_end = layout_of_day(query, books.context), report.year_end
    posted = await report.posted(ledgers.trial_spans(layout.whole.last, year_end))
    rows = ledgers.trial_balance(posted, layout.whole.last, year_end)
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.CSV:
        return shown.file("trial-balance", tables.of_trial_balance(rows))
    debits, credits_ = ledgers.totals(rows)
    return {
        **shown.head(),
        "as_of_date": layout.whole.last,
        "total_debits_cents": debits,
        "total_credits_cents": credits_,
        "accounts": [shown.trial_row(row) for row in rows],
    }


async def get_general_ledger(
    books: Books, query: Mapping[str, Any], page: PageRequest, answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the turnover of every account in a period, or of one account with its lines."""
    report = await asked(books, query)
    refuse_stray_cursor(query)
    layout, year_end = Layout(period_of(query, books.context)), report.year_end
    posted = await report.posted(ledgers.ledger_spans(layout.whole, year_end))
    account = account_named(report.chart, query["account"]) if "account" in query else None
    rows = ledgers.general_ledger(posted, account)
    # The table has no lines, but a request for it with a wrong cursor is refused as well.
    lines = account and await lines_of(report, account, layout.whole, page)
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.CSV:
        return shown.file("general-ledger", tables.of_general_ledger(rows))
    return {
        **shown.head(),
        **shown.period(),
        **await report.tagged(layout.whole),
        "total_debits_cents": sum(row.debits for row in rows),
        "total_credits_cents": sum(row.credits for row in rows),
        "accounts": [shown.ledger_row(row) for row in rows],
        "lines": lines,
    }


async def get_vat_summary(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return net and tax amounts of a period by tax code, and a preview of its tax return."""
    books.pin_snapshot()
    await books.fetch()
    cut, draft = return_of(books, query)
    all_of_it = await members_of(books, draft, known_at=cut.known_at, whole=True)
    whole = preview = await worked_out(books, draft, all_of_it)
    # If nothing is filed, the return has the same lines.
    returned = await members_of(books, draft, known_at=cut.known_at)
    if returned != all_of_it:
        preview = await worked_out(books, draft, returned)
    if answer_format is AnswerFormat.CSV:
        name = f"vat-summary-{draft.start_date}-{draft.end_date}.csv"
        table = tables.of_summary(whole, preview)
        return Csv(name, table.header, table.rows)
    lines = lines_of_vat_summary(books.business.id, Period(draft.start_date, draft.end_date), cut)
    return {
        "currency": books.currency,
        "basis": cut.basis,
        "known_at": cut.known_at,
        "start_date": draft.start_date,
        "end_date": draft.end_date,
        **serialize_summary(whole, lines),
        "return_preview": serialize_preview(preview, lines.only(return_preview=True)),
    }


async def list_vat_summary_entries(books: Books, page: PageRequest) -> Page[Reply]:
    """List the posted lines behind a VAT summary, or behind its preview of a tax return."""
    books.pin_snapshot()
    await books.fetch()
    cut, draft = return_of(books, page.filters)
    whole = not page.filters["return_preview"]
    has = await members_of(books, draft, known_at=cut.known_at, whole=whole)
    wanted = await selected(books, draft, has, page.filters)
    filters = {name: value for name, value in page.filters.items() if name != "basis"}
    asked_for = replace(page, filters=filters)
    lines = await books.tax_returns.lines(asked_for, wanted, await books.roles(), OF_DAYS)
    country, box = books.business.country, page.filters.get("box")
    return lines.of(lambda line: serialize_line(line, country, has.codes, box))


def return_of(books: Books, query: Mapping[str, Any]) -> tuple[ReportFilter, TaxReturn]:
    """Build a draft return for the period and basis of a VAT summary, with its report filter."""
    cut, days = cut_of(query, books.business), period_of(query, books.context)
    command = CreateTaxReturn(start_date=days.first, end_date=days.last, scheme=Scheme(cut.basis))
    return cut, returns.created(command, books.context)


async def lines_of(
    report: ReportRequest, account: Account, days: Period, page: PageRequest
) -> dict[str, Any]:
    """Serialize one page of the lines of an account that the report counts."""
    wanted = lines_asked(days, report.cut, page)
    lines = await report.books.account_entries.page(account.id, wanted, report.cut.basis)
    shown = lines.of(lambda entry: serialize_entry(account, entry))
    return {"page_info": shown.info, "results": shown.rows}
