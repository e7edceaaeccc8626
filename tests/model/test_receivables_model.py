"""A few dozen runs of the machine; `make model` makes thousands."""

import os
import secrets

import hypothesis
from hypothesis.stateful import run_state_machine_as_test

from tests.house import House
from tests.model.caller import Counts
from tests.model.play import Site
from tests.model.profiles import settings
from tests.model.proving import Prover
from tests.model.receivables import Receivables
from tests.partnership import Partnership


class TestReceivables:
    def test_the_server_and_the_model_agree(self, house: House, acme: Partnership) -> None:
        seed = int(os.environ.get("MODEL_SEED") or secrets.randbelow(2**32))
        runs = int(os.environ.get("MODEL_RUNS", "40"))
        counts = Counts()
        with Prover(house.database_url, acme) as prover:
            site = Site(acme, counts, prover.faults_of)
            machine = hypothesis.seed(seed)(lambda: Receivables(site))
            run_state_machine_as_test(machine, settings=settings(runs, steps=50))
        assert counts.runs >= runs, f"with MODEL_SEED={seed}"
