"""Requests through the client: which addresses they reach, and what counts as an answer."""

import asyncio
import errno
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import monotonic

import httpcore
import pytest

from libraries.outbound.client import (
    MOST_READ_BYTES,
    RESOLVE_SECONDS,
    Client,
    NoAnswer,
    OwnFault,
)
from libraries.outbound.proxies import Proxy, parse_proxy
from libraries.outbound.targets import RefusedUrl, Target
from libraries.outbound.tests.receivers import certified, failing_proxy, proxy, receiver
from libraries.outbound.tests.test_addresses import REFUSED

PUBLIC = "93.184.215.14"
NAMED = [(address, kind) for address, kind in REFUSED if "%" not in address]


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


def answering(*addresses: str) -> Callable[[str], Sequence[str]]:
    return lambda _: addresses


class Turns:
    """A name server whose answers change: each lookup gets the next one."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = [*answers]
        self.asked = 0

    def __call__(self, _host: str) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0)


class Counting(Client):
    """A client that counts the bytes that it reads."""

    read = 0

    async def connect(self, target: Target) -> httpcore.AsyncNetworkStream:
        stream = await super().connect(target)
        read = stream.read

        async def counted(most: int, timeout: float | None = None) -> bytes:
            part = await read(most, timeout)
            self.read += len(part)
            return part

        stream.read = counted  # type: ignore[method-assign]
        return stream


class TestRefusedAddress:
    @pytest.mark.parametrize(("address", "kind"), NAMED)
    def test_a_literal_is_refused(self, address: str, kind: str) -> None:
        literal = f"[{address}]" if ":" in address else address

        async def check() -> None:
            with pytest.raises(RefusedUrl) as refused:
                await Client().check(f"https://{literal}/")
            assert (refused.value.reason, refused.value.kind) == ("address", kind)

        run(check)

    @pytest.mark.parametrize("literal", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1"])
    def test_an_odd_literal_is_refused_as_what_it_means(self, literal: str) -> None:
        async def check() -> None:
            with pytest.raises(RefusedUrl) as refused:
                await Client().check(f"https://{literal}/")
            assert refused.value.kind == "loopback"

        run(check)

    @pytest.mark.parametrize(("address", "kind"), NAMED)
    @pytest.mark.parametrize("beside", [(), (PUBLIC,)])
    def test_a_name_is_refused_for_any_of_its_addresses(
        self, address: str, kind: str, beside: tuple[str, ...]
    ) -> None:
        async def check() -> None:
            client = Client(lookup=answering(*beside, address))
            for attempt in (
                client.check("https://a.example/"),
                client.post("https://a.example/", {}, b""),
            ):
                with pytest.raises(RefusedUrl) as refused:
                    await attempt
                assert (refused.value.reason, refused.value.kind) == ("address", kind)
                assert address not in str(refused.value)

        run(check)

    def test_a_name_without_an_address_is_refused(self) -> None:
        def nothing(_host: str) -> list[str]:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")

        async def check() -> None:
            for lookup in (nothing, answering()):
                with pytest.raises(RefusedUrl) as refused:
                    await Client(lookup=lookup).check("https://a.example/")
                assert refused.value.reason == "unresolvable"

        run(check)

    def test_a_name_that_changes_is_refused_at_the_next_attempt(self) -> None:
        async def check() -> None:
            async with receiver() as inner:
                lookup = Turns([PUBLIC], ["127.0.0.1"])
                client = Client(lookup=lookup)
                url = f"https://a.example:{inner.port}/"
                await client.check(url)
                with pytest.raises(RefusedUrl) as refused:
                    await client.post(url, {}, b"")
                assert refused.value.kind == "loopback"
                assert inner.requests == []

        run(check)

    def test_a_loopback_address_is_reached_in_development_alone(self) -> None:
        async def check() -> None:
            async with receiver() as inner:
                url = f"http://localhost:{inner.port}/"
                lookup = answering("127.0.0.1")
                with pytest.raises(RefusedUrl):
                    await Client(lookup=lookup).post(url, {}, b"")
                assert (await Client(loopback=True, lookup=lookup).post(url, {}, b"")).status == 200
                with pytest.raises(RefusedUrl) as refused:
                    await Client(loopback=True, lookup=answering(PUBLIC)).post(url, {}, b"")
                assert refused.value.reason == "scheme"
                for beside in ("10.0.0.1", PUBLIC):
                    mixed = Client(loopback=True, lookup=answering("127.0.0.1", beside))
                    with pytest.raises(RefusedUrl):
                        await mixed.post(url, {}, b"")

        run(check)


class TestConnection:
    def test_goes_to_the_checked_address_with_the_name_for_tls_and_host(
        self, tmp_path: Path
    ) -> None:
        served, trusted = certified(tmp_path, "a.example")

        async def check() -> None:
            async with proxy(served) as through:
                lookup = Turns([PUBLIC], ["2606:4700::1111"])
                client = Client(
                    lookup=lookup,
                    trusted=trusted,
                    proxy=Proxy("127.0.0.1", through.port, "Basic abc"),
                )
                answer = await client.post("https://a.example/in?x=1", {"webhook-id": "1"}, b"{}")
                assert (answer.status, answer.start) == (200, b"ok")
                assert lookup.asked == 1  # The check is the only lookup.
                asked, request = through.requests
                assert asked.startswith(f"CONNECT {PUBLIC}:443 HTTP/1.1\r\n".encode())
                assert b"Proxy-Authorization: Basic abc" in asked
                assert request.startswith(b"POST /in?x=1 HTTP/1.1\r\n")
                assert b"\r\nHost: a.example\r\n" in request
                assert b"\r\nwebhook-id: 1\r\n" in request
                assert request.endswith(b"\r\n\r\n{}")
                await client.post("https://a.example:8443/", {}, b"")
                assert through.requests[2].startswith(b"CONNECT [2606:4700::1111]:8443 ")

        run(check)

    def test_fails_for_a_certificate_of_another_name(self, tmp_path: Path) -> None:
        served, trusted = certified(tmp_path, "other.example")

        async def check() -> None:
            async with proxy(served) as through:
                client = Client(
                    lookup=answering(PUBLIC),
                    trusted=trusted,
                    proxy=Proxy("127.0.0.1", through.port),
                )
                with pytest.raises(NoAnswer, match="certificate"):
                    await client.post("https://a.example/", {}, b"")

        run(check)

    def test_ignores_the_proxies_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def check() -> None:
            async with receiver() as inner, receiver() as outer:
                for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
                    monkeypatch.setenv(name, f"http://127.0.0.1:{outer.port}")
                await Client(loopback=True).post(f"http://127.0.0.1:{inner.port}/", {}, b"")
                assert (len(inner.requests), outer.requests) == (1, [])

        run(check)


class TestAnswer:
    def test_a_redirect_is_followed_nowhere(self) -> None:
        async def check() -> None:
            async with receiver() as inner:
                target = f"http://127.0.0.1:{inner.port}/"
                moved = f"HTTP/1.1 307 Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
                async with receiver(moved.encode()) as first:
                    answer = await Client(loopback=True).post(
                        f"http://127.0.0.1:{first.port}/", {}, b"{}"
                    )
                    assert (answer.status, inner.requests) == (307, [])

        run(check)

    def test_has_its_first_kilobyte_and_is_read_no_further_than_64(self) -> None:
        endless = b"HTTP/1.1 503 Busy\r\nRetry-After: 120\r\n\r\n" + b"x" * 4_000_000

        async def check() -> None:
            async with receiver(endless) as inner:
                client = Counting(loopback=True)
                answer = await client.post(f"http://127.0.0.1:{inner.port}/", {}, b"")
                assert (answer.status, answer.retry_after) == (503, "120")
                assert answer.start == b"x" * 1024
                one_read = 65_536  # The one that goes past the limit ends it.
                assert MOST_READ_BYTES <= client.read < MOST_READ_BYTES + one_read

        run(check)

    @pytest.mark.parametrize("told", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow"])
    def test_that_never_ends_is_none(self, told: bytes) -> None:
        async def check() -> None:
            began = monotonic()
            async with receiver(told) as inner:
                with pytest.raises(NoAnswer):
                    await Client(loopback=True).post(
                        f"http://127.0.0.1:{inner.port}/", {}, b"", 0.5
                    )
            assert monotonic() - began < 5

        run(check)

    def test_that_is_no_http_is_none(self) -> None:
        async def check() -> None:
            async with receiver(b"hello\r\n\r\n") as inner:
                with pytest.raises(NoAnswer, match="not valid HTTP"):
                    await Client(loopback=True).post(f"http://127.0.0.1:{inner.port}/", {}, b"")
            with pytest.raises(NoAnswer, match="No connection"):
                await Client(loopback=True).post(f"http://127.0.0.1:{inner.port}/", {}, b"")

        run(check)


class TestFaultOfThisMachine:
    """A fault on our side is not the receiver's: OwnFault, and no NoAnswer or RefusedUrl."""

    def test_is_that_no_file_can_be_opened(self) -> None:
        async def check() -> None:
            async with receiver() as inner:
                client = Client(loopback=True, lookup=answering("127.0.0.1"))
                url = f"http://localhost:{inner.port}/"
                assert (await client.post(url, {}, b"")).status == 200
                soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
                descriptor = os.dup(0)
                os.close(descriptor)
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptor, hard))
                try:
                    with pytest.raises(OwnFault, match="no file"):
                        await client.post(url, {}, b"")
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

        run(check)

    def test_is_that_no_name_can_be_looked_up(self) -> None:
        def broken(_host: str) -> list[str]:
            raise OSError(errno.EMFILE, "too many open files")

        async def check() -> None:
            with pytest.raises(OwnFault):
                await Client(lookup=broken).check("https://a.example/")

        run(check)

    @pytest.mark.parametrize(
        ("answer", "error"),
        [
            (b"", OwnFault),
            (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", OwnFault),
            (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", NoAnswer),
        ],
    )
    def test_is_that_the_proxy_fails_but_not_that_it_reaches_nobody(
        self, answer: bytes, error: type[Exception]
    ) -> None:
        async def check() -> None:
            async with failing_proxy(answer) as port:
                client = Client(lookup=answering(PUBLIC), proxy=Proxy("127.0.0.1", port))
                with pytest.raises(error):
                    await client.post("https://a.example/", {}, b"")

        run(check)

    def test_is_a_lookup_without_memory(self) -> None:
        def full(_host: str) -> list[str]:
            raise socket.gaierror(socket.EAI_MEMORY, "no memory")

        async def check() -> None:
            with pytest.raises(OwnFault):
                await Client(lookup=full).check("https://a.example/")

        run(check)

    def test_is_that_the_proxy_does_not_answer(self) -> None:
        async def check() -> None:
            async with receiver() as gone:
                pass
            client = Client(lookup=answering(PUBLIC), proxy=Proxy("127.0.0.1", gone.port))
            with pytest.raises(OwnFault, match="proxy"):
                await client.post("https://a.example/", {}, b"")

        run(check)


END_WITH_A_LOOKUP = """
import asyncio, time
from libraries.outbound.client import Client

def lookup(_):
    time.sleep(60)
    return ["93.184.215.14"]

async def work():
    client = Client(lookup=lookup)
    waiting = asyncio.create_task(client.check("https://slow.example/"))
    await asyncio.sleep(0.1)
    waiting.cancel()
    client.close()

asyncio.run(work())
"""


class TestResolver:
    def test_names_that_hang_hold_up_no_other(self) -> None:
        going_on = threading.Event()

        def lookup(host: str) -> list[str]:
            if host != "quick.example":
                going_on.wait(60)
            return [PUBLIC]

        async def check() -> None:
            client = Client(lookup=lookup)
            waiting = [
                asyncio.create_task(client.check(f"https://slow-{each}.example/"))
                for each in range(100)
            ]
            await asyncio.sleep(0.1)
            began = monotonic()
            await client.check("https://quick.example/")
            assert monotonic() - began < RESOLVE_SECONDS / 2
            going_on.set()
            await asyncio.gather(*waiting)
            client.close()

        run(check)

    def test_too_many_names_at_once_are_a_fault_of_this_machine(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("libraries.outbound.resolver.MOST_LOOKUPS", 2)
        going_on = threading.Event()

        def lookup(_host: str) -> list[str]:
            going_on.wait(60)
            return [PUBLIC]

        async def check() -> None:
            client = Client(lookup=lookup)
            waiting = [
                asyncio.create_task(client.check(f"https://{each}.example/")) for each in "ab"
            ]
            await asyncio.sleep(0.1)
            with pytest.raises(OwnFault):
                await client.check("https://c.example/")
            going_on.set()
            await asyncio.gather(*waiting)
            await client.check("https://c.example/")

        run(check)

    def test_a_process_ends_while_a_lookup_hangs(self) -> None:
        command = [sys.executable, "-c", END_WITH_A_LOOKUP]
        ended = subprocess.run(command, timeout=30, capture_output=True, text=True, check=True)
        assert ended.stderr == ""

    def test_a_slow_name_holds_up_no_other(self) -> None:
        going_on = threading.Event()
        asked: list[str] = []

        def lookup(host: str) -> list[str]:
            asked.append(host)
            if host == "slow.example":
                going_on.wait(20)
            return [PUBLIC]

        async def check() -> None:
            client = Client(lookup=lookup)
            waiting = [
                asyncio.create_task(client.check("https://slow.example/")) for _ in range(100)
            ]
            await asyncio.sleep(0.1)
            await client.check("https://quick.example/")
            assert asked == ["slow.example", "quick.example"]  # 100 requests share one lookup.
            going_on.set()
            await asyncio.gather(*waiting)
            client.close()

        run(check)


class TestParseProxy:
    def test_reads_credentials(self) -> None:
        assert parse_proxy("http://10.0.0.1:3128") == Proxy("10.0.0.1", 3128)
        assert parse_proxy("http://a:b%40@proxy:3128/").authorization == "Basic YTpiQA=="

    @pytest.mark.parametrize(
        "url", ["", "proxy:3128", "https://proxy:1", "http://proxy", "http://p:1/x"]
    )
    def test_refuses_other_forms(self, url: str) -> None:
        with pytest.raises(ValueError, match="proxy"):
            parse_proxy(url)
