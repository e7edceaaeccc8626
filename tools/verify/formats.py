"""Generators of texts in the formats of the contract, for generated requests."""

from datetime import date, datetime
from typing import Final

import schemathesis
from hypothesis import strategies
from stdnum import iban

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2199

_words = strategies.text(LETTERS + "0123456789", min_size=1, max_size=20)
_digits = strategies.text("0123456789", min_size=18, max_size=18)
_days = strategies.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))
# A time zone is appended to each.
_moments = strategies.datetimes(datetime(FIRST_YEAR, 1, 2), datetime(LAST_YEAR, 12, 30))  # noqa: DTZ001

TIME_ZONES = ("UTC", "Europe/Amsterdam", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago")


def german_iban(account: str) -> str:
    """Return the IBAN of a German account, with its check digits."""
    return f"DE{iban.calc_check_digits(f'DE00{account}')}{account}"


def teach() -> None:
    """Register formats that Schemathesis does not know or that the contract narrows."""
    known = {
        "email": strategies.builds("{}@{}.example.com".format, _words, _words),
        "iban": strategies.one_of(
            _digits.map(german_iban), strategies.just("GB33 BUKB 2020 1555 5555 55")
        ),
        "date": _days.map(date.isoformat),
        "date-time": strategies.builds(
            "{}{}".format,
            _moments.map(datetime.isoformat),
            strategies.sampled_from(["Z", "+02:00"]),
        ),
        "timezone": strategies.sampled_from(TIME_ZONES),
        # The form of a cursor; valid cursors are known only to their list.
        "cursor": strategies.text(LETTERS, min_size=8, max_size=40),
    }
    for name, strategy in known.items():
        schemathesis.openapi.format(name, strategy)
