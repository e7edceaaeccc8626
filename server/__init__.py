"""The ASGI application that serves the contract; the only package that knows HTTP."""

import sys
import warnings

# Connexion imports Starlette's test client, which warns about an HTTP library we do not use.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")

# structlog would load greenlet, and rich for a renderer that we do not use: 5 MB in the master.
if sys.modules.keys().isdisjoint({"structlog", "rich", "greenlet"}):
    sys.modules |= {"rich": None, "greenlet": None}  # type: ignore[dict-item]
    import structlog  # noqa: F401

    del sys.modules["rich"], sys.modules["greenlet"]
