"""The operations on entries that are written by hand, each with a request that it would serve."""

from tests.handlers.doors import ENTRIES, Door
from tests.handlers.writing import entry_body

_NO_ENTRY = "journal_entry_not_found"
_ENTRY = ENTRIES + "{}/"

ENTRY_DOORS = (
    Door("create_journal_entry", "POST", ENTRIES, entry_body(), matched=False),
    Door("replace_journal_entry", "PUT", _ENTRY, entry_body(), "draft_entry", _NO_ENTRY),
    Door("approve_journal_entry", "POST", f"{_ENTRY}approve/", None, "draft_entry", _NO_ENTRY),
    Door("reject_journal_entry", "POST", f"{_ENTRY}reject/", None, "draft_entry", _NO_ENTRY),
    Door("reverse_journal_entry", "POST", f"{_ENTRY}reverse/", {}, "manual_entry", _NO_ENTRY),
)
