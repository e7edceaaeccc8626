"""Reports: financial statements of posted amounts, with fiscal years, columns and comparisons.

A report loads what was posted to each account in several periods at the same time, and takes its
figures from that: the whole, its columns, its comparison. A figure is therefore an `Amounts`, with
one number for each of these, and every sum is computed for all of them alike.
"""
