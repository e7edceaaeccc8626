"""A module for each tag of the contract, with a function for each of its operations.

What several of them do alike is in `shared`. `bodies` is written from the contract, and `results`
is what can be answered.
"""
