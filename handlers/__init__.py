"""The desks: a module for each tag of the contract, with a function for each of its operations.

What several desks share begins with an underscore: `_trade_*` serves sales and purchases alike,
`_*shapes` show, `_posting` saves and posts, `_files` takes files. `bodies` is written from the
contract, `replies` is what can be answered, `bank_files` reads what banks send.
"""
