"""Every answer of every test is held against the contract."""

import httpx


def check_response(response: httpx.Response) -> None:
    """Placeholder until the helper for contract checks writes it."""
