"""Tax codes: new codes and changes."""

from accounting.absent import ABSENT, Absent, or_else, or_none
from accounting.books.ledger import TaxPart
from accounting.tax.codes import WHOLE, Direction, Rate, Treatment
from accounting.tax.commands import (
    Boxes,
    ChangeTaxCode,
    CreateTaxCode,
    CreateTaxReturn,
    FileTaxReturn,
    Scheme,
)
from handlers.bodies import (
    TaxBoxes,
    TaxCodeCreate,
    TaxCodeRateInput,
    TaxCodeUpdate,
    TaxReturnCreate,
    TaxReturnFile,
    TaxReturnSupersede,
)
from handlers.shared.account_commands import any_account
from handlers.trade.document_commands import decimal


def create_tax_code(body: TaxCodeCreate) -> CreateTaxCode:
    """Parse a new tax code."""
    account = body["tax_account"]
    return CreateTaxCode(
        code=body["code"],
        name=body["name"],
        direction=Direction(body["direction"]),
        treatment=Treatment(body["treatment"]),
        rates=tuple(map(_rate, body["rates"])),
        tax_account=None if isinstance(account, Absent) else any_account(account),
        boxes=_boxes(body["boxes"]),
        is_default=or_else(body["is_default"], False),
    )


def change_tax_code(body: TaxCodeUpdate) -> ChangeTaxCode:
    """Parse changes to a tax code."""
    direction, treatment = body["direction"], body["treatment"]
    rates, account = body["rates"], body["tax_account"]
    return ChangeTaxCode(
        code=body["code"],
        name=body["name"],
        direction=ABSENT if isinstance(direction, Absent) else Direction(direction),
        treatment=ABSENT if isinstance(treatment, Absent) else Treatment(treatment),
        rates=ABSENT if isinstance(rates, Absent) else tuple(map(_rate, rates)),
        tax_account=ABSENT if isinstance(account, Absent) else any_account(account),
        boxes=_boxes(body["boxes"]),
        is_default=body["is_default"],
        active=body["is_active"],
    )


def _rate(given: TaxCodeRateInput) -> Rate:
    rate = decimal(given["rate"])
    assert rate is not None, "the contract asks for it"
    recoverable = decimal(given["recoverable_percent"])
    return Rate(
        rate=rate,
        recoverable_percent=WHOLE if recoverable is None else recoverable,
        valid_from=or_none(given["valid_from"]),
        valid_to=or_none(given["valid_to"]),
    )


def _boxes(given: TaxBoxes | Absent) -> Boxes | Absent:
    if isinstance(given, Absent):
        return given
    parts = (
        (TaxPart.NET, given["net"]),
        (TaxPart.OUTPUT, given["output"]),
        (TaxPart.INPUT, given["input"]),
        (TaxPart.BLOCKED, given["blocked"]),
        (TaxPart.WITHHELD, given["withheld"]),
        (TaxPart.RELIEF_NET, given["relief_net"]),
        (TaxPart.RELIEF, given["relief"]),
    )
    return {part: tuple(or_else(numbers, ())) for part, numbers in parts}


# Tax returns: drafts, and their filing.


def create_tax_return(body: TaxReturnCreate) -> CreateTaxReturn:
    """Parse a draft of a tax return."""
    return CreateTaxReturn(
        start_date=body["start_date"], end_date=body["end_date"], scheme=Scheme(body["scheme"])
    )


def file_tax_return(body: TaxReturnFile | None) -> FileTaxReturn:
    """Parse the options for filing a draft."""
    if body is None:
        return FileTaxReturn()
    return FileTaxReturn(
        reference=or_none(body["reference"]),
        lock=or_else(body["lock"], False),
        settle=or_else(body["settle"], True),
    )


def reason_to_supersede(body: TaxReturnSupersede) -> str:
    """Return the reason for replacing a filed return."""
    return body["reason"]
