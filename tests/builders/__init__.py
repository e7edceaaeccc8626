"""Builders of requests, shared by the tests of every folder.

`trade` builds the requests that both sides of trade have. `sales` and `purchases` name them for one
side; the other modules build requests of one subject. A builder sends its request through a
`Business` and returns the body of the answer. A builder whose name ends in `_body` returns only the
body to send.
"""
