"""Conversion of each request body of the contract to a command of the accounting rules.

Only this package reads field names of the contract, and each body in one place. Fields are read as
`body["name"]`, which the types of `handlers.bodies` check; a field that was not sent is ABSENT.
"""
