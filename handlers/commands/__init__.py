"""Turns each request body of the contract into a command of the rules, field by field.

Only here names of the wire are read, and each body in one place. Fields are read as `body["name"]`,
which the types of `handlers.bodies` check; what was not sent reads as ABSENT.
"""
