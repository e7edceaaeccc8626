"""The posted lines behind a tax return: behind all of it, a code, a part or a box."""

import re
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Date,
    DateTime,
    Numeric,
    Text,
    Uuid,
    and_,
    any_,
    case,
    cast,
    column,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement, TextClause

from accounting.opening.openings import OPENING
from accounting.tax.return_figures import DEBIT, BoxSource
from persistence.engine.listings import SKIPPED, Filter, Listing, between, created_filters
from persistence.engine.sql import Row, given, word
from persistence.ledger.split_rows import MARK_COLUMNS
from persistence.store import in_business
from persistence.tables import account, journal_entry, journal_line
from persistence.tax.document_schemes import (
    OWNER,
    POSTED_COUNTS,
    SETTLED_COUNTS,
    about,
    uptos,
)
from persistence.tax.return_shares import Selection

# Filters that are no conditions on rows: the caller turns them into a `Selection`.
CHOOSING = ("box", "tax_code", "tax_rate", "tax_part", "is_late", "is_transition")
DAYS = ("start_date", "end_date", "known_at", "return_preview")

_IDS, _WORDS = ARRAY(Uuid()), ARRAY(Text())
Condition = ColumnElement[bool] | TextClause
# An alias for the joined entry whose columns are shown with the line.
_shown = journal_entry.alias("entry")


def _entry(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a line's entry fulfils `conditions`.

    OFFSET keeps it a look-up for each line.
    """
    of_line = and_(in_business(journal_entry), journal_entry.c.id == journal_line.c.entry_id)
    found = select(journal_entry.c.id).where(of_line, *conditions)
    return found.offset(literal_column("0")).correlate(journal_line).exists()


def _is_in_slices(*conditions: Condition) -> ColumnElement[bool]:
    """Return the condition that an entry's day and number are in a slice.

    The slice must fulfil `conditions`.
    """
    slices = (
        func.unnest(
            given("all_firsts", ARRAY(Date())),
            given("all_lasts", ARRAY(Date())),
            given("all_afters", ARRAY(BigInteger())),
            given("all_uptos", ARRAY(BigInteger())),
            given("all_schemes", ARRAY(Text())),
            given("all_changes", ARRAY(Date())),
        )
        .table_valued(
            column("first", Date),
            column("last", Date),
            column("after", BigInteger),
            column("upto", BigInteger),
            column("scheme", Text),
            column("change", Date),
        )
        .render_derived("slice")
    )
    inside = and_(
        journal_entry.c.entry_date.between(slices.c.first, slices.c.last),
        journal_entry.c.place > slices.c.after,
        journal_entry.c.place <= slices.c.upto,
    )
    found = select(slices.c.first).where(inside, *conditions)
    return found.correlate(journal_entry, journal_line).exists()


def _key(code: Any, part: Any, amount: Any) -> ColumnElement[str]:
    side = case((amount > literal_column("0"), word("+")), else_=word("-"))
    return func.concat(code, word("/"), part, word("/"), side)


def _is_behind(key: ColumnElement[str], rate: Any) -> ColumnElement[bool]:
    """Return the condition that a key is selected at all rates, or at its own."""
    selected = given("behind", _WORDS)
    at_rate = func.concat(key, word("/"), cast(func.trim_scale(rate), Text))
    return or_(key == any_(selected), at_rate == any_(selected))


def _is_marked() -> ColumnElement[bool]:
    """Return the condition that the line itself is a selected tax part."""
    net = journal_line.c.debit - journal_line.c.credit
    key = _key(journal_line.c.tax_code_id, journal_line.c.tax_part, net)
    coded = journal_line.c.tax_code_id == any_(given("codes", _IDS))
    asked_for = _is_behind(key, journal_line.c.tax_rate)
    return and_(coded, asked_for, _at_rate(journal_line.c.tax_rate))


def _at_rate(rate: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a rate is the selected rate, if there is one."""
    return rate == func.coalesce(cast(given("rate", Numeric), Numeric), rate)


_COLUMNS = {
    "source": "journal_entry.source_type",
    "source_id": "journal_entry.source_id",
    "settles_id": "journal_line.settles_id",
    "day": "journal_entry.entry_date",
    "place": "journal_entry.place",
    "scheme": "slice.scheme",
}


def _said(words: str, **more: str) -> TextClause:
    """Build a condition of `document_schemes` on the line, its entry and its slice."""
    return text(re.sub(r"%\((\w+)\)s", r":\1", about(words, {**_COLUMNS, **more})))


def _is(source: str) -> ColumnElement[bool]:
    return journal_entry.c.source_type == any_(given(source, _WORDS))


_SETTLES = journal_line.c.settles_id.is_not(None)
_BY_SCHEME = given("by_scheme", Boolean)
_IN_CHANGE = literal_column("slice.change IS NOT NULL", Boolean)


def _counts_when_posted() -> ColumnElement[bool]:
    always = or_(
        journal_line.c.tax_code_id == any_(given("when_posted", _IDS)), not_(_is("documents"))
    )
    by_scheme = and_(_BY_SCHEME, _said(POSTED_COUNTS))
    return _is_in_slices(not_(_IN_CHANGE), or_(always, by_scheme))


def _counts_when_settled() -> ColumnElement[bool]:
    always = and_(not_(_BY_SCHEME), _SETTLES, _is("settlements"))
    by_scheme = and_(_BY_SCHEME, _said(SETTLED_COUNTS))
    return _is_in_slices(not_(_IN_CHANGE), or_(always, by_scheme))


def _is_unsettled(subject: str) -> ColumnElement[bool]:
    """Return the condition that the document of `subject` is in a transition."""
    owner = _said(f"{OWNER} = ANY(CAST(%(unsettled)s AS uuid[]))", id=subject)
    return _is_in_slices(_IN_CHANGE, owner)


def _moves_posted() -> ColumnElement[bool]:
    settled_later = journal_line.c.tax_code_id == any_(given("when_settled", _IDS))
    is_own = and_(_is("documents"), not_(_is("write_offs")), settled_later)
    return and_(_BY_SCHEME, is_own, _is_unsettled("journal_entry.source_id"))


def _moves_settled() -> ColumnElement[bool]:
    """Return the condition for settlement lines, and for opening lines with their parts."""
    settles = and_(_SETTLES, or_(_is("settlements"), _is("write_offs")))
    opened = and_(not_(_SETTLES), _is("documents"))
    subject = "coalesce(journal_line.settles_id, journal_entry.source_id)"
    return and_(_BY_SCHEME, or_(settles, opened), _is_unsettled(subject))


def _settles() -> ColumnElement[bool]:
    """Return the condition that the split of a line has a selected tax part."""
    share = (
        func.jsonb_array_elements(journal_line.c.split)
        .table_valued(column("value", JSONB), name="share")
        .render_derived()
    )

    def said(place: int) -> ColumnElement[str]:
        return share.c.value.op("->>")(literal_column(str(place)))

    key = _key(said(2), said(4), cast(said(1), BigInteger))
    shared = and_(
        cast(said(2), Uuid) == any_(given("when_settled", _IDS)),
        _is_behind(key, cast(said(3), Numeric)),
        _at_rate(cast(said(3), Numeric)),
    )
    account_id = journal_line.c.account_id
    return and_(
        or_(
            account_id == any_(given("settled_on", _IDS)),
            account_id == any_(given("opened_on", _IDS)),
        ),
        select(literal_column("1")).select_from(share).where(shared).exists(),
    )


_SOURCE = journal_line.join(
    _shown,
    and_(in_business(_shown), _shown.c.id == journal_line.c.entry_id),
).join(account, and_(in_business(account), account.c.id == journal_line.c.account_id))
_MAY_COUNT = and_(
    journal_entry.c.source_type != given("opening", Text),
    journal_entry.c.posted_at <= given("known_at", DateTime(timezone=True)),
)


def _of_line(posted: ColumnElement[bool], settled: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the entry condition `posted` for a line with a tax code, else `settled`.

    A line is a tax part itself, or it settles parts: never both.
    """
    is_part = journal_line.c.tax_code_id.is_not(None)
    return case((is_part, _entry(posted)), else_=_entry(settled))


def _choosing(*names: str) -> dict[str, Filter]:
    return {name: Filter(true(), lambda _: SKIPPED) for name in names}


_CREATED = {
    name: replace(each, condition=_entry(each.condition))
    for name, each in created_filters(journal_entry, updated=journal_entry.c.created_at).items()
}
OF_DAYS = Listing(
    source=_SOURCE,
    key=journal_line.c.id,
    scope=and_(
        in_business(journal_line),
        # A condition on the line itself: without a first and last day all lines would be read.
        journal_line.c.entry_date.between(given("first_day", Date), given("last_day", Date)),
        or_(
            and_(
                _is_marked(),
                _entry(_MAY_COUNT, or_(_counts_when_posted(), _moves_posted())),
            ),
            and_(
                given("on_cash", Boolean),
                _settles(),
                _entry(_MAY_COUNT, or_(_counts_when_settled(), _moves_settled())),
            ),
        ),
    ),
    columns=[
        *(journal_line.c[name] for name in ("id", "entry_id", "entry_date", "account_id")),
        *(journal_line.c[name] for name in ("debit", "credit", "split", *MARK_COLUMNS)),
        *(_shown.c[name] for name in ("sequence_number", "reference")),
        *(_shown.c[name] for name in ("source_type", "source_id", "created_at")),
        func.coalesce(journal_line.c.description, _shown.c.description).label("description"),
        account.c.code.label("account_code"),
        account.c.name.label("account_name"),
        _SETTLES.label("settles"),
        _of_line(_counts_when_posted(), _counts_when_settled()).label("counts"),
        _of_line(_moves_posted(), _moves_settled()).label("moves"),
    ],
    filters={**_CREATED, **_choosing(*CHOOSING, *DAYS)},
    sorts={"entry_date": journal_line.c.entry_date},
    default_sort="entry_date",
)
OF_RETURN = replace(
    OF_DAYS,
    filters={
        **_CREATED,
        **between(journal_line.c.entry_date, "date_from", "date_to"),
        **_choosing(*CHOOSING),
    },
)


def asked(selection: Selection) -> Row:
    """Return the parameters that select the lines."""
    slices = selection.slices
    return {
        "opening": OPENING,
        "known_at": selection.known_at,
        "rate": selection.rate,
        "behind": [_written(each) for each in selection.behind],
        "on_cash": bool(selection.counted.when_settled),
        "by_scheme": bool(selection.declared),
        "unsettled": sorted(selection.unsettled),
        "all_firsts": [each.first for each in slices],
        "all_lasts": [each.last for each in slices],
        "all_afters": [each.after for each in slices],
        "all_uptos": uptos(slices),
        "all_schemes": [each.scheme.value for each in slices],
        "all_changes": [each.change for each in slices],
        "first_day": min((each.first for each in slices), default=None),
        "last_day": max((each.last for each in slices), default=None),
    }


def _written(behind: BoxSource) -> str:
    """Serialize a source as the statement compares it; a rate without trailing zeros."""
    rate = "" if behind.rate is None else f"/{behind.rate.normalize():f}"
    return f"{behind.code_id}/{behind.part}/{'+' if behind.side == DEBIT else '-'}{rate}"
