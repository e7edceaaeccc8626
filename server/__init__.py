"""Makes the contract a running ASGI application; the only package that knows HTTP."""

import warnings

# Connexion imports Starlette's test client, which warns about an HTTP library nobody uses here.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")
