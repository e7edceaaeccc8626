"""What is planted of tax codes: some to be changed and archived, beside those of the country."""

from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.partner import Business

TAX_ACCOUNTS = ["1300", "2200", "2400"]


def plant_tax_codes(pools: dict[str, list[str]], business: Business, many: int) -> None:
    """Plant tax codes; the pools hold the ids, and the accounts that tax may stand on."""
    own = [str(each["id"]) for each in codes_of(business).values()]
    spare = [str(business.made(CODES, code_body(f"V{n}"))["id"]) for n in range(many)]
    pools |= {
        "tax_accounts": TAX_ACCOUNTS,
        "spare_tax_codes": spare,
        "tax_codes": [*own[:5], *spare[:5]],
    }
