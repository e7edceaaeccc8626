"""What the workers share: it is loaded once, by the process that they are forked from.

Nothing here may depend on settings, nor begin a thread.
"""

import gc
import sys

from starlette.types import ASGIApp

from server.contract import parse, read_source
from server.shared_pages import SharedPages


def load() -> ASGIApp:
    """Load all that a worker needs, and build the stack of the contract."""
    # Nobody writes help here: httpx, which Connexion imports, would load these for its own command.
    sys.modules |= {"rich": None, "pygments": None}  # type: ignore[dict-item]
    # It is read first: what that takes and leaves again of memory serves all that is loaded next.
    document = parse(read_source())

    import uvloop  # noqa: F401 - uvicorn loads it when it serves.

    import server.app
    import server.protocol  # noqa: F401
    from server.stack import build_stack

    return build_stack(document)


pages = SharedPages()
stack = load()
gc.collect()
gc.freeze()  # A collection in a worker would else touch, and so copy, all of it.
