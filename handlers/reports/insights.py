"""Insights: income and expenses, agings, and counts of documents by status."""

from collections.abc import Mapping
from typing import Any

from accounting.reports import layouts, statements, tables
from accounting.reports.layouts import GRANULARITIES, Layout
from handlers.reports.report_requests import asked, period_of
from handlers.reports.report_responses import ReportPresenter
from handlers.results import AnswerFormat, Csv, Reply
from handlers.trade.open_balances import age, count_credits, count_documents, standing
from persistence.books import Books


async def get_financial_summary(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return income and expenses of a period, in total and over time."""
    report = await asked(books, query)
    interval = GRANULARITIES[query["granularity"]]
    period = period_of(query, books.context)
    layout = layouts.of_period(period, report.year_end, interval, asked_as="granularity")
    found = statements.income_and_expenses(await report.posted(layout.periods))
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.CSV:
        return shown.file("financial-summary", tables.of_trends(layout, found))
    totals = {name: amounts[0] for name, amounts in found.items()}
    return {
        **shown.head(),
        **shown.period(),
        "summary": {
            "total_revenue_cents": totals["revenue"],
            "total_expenses_cents": totals["expenses"],
            "net_profit_cents": totals["net_profit"],
        },
        "trends": [
            {
                "period_start": trend["start_date"],
                "period_end": trend["end_date"],
                **trend["summary"],
            }
            for trend in shown.columns(found)
        ],
    }


async def get_expense_breakdown(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the expenses of a period by category and account."""
    report = await asked(books, query)
    layout = Layout(period_of(query, books.context))
    found = statements.expenses(await report.posted(layout.periods))
    shown = ReportPresenter(report, layout)
    if answer_format is AnswerFormat.CSV:
        table = tables.of_statement(found, layout, detailed=True)
        return shown.file("expense-breakdown", table)
    return {
        **shown.head(),
        **shown.period(),
        **await report.tagged(layout.whole),
        **shown.summary(found.summary),
        "categories": [shown.category(name, section) for name, section in found.sections.items()],
    }


# ── Open items of customers and vendors ─────────────────────────────────────────────────────────


async def get_receivable_aging(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the outstanding amounts of customers at the end of a day, by days overdue."""
    return await age(books.sales, query, answer_format)


async def get_payable_aging(
    books: Books, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the outstanding amounts owed to vendors at the end of a day, by days overdue."""
    return await age(books.purchases, query, answer_format)


async def get_receivable_stats(books: Books) -> Reply:
    """Count invoices and credit notes by status."""
    found = await standing(books.sales)
    return {
        "currency": books.currency,
        "invoices": count_documents(books.sales, found),
        "credit_notes": count_credits(
            found,
            draft=["draft"],
            sent=["sent"],
            applied=["applied"],
            partially_applied=["partially_applied"],
            void=["void"],
        ),
    }


async def get_payable_stats(books: Books) -> Reply:
    """Count bills and vendor credits by status."""
    found = await standing(books.purchases)
    return {
        "currency": books.currency,
        "bills": count_documents(books.purchases, found),
        "vendor_credits": count_credits(
            found, unapplied=["received", "partially_applied"], applied=["applied"]
        ),
    }
