"""Storage in PostgreSQL and files. Only this package contains SQL.

Each folder imports only folders further down in this list:

    resources   the open connections and caches of a process
    integrity/  integrity checks of the books, the audit trail; archives/, backups and exports
    books       one business in one transaction, as handlers see it; partners/, one partner
    bank/       bank accounts, statement lines, links, payouts
    trade/      parties, documents, payments, credits, refunds, write-offs of both sides
    ledger/     the chart, the journal, balances; files/, stored files
    store       the base class of stores, and `Scope`: the part of the books that stores use
    engine/     round trips, sessions, transactions, unit of work, lists, idempotency, tenants
    tables      the schema; migrations/, its revisions

A store reads with `Fetch`, by statements in a module next to it (`payments`, `payment_sql`), and
stages rows, which one flush sends.
"""
