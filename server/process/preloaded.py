"""The modules and the stack that all workers share, loaded by the process that forks them.

Nothing here may depend on settings or start a thread. The order of loading only saves memory: a
page that a worker writes to is copied for that worker.
"""

import gc
from importlib import import_module
from typing import Final

from starlette.types import ASGIApp

from server.contract.document import keep_for_requests, parse, read_source

# Modules that the stack does not import, and that each worker would otherwise load by itself.
LAST: Final = (
    "libraries.embedded.users",
    "multiprocessing.popen_forkserver",
    "server.app",
    "server.process.protocol",
    "uvicorn.lifespan.on",
    "uvloop",
)


def load() -> ASGIApp:
    """Load the modules that a worker needs, and return the stack built from the contract."""
    # The document is parsed first: the memory that parsing frees is used by the imports below.
    document = parse(read_source())
    keep_for_requests(document)  # Connexion copies the document twice.
    from server.http.stack import build_stack

    built = build_stack(document)
    del document
    gc.collect()
    for name in LAST:  # They use the memory that building has freed.
        import_module(name)
    return built


stack = load()
gc.collect()
gc.freeze()  # Otherwise a garbage collection in a worker would write to, and so copy, every page.
