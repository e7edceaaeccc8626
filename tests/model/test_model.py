"""Six runs of the machine, the same each time; `make model` makes thousands, at random."""

import os

import hypothesis
import pytest

from tests.api_server import ApiServer
from tests.model.caller import Counts
from tests.model.machine import TradingMachine
from tests.model.play import Divergence, Site
from tests.model.profiles import run, settings
from tests.model.sides import PURCHASES, SALES, Side
from tests.partner import Partner

STEPS = 50
RUNS = int(os.environ.get("MODEL_RUNS", "6"))
SEED = int(os.environ.get("MODEL_SEED", "1"))


class TestTrading:
    @pytest.mark.slow
    @pytest.mark.parametrize("side", [SALES, PURCHASES], ids=lambda side: side.name)
    def test_server_and_model_agree(self, api_server: ApiServer, acme: Partner, side: Side) -> None:
        counts = Counts()
        site = Site(acme, counts, api_server.prover.faults_of, side)
        machine = hypothesis.seed(SEED)(lambda: TradingMachine(site))
        try:
            run(machine, settings(RUNS, STEPS))
        except Divergence as divergence:
            divergence.add_note(f"It is found again with MODEL_SEED={SEED}.")
            raise
        assert counts.runs >= RUNS
        assert set(counts.lengths) == {STEPS}, "A run ended before its last step."
        assert not counts.reached["run broken off"]
