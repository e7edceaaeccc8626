"""Everything that is kept: PostgreSQL and files. The only room that knows SQL.

A request is a `session` (`sessions`), which `transaction` begins, commits and runs again. In it a
handler has `books`, one business, or a `registry`, one partner's businesses. Behind the books are
the stores, one for each kind of thing: each asks (`questions`) with statements that stand beside it
(`invoices`, `payments` and `payment_statements`, ...) and stages rows (`staging`), which `pipeline`
sends in one round trip. `tables` is the schema, `migrations` how a database comes to it, `proof`
what must hold in it. `resources` is what a process keeps open for all of this.
"""
