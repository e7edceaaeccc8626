"""Accounting rules: functions of values that use nothing but the standard library.

A module that is named by a noun holds the values of one concept and what is computed from them;
`<noun>_changes` holds the operations that change them. A `Side` is sales or purchases. Each folder
imports only those listed below it:

    bank/    bank accounts, bank transactions, their links with money, transfers, bank rules,
             reconciliations with statements, payouts
    opening/ opening balances: the accounts and open items of the day on which the books begin
    trade/   parties; documents (invoices and bills), payments, credits, refunds, write-offs,
             and allocations between them; `postings` derives the ledger entries of all of them
    reports/ financial statements of posted amounts, with fiscal years, columns and comparisons
    tax/     tax codes, rates, the tax on amounts, and tax returns
    books/   the ledger, which posts only the difference between desired and posted amounts;
             accounts, the chart, numbers, periods; manual entries; the business and the current
             time (`context`)
    files/   uploaded files
    money, errors
"""
