"""Diagrams of each case: rates and latencies of every target by number of clients."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "bench"  # The same figures give the same file.
mpl.rcParams["svg.fonttype"] = "none"

from matplotlib import pyplot  # noqa: E402 - The backend must be set first.

from tools.bench.results import Run  # noqa: E402
from tools.bench.table import LABELS  # noqa: E402


def draw(run: Run, folder: Path) -> list[Path]:
    """Draw every case of a run into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = dict.fromkeys((each.case, each.tenants, each.title) for each in run.results)
    return [_draw(run, *kind, folder) for kind in kinds]


def _draw(run: Run, case: str, tenants: int, title: str, folder: Path) -> Path:
    figure, (rates, waits) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    found = [each for each in run.results if (each.case, each.tenants) == (case, tenants)]
    clients = sorted({each.clients for each in found})
    names = list(dict.fromkeys(each.target for each in found))
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        mine = {each.clients: each for each in found if each.target == name}
        at = [number + (place - len(names) / 2 + 0.5) * width for number in range(len(clients))]
        label = LABELS.get(name, name).strip("*")
        for axes, figures in ((rates, ("rate",)), (waits, ("p50_ms", "p99_ms"))):
            for shade, figure_name in zip((1, 0.45), figures, strict=False):
                heights = [mine[many].middle(figure_name) for many in clients]
                order = 2 if shade == 1 else 1  # The shorter bar is in front of the longer.
                axes.bar(
                    at, heights, width, label=label, alpha=shade, color=f"C{place}", zorder=order
                )
                label = ""
    spread = f", {tenants} businesses" if tenants > 1 else ""
    figure.suptitle(title + spread)
    _dress(rates, clients, "operations a second")
    _dress(waits, clients, "ms: p50, and p99 behind it")
    figure.legend(*rates.get_legend_handles_labels(), loc="outside right upper")
    file = folder / f"{case}-{tenants}.svg"
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
    return file


def _dress(axes: Any, clients: list[int], what: str) -> None:
    axes.set_yscale("log")
    axes.set_ylabel(what)
    axes.set_xlabel("clients")
    axes.set_xticks(range(len(clients)), [str(each) for each in clients])
    axes.grid(axis="y", alpha=0.3)
