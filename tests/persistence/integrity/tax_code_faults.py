"""Faults in tax codes, each with the checks that find it."""

from collections.abc import Mapping

from tests.persistence.integrity.fault import Fault, change, planted, role

_FOUND = {"tax_codes"}
_TWENTY = "code = 'S20'"


def _rates(*periods: str) -> str:
    listed = ", ".join(
        f'{{"rate": "20", "recoverable_percent": "100", {each}}}' for each in periods
    )
    return f"rates = '[{listed}]'"


TAX_CODES: Mapping[str, Fault] = {
    "a direction has two defaults": planted(
        "tax_code", "is_default = true", "code = 'S5'", *_FOUND
    ),
    "tax stands on a control account": planted(
        "tax_code", f"tax_account_id = {role('accounts_receivable')}", _TWENTY, *_FOUND
    ),
    "a code has no rate": planted("tax_code", "rates = '[]'", _TWENTY, *_FOUND),
    "a rate is above the whole": planted(
        "tax_code", """rates = jsonb_set(rates, '{0,rate}', '"101"')""", _TWENTY, *_FOUND
    ),
    "a rate ends before it begins": planted(
        "tax_code", _rates('"valid_from": "2026-01-02", "valid_to": "2026-01-01"'), _TWENTY, *_FOUND
    ),
    "two rates hold on one day": (
        change(
            "tax_code",
            _rates(
                '"valid_from": null, "valid_to": "2026-01-01"',
                '"valid_from": "2026-01-01", "valid_to": null',
            ),
            _TWENTY,
        ),
        _FOUND,
    ),
}
