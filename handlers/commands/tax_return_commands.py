"""Tax returns: drafts, and how they are filed."""

from accounting.absent import or_else, or_none
from accounting.tax.commands import CreateTaxReturn, FileTaxReturn, Scheme
from handlers.bodies import TaxReturnCreate, TaxReturnFile, TaxReturnSupersede


def create_tax_return(body: TaxReturnCreate) -> CreateTaxReturn:
    """Read the draft of a return."""
    return CreateTaxReturn(
        start_date=body["start_date"], end_date=body["end_date"], scheme=Scheme(body["scheme"])
    )


def file_tax_return(body: TaxReturnFile | None) -> FileTaxReturn:
    """Read how a draft is filed."""
    if body is None:
        return FileTaxReturn()
    return FileTaxReturn(reference=or_none(body["reference"]), lock=or_else(body["lock"], False))


def reason_to_supersede(body: TaxReturnSupersede) -> str:
    """Read why a return takes the place of another."""
    return body["reason"]
