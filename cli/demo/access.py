"""The credentials of the demo, kept in the data folder because an API key is shown only once."""

import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import UUID

if TYPE_CHECKING:
    from persistence.engine.pool import Pool

FILE = "demo.json"
EXTERNAL_ID = "tidewater-roasters"


@dataclass(frozen=True, slots=True)
class Access:
    """The demo's partner with its API key, and its business.

    `day` is the last day of the demo's year, `finished` whether the year is complete.
    """

    partner_id: str
    api_key: str
    business_id: str
    day: str
    finished: bool

    @classmethod
    def kept_in(cls, folder: Path) -> Self | None:
        """Load the credentials that an earlier run saved; None if missing or damaged."""
        try:
            return cls(**json.loads((folder / FILE).read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def keep_in(self, folder: Path) -> None:
        """Save the credentials atomically in a file that only its owner can read."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f".{FILE}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(draft, flags, 0o600), "w") as file:
            json.dump(asdict(self), file)
        draft.replace(folder / FILE)

    async def found_in(self, pool: "Pool") -> Self | None:
        """Check these credentials in a database; return None if they are not valid there.

        The result has the current business id: a sandbox that was reset has a new id.
        """
        from access import api_keys
        from accounting.errors import NotAllowed, NotAuthenticated
        from persistence.engine.admission import Admission
        from persistence.partners import sandboxes

        admission = Admission(pool, api_keys.opens)
        try:
            caller = await admission.check_key(UUID(self.partner_id), self.api_key)
            await admission.admit_to_business(caller, self.business_id)
        except (NotAllowed, NotAuthenticated, ValueError):
            return None
        known = await sandboxes.known_as(pool, caller.partner_id, EXTERNAL_ID)
        return replace(self, business_id=str(known)) if known else None
