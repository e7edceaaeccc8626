"""`accounting mcp`: the tools of one business for an agent, over standard input and output."""

import os
from importlib.util import find_spec
from uuid import UUID

import typer


def serve_tools(
    url: str, partner_id: UUID | None, business_id: UUID | None, *, read_only: bool
) -> None:
    """Serve the tools until the agent's host closes the input.

    Raises BadParameter if the library is missing, and CannotStart if the credentials open no
    business.
    """
    if find_spec("mcp") is None:
        raise typer.BadParameter(
            "The library for agents is not installed: pip install 'accounting-platform[mcp]'."
        )
    from tools.mcp.client import Access
    from tools.mcp.server import serve

    serve(
        Access(
            url,
            business_id=str(business_id or ""),
            token=os.environ.get("ACCOUNTING_TOKEN", "").strip(),
            partner_id=str(partner_id or ""),
            api_key=os.environ.get("ACCOUNTING_API_KEY", "").strip(),
            read_only=read_only,
        )
    )
