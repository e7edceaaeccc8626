"""Serialization of reports."""

from collections.abc import Mapping
from typing import Any

from accounting.books.chart import display
from accounting.books.periods import Period
from accounting.reports.layouts import Layout
from accounting.reports.ledgers import LedgerRow, TrialRow
from accounting.reports.statements import Amounts, Line, Section, Statement
from accounting.reports.tables import Table
from handlers.reports.report_requests import ReportRequest
from handlers.results import Csv
from handlers.shared.links import Addresses


class ReportPresenter:
    """A report to be serialized: its request, and the layout of its periods."""

    def __init__(self, asked: ReportRequest, layout: Layout) -> None:
        self.asked = asked
        self.layout = layout
        self.addresses = Addresses(asked.books.business_id, asked.cut)

    def head(self) -> dict[str, Any]:
        """Return the fields that every report has."""
        return {
            "currency": self.asked.books.currency,
            "basis": self.asked.cut.basis,
            "known_at": self.asked.cut.known_at,
        }

    def period(self) -> dict[str, Any]:
        """Return the period of the report."""
        return {"start_date": self.layout.whole.first, "end_date": self.layout.whole.last}

    def summary(self, figures: Mapping[str, Amounts]) -> dict[str, int]:
        """Return the figures of the whole period."""
        return {f"{name}_cents": amounts[0] for name, amounts in figures.items()}

    def columns(self, figures: Mapping[str, Amounts]) -> list[dict[str, Any]]:
        """Return the figures of each column, with its period."""
        return [
            {
                "start_date": column.first,
                "end_date": column.last,
                "summary": {f"{name}_cents": each[place] for name, each in figures.items()},
            }
            for place, column in enumerate(self.layout.columns, 1)
        ]

    def comparison(self, figures: Mapping[str, Amounts]) -> dict[str, Any] | None:
        """Return the figures of the comparison period, with the differences to it."""
        previous = self.layout.previous
        if previous is None:
            return None
        told = {name: self.layout.told(amounts) for name, amounts in figures.items()}
        return {
            **self._days_of(previous),
            "summary": {f"{name}_cents": each.previous for name, each in told.items()},
            "difference": {f"{name}_cents": each.difference for name, each in told.items()},
        }

    def sections(self, statement: Statement) -> dict[str, Any]:
        """Serialize the sections of a statement by name."""
        return {name: self._section(name, part) for name, part in statement.sections.items()}

    def category(self, name: str, section: Section) -> dict[str, Any]:
        """Serialize a category of expenses with its accounts."""
        accounts = [(line.account, line.amounts[0]) for line in section.lines if line.account]
        return {
            "category": name,
            "display_name": display(name),
            "total_cents": section.totals[0],
            "accounts": [
                {
                    "account_id": account.id,
                    "account_code": account.code,
                    "account_name": account.name,
                    "amount_cents": amount,
                    "explain": self.addresses.entries(account, self.layout.whole),
                }
                for account, amount in accounts
            ],
        }

    def figure(self, name: str, amounts: Amounts) -> dict[str, Any]:
        """Serialize one figure: total, columns, comparison value and difference."""
        told = self.layout.told(amounts)
        return {
            name: told.value,
            "column_values": told.columns,
            "previous_cents": told.previous,
            "difference_cents": told.difference,
        }

    def _section(self, name: str, section: Section) -> dict[str, Any]:
        lines = section.lines if self.asked.detailed else ()
        return {
            "display_name": display(name),
            **self.figure("total_cents", section.totals),
            "line_items": [self._line(line) for line in lines],
        }

    def _line(self, line: Line) -> dict[str, Any]:
        account = line.account
        return {
            "account_id": account.id if account else None,
            "account_code": account.code if account else None,
            "account_name": line.name,
            **self.figure("value_cents", line.amounts),
            "explain": self.addresses.entries(account, self.layout.whole)
            if account
            else self.addresses.profit_and_loss(line.days or self.layout.whole),
        }

    def _days_of(self, days: Period) -> dict[str, Any]:
        if self.layout.whole.first == Period().first:
            return {"as_of_date": days.last}
        return {"start_date": days.first, "end_date": days.last}

    def trial_row(self, row: TrialRow) -> dict[str, Any]:
        """Serialize a row of the trial balance."""
        account = row.account
        return {
            "account_id": account.id if account else None,
            "account_code": account.code if account else None,
            "account_name": row.name,
            "account_type": account.account_type if account else "equity",
            "account_subtype": account.account_subtype if account else "retained_earnings",
            "debit_cents": row.debit,
            "credit_cents": row.credit,
            "explain": self.addresses.entries(account, row.days)
            if account
            else self.addresses.profit_and_loss(row.days),
        }

    def ledger_row(self, row: LedgerRow) -> dict[str, Any]:
        """Serialize an account of the general ledger."""
        return {
            "account_id": row.account.id,
            "account_code": row.account.code,
            "account_name": row.account.name,
            "account_type": row.account.account_type,
            "account_subtype": row.account.account_subtype,
            "opening_cents": row.opening,
            "debits_cents": row.debits,
            "credits_cents": row.credits,
            "closing_cents": row.closing,
            "explain": self.addresses.entries(row.account, self.layout.whole),
        }

    def file(self, name: str, table: Table) -> Csv:
        """Return the report as a CSV file, named after it and its days."""
        return Csv(self.file_name(name, "csv"), table.header, table.rows)

    def file_name(self, name: str, kind: str) -> str:
        """Return a file name from the name of the report and its days."""
        days = self._days_of(self.layout.whole).values()
        return f"{'-'.join([name, *map(str, days)])}.{kind}"
