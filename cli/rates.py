"""`accounting rates ...`: exchange rates.

Every command and all server processes import this module, so it must not import the database code
at module level.
"""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from cli.parameters import business_id, partner_id

app = typer.Typer(no_args_is_help=True)


@app.callback()
def rates() -> None:
    """Keep `import` a subcommand; Typer would merge it into its parent otherwise."""


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The published file.", exists=True, dir_okay=False)],
    partner: Annotated[
        UUID | None,
        typer.Option(parser=partner_id, help="Only for this partner, for all of its businesses."),
    ] = None,
    business: Annotated[
        UUID | None, typer.Option(parser=business_id, help="Only for this business.")
    ] = None,
) -> None:
    """Import exchange rates of the European Central Bank, by default for every partner.

    It reads the files as the bank publishes them: eurofxref.csv and eurofxref-hist.csv, the zips of
    both, and eurofxref-daily.xml, eurofxref-hist-90d.xml and eurofxref-hist.xml. Each day of the
    file replaces the whole table of that day; other days are left.
    """
    from cli.rate_import import import_rates

    if partner is not None and business is not None:
        raise typer.BadParameter("--partner and --business cannot be given together")
    import_rates(file, partner, business)
