"""Settlement of tax returns: their tax moves to the account for VAT due when they are filed."""

from dataclasses import replace
from uuid import UUID

from accounting.books import chart
from accounting.books.accounts import Account, free_code
from accounting.books.chart import Role
from accounting.tax import cash_schemes, settlements
from accounting.tax.returns import TaxReturn
from handlers.tax.tax_return_responses import Members, read
from persistence.books import Books
from persistence.engine.ids import new_id


async def settle(books: Books, filed: TaxReturn, has: Members) -> TaxReturn:
    """Post the settlement of a return that is being filed, and return the return with it."""
    roles = await _with_tax_due(books)
    declared, settled = await books.fetch(
        books.declared_taxes.declared(
            cash_schemes.ordinary(has.slices),
            cash_schemes.transition(has.slices),
            has.counted,
            roles,
            has.declared,
        ),
        books.declared_taxes.settled(filed),
    )
    amounts = settlements.settlement(declared, read(filed).rounding, settled, has.codes, roles)
    done = replace(filed, settlement=amounts)
    books.post(settlements.entries_for(done, books.lock_date))
    return done


async def _with_tax_due(books: Books) -> dict[Role, UUID]:
    """Return the accounts by role, and create the one for VAT due where it is missing.

    A business from before has none until its first settlement. The filing runs alone, so that no
    other request creates it too. The cache of roles keeps only what was committed.
    """
    roles = await books.roles()
    if Role.TAX_DUE not in roles:
        (roles,) = await books.fetch(books.accounts.roles())
    if Role.TAX_DUE not in roles:
        roles = {**roles, Role.TAX_DUE: await _create_tax_due(books)}
    return roles


async def _create_tax_due(books: Books) -> UUID:
    """Stage the account for VAT due, with the next free code if 2230 is taken; return its id."""
    own = next(each for each in chart.STARTING_CHART if each.role is Role.TAX_DUE)
    ((taken, language),) = await books.fetch(books.accounts.codes_and_language())
    made = Account(
        id=new_id(),
        version=1,
        created_at=books.now,
        updated_at=books.now,
        code=free_code(own.code, taken),
        name=chart.starting_name(own, language),
        account_type=own.account_type,
        account_subtype=own.account_subtype,
        role=own.role,
    )
    books.save(made)
    return made.id
