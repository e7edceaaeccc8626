"""Oddities of CSV files: amounts, dates, quotes and what is around the table."""

from typing import Any

from libraries.bank_files.tests.oddities import Oddity, Right, right

ONE = {"date": "Date", "amount": "Amount"}
TWO = {"date": "Date", "credit": "In", "debit": "Out"}


def one(oddity: str, amounts: list[str], lines: list[str] | str, **more: Any) -> Oddity:
    """Return a file with an amount on each day from 2026-07-15 on; a text is what it asks for."""
    rows = [f"2026-07-{15 + place};{amount}" for place, amount in enumerate(amounts)]
    content = "\n".join(["Date;Amount", *rows, ""]).encode()
    return _oddity(oddity, content, ONE, lines, more)


def dated(oddity: str, days: list[str], lines: list[str] | str, **more: Any) -> Oddity:
    """Return a file with some dates and amounts of 1.50."""
    rows = [f"{day};1.50" for day in days]
    content = "\n".join(["Date;Amount", *rows, ""]).encode()
    if isinstance(lines, str):
        return _oddity(oddity, content, ONE, lines, more)
    told = tuple(right(day, "1.50") for day in lines)
    return Oddity("csv", oddity, content, told, {**ONE, **more})


def table(oddity: str, text: str, columns: dict[str, Any], *lines: Right, **more: Any) -> Oddity:
    return Oddity("csv", oddity, text.encode(), lines, columns, **more)


def _oddity(
    oddity: str,
    content: bytes,
    columns: dict[str, Any],
    lines: list[str] | str,
    more: dict[str, Any],
) -> Oddity:
    if isinstance(lines, str):
        return Oddity("csv", oddity, content, columns=columns, asks=lines, why="is required")
    told = tuple(right(f"07-{15 + place}", amount) for place, amount in enumerate(lines))
    return Oddity("csv", oddity, content, told, {**columns, **more})


AMOUNTS = (
    one("round thousands or three decimals", ["1.000", "12.500"], "decimal_comma"),
    one("the same, with a named comma", ["1.000", "12.500"], ["1000", "12500"], decimal_comma=True),
    one("a single -1,650", ["-1,650"], "decimal_comma"),
    one("-1,650 beside cents", ["-1,650", "-12.50"], ["-1650", "-12.50"]),
    one("1.650 beside cents", ["1.650", "12,50"], ["1650", "12.50"]),
    one("millions show the thousands", ["1.650", "1.234.567"], ["1650", "1234567"]),
    one("a leading zero shows the decimals", ["0.50", "1.5"], ["0.50", "1.50"]),
    one("apostrophes between thousands", ["1'234.50", "-7.00"], ["1234.50", "-7"]),
    one(
        "no-break spaces between thousands", ["1\u202f234,50", "2\u00a0000,00"], ["1234.50", "2000"]
    ),
    one("Indian groups", ["1,23,456.00", "5.00"], ["123456", "5"]),
    one("RM before the figure", ["RM1,650.00", "-RM 12.50"], ["1650", "-12.50"]),
    one("kr and kr.", ["kr 12,50", "-7,25 kr.", "Kr 1,5"], ["12.50", "-7.25", "1.5"]),
    one("signs of currencies", ["£5.00", "-$6.00", "€-7.00", "US$8.00"], ["5", "-6", "-7", "8"]),
    one("codes of currencies", ["EUR 5.00", "6.00 EUR", "-GBP7.00"], ["5", "6", "-7"]),
    one(
        "DR and CR behind the figure",
        ["5.00 DR", "6.00 CR", "7.00Dr", "8.00Cr."],
        ["-5", "6", "-7", "8"],
    ),
    one("DR before the figure", ["DR 5.00", "Cr. 6.00"], ["-5", "6"]),
    table(
        "a word of another meaning",
        "Date,Amount\n2026-07-15,5.00 DEB\n2026-07-16,6.00\n",
        ONE,
        right("07-16", "6"),
        bad=1,
    ),
    one("parentheses", ["(5.00)", "(£6.00)", "7.00"], ["-5", "-6", "7"]),
    one("a trailing minus", ["5.00-", "6.00 EUR-", "7.00+"], ["-5", "-6", "7"]),
    one("a typographic minus", ["\u22125,00", "6,00"], ["-5", "6"]),
    one("both decimal signs", ["5.00", "6,00"], "decimal_comma"),
    one("one decimal or none", ["5.5", "6", "-7."], ["5.50", "6", "-7"]),
    table(
        "a fee column of a wallet",
        "Date,Amount,Fee\n2026-07-15,-10.00,0.50\n2026-07-16,7.00,0.00\n",
        {**ONE, "fee": "Fee"},
        right("07-15", "-10.50"),
        right("07-16", "7"),
    ),
    table(
        "a fee column below zero",
        "Date,Gross,Fee,Net\n2026-07-15,100.00,-3.20,96.80\n",
        {"date": "Date", "amount": "Gross", "fee": "Fee"},
        right("07-15", "96.80"),
    ),
    table(
        "debits below zero",
        "Date,In,Out\n2026-07-15,,-5.00\n2026-07-16,6.00,\n",
        TWO,
        right("07-15", "-5"),
        right("07-16", "6"),
    ),
    table(
        "refunds in the debit column",
        "Date,In,Out\n2026-07-15,,5.00\n2026-07-16,,-2.00\n",
        TWO,
        right("07-15", "-5"),
        right("07-16", "2"),
    ),
    table(
        "zeros in the other column",
        "Date,In,Out\n2026-07-15,0.00,5.00\n2026-07-16,6.00,0.00\n",
        TWO,
        right("07-15", "-5"),
        right("07-16", "6"),
    ),
    table(
        "dashes in the other column",
        "Date,In,Out\n2026-07-15,-,5.00\n2026-07-16,6.00,--\n",
        TWO,
        right("07-15", "-5"),
        right("07-16", "6"),
    ),
    table(
        "lines of zero",
        "Date,Amount\n2026-07-15,0.00\n2026-07-16,6.00\n",
        ONE,
        right("07-15", "0"),
        right("07-16", "6"),
    ),
    table(
        "a word for the direction",
        "Date,Amount,Type\n2026-07-15,5.00,DBIT\n2026-07-16,6.00,Deposit\n",
        {**ONE, "direction": "Type"},
        right("07-15", "-5"),
        right("07-16", "6"),
    ),
    table(
        "an amount that is a word",
        "Date,Amount\n2026-07-15,n/a\n2026-07-16,6.00\n",
        ONE,
        right("07-16", "6"),
        bad=1,
    ),
)

DAYS = (
    dated("a day after the 12th in the last row", ["03/07/2026", "25/07/2026"], ["07-03", "07-25"]),
    dated("a month in front", ["07/03/2026", "07/25/2026"], ["07-03", "07-25"]),
    dated("a month in front, with hyphens", ["7-3-26", "7-25-26"], ["07-03", "07-25"]),
    dated("no day after the 12th", ["03/07/2026", "04/08/2026"], "date_format"),
    dated("the same with its format", ["03/07/2026"], ["03-07"], date_format="MM/DD/YYYY"),
    dated("two orders in one file", ["25/07/2026", "07/25/2026"], "date_format"),
    dated("years of two digits in front", ["26/07/03", "26/07/15"], "date_format"),
    dated(
        "years of two digits in front, with their format",
        ["26/07/03", "26/07/15"],
        ["07-03", "07-15"],
        date_format="YY/MM/DD",
    ),
    dated("years of two digits at the end", ["15/07/26", "16/07/26"], ["07-15", "07-16"]),
    dated("both orders give one day", ["07/07/2026", "08/08/2026"], ["07-07", "08-08"]),
    dated("points mean the day first", ["03.07.2026", "4.7.26"], ["07-03", "07-04"]),
    dated(
        "a time behind the day", ["2026-07-15T08:00:00Z", "2026-07-16 09:10"], ["07-15", "07-16"]
    ),
    dated(
        "months by name", ["15 Jul 2026", "16-Jul-26", "July 17, 2026"], ["07-15", "07-16", "07-17"]
    ),
    dated("eight digits", ["20260715"], ["07-15"]),
)

MEMO = {**ONE, "description": "Memo"}
QUOTES = (
    table(
        "a quote that never closes",
        'Date,Amount,Memo\n2026-07-15,5.00,"Pizza 12\n2026-07-16,6.00,x\n',
        MEMO,
        asks="file",
        why="has a quote in row 2",
    ),
    table(
        "a quote that closes in a later row",
        'Date,Amount,Memo\n2026-07-15,5.00,"Pizza\n2026-07-16,6.00,Tea"\n2026-07-17,7.00,x\n',
        MEMO,
        asks="file",
        why="has a quote in row 2",
    ),
    table(
        "a quote that a later quote closes",
        'Date,Amount,Memo\n2026-07-15,5.00,x\n2026-07-16,6.00,"12 inch\n2026-07-17,7.00,"Tea"\n',
        MEMO,
        asks="file",
        why="has a quote in row 3",
    ),
    table(
        "a cell of many rows",
        'Date,Amount,Memo\n2026-07-15,5.00,"' + "text and more text\n" * 150 + '"\n',
        MEMO,
        asks="file",
        why="has a quote in row 2",
    ),
    table(
        "a memo of two rows",
        'Date,Amount,Memo\n2026-07-15,5.00,"Tea\nand cake"\n2026-07-16,6.00,x\n',
        MEMO,
        right("07-15", "5", description="Tea and cake"),
        right("07-16", "6"),
    ),
    table(
        "a memo with a date in its second row",
        'Date,Amount,Memo\n2026-07-15,5.00,"Rent\n15.07.2026, for July, 2026"\n2026-07-16,6.00,x\n',
        MEMO,
        right("07-15", "5", description="Rent 15.07.2026, for July, 2026"),
        right("07-16", "6"),
    ),
    table(
        "doubled quotes",
        'Date,Amount,Memo\n2026-07-15,5.00,"a ""b"" c"\n',
        MEMO,
        right("07-15", "5", description='a "b" c'),
    ),
    table(
        "a quote within a text",
        'Date,Amount,Memo\n2026-07-15,5.00,Pizza 12" large\n2026-07-16,6.00,x\n',
        MEMO,
        right("07-15", "5", description='Pizza 12" large'),
        right("07-16", "6"),
    ),
    table(
        "a text behind a closed quote",
        'Date,Amount,Memo\n2026-07-15,5.00,"Tea" shop\n',
        MEMO,
        right("07-15", "5", description="Tea shop"),
    ),
    table(
        "rows that end with a carriage return",
        "Date,Amount,Memo\r2026-07-15,5.00,a\r2026-07-16,6.00,b\r",
        MEMO,
        right("07-15", "5"),
        right("07-16", "6"),
    ),
    table(
        "a line that names the separator",
        'sep=;\nDate;Amount\n2026-07-15;"5,00"\n',
        ONE,
        right("07-15", "5"),
    ),
    table("a header only", "Date,Amount\n", ONE),
    table(
        "a closing balance below",
        "Date,Amount\n2026-07-15,5.00\nClosing balance,\n",
        ONE,
        right("07-15", "5"),
    ),
    table(
        "one id on each page",
        "Date,Amount,Id\n2026-07-15,5.00,1\n2026-07-16,6.00,1\n",
        {**ONE, "external_id": "Id"},
        right("07-15", "5", external_id="1"),
        right("07-16", "6"),
    ),
)

ODDITIES = (*AMOUNTS, *DAYS, *QUOTES)
