"""A run is worse if ours lost a tenth against FastAPI, whatever the speed of the machine."""

from pathlib import Path

from tools.bench.compare import compare
from tools.bench.results import Result, Round, Run, load
from tools.bench.table import grown, short, whole


def run(*, ours: float, fastapi: float, cpu_ms: float = 1.0) -> Run:
    rounds = {
        "accounting": Round(ours, 1.0, 2.0, cpu_ms / 2, cpu_ms / 2, 0),
        "fastapi": Round(fastapi, 1.0, 2.0, 3.0, 1.0, 1),
    }
    results = tuple(
        Result("read", "read a customer", 16, 1, name, (each, each))
        for name, each in rounds.items()
    )
    machine = {"processor": "one", "cores": 2, "memory_gb": 4, "system": "Linux"}
    settings = {"rounds": 2, "seconds": 1, "postgres": "durable"}
    return Run("2026-11-23", "abc", machine, {"python": "3.11"}, settings, results, {})


def at_rate(rate: float) -> Round:
    return Round(rate, 1.0, 2.0, 1.0, 1.0, 0)


def worse(before: Run, after: Run) -> list[str]:
    return [change.what for change in compare(before, after) if change.is_worse]


class TestCompare:
    def test_both_slower_alike_is_no_loss(self) -> None:
        assert worse(run(ours=300, fastapi=100), run(ours=150, fastapi=50)) == []

    def test_a_loss_of_nine_in_a_hundred_passes(self) -> None:
        assert worse(run(ours=300, fastapi=100), run(ours=275, fastapi=100)) == []

    def test_a_loss_of_an_eighth_is_told(self) -> None:
        assert worse(run(ours=300, fastapi=100), run(ours=262, fastapi=100)) == ["rate"]

    def test_more_processor_time_is_told(self) -> None:
        before, after = run(ours=300, fastapi=100), run(ours=300, fastapi=100, cpu_ms=1.2)
        assert worse(before, after) == ["processor"]

    def test_steps_of_one_run_alone_are_left_out(self) -> None:
        nothing = Run("", "", {}, {}, {}, ())
        assert list(compare(run(ours=300, fastapi=100), nothing)) == []


class TestResults:
    def test_a_round_is_compared_with_what_the_same_round_gave_another(self) -> None:
        rates = {"ours": (300, 100, 90), "fastapi": (100, 40, 30)}
        ours, fastapi = (
            Result("read", "read a customer", 16, 1, name, tuple(map(at_rate, each)))
            for name, each in rates.items()
        )
        assert ours.times(fastapi, "rate") == 3  # The quotient of the medians is 2.5.

    def test_a_file_gives_back_what_was_saved(self, tmp_path: Path) -> None:
        saved = run(ours=300, fastapi=100)
        saved.save(tmp_path / "new" / "a.json")
        assert load(tmp_path / "new" / "a.json") == saved

    def test_the_short_table_has_rates_and_costs_side_by_side(self) -> None:
        lines = short(run(ours=300, fastapi=100)).splitlines()
        assert lines[2] == "| read a customer | 300 | 100 |"
        assert lines[6] == "| read a customer | 0.50 + 0.50 | 3.00 + 1.00 |"
        assert lines[10] == "| read a customer | 3.00 |  | 1.00 |"

    def test_the_whole_one_has_shares_waits_and_errors(self) -> None:
        told = whole(run(ours=300, fastapi=100))
        assert "| FastAPI, async ORM | 100 | 0.33 | 1.00 | 2.00 | 3.00 | 1.00 | 2 |" in told

    def test_what_grows_stands_beside_what_is_small(self) -> None:
        told = grown(run(ours=300, fastapi=100), [("accounting", "fastapi")])
        assert "| read a customer | 1.00 | 1.00 | 1.00 | 1.00 | 4.00 | 4.00 |" in told
