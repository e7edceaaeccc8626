"""The settings with which hypothesis runs the machine."""

from collections.abc import Callable
from typing import cast

from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import settings as Settings  # noqa: N812 - a type.
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

ENDING_EARLY = 2**-16


class Dealer(HypothesisProvider):
    """A provider that draws each run at random from the seed, independent of earlier runs.

    By default hypothesis also mixes earlier runs, and allows the mixture no more draws than the
    first one had. Here the draws depend on the records in the books, so such a run often needs more
    and is broken off: with fifty steps it was one run in six.
    """

    def draw_boolean(self, p: float = 0.5) -> bool:
        """Return a random boolean, but never end a run early, as hypothesis does now and then."""
        return p > ENDING_EARLY and super().draw_boolean(p)


AVAILABLE_PROVIDERS["dealer"] = Dealer


def run(machine: Callable[[], RuleBasedStateMachine], played: Settings) -> None:
    """Run the machine; hypothesis is typed for a class, but accepts any function that makes one."""
    run_state_machine_as_test(cast(type[RuleBasedStateMachine], machine), settings=played)


def settings(runs: int, steps: int, *, shrink: bool = True) -> Settings:
    """Return settings for a number of runs and steps; a failing run is shortened."""
    return Settings(
        max_examples=runs,
        stateful_step_count=steps,
        backend="dealer",
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
