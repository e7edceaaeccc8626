"""Webhooks of a real server: the process that delivers them is killed, and nothing is lost."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.builders.receivers import Receiver, receiving
from tests.command_line import ACCOUNTING
from tests.jobs.webhooks import endpoint, feed
from tests.partner import PATIENCE_SECONDS, Business, within
from tests.processes.server_process import Server, processes_of

KILLS = 3
GOES_ON_SECONDS = 5.0  # A restart of the process takes most of it.


def delivering(server: Server) -> int:
    """Return the ID of the process that delivers; the log names it."""
    pid: int = server.events("delivering")[-1]["pid"]
    return pid


def all_arrived(receiver: Receiver, shop: Business, after: int) -> bool:
    wanted = {each["id"] for each in feed(shop) if each["sequence"] > after}
    return wanted <= {each.headers["webhook-id"] for each in [*receiver.requests]}


class TestServe:
    def test_a_process_that_is_killed_loses_nothing_and_goes_on(self, lived_in: Path) -> None:
        settings: dict[str, Any] = {"ACCOUNTING_LOG_FORMAT": "json"}
        with receiving() as receiver, Server(lived_in, "--development", **settings) as server:
            assert within(PATIENCE_SECONDS, lambda: bool(server.events("delivering"))), server.log
            partner = server.partner()
            shop = partner.business()
            made = endpoint(partner, receiver.url(), business_ids=[shop.id])
            after = feed(shop)[-1]["sequence"]
            for _ in range(KILLS):
                for _ in range(20):
                    shop.customer()
                killed, began = delivering(server), time.monotonic()
                server.kill(killed)
                seen = len(receiver.requests)
                for _ in range(20):
                    shop.customer()
                assert within(PATIENCE_SECONDS, lambda n=seen: len(receiver.requests) > n)
                took = time.monotonic() - began
                assert took < GOES_ON_SECONDS, took
                assert within(PATIENCE_SECONDS, lambda k=killed: delivering(server) != k)
            assert within(PATIENCE_SECONDS, lambda: all_arrived(receiver, shop, after)), server.log
            for request in receiver.requests[:5]:
                request.verify(made["secret"])
        assert server.events("delivered")  # It ends with the server, by itself.

    def test_it_stops_with_the_server_while_a_receiver_hangs(self, lived_in: Path) -> None:
        with receiving(lambda _: (0, {}, "")) as receiver:
            with Server(lived_in, "--development", ACCOUNTING_LOG_FORMAT="json") as server:
                partner = server.partner()
                shop = partner.business()
                endpoint(partner, receiver.url(), business_ids=[shop.id])
                shop.customer()
                assert within(PATIENCE_SECONDS, lambda: bool(receiver.requests)), server.log
                pid = delivering(server)
            assert pid not in processes_of(lived_in)


class TestDeliver:
    def test_delivers_alone_until_a_signal(self, lived_in: Path) -> None:
        json_log = {"ACCOUNTING_LOG_FORMAT": "json"}
        with receiving() as receiver, Server(lived_in, "--development", **json_log) as server:
            partner = server.partner()
            shop = partner.business()
            endpoint(partner, receiver.url(), business_ids=[shop.id])
            beside = delivering(server)
            process = subprocess.Popen(
                [ACCOUNTING, "deliver", "--development"],
                env=server.command_line.environment(),
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stderr is not None
            assert any("delivering" in line for line in process.stderr), "it ended at once"
            os.kill(beside, signal.SIGSTOP)
            try:
                shop.customer()
                assert within(PATIENCE_SECONDS, lambda: bool(receiver.requests))
            finally:
                os.kill(beside, signal.SIGCONT)
            process.terminate()
            assert process.wait(PATIENCE_SECONDS) == 0
            process.stderr.close()
