"""The statements of the company, worked out by hand from the diary, in pence.

Each is given on accrual and on cash. The second year has two versions: as known on 19 February
2026, and as known after the corrections.
"""

from typing import Final

FIRST: Final = ("2025-01-01", "2025-09-30")
SECOND: Final = ("2025-10-01", "2026-02-28")
SEEN: Final = "2026-02-19T00:00:00Z"
"""The moment of a look at the books before the corrections."""

Sections = dict[str, dict[str, int]]
Reports = dict[tuple[str, str, bool], tuple[Sections, dict[str, int]]]


def profits(*amounts: int) -> dict[str, int]:
    """Return the summary of a profit and loss."""
    names = (
        *("net_revenue", "total_operating_income", "gross_profit", "total_operating_expenses"),
        *("operating_profit", "profit_before_tax", "net_profit"),
    )
    return dict(zip(names, amounts, strict=True))


def totals(*amounts: int) -> dict[str, int]:
    """Return the summary of a balance sheet."""
    names = (
        *("total_assets", "total_non_current_assets", "total_current_assets"),
        *("total_liabilities", "total_current_liabilities", "total_non_current_liabilities"),
        *("total_equity", "net_assets"),
    )
    return dict(zip(names, amounts, strict=True))


def flows(*amounts: int) -> dict[str, int]:
    """Return net profit, operating cash flow, opening cash and closing cash by name."""
    names = ("net_profit", "operating", "opening", "closing")
    return dict(zip(names, amounts, strict=True))


# Accounts by section, and the summary. A contra account is below zero in its section.
PROFIT_AND_LOSS: Final[Reports] = {
    ("accrual", FIRST[1], True): (
        {
            "revenue": {"4000": 810_000, "4100": -50_000},
            "direct_costs": {"5000": 200_000, "5100": -10_000},
            "operating_expenses": {"6000": 210_000, "6100": 2_000, "6200": 50_000, "6300": 1_500},
            "finance_costs": {"7000": 2_500},
            "income_tax": {"8000": 15_000},
        },
        profits(760_000, 760_000, 570_000, 263_500, 306_500, 304_000, 289_000),
    ),
    ("cash", FIRST[1], True): (
        {
            "revenue": {"4000": 474_118, "4100": -50_000},
            "direct_costs": {"5000": 100_000},
            "operating_expenses": {"6000": 210_000, "6100": 2_000, "6300": 1_500},
            "finance_costs": {"7000": 2_500},
            "income_tax": {"8000": 15_000},
        },
        profits(424_118, 424_118, 324_118, 213_500, 110_618, 108_118, 93_118),
    ),
    ("accrual", SECOND[1], False): (
        {
            "revenue": {"4000": 280_000, "4200": -15_000},
            "operating_expenses": {"6000": 60_000, "6100": 1_200, "6200": 6_000},
            "finance_income": {"4600": 700},
        },
        profits(265_000, 265_000, 265_000, 67_200, 197_800, 198_500, 198_500),
    ),
    ("cash", SECOND[1], False): (
        {
            "revenue": {"4000": 383_627},
            "direct_costs": {"5000": 100_000, "5100": -10_000},
            "operating_expenses": {"6100": 1_200},
            "finance_income": {"4600": 700},
        },
        profits(383_627, 383_627, 293_627, 1_200, 292_427, 293_127, 293_127),
    ),
    ("accrual", SECOND[1], True): (
        {
            "revenue": {"4000": 285_000, "4200": -15_000},
            "operating_expenses": {"6000": 79_000, "6100": 1_200, "6200": 6_000},
            "finance_income": {"4600": 700},
        },
        profits(270_000, 270_000, 270_000, 86_200, 183_800, 184_500, 184_500),
    ),
    ("cash", SECOND[1], True): (
        {
            "revenue": {"4000": 500_294},
            "direct_costs": {"5000": 100_000, "5100": -10_000},
            "operating_expenses": {"6000": 9_000, "6100": 1_200},
            "finance_income": {"4600": 700},
        },
        profits(500_294, 500_294, 410_294, 10_200, 400_094, 400_794, 400_794),
    ),
}

# The sections that are the same in all balance sheets.
UNMOVED: Final[Sections] = {
    "non_current_assets": {"1600": 360_000, "1650": -30_000},
    "non_current_liabilities": {"2500": 450_000},
    "share_capital": {"3000": 1_000_000},
}
# `earlier` and `current` are the computed lines of retained earnings.
BALANCE_SHEET: Final[Reports] = {
    ("accrual", FIRST[1], True): (
        {
            **UNMOVED,
            "current_assets": {"1100": 1_268_000, "1200": 338_000, "1260": 12_000, "1300": 74_000},
            "current_liabilities": {"2000": 120_000, "2200": 148_000, "2450": 15_000},
            "retained_earnings": {"current": 289_000},
        },
        totals(2_022_000, 330_000, 1_692_000, 733_000, 283_000, 450_000, 1_289_000, 1_289_000),
    ),
    ("cash", FIRST[1], True): (
        {
            **UNMOVED,
            "current_assets": {"1100": 1_268_000, "1300": 56_000},
            "current_liabilities": {"2200": 95_882, "2450": 15_000},
            "retained_earnings": {"current": 93_118},
        },
        totals(1_654_000, 330_000, 1_324_000, 560_882, 110_882, 450_000, 1_093_118, 1_093_118),
    ),
    ("accrual", SECOND[1], False): (
        {
            **UNMOVED,
            "current_assets": {
                "1000": 162_000,
                "1100": 1_408_500,
                "1160": 5_000,
                "1200": 192_000,
                "1300": 56_000,
                "1400": 12_000,
            },
            "current_liabilities": {"2000": 72_000, "2200": 141_000, "2450": 15_000},
            "retained_earnings": {"earlier": 289_000, "current": 198_500},
        },
        totals(2_165_500, 330_000, 1_835_500, 678_000, 228_000, 450_000, 1_487_500, 1_487_500),
    ),
    ("cash", SECOND[1], False): (
        {
            **UNMOVED,
            "current_assets": {
                "1000": 162_000,
                "1100": 1_408_500,
                "1160": 5_000,
                "1300": 44_000,
                "1400": 12_000,
            },
            "current_liabilities": {"2200": 110_255, "2450": 15_000},
            "retained_earnings": {"earlier": 93_118, "current": 293_127},
        },
        totals(1_961_500, 330_000, 1_631_500, 575_255, 125_255, 450_000, 1_386_245, 1_386_245),
    ),
    ("accrual", SECOND[1], True): (
        {
            **UNMOVED,
            "current_assets": {
                "1000": 162_000,
                "1100": 1_548_500,
                "1160": 5_000,
                "1200": 58_000,
                "1300": 58_000,
                "1400": 12_000,
            },
            "current_liabilities": {"2000": 84_000, "2200": 142_000, "2400": 9_000, "2450": 15_000},
            "retained_earnings": {"earlier": 289_000, "current": 184_500},
        },
        totals(2_173_500, 330_000, 1_843_500, 700_000, 250_000, 450_000, 1_473_500, 1_473_500),
    ),
    ("cash", SECOND[1], True): (
        {
            **UNMOVED,
            "current_assets": {
                "1000": 162_000,
                "1100": 1_548_500,
                "1160": 5_000,
                "1300": 44_000,
                "1400": 12_000,
            },
            "current_liabilities": {"2200": 133_588, "2400": 9_000, "2450": 15_000},
            "retained_earnings": {"earlier": 93_118, "current": 400_794},
        },
        totals(2_101_500, 330_000, 1_771_500, 607_588, 157_588, 450_000, 1_493_912, 1_493_912),
    ),
}

CASH_FLOW: Final[Reports] = {
    ("accrual", FIRST[1], True): (
        {
            "non_cash_adjustments": {"1650": 30_000},
            "working_capital_changes": {
                "1200": -338_000,
                "1260": -12_000,
                "1300": -74_000,
                "2000": 120_000,
                "2200": 148_000,
                "2450": 15_000,
            },
            "investing_activities": {"1600": -360_000},
            "financing_activities": {"2500": 450_000, "3000": 1_000_000},
        },
        flows(289_000, 178_000, 0, 1_268_000),
    ),
    ("cash", FIRST[1], True): (
        {
            "non_cash_adjustments": {"1650": 30_000},
            "working_capital_changes": {"1300": -56_000, "2200": 95_882, "2450": 15_000},
            "investing_activities": {"1600": -360_000},
            "financing_activities": {"2500": 450_000, "3000": 1_000_000},
        },
        flows(93_118, 178_000, 0, 1_268_000),
    ),
    ("accrual", SECOND[1], False): (
        {
            "working_capital_changes": {
                "1160": -5_000,
                "1200": 146_000,
                "1260": 12_000,
                "1300": 18_000,
                "1400": -12_000,
                "2000": -48_000,
                "2200": -7_000,
            },
        },
        flows(198_500, 302_500, 1_268_000, 1_570_500),
    ),
    ("cash", SECOND[1], False): (
        {
            "working_capital_changes": {
                "1160": -5_000,
                "1300": 12_000,
                "1400": -12_000,
                "2200": 14_373,
            },
        },
        flows(293_127, 302_500, 1_268_000, 1_570_500),
    ),
    ("accrual", SECOND[1], True): (
        {
            "working_capital_changes": {
                "1160": -5_000,
                "1200": 280_000,
                "1260": 12_000,
                "1300": 16_000,
                "1400": -12_000,
                "2000": -36_000,
                "2200": -6_000,
                "2400": 9_000,
            },
        },
        flows(184_500, 442_500, 1_268_000, 1_710_500),
    ),
    ("cash", SECOND[1], True): (
        {
            "working_capital_changes": {
                "1160": -5_000,
                "1300": 12_000,
                "1400": -12_000,
                "2200": 37_706,
                "2400": 9_000,
            },
        },
        flows(400_794, 442_500, 1_268_000, 1_710_500),
    ),
}

# Quarters with movements: first day, revenue, expenses and profit.
QUARTERS: Final[dict[str, list[tuple[str, int, int, int]]]] = {
    "accrual": [
        ("2025-01-01", 450_000, 110_000, 340_000),
        ("2025-04-01", 130_000, 282_000, -152_000),
        ("2025-07-01", 180_000, 79_000, 101_000),
        ("2025-10-01", 140_000, 79_000, 61_000),
        ("2026-01-01", 130_700, 7_200, 123_500),
    ],
    "cash": [
        ("2025-01-01", 352_941, 110_000, 242_941),
        ("2025-04-01", 101_177, 182_000, -80_823),
        ("2025-07-01", -30_000, 39_000, -69_000),
        ("2025-10-01", 218_333, 99_000, 119_333),
        ("2026-01-01", 282_661, 1_200, 281_461),
    ],
}

# Outstanding amounts on a day, by party and bucket, as known after the corrections.
RECEIVABLE: Final[dict[str, dict[str, dict[str, int]]]] = {
    "2025-09-30": {
        "Blue Door": {"current": 240_000},
        "Crown Inn": {"over_90_days": 86_000},
        "Fox Deli": {"current": 12_000},
    },
    "2025-12-31": {
        "Blue Door": {"days_61_90": 140_000},
        "Crown Inn": {"over_90_days": 86_000},
        "Fox Deli": {"days_61_90": 18_000},
    },
    "2026-02-28": {
        "Crown Inn": {"over_90_days": 40_000},
        "Fox Deli": {"over_90_days": 18_000},
    },
}
PAYABLE: Final[dict[str, dict[str, dict[str, int]]]] = {
    "2025-09-30": {"Raw Coffee": {"over_90_days": 120_000}},
    "2025-12-31": {"Quay Estates": {"current": 84_000}},
    "2026-02-28": {"Quay Estates": {"days_1_30": 84_000}},
}

# The sections of the second year by tag, after the corrections.
TAGGED: Final[dict[tuple[str, str], Sections]] = {
    ("accrual", "van"): {"operating_expenses": {"6000": 70_000}},
    ("cash", "van"): {},
    ("accrual", "north"): {"revenue": {"4000": 80_000}},
    ("cash", "north"): {"revenue": {"4000": 80_000}},
}

# Net and tax of all fourteen months by code, and the nine boxes of the British VAT return. Relieved
# tax of write-offs is in box 4 on accrual; nets in boxes are in whole pounds.
VAT: Final[dict[tuple[str, bool], tuple[dict[str, dict[str, int]], dict[str, int]]]] = {
    ("accrual", True): (
        {
            "S20": {"net": 980_000, "output": 196_000, "relief_net": 50_000, "relief": 10_000},
            "S0": {"net": 50_000},
            "P20": {"net": 360_000, "input": 72_000},
            "PA20": {"net": 80_000, "output": 16_000, "input": 16_000},
        },
        {"1": 212_000, "3": 212_000, "4": 98_000, "5": 114_000, "6": 1_110_000, "7": 440_000},
    ),
    # Before the corrections 50.00 of September's invoice and 100.00 of December's bill are missing.
    ("accrual", False): (
        {
            "S20": {"net": 975_000, "output": 195_000, "relief_net": 50_000, "relief": 10_000},
            "S0": {"net": 50_000},
            "P20": {"net": 350_000, "input": 70_000},
            "PA20": {"net": 80_000, "output": 16_000, "input": 16_000},
        },
        {"1": 211_000, "3": 211_000, "4": 96_000, "5": 115_000, "6": 1_105_000, "7": 430_000},
    ),
    ("cash", True): (
        {
            "S20": {"net": 887_942, "output": 177_588},
            "S0": {"net": 36_470},
            "P20": {"net": 290_000, "input": 58_000},
            "PA20": {"net": 80_000, "output": 16_000, "input": 16_000},
        },
        {"1": 193_588, "3": 193_588, "4": 74_000, "5": 119_588, "6": 1_004_400, "7": 370_000},
    ),
    # Before Blue Door's payment of 25 February.
    ("cash", False): (
        {
            "S20": {"net": 771_275, "output": 154_255},
            "S0": {"net": 36_470},
            "P20": {"net": 290_000, "input": 58_000},
            "PA20": {"net": 80_000, "output": 16_000, "input": 16_000},
        },
        {"1": 170_255, "3": 170_255, "4": 74_000, "5": 96_255, "6": 887_700, "7": 370_000},
    ),
}
