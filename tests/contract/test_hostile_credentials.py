"""Every operation refuses missing credentials, forged ones, and those of another kind."""

import base64
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import httpx
import pytest

from access import api_keys
from access.principal import CallerKind
from access.tokens import READ_SCOPE
from tests.contract.document import Operation, named, operations, share_of
from tests.contract.each import each_of, each_operation
from tests.contract.forgeries import claims_of, forgeries, signed
from tests.contract.refusals import is_as_shown
from tests.contract.valid_requests import Story, lasting
from tests.partner import Partner

# One operation of each tag and list of schemes: credentials are checked alike for the others.
each_kind_of_operation = each_of(
    {(*each.node["tags"], str(each.node["security"])): each for each in operations()}.values()
)
of_either_kind = pytest.mark.parametrize(
    "kind", [CallerKind.PARTNER_TOKEN, CallerKind.BUSINESS_TOKEN]
)
pytestmark = pytest.mark.usefixtures("nothing_kept")
Ask = Callable[..., httpx.Response]
KINDS = ("PartnerKey", "PartnerToken", "BusinessToken")


@pytest.fixture(scope="module")
def callers(story: Story) -> dict[str, httpx.Client]:
    client, url = story.partner.client, story.partner.url
    business = client(url, headers=story.business.api.headers)
    found = dict(zip(KINDS, (story.partner.key, story.partner.api, business), strict=True))
    return {**found, "nobody": client(url)}


@pytest.fixture
def ask(story: Story, callers: dict[str, httpx.Client]) -> Ask:
    """Return a function that sends an operation's valid request with any Authorization header."""

    def send(operation: Operation, header: str | None, query: str = "") -> httpx.Response:
        lines = {} if header is None else {"authorization": header.encode()}
        request = replace(story.request(operation), client=callers["nobody"])
        return request.send(path=request.path + query, headers=lines)

    return send


def owner(story: Story, kind: CallerKind) -> tuple[str, str | None]:
    """Return the IDs of partner and business in a token of a kind."""
    of_business = kind is CallerKind.BUSINESS_TOKEN
    return str(story.partner.partner_id), story.business.id if of_business else None


def codes(answers: list[httpx.Response]) -> set[tuple[int, str]]:
    return {(answer.status_code, answer.json()["error_code"]) for answer in answers}


class TestNoCredentials:
    @each_operation
    def test_are_401_at_every_operation(self, operation: Operation, ask: Ask) -> None:
        answers = [ask(operation, header) for header in (None, "", "Bearer", "Token x")]
        assert answers[0].json()["error_code"] == "authentication_required"
        assert {answer.status_code for answer in answers} == {401}

    @each_operation
    def test_are_not_looked_for_anywhere_but_in_their_header(
        self, operation: Operation, story: Story, callers: dict[str, httpx.Client]
    ) -> None:
        token = story.business.api.headers["authorization"].partition(" ")[2]
        for query, headers in (
            (f"?access_token={token}", {}),
            (f"?authorization=Bearer%20{token}", {}),
            ("", {"cookie": f"access_token={token}; authorization={token}"}),
            ("", {"x-api-key": token, "x-authorization": f"Bearer {token}"}),
            ("", {"proxy-authorization": f"Bearer {token}"}),
        ):
            answer = callers["nobody"].request(
                operation.method.upper(), story.path(operation) + query, headers=headers
            )
            assert codes([answer]) == {(401, "authentication_required")}


class TestForgedToken:
    @each_kind_of_operation
    @of_either_kind
    def test_is_401(self, operation: Operation, kind: CallerKind, story: Story, ask: Ask) -> None:
        tried = [*forgeries(*owner(story, kind), str(uuid4()))]
        assert len(tried) > 50
        passed = []
        for name, token in share_of(operation, tried, 5):
            answer = ask(operation, f"Bearer {token}")
            # Signed by us for a partner that does not exist: it gives no access.
            if answer.status_code != 401 and not (
                name == "an unknown partner" and answer.status_code in (403, 404)
            ):
                passed.append(f"{name}: {answer.status_code} {answer.text[:100]}")
        assert passed == []

    @each_kind_of_operation
    @of_either_kind
    def test_that_has_expired_is_401_and_says_so(
        self, operation: Operation, kind: CallerKind, story: Story, ask: Ask
    ) -> None:
        for age in (3600, 10**6):
            token = signed(claims_of(*owner(story, kind), age=age), kind)
            assert codes([ask(operation, f"Bearer {token}")]) == {(401, "token_expired")}

    @of_either_kind
    def test_that_is_a_true_one_passes(self, kind: CallerKind, story: Story, ask: Ask) -> None:
        token = signed(claims_of(*owner(story, kind)), kind)
        assert ask(named("get_business"), f"Bearer {token}").status_code == 200


class TestWrongKind:
    @each_operation
    def test_of_credentials_is_403_and_a_right_one_passes(
        self, operation: Operation, story: Story, callers: dict[str, httpx.Client]
    ) -> None:
        listed = {name for each in operation.node["security"] for name in each}
        for kind in KINDS:
            answer = callers[kind].request(
                operation.method.upper(), f"{story.path(operation)}?no_such_parameter=1"
            )
            expected = (400, "validation_error") if kind in listed else (403, "permission_denied")
            assert codes([answer]) == {expected}, kind


class TestRightKind:
    @each_of(each for each in operations() if each.method == "get" and each.within_business)
    def test_of_credentials_is_shown_the_same_as_every_other(
        self, operation: Operation, story: Story, callers: dict[str, httpx.Client]
    ) -> None:
        listed = {name for each in operation.node["security"] for name in each}
        answers = [callers[kind].get(story.path(operation)) for kind in sorted(listed)]
        assert {answer.status_code for answer in answers} == {200}
        assert len({lasting(answer.text) for answer in answers}) == 1


class TestReadToken:
    @each_of(each for each in operations() if each.within_business)
    def test_is_answered_where_an_operation_reads_and_refused_where_it_writes(
        self, operation: Operation, story: Story, ask: Ask
    ) -> None:
        claims = {**claims_of(*owner(story, CallerKind.BUSINESS_TOKEN)), "scope": READ_SCOPE}
        token = f"Bearer {signed(claims, CallerKind.BUSINESS_TOKEN)}"
        listed = {name for each in operation.node["security"] for name in each}
        if "BusinessToken" not in listed:
            assert codes([ask(operation, token)]) == {(403, "permission_denied")}
        elif operation.method == "get":
            assert ask(operation, token).status_code == 200
        else:
            answers = [ask(operation, token), ask(operation, token, "?no_such_parameter=1")]
            assert all(is_as_shown("ReadTokenDenied", answer) for answer in answers)


class TestWrongKey:
    # Few requests, and not at every operation: a hundred failures in a minute are answered 429.
    def test_is_one_and_the_same_401(self, story: Story, rival: Partner, ask: Ask) -> None:
        partner_id, key = str(story.partner.partner_id), story.partner.api_key
        wrong = [
            f"{partner_id}:{api_keys.make_key('test').text}",
            f"{rival.partner_id}:{key}",
            f"{story.business.id}:{key}",
            f"{partner_id}:{key}x",
            f"{partner_id}:",
            f":{key}",
            partner_id,
            "\u00e9:\u00e9",
        ]
        headers = [f"Basic {base64.b64encode(pair.encode()).decode()}" for pair in wrong]
        headers += ["Basic", "Basic !!!!", f"Basic {partner_id}:{key}"]
        answers = [ask(named("issue_partner_token"), header) for header in headers]
        assert codes(answers) == {(401, "invalid_credentials")}
        told = {(answer.json()["message"], answer.json()["error"]) for answer in answers}
        assert told == {("The partner id or the API key is wrong.", "invalid_client")}
