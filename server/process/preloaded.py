"""What the workers share: it is loaded once, by the process that they are forked from.

Nothing here may depend on settings, nor begin a thread. What is left out, and in which order the
rest is loaded, is there for memory alone: each megabyte that is touched counts once for each
process.
"""

import gc
from importlib import import_module
from typing import Final

from starlette.types import ASGIApp

from server.contract import keep_for_requests, parse, read_source
from server.process.gaps import filled_gaps
from server.process.left_out import left_out
from server.shared_pages import SharedPages

# Connexion reads documents from other hosts and templates, asks other hosts about tokens, has a
# client for tests and serves by WSGI; uvicorn has a command line of its own.
UNUSED: Final = (
    "httpx",
    "jinja2",
    "requests",
    "starlette.testclient",
    "uvicorn.main",
    "werkzeug.serving",
    "werkzeug.test",
)
# For tokens with pairs of keys, for SQLAlchemy's own connections, for servers that watch their own
# source, for help on a terminal.
OPTIONAL: Final = ("cryptography", "greenlet", "pygments", "rich", "watchfiles")
# What the stack has no part in, and a worker would load by itself when it starts.
LAST: Final = (
    "embedded.users",
    "multiprocessing.popen_forkserver",
    "server.app",
    "server.protocol",
    "uvicorn.lifespan.on",
    "uvloop",
)


def load() -> ASGIApp:
    """Load all that a worker needs, and build the stack of the contract."""
    # It is read first: what that takes and leaves again of memory serves all that is loaded next.
    document = parse(read_source())
    keep_for_requests(document)  # Connexion copies all of it, twice.
    with left_out(UNUSED, OPTIONAL):
        from server.stack import build_stack

        built = build_stack(document)
        del document
        gc.collect()
        for name in LAST:  # Into the memory that building has left free.
            import_module(name)
    return built


pages = SharedPages()
stack = load()
gc.collect()
gaps = filled_gaps()  # They stay so for as long as the process lives.
gc.freeze()  # A collection in a worker would else touch, and so copy, all of it.
