"""Markdown tables of a run, for the documents."""

from collections.abc import Callable, Sequence

from tools.bench.peers.run import PGBENCH, PGBENCH_ONE
from tools.bench.results import Result, Run
from tools.bench.stage import BEFORE, OURS

LABELS = {
    OURS: "**ours**",
    BEFORE: "ours before",
    "bare": "bare ASGI",
    "raw": "Starlette, SQL by hand",
    "fastapi": "FastAPI, async ORM",
    "connexion": "Connexion, async ORM",
    "drf": "Django REST framework",
    PGBENCH: "pgbench",
    PGBENCH_ONE: "pgbench, one statement",
}
SHORT = {
    OURS: "ours",
    BEFORE: "before",
    "bare": "bare ASGI",
    "raw": "SQL by hand",
    "fastapi": "FastAPI",
    "connexion": "Connexion",
    "drf": "Django",
    PGBENCH: "pgbench",
    PGBENCH_ONE: "as one",
}
Step = tuple[str, int, int]


def short(run: Run) -> str:
    """Return tables with a row per case at its middle crowd: rates, processor times, ratios."""
    steps = _middle_steps(run)
    names = [name for name in SHORT if name in run.targets()]
    parts = []
    for what, show in (
        ("operations a second", _rate),
        ("processor ms, server + PostgreSQL", _cost),
    ):
        rows = [
            [_titled(run, step), *(_cell(run.find(step, name), show) for name in names)]
            for step in steps
        ]
        parts.append(_table([what, *(SHORT[name] for name in names)], rows))
    memory = ", ".join(f"{SHORT[name]} {run.memory_mb[name]:.0f}" for name in run.memory_mb)
    told = [f"Memory after the load, MB: {memory}."] if memory else []
    return "\n\n".join([*parts, _ratios(run, steps), *told])


def _ratios(run: Run, steps: Sequence[Step]) -> str:
    """Return the ratios of this server to FastAPI, to SQL by hand and to a larger crowd."""
    largest = max(clients for _, clients, _ in run.steps())
    rows = []
    for step in steps:
        case, _, tenants = step
        ours, crowded = run.find(step, OURS), run.find((case, largest, tenants), OURS)
        rate = _times(ours, run.find(step, "fastapi"), "rate")
        cost = _times(ours, run.find(step, "raw"), "cpu_ms")
        rows.append([_titled(run, step), rate, cost, _times(crowded, ours, "rate")])
    head = ["ours is so many times", "FastAPI's rate", "processor time of SQL by hand"]
    return _table([*head, f"its own rate, once {largest} clients ask"], rows)


def whole(run: Run) -> str:
    """Return a table for each step, with every target and every figure."""
    head = ["server", "rate", "of ours", "p50 ms", "p99 ms", "server ms", "PostgreSQL ms", "errors"]
    parts = []
    for step in run.steps():
        ours = run.find(step, OURS)
        found = [each for each in run.results if each.step == step]
        rows = [_row(each, ours) for each in found]
        parts.append(f"### {_titled(run, step, clients=True)}\n\n{_table(head, rows)}")
    return "\n\n".join(parts)


def grown(run: Run, pairs: Sequence[tuple[str, str]]) -> str:
    """Return a table for each pair of a small target and a large one, side by side."""
    head = ["", "p50 ms", "p50 ms", "times", "processor ms", "processor ms", "times"]
    parts = []
    for small, large in pairs:
        found = [(run.find(step, small), run.find(step, large)) for step in run.steps()]
        rows = [_pair(each, other) for each, other in found if each and other]
        parts.append(f"### {large}, beside {small}\n\n{_table(head, rows)}")
    return "\n\n".join(parts)


def _pair(small: Result, large: Result) -> list[str]:
    row = [small.title]
    for name in ("p50_ms", "cpu_ms"):
        figures = [f"{each.middle(name):.2f}" for each in (small, large)]
        row += [*figures, _times(large, small, name)]
    return row


def circumstances(run: Run) -> str:
    """Return a paragraph on the date, the machine, the settings and the versions of a run."""
    machine, settings = run.machine, run.settings
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    return (
        f"Measured {run.measured_at[:10]} at {run.commit}: {machine['processor']},"
        f" {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']};"
        f" {settings['rounds']} rounds of {settings['seconds']} s, the medians, and of times"
        " the median of the rounds' own."
        f" {settings['postgres']}. {versions}."
    )


def _row(result: Result, ours: Result | None) -> list[str]:
    return [
        LABELS.get(result.target, result.target),
        _number(result.middle("rate")),
        _times(result, ours, "rate"),
        *(f"{result.middle(name):.2f}" for name in ("p50_ms", "p99_ms", "server_ms")),
        f"{result.middle('postgres_ms'):.2f}",
        str(result.errors),
    ]


def _middle_steps(run: Run) -> list[Step]:
    """Return the step with the middle crowd of every case and spread; of two, the smaller one."""
    kinds: dict[tuple[str, int], list[Step]] = {}
    for step in run.steps():
        kinds.setdefault((step[0], step[2]), []).append(step)
    return [sorted(steps)[(len(steps) - 1) // 2] for steps in kinds.values()]


def _titled(run: Run, step: Step, *, clients: bool = False) -> str:
    title = next(each.title for each in run.results if each.step == step)
    _, many, tenants = step
    title += f", {tenants} businesses" if tenants > 1 else ""
    return f"{title}; clients: {many}" if clients else title


def _cell(result: Result | None, show: Callable[[Result], str]) -> str:
    return "" if result is None else show(result)


def _rate(result: Result) -> str:
    return _number(result.middle("rate"))


def _cost(result: Result) -> str:
    if not result.middle("server_ms"):
        return f"{result.middle('postgres_ms'):.2f}"
    return f"{result.middle('server_ms'):.2f} + {result.middle('postgres_ms'):.2f}"


def _times(result: Result | None, other: Result | None, name: str) -> str:
    """Return the ratio of two results as text; "" if one of them has no figure."""
    ratio = result.times(other, name) if result and other else None
    return "" if ratio is None else f"{ratio:.2f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] + ["--:"] * (len(head) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
