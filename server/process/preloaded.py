"""What the workers share: it is loaded once, by the process that they are forked from.

Nothing here may depend on settings, nor begin a thread.
"""

import gc

import uvloop  # noqa: F401 - uvicorn loads it when it serves.

import server.app
import server.protocol  # noqa: F401
from server.contract import parse, read_source
from server.docs import SharedPages

pages = SharedPages()
parse(read_source())
gc.collect()
gc.freeze()  # A collection in a worker would else touch, and so copy, all of it.
