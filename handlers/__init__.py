"""A module for each tag of the contract, with a function for each of its operations.

`shared` has the code that several operations use. `bodies` is generated from the contract, and
`results` has the kinds of answers.
"""
