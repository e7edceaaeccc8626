"""The retries of the SDK for Python, checked against scripted servers.

`make clients` runs it beside the SDK that it has built; `make test` has none.
"""

import pickle
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.metadata import version
from json import dumps, loads
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from accounting_sdk import (
    Accounting,
    AccountingError,
    Conflict,
    Forbidden,
    NoAnswer,
    NotAuthenticated,
    RateLimited,
    Retries,
    Unavailable,
)
from accounting_sdk.core.api import BusinessOperations, PartnerOperations
from accounting_sdk.tokens import business_in
from server.contract.document import METHODS, Contract, Operation, parse, read_source
from tools.clients.tests.answer_server import Answer, AnswerServer, ReceivedRequest

SOON = Retries(first_wait=0.01, longest_wait=0.02)
CONTRACT = parse(read_source())
ID = UUID(int=1)
BUSINESSES = "/v1/platform/businesses/"
INVOICES = f"{BUSINESSES}{ID}/invoices/"
# The tests answer requests for tokens by themselves.
OPERATIONS = [
    each
    for each in Contract(CONTRACT).operations.values()
    if not each.path.endswith("/oauth2/token/")
]
DONE = Answer(200)
BUSY = Answer(503)
LOST = None


def takes_key(operation: Operation) -> bool:
    return any(each.name == "Idempotency-Key" for each in operation.parameters)


def by_name(operation: Operation) -> str:
    return operation.operation_id


def address(operation: Operation) -> tuple[str, str]:
    return operation.method, re.sub(r"{\w+}", str(ID), operation.path)


REPEATABLE = [each for each in OPERATIONS if takes_key(each) or each.method == "GET"]
ONE_A_METHOD = {each.method: each for each in REPEATABLE}.values()
SENT_ONCE = [each for each in OPERATIONS if each not in REPEATABLE]

Said = Answer | None | Callable[[ReceivedRequest], Answer]
Script = Callable[..., "ScriptedServer"]


def refusing(status: int, code: str, **headers: str) -> Answer:
    body = {"error_code": code, "message": "No.", "detail": {"why": 1}, "request_id": "abc"}
    return Answer(status, dumps(body).encode(), headers)


def token(name: str, seconds: int = 3600) -> Answer:
    body = {"access_token": name, "token_type": "Bearer", "expires_in": seconds}
    return Answer(200, dumps({**body, "business_id": str(ID), "scope": "business_access"}).encode())


def in_a_minute() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(minutes=1), usegmt=True)


def slowly(asked: ReceivedRequest) -> Answer:
    time.sleep(1.5)
    return DONE


def refusing_the_first_token(asked: ReceivedRequest) -> Answer:
    refused = asked.headers["Authorization"] == "Bearer token-1"
    return refusing(401, "token_expired") if refused else DONE


class ScriptedServer:
    """A server that answers by a script, its last answer repeatedly, and a partner on it."""

    def __init__(self, *script: Said, lives: int = 3600, **options: Any) -> None:
        self.script = list(script)
        self.lives = lives
        self.tokens: list[str] = []
        self.calls: list[ReceivedRequest] = []
        self.server = AnswerServer(self.answer)
        options = {"retries": SOON, **options}
        self.accounting = Accounting(self.server.url, ID, "key", **options)

    def begin(self, *script: Said) -> None:
        """Begin with another script, and without calls."""
        self.script = list(script)
        self.calls.clear()

    def answer(self, asked: ReceivedRequest) -> Answer | None:
        if asked.path.endswith("/oauth2/token/"):
            self.tokens.append(asked.path)
            return token(f"token-{len(self.tokens)}", self.lives)
        self.calls.append(asked)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return answer(asked) if callable(answer) else answer

    def ask(self, method: str, path: str = INVOICES, **options: Any) -> httpx.Response:
        return self.accounting.core.get_httpx_client().request(method, path, **options)

    def sent(self, header: str) -> list[str | None]:
        return [asked.headers.get(header) for asked in self.calls]


@pytest.fixture
def told() -> Iterator[Script]:
    with ExitStack() as stack:

        def start(*script: Said, **options: Any) -> ScriptedServer:
            server = ScriptedServer(*script, **options)
            stack.enter_context(server.server)
            stack.enter_context(server.accounting)
            return server

        yield start


class TestRepeats:
    @pytest.mark.parametrize("bad", [LOST, BUSY, Answer(502), refusing(429, "too_many_requests")])
    def test_reads_and_writes_with_a_key_are_repeated(
        self, told: Script, bad: Answer | None
    ) -> None:
        server = told(DONE)
        for operation in REPEATABLE if bad is LOST else ONE_A_METHOD:
            server.begin(bad, bad, DONE)
            assert server.ask(*address(operation)).status_code == 200
            [first, *others] = server.sent("Idempotency-Key")
            assert others == [first, first], operation.operation_id
            assert (first is not None) == takes_key(operation), operation.operation_id

    def test_a_write_keeps_its_key(self, told: Script) -> None:
        server = told(LOST, BUSY, DONE)
        server.ask("POST")
        [key] = set(server.sent("Idempotency-Key"))
        assert key is not None
        assert UUID(key)
        server.ask("POST")
        assert server.sent("Idempotency-Key")[-1] != key

    def test_a_key_that_is_given_is_taken(self, told: Script) -> None:
        server = told(BUSY, DONE)
        server.ask("POST", headers={"Idempotency-Key": "mine"})
        assert server.sent("Idempotency-Key") == ["mine", "mine"]

    @pytest.mark.parametrize("operation", SENT_ONCE, ids=by_name)
    def test_a_write_that_takes_no_key_is_sent_once(
        self, told: Script, operation: Operation
    ) -> None:
        server = told(LOST, BUSY)
        with pytest.raises(NoAnswer) as lost:
            server.ask(*address(operation))
        assert (lost.value.status, lost.value.idempotency_key) == (0, None)
        with pytest.raises(Unavailable):
            server.ask(*address(operation), headers={"Idempotency-Key": "mine"})
        assert server.sent("Idempotency-Key") == [None, "mine"]

    def test_unless_it_was_not_done(self, told: Script) -> None:
        server = told(DONE)
        for operation in SENT_ONCE:
            server.begin(refusing(429, "too_many_requests"), DONE)
            assert server.ask(*address(operation)).status_code == 200

    def test_a_server_below_another_path_takes_the_same_keys(self, told: Script) -> None:
        server = told(LOST, DONE)
        assert server.ask("POST", f"/books{INVOICES}").status_code == 200

    def test_a_write_under_way_is_waited_for(self, told: Script) -> None:
        server = told(refusing(409, "idempotency_in_progress"), DONE)
        assert server.ask("POST").status_code == 200

    def test_another_clash_is_not(self, told: Script) -> None:
        server = told(refusing(409, "invoice_void"))
        with pytest.raises(Conflict) as clash:
            server.ask("POST")
        assert len(server.calls) == 1
        error = clash.value
        assert (error.error_code, error.message, error.request_id) == ("invoice_void", "No.", "abc")
        assert error.detail == {"why": 1}

    def test_an_answer_that_takes_too_long_is_lost(self, told: Script) -> None:
        server = told(slowly, DONE, timeout=0.5)
        assert server.ask("POST").status_code == 200
        assert len(server.calls) == 2

    def test_an_answer_that_breaks_off_is_lost(self, told: Script) -> None:
        broken = Answer(200, b"{", {"Content-Length": "2", "Connection": "close"})
        server = told(broken, DONE)
        assert server.ask("POST").content == b"{}"
        assert len(server.calls) == 2


class TestWaits:
    def test_it_waits_as_long_as_it_is_told(self, told: Script) -> None:
        server = told(refusing(429, "too_many_requests", **{"Retry-After": "1"}), DONE)
        begun = time.monotonic()
        server.ask("GET")
        assert time.monotonic() - begun >= 1

    @pytest.mark.parametrize("moment", [in_a_minute, lambda: "60"])
    def test_but_no_longer_than_a_call_may_take(
        self, told: Script, moment: Callable[[], str]
    ) -> None:
        busy = refusing(429, "too_many_requests", **{"Retry-After": moment()})
        server = told(busy, DONE, retries=Retries(seconds=30))
        with pytest.raises(RateLimited):
            server.ask("GET")
        assert len(server.calls) == 1

    def test_it_gives_up(self, told: Script) -> None:
        server = told(BUSY, retries=Retries(attempts=3, first_wait=0.01))
        with pytest.raises(Unavailable) as busy:
            server.ask("POST", headers={"Idempotency-Key": "mine"})
        assert len(server.calls) == 3
        assert busy.value.idempotency_key == "mine"

    def test_a_server_that_is_not_there(self) -> None:
        with AnswerServer(lambda _: DONE) as gone:
            pass
        with (
            Accounting(gone.url, ID, "key", retries=SOON) as accounting,
            pytest.raises(NoAnswer),
        ):
            next(accounting.list_businesses())

    def test_longer_each_time_up_to_a_bound(self) -> None:
        waits = [Retries().wait(attempt, httpx.Response(503)) for attempt in range(1, 8)]
        bounds = [0.5, 1, 2, 4, 8, 8, 8]
        assert all(most / 2 <= wait <= most for wait, most in zip(waits, bounds, strict=True))


class TestTokens:
    def test_a_business_has_its_own(self, told: Script) -> None:
        server = told(DONE)
        server.ask("GET")
        server.ask("GET", BUSINESSES)
        partner, business = "/v1/platform/oauth2/token/", f"/v1/platform/{ID}/oauth2/token/"
        # The business token is requested first, and that requests the partner token.
        assert server.tokens == [partner, business]
        assert server.sent("Authorization") == ["Bearer token-2", "Bearer token-1"]

    def test_an_old_one_is_renewed_before_it_is_refused(self, told: Script) -> None:
        server = told(DONE, lives=1)
        server.ask("GET", BUSINESSES)
        server.ask("GET", BUSINESSES)
        assert len(server.tokens) == 1
        time.sleep(1)
        server.ask("GET", BUSINESSES)
        assert server.sent("Authorization")[-1] == "Bearer token-2"

    @pytest.mark.parametrize("code", ["token_expired", "invalid_token"])
    def test_one_that_is_refused_is_renewed(self, told: Script, code: str) -> None:
        server = told(refusing(401, code), DONE)
        assert server.ask("GET", BUSINESSES).status_code == 200
        assert server.sent("Authorization") == ["Bearer token-1", "Bearer token-2"]

    def test_but_once(self, told: Script) -> None:
        server = told(refusing(401, "invalid_token"))
        with pytest.raises(NotAuthenticated):
            server.ask("GET", BUSINESSES)
        assert len(server.calls) == 2

    def test_other_refusals_renew_nothing(self, told: Script) -> None:
        server = told(refusing(403, "permission_denied"))
        with pytest.raises(Forbidden):
            server.ask("GET", BUSINESSES)
        assert len(server.tokens) == 1

    def test_threads_share_one(self, told: Script) -> None:
        server = told(DONE)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(server.ask, ["GET"] * 32))
        assert len(server.tokens) == 2

    def test_threads_renew_one(self, told: Script) -> None:
        server = told(refusing_the_first_token)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(server.ask, ["GET"] * 32, [BUSINESSES] * 32))
        assert len(server.tokens) == 2

    @pytest.mark.parametrize(
        ("path", "operation"),
        [
            (path, item[method])
            for path, item in CONTRACT["paths"].items()
            for method in METHODS & item.keys()
            if "oauth2" not in path
        ],
    )
    def test_each_operation_takes_the_one_it_is_sent(
        self, path: str, operation: dict[str, Any]
    ) -> None:
        sent = "BusinessToken" if business_in(re.sub(r"{\w+}", str(ID), path)) else "PartnerToken"
        assert {sent: []} in operation["security"]


class TestErrors:
    def test_what_a_proxy_says_has_no_code(self, told: Script) -> None:
        server = told(Answer(504, b"<html>"), retries=Retries(attempts=1))
        with pytest.raises(Unavailable) as busy:
            server.ask("GET")
        assert (busy.value.error_code, busy.value.message) == ("unknown", "Gateway Timeout")

    def test_a_status_that_is_not_known(self, told: Script) -> None:
        with pytest.raises(AccountingError) as error:
            told(Answer(418)).ask("GET")
        assert error.value.status == 418

    def test_it_goes_from_process_to_process(self, told: Script) -> None:
        with pytest.raises(Conflict) as error:
            told(refusing(409, "invoice_void")).ask("POST")
        again = pickle.loads(pickle.dumps(error.value))
        assert vars(again) == vars(error.value)


def test_every_operation_is_a_method() -> None:
    wanted = {
        item[method]["operationId"]
        for item in CONTRACT["paths"].values()
        for method in METHODS & item.keys()
    }
    made = {name for kind in (BusinessOperations, PartnerOperations) for name in vars(kind)}
    tokens = {f"issue_{which}_token" for which in ("partner", "business")}
    assert wanted - made == {*tokens, "revoke_token"}


def test_both_have_the_version_of_the_contract() -> None:
    package = loads(Path("tools/clients/typescript/package.json").read_text("utf-8"))
    assert {version("accounting-sdk"), package["version"]} == {CONTRACT["info"]["version"]}
