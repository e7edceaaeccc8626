"""How hypothesis plays the machine."""

from collections.abc import Callable
from typing import cast

from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import settings as Settings  # noqa: N812 - a type.
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

ENDING_EARLY = 2**-16


class Dealer(HypothesisProvider):
    """Deals each run at random, from the seed and from nothing that was played before.

    Left to itself hypothesis also mixes earlier runs and allows the mixture no more draws than it
    began with. Here a draw asks for what the books hold by then, so such a run often needs more and
    is broken off in the middle: with fifty steps it was one run in six.
    """

    def draw_boolean(self, p: float = 0.5) -> bool:
        """Let no run end early, as hypothesis does now and then to see what it needs to end."""
        return p > ENDING_EARLY and super().draw_boolean(p)


AVAILABLE_PROVIDERS["dealer"] = Dealer


def run(machine: Callable[[], RuleBasedStateMachine], played: Settings) -> None:
    """Play; hypothesis calls for a class and means whatever makes a machine."""
    run_state_machine_as_test(cast(type[RuleBasedStateMachine], machine), settings=played)


def settings(runs: int, steps: int, *, shrink: bool = True) -> Settings:
    """So many runs of so many steps; a failing one is made as short as it can be."""
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
