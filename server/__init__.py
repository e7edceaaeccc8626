"""Makes the contract a running ASGI application; the only package that knows HTTP."""

import sys
import warnings

# Connexion imports Starlette's test client, which warns about an HTTP library nobody uses here.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")

# structlog would load rich for a renderer that we do not use, 5 MB in the master, and greenlet.
if sys.modules.keys().isdisjoint({"structlog", "rich", "greenlet"}):
    sys.modules |= {"rich": None, "greenlet": None}  # type: ignore[dict-item]
    import structlog  # noqa: F401

    del sys.modules["rich"], sys.modules["greenlet"]
