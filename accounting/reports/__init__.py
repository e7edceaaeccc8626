"""Reports: what was posted, laid out as statements; years, columns and comparisons of them.

A report asks what was posted to each account in some spans of days, all at once, and reads its
figures off that: the whole, its columns, what it is compared with. So a figure is an `Amounts`, one
number for each of these, and every sum is taken of all of them alike.
"""
