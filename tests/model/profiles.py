"""How hypothesis plays the machine."""

from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import settings as Settings  # noqa: N812


def settings(runs: int, steps: int, *, shrink: bool = True) -> Settings:
    """So many runs of so many steps; a failing one is made as short as it can be."""
    return Settings(
        max_examples=runs,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
