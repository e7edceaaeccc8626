"""Everything that is kept: PostgreSQL and files. Only this package knows SQL.

Each folder imports only what stands below it:

    resources   what a process keeps open
    proof/      what must hold in the books
    books       one business in one transaction, as handlers see it; partners/, one partner
    bank/       bank accounts, statement lines, links, payouts
    trade/      parties, documents, payments, credits, refunds, write-offs of both sides
    ledger/     the chart, the journal, balances, the audit trail; files/, stored files
    store       what every store of a business does; it knows its request by a `Scope`
    engine/     round trips, sessions, transactions, staging, lists, idempotency, tenants
    tables      the schema; migrations/, how a database comes to it

A store reads by `Fetch` with statements that stand beside it (`payments`, `payment_sql`) and stages
rows, which one flush sends.
"""
