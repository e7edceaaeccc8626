"""The records that the arguments of a command name: each must exist before the command begins."""

from dataclasses import dataclass
from uuid import UUID

from cli.parameters import OF_BUSINESSES, OF_PARTNERS
from persistence.engine.pool import Pool
from persistence.partners.partners import knows_business, knows_key, knows_partner


class UnknownRecord(Exception):
    """An argument names a record that does not exist; the message names it and says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRecords:
    """The ids that a command was given; a key is one of the partner."""

    partner: UUID | None = None
    key: str | None = None
    business: UUID | None = None

    def __bool__(self) -> bool:
        return self.partner is not None or self.business is not None

    async def refuse_unknown(self, pool: Pool) -> None:
        """Raise UnknownRecord if one of them does not exist."""
        if self.partner is not None and not await knows_partner(pool, self.partner):
            raise UnknownRecord(f"There is no partner {self.partner}: {OF_PARTNERS}.")
        if self.key is not None and not await knows_key(pool, self.partner, self.key):
            raise UnknownRecord(
                f"The partner {self.partner} has no key {self.key}: `accounting partner list`"
                " shows its active keys."
            )
        if self.business is not None and not await knows_business(pool, self.business):
            raise UnknownRecord(f"There is no business {self.business}: {OF_BUSINESSES}.")


NONE = NamedRecords()
