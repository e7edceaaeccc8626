"""pgbench with the peers' statements and no server: one by one, or combined into one."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.bench.cases import CREATE, LIST, PAY, READ, REPORT, Case, Crowd
from tools.bench.generator import Load
from tools.bench.peers import statements as sql
from tools.bench.peers.fill import PARTNER, SPACING

_LINES = {
    "descriptions": "ARRAY['Espresso beans, 1 kg', 'Oat milk, case']",
    "quantities": "ARRAY[3, 2]",
    "prices": "ARRAY[1850, 1420]",
    "rates": "ARRAY[20, 20]",
    "nets": "ARRAY[5550, 2840]",
    "taxes": "ARRAY[1110, 568]",
    "net": "8390",
    "tax": "1678",
    "sent_at": "'2025-03-03T09:00:00Z'",
}
_INVOICED = {
    **_LINES,
    "codes": f"ARRAY['{sql.RECEIVABLE}', '{sql.SALES}', '{sql.TAX}']",
    "debits": "ARRAY[10068, 0, 0]",
    "credits": "ARRAY[0, 8390, 1678]",
    "entry_date": "'2025-03-03'",
    "source_id": ":invoice_id::uuid",
}
_PAID = {
    "codes": f"ARRAY['{sql.BANK}', '{sql.RECEIVABLE}']",
    "amount": "100",
    "debits": "ARRAY[100, 0]",
    "credits": "ARRAY[0, 100]",
    "entry_date": "'2026-01-15'",
    "source_id": ":payment_id::uuid",
}
_NEW_IDS = "SELECT gen_random_uuid() AS {0}_id, gen_random_uuid() AS entry_id \\gset\n"
_FOUND = ["archived_at", "company_name", "accounts", "invoice_number", "entry_number"]


def script(
    case: Case, tenants: range, customers: int, invoices: int, *, as_one: bool = False
) -> str:
    """Return the pgbench script of a case; `tenants` are the businesses, all of the same size."""
    told = {
        "business_id": _id(f":business * {SPACING}"),
        "partner_id": f"'{PARTNER}'::uuid",
        "customer_id": _id(f":business * {SPACING} + :customer"),
        "invoice_id": _id(f":business * {SPACING} + :invoice"),
        **dict.fromkeys(("entry_id", "payment_id"), ""),
        **{name: f":{name}" for name in _FOUND},
    }
    told |= {name: f":{name}::uuid" for name in ("entry_id", "payment_id")}
    chosen = [
        f"\\set business random({tenants.start}, {tenants.stop - 1})",
        f"\\set customer random(1, {customers})",
    ]
    if case == PAY:  # As in tools/bench/peers/fill.py, an invoice's place gives its customer.
        chosen[1:] = [
            f"\\set invoice random(1, {invoices})",
            f"\\set customer :invoice % {customers} + 1",
        ]
    head = "\n".join(chosen) + "\n"
    if case == CREATE:
        own = told | _INVOICED
        return head + (_all([sql.CREATE], own) if as_one else _create(own))
    if case == PAY:
        own = told | _PAID
        return head + (_all([sql.PAY], own) if as_one else _pay(own))
    texts = {READ: [sql.READ], LIST: [sql.LIST, sql.COUNT], REPORT: [sql.REPORT]}[case]
    return head + _all(texts, told)


def _create(told: Mapping[str, str]) -> str:
    told = {**told, "invoice_id": ":invoice_id::uuid"}
    looked = _all([*sql.CREATE_CHECKS, *sql.CREATE_NUMBERS], told, keep=True)
    rows = _all(sql.CREATE_ROWS, told)
    return _NEW_IDS.format("invoice") + f"BEGIN;\n{looked}{rows}COMMIT;\n"


def _pay(told: Mapping[str, str]) -> str:
    looked = _all([*sql.PAY_CHECKS, *sql.PAY_NUMBERS], told, keep=True)
    rows = _all(sql.PAY_ROWS, told)
    return _NEW_IDS.format("payment") + f"BEGIN;\n{looked}{rows}COMMIT;\n"


def _all(texts: Sequence[str], told: Mapping[str, str], *, keep: bool = False) -> str:
    """Return statements for pgbench; with `keep`, their results become variables."""
    end = " \\gset\n" if keep else ";\n"
    return "".join(_filled(text, told).strip() + end for text in texts)


def _filled(text: str, told: Mapping[str, str]) -> str:
    return re.sub(r"%\((\w+)\)s", lambda found: told[found[1]], text)


def _id(number: str) -> str:
    return f"lpad(to_hex(({number})::bigint), 32, '0')::uuid"


def drive(program: Path, url: str, file: Path, crowd: Crowd, seconds: float) -> Load:
    """Run a script for some seconds, which include the time to connect, unlike for a server."""
    log = file.with_suffix(".log")
    words = ["-n", "-Mprepared", f"-c{crowd.clients}", "-j1", f"-T{max(round(seconds), 1)}"]
    done = subprocess.run(
        [program, *words, "-l", f"--log-prefix={log}", "-f", file, url],
        check=True,
        capture_output=True,
        text=True,
    )
    waits = []
    for written in log.parent.glob(f"{log.name}.*"):
        waits += [int(line.split()[2]) / 1e3 for line in written.read_text().splitlines()]
        written.unlink()
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    if rate is None:  # The time ended before all clients were connected.
        return Load(0, seconds, 0.0, 0.0, 0)
    failed = re.search(r"failed transactions: (\d+)", done.stdout)
    assert failed, done.stdout
    waits.sort()
    p50, p99 = (waits[int(len(waits) * part)] for part in (0.5, 0.99))
    return Load(len(waits), len(waits) / float(rate[1]), p50, p99, int(failed[1]))
