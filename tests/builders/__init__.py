"""What tests send and what they find in the books: one family for every folder of tests.

`trade` builds what both sides of trade have, `sales` and `purchases` name it for one side, the
rest is what only one of them has. A builder sends its request through a `Business` and returns the
answer's body; a name that ends in `_body` is only the body to send.
"""
