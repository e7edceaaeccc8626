"""`python -m tools.bench.publish FOLDER`: publication of a run in the documents.

The result files are copied to tools/bench/. RESULTS.md there and its diagrams are generated from
them.
"""

import argparse
import sys
from pathlib import Path

from tools.bench import growth, table
from tools.bench.results import Run, load

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "tools" / "bench" / "results.json"
GROWTH = ROOT / "tools" / "bench" / "growth.json"
PAGE = ROOT / "tools" / "bench" / "RESULTS.md"
PICTURES = ROOT / "tools" / "bench" / "pictures"


def page(run: Run, grown: Run | None) -> str:
    """Return the text of tools/bench/RESULTS.md."""
    cases = dict.fromkeys((each.case, each.tenants, each.title) for each in run.results)
    pictures = "\n".join(
        f"![{title}, {tenants} businesses](pictures/{case}-{tenants}.svg)"
        for case, tenants, title in cases
    )
    parts = [
        "# What was measured",
        "Written by `python -m tools.bench.publish` from `results.json` and `growth.json`, which"
        " hold every round.",
        table.circumstances(run),
        table.short(run),
        "## Every case",
        table.whole(run),
        pictures,
    ]
    if grown:
        parts += ["## What grows with the books", growth.told(grown)]
        parts += [table.grown(grown, growth.PAIRS), table.circumstances(grown)]
    return "\n\n".join(parts) + "\n"


def published() -> str:
    """Return the text of tools/bench/RESULTS.md for the published files."""
    return page(load(RESULTS), load(GROWTH) if GROWTH.exists() else None)


def main() -> int:
    """Publish the files of a folder."""
    options = argparse.ArgumentParser(prog="python -m tools.bench.publish", description=__doc__)
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    from tools.bench import plot

    for file in (RESULTS, GROWTH):
        if (folder / file.name).exists():
            load(folder / file.name).save(file)
    PAGE.write_text(published(), encoding="utf-8")
    plot.draw(load(RESULTS), PICTURES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
