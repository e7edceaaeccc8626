"""The published files of the European Central Bank, and files that are none."""

import io
import zipfile
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libraries import rate_files
from libraries.rate_files import DayRates, Unreadable

OURS = ("EUR", "GBP", "USD", "SEK", "NOK", "DKK", "ISK", "MYR", "SGD")
DAILY_CSV = b"""Date, USD, JPY, DKK, GBP, SEK, ISK, NOK, MYR, SGD, \r
30 October 2026, 1.1172, 175.68, 7.4735, 0.83380, 10.9780, 136.00, 10.3120, 4.5325, 1.4282, \r
"""
HISTORY_CSV = b"""Date,USD,JPY,BGN,CYP,DKK,GBP,SEK,ISK,NOK,MYR,SGD,ZAR,
2026-10-30,1.1172,175.68,N/A,N/A,7.4735,0.8338,10.978,136,10.312,4.5325,1.4282,18.6455,
2026-10-29,1.113,175.92,N/A,N/A,7.4736,0.83578,10.9995,135.8,10.3315,4.5,1.43,18.6,
2017-01-02,1.0465,122.92,1.9558,N/A,7.4342,0.85345,9.5525,N/A,9.068,4.6948,1.5151,14.33,
1999-01-04,1.1789,133.73,N/A,0.58231,7.4501,0.7111,9.4696,81.48,8.855,N/A,1.9554,6.9358,
"""
CUBES = b"""<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"
 xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>%b</Cube>
</gesmes:Envelope>"""
DAILY_XML = (
    CUBES
    % b"""
\t\t<Cube time='2026-10-30'>
\t\t\t<Cube currency='USD' rate='1.1172'/>
\t\t\t<Cube currency='JPY' rate='175.68'/>
\t\t\t<Cube currency='ISK' rate='136.00'/>
\t\t</Cube>
\t"""
)
HISTORY_XML = (
    CUBES
    % b"""<Cube time="2026-10-30"><Cube currency="USD" rate="1.1172"/><Cube currency="SEK" \
rate="10.978"/></Cube><Cube time="2026-10-29"><Cube currency="USD" rate="1.113"/></Cube>"""
)


def zipped(*files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(files):
            archive.writestr(f"eurofxref{number or ''}.csv", content)
    return target.getvalue()


def read(content: bytes, currencies: Iterable[str] = OURS) -> dict[str, dict[str, str]]:
    return {
        str(each.day): {currency: str(rate) for currency, rate in each.rates.items()}
        for each in rate_files.read(content, [*currencies])
    }


class TestPublishedFiles:
    @pytest.mark.parametrize("content", [DAILY_CSV, zipped(DAILY_CSV)])
    def test_the_csv_of_a_day(self, content: bytes) -> None:
        rates = {
            "USD": "1.1172",
            "DKK": "7.4735",
            "GBP": "0.83380",
            "SEK": "10.9780",
            "ISK": "136.00",
            "NOK": "10.3120",
            "MYR": "4.5325",
            "SGD": "1.4282",
        }
        assert read(content) == {"2026-10-30": rates}

    @pytest.mark.parametrize("content", [HISTORY_CSV, zipped(HISTORY_CSV)])
    def test_the_csv_of_all_days_oldest_first(self, content: bytes) -> None:
        found = read(content)
        assert [*found] == ["1999-01-04", "2017-01-02", "2026-10-29", "2026-10-30"]
        assert found["2026-10-30"]["ISK"] == "136"
        assert "ISK" not in found["2017-01-02"]
        assert "MYR" not in found["1999-01-04"]
        assert {"JPY", "CYP", "BGN"}.isdisjoint(found["1999-01-04"])

    def test_the_xml_of_a_day(self) -> None:
        assert read(DAILY_XML) == {"2026-10-30": {"USD": "1.1172", "ISK": "136.00"}}
        assert read(zipped(DAILY_XML)) == read(DAILY_XML)

    def test_the_xml_of_many_days(self) -> None:
        assert rate_files.read(HISTORY_XML, OURS) == [
            DayRates(date(2026, 10, 29), {"USD": Decimal("1.113")}),
            DayRates(date(2026, 10, 30), {"USD": Decimal("1.1172"), "SEK": Decimal("10.978")}),
        ]

    def test_a_byte_order_mark_is_no_part_of_it(self) -> None:
        for content in (DAILY_CSV, DAILY_XML):
            assert read(b"\xef\xbb\xbf" + content) == read(content)

    def test_days_without_a_wanted_currency_are_left_out(self) -> None:
        assert [*read(HISTORY_CSV, ["MYR"])] == ["2017-01-02", "2026-10-29", "2026-10-30"]


BOMB = zipped(b"0" * (rate_files.MOST_BYTES + 1))
ENTITIES = b"""<!DOCTYPE a [<!ENTITY x "1"><!ENTITY y SYSTEM "file:///etc/passwd">]>
<Cube><Cube time='2026-10-30'><Cube currency='USD' rate='&x;'/></Cube></Cube>"""


class TestUnreadable:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "is neither CSV nor XML"),
            (b"\xff\xfe", "is neither CSV nor XML"),
            (b"%PDF-1.7", "is neither CSV nor XML"),
            (b"<html><p>Not found</html>", "is not well-formed XML"),
            (b"<html/>", "has no exchange rates"),
            (CUBES % b"", "has no exchange rates"),
            (b"Date,USD,\n", "has no exchange rates"),
            (b"Date,JPY,\n2026-10-30,175.68,\n", "has no exchange rates"),
            (b"Date,USD,\n2026-10-30,N/A,\n", "has no exchange rates"),
            (b"Date,USD,USD,\n2026-10-30,1,1,\n", "has a currency in two columns"),
            (b"Date,USD,\n2026-10-30,1.1,\n2026-10-30,1.2,\n", "has two lists of rates for 2026"),
            (b"Date,USD,\n2026-10-30,1.1,0.8,\n", "has 2 rates for 1 currencies on 2026-10-30"),
            (b"Date,USD,\n2026-02-30,1.1,\n", "has no day, but '2026-02-30'"),
            (b"Date,USD,\n30 Oktober 2026,1.1,\n", "has no day, but '30 Oktober 2026'"),
            (b"Date,USD,\n20261030,1.1,\n", "has no day, but '20261030'"),
            *(
                (f"Date,USD,\n2026-10-30,{rate},\n".encode(), "has no rate of USD on 2026-10-30")
                for rate in ("0", "0.000", "-1.1", "1e3", "NaN", "inf", "1.1172x", "9" * 40)
            ),
            (DAILY_XML.replace(b"1.1172", b"0"), "has no rate of USD on 2026-10-30"),
            (DAILY_XML.replace(b"2026-10-30", b"today"), "has no day, but 'today'"),
            (DAILY_XML.replace(b"ISK", b"USD"), "has two rates of USD on 2026-10-30"),
            (CUBES % b"<Cube currency='USD' rate='1'/>", "has a rate without a day"),
            (CUBES % (b"<a>" * 20 + b"</a>" * 20), "has elements that are nested too deeply"),
            (ENTITIES, "has a document type declaration, which is not allowed"),
            (DAILY_XML[:-30], "is not well-formed XML"),
            (zipped(), "is neither CSV nor XML"),
            (zipped(DAILY_CSV, DAILY_CSV), "is a zip with 2 files in place of one"),
            (zipped(DAILY_CSV)[:-30], "is a damaged zip"),
            (zipped(zipped(DAILY_CSV)), "is neither CSV nor XML"),
            (BOMB, f"is a zip with more than {rate_files.MOST_BYTES} bytes"),
            (b"0" * (rate_files.MOST_BYTES + 1), f"has more than {rate_files.MOST_BYTES} bytes"),
        ],
    )
    def test_is_refused_whole_with_the_reason(self, content: bytes, why: str) -> None:
        with pytest.raises(Unreadable) as refused:
            rate_files.read(content, OURS)
        assert str(refused.value).startswith(why)

    def test_a_small_zip_that_would_fill_the_memory_is_small(self) -> None:
        assert len(BOMB) < 100_000

    @settings(max_examples=200, deadline=None)
    @given(
        st.sampled_from([DAILY_CSV, HISTORY_CSV, DAILY_XML, zipped(DAILY_CSV)]),
        st.data(),
    )
    def test_damage_is_refused_or_read_and_never_a_fault(
        self, content: bytes, data: st.DataObject
    ) -> None:
        at = data.draw(st.integers(0, len(content)))
        damaged = content[:at] + data.draw(st.binary(max_size=8)) + content[at + 4 :]
        try:
            found = rate_files.read(damaged, OURS)
        except Unreadable:
            return
        assert all(rate > 0 for each in found for rate in each.rates.values())
