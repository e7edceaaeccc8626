"""The rules: values in, values out, and nothing but the standard library.

A noun keeps the values of one thing and what follows from them; `<noun>_changes` is what may happen
to it. A `Side` says whether it is sold or bought. Each folder imports only what stands below it:

    bank/    bank accounts, statement lines, links between lines and money, transfers, rules,
             statements that are reconciled, payouts
    opening/ books that are opened on a day with what stood and was open then
    trade/   parties; documents (invoices and bills), payments, credits, refunds, write-offs
             and what settles what; what all of it comes to in the ledger is `postings`
    reports/ statements, their years, columns and comparisons, of what was posted
    books/   the ledger, which posts only what differs from what was posted before; accounts, the
             chart, numbers, periods; entries by hand; the business and the moment (`context`)
    files/   files that are sent in
    money, errors
"""
