"""The modules, the stack and the contract of all workers, loaded by the process that forks them.

Nothing here may depend on settings or start a thread. The order of loading only saves memory: a
page that a worker writes to is copied for that worker.
"""

import gc
from importlib import import_module
from typing import Final

from starlette.types import ASGIApp

from server.contract.document import keep_for_requests, pack, parse, read_source

# Modules that the stack does not import, and that each worker would otherwise load by itself.
LAST: Final = (
    "libraries.embedded.users",
    "multiprocessing.popen_forkserver",
    "server.app",
    "server.process.protocol",
    "uvicorn.lifespan.on",
    "uvloop",
)


def load() -> tuple[ASGIApp, bytes]:
    """Load the modules that a worker needs; return the stack and the packed contract.

    The documentation needs the contract while its pages are not on disk.
    """
    gc.disable()  # Nearly all that is loaded stays: to look for garbage took a fifth of the time.
    # The document is parsed first: the memory that parsing frees is used by the imports below.
    document = parse(read_source())
    packed = pack(document)
    keep_for_requests(document)  # Connexion copies the document twice.
    from server.http.stack import build_stack

    built = build_stack(document)
    del document
    gc.collect()
    for name in LAST:  # They use the memory that building has freed.
        import_module(name)
    return built, packed


stack, contract = load()
gc.collect()
gc.freeze()  # Otherwise a garbage collection in a worker would write to, and so copy, every page.
gc.enable()
