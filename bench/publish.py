"""`python -m bench.publish FOLDER`: makes of a run what the documents say of it.

Its files go to bench/; RESULTS.md there, its pictures and the README's table are written from them.
"""

import argparse
import re
import sys
from pathlib import Path

from bench import growth, table
from bench.results import Run, load

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results.json"
GROWTH = ROOT / "bench" / "growth.json"
PAGE = ROOT / "bench" / "RESULTS.md"
PICTURES = ROOT / "bench" / "pictures"
README = ROOT / "README.md"
MARKED = re.compile(r"(<!-- bench: [^\n]* -->\n)(.*?)(<!-- /bench -->)", re.DOTALL)


def page(run: Run, grown: Run | None) -> str:
    """Write bench/RESULTS.md."""
    cases = dict.fromkeys((each.case, each.tenants, each.title) for each in run.results)
    pictures = "\n".join(
        f"![{title}, {tenants} businesses](pictures/{case}-{tenants}.svg)"
        for case, tenants, title in cases
    )
    parts = [
        "# What was measured",
        "Written by `python -m bench.publish` from `results.json` and `growth.json`, where every"
        " round is.",
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


def written(readme: str, run: Run | None) -> str:
    """Write a run's short table between the marks of the README; nothing where there is none."""
    told = "" if run is None else f"\n{table.short(run)}\n\n{table.circumstances(run)}\n\n"
    return MARKED.sub(lambda found: found[1] + told + found[3], readme)


def main() -> int:
    """Publish a file."""
    options = argparse.ArgumentParser(prog="python -m bench.publish", description=__doc__)
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    from bench import plot

    for file in (RESULTS, GROWTH):
        if (folder / file.name).exists():
            load(folder / file.name).save(file)
    run = load(RESULTS)
    PAGE.write_text(page(run, load(GROWTH) if GROWTH.exists() else None), encoding="utf-8")
    plot.draw(run, PICTURES)
    readme = README.read_text(encoding="utf-8")
    README.write_text(written(readme, run), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
