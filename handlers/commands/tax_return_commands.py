"""Tax returns: drafts, and their filing."""

from accounting.absent import or_else, or_none
from accounting.tax.commands import CreateTaxReturn, FileTaxReturn, Scheme
from handlers.bodies import TaxReturnCreate, TaxReturnFile, TaxReturnSupersede


def create_tax_return(body: TaxReturnCreate) -> CreateTaxReturn:
    """Parse a draft of a tax return."""
    return CreateTaxReturn(
        start_date=body["start_date"], end_date=body["end_date"], scheme=Scheme(body["scheme"])
    )


def file_tax_return(body: TaxReturnFile | None) -> FileTaxReturn:
    """Parse the options for filing a draft."""
    if body is None:
        return FileTaxReturn()
    return FileTaxReturn(reference=or_none(body["reference"]), lock=or_else(body["lock"], False))


def reason_to_supersede(body: TaxReturnSupersede) -> str:
    """Return the reason for replacing a filed return."""
    return body["reason"]
