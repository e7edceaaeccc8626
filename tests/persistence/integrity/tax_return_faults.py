"""Faults in tax returns, each with the checks that find it."""

from collections.abc import Mapping

from tests.persistence.integrity.fault import Fault, change, planted, role

_FILED = "status = 'filed' AND start_date = '2025-01-01'"
_NEXT = "status = 'filed' AND start_date = '2025-04-01'"
_MOVED_NET = "{transition,0,parts,net}"
_WITHOUT_CHANGES = "jsonb_path_query_array(slices, '$[*] ? (@[6] == null)')"

# Items of the opening, which the transition declares.
_OPENED = f"settles_id IS NULL AND split <> '[]' AND account_id = {role('opening_balance_equity')}"

TAX_RETURNS: Mapping[str, Fault] = {
    "a filed return says another amount": (
        change("tax_return", "figures = jsonb_set(figures, '{codes,0,parts,net}', '1')", _FILED),
        {"tax_returns"},
    ),
    "a filed return has less than it says": planted(
        "tax_return", "slices = jsonb_set(slices, '{0,3}', '1')", _FILED, "tax_returns"
    ),
    "a transition says another amount": (
        change(
            "tax_return", "figures = jsonb_set(figures, '{transition,0,parts,net}', '1')", _NEXT
        ),
        {"tax_returns"},
    ),
    "what was open had other parts than a transition has": (
        change("journal_line", "split = jsonb_set(split, '{0,1}', '1')", _OPENED),
        {"tax_returns", "posted_as_desired"},
    ),
    "a return has no transition any more": planted(
        "tax_return", f"slices = {_WITHOUT_CHANGES}", _NEXT, "tax_returns"
    ),
    "a return is said to be on the other scheme": planted(
        "tax_return", "slices = jsonb_set(slices, '{0,5}', '\"accrual\"')", _FILED, "tax_returns"
    ),
    "two filed returns have one day": planted(
        "tax_return", "end_date = '2025-04-01'", _FILED, "tax_return_members"
    ),
    "two slices have one part": planted(
        "tax_return", "slices = slices || slices", _FILED, "tax_returns", "tax_return_members"
    ),
    "a return settled another amount than was posted": planted(
        "tax_return", "settlement = '{}'", _NEXT, "posted_as_desired"
    ),
    "nothing has taken the place of a return": planted(
        "tax_return", "status = 'superseded'", _FILED, "tax_return_members"
    ),
}
