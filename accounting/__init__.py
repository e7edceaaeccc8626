"""The rules of the books: values in, values out, and nothing but the standard library.

A noun keeps the values of one thing and what follows from them; a verb beside it is all that can
happen to that thing, and a `Side` says whether it is sold or bought:

    documents (invoices, bills)    drawing_up, document_moves, writing_off
    payments                       settling, payment_facts, payment_moves
    credits                        crediting
    refunds                        invoice_refunding; vendor_refunding with vendor_refund_payments
                                   and vendor_refund_allocation; what both do, refund_targets
    payouts                        paying_out; what holds money that moved, holds
    banking, bank_accounts         statement_lines, suggesting, matching
    accounts, chart                outline, manual_entries

What settles what is `allocation` over `splits`. What all of it comes to in the ledger is `postings`
and `bank_postings`, and `ledger` posts only what differs from what was posted before.
"""
