"""The ASGI application that serves the contract; the only package that knows HTTP."""

import warnings

# Connexion imports Starlette's test client, which warns about an HTTP library we do not use.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")
