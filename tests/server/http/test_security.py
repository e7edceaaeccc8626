import base64
from datetime import timedelta
from uuid import UUID

import pytest

from access import api_keys
from access.principal import Caller, CallerKind
from access.tokens import token_id
from accounting import errors
from server.contract.document import ContractError
from tests.server.http.secured_stack import (
    BUSINESS,
    CREDENTIALS,
    FOREIGN,
    KEY,
    NOW,
    PARTNER,
    STRANGER,
    SecuredStack,
    basic,
    business_token,
    contract,
    operation,
    partner_token,
)

INVOICES = f"/v1/businesses/{BUSINESS}/invoices/"
REFUND = f"/v1/businesses/{BUSINESS}/refund/"
KINDS = pytest.mark.parametrize("kind", list(CallerKind))
OLD = NOW - timedelta(hours=1)


@pytest.fixture
def stack() -> SecuredStack:
    return SecuredStack()


class TestGuardedOperation:
    @KINDS
    def test_every_listed_kind_enters_its_business(
        self, stack: SecuredStack, kind: CallerKind
    ) -> None:
        scope = stack.get(INVOICES, CREDENTIALS[kind]())
        assert (scope["caller"].kind, scope["caller"].partner_id) == (kind, PARTNER)
        assert stack.admission.asked[-1] == ("admit_to_business", kind, str(BUSINESS))

    def test_a_caller_by_key_carries_the_id_of_the_key(self, stack: SecuredStack) -> None:
        assert stack.get(INVOICES, basic())["caller"].key_id == KEY.key_id

    def test_without_a_business_the_caller_is_welcomed(self, stack: SecuredStack) -> None:
        token = partner_token()
        named = {"issued_at": NOW, "token_id": token_id(token.removeprefix("Bearer "))}
        scope = stack.get("/v1/businesses/", token)
        assert scope["caller"] == Caller(CallerKind.PARTNER_TOKEN, PARTNER, **named)
        assert stack.admission.asked == [("admit_partner", CallerKind.PARTNER_TOKEN)]

    def test_an_open_operation_asks_nobody(self, stack: SecuredStack) -> None:
        assert "caller" not in stack.get("/v1/open/", "Bearer nonsense")
        assert stack.admission.asked == []

    @pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer  ", " Bearer"])
    def test_the_scheme_may_be_written_in_any_case(self, stack: SecuredStack, scheme: str) -> None:
        token = partner_token().partition(" ")[2]
        assert stack.get(INVOICES, f"{scheme} {token} ")["caller"].partner_id == PARTNER

    def test_the_path_may_name_the_business_in_upper_case(self, stack: SecuredStack) -> None:
        path = f"/v1/businesses/{str(BUSINESS).upper()}/invoices/"
        stack.get(path, business_token())
        assert stack.admission.asked == [
            ("admit_to_business", CallerKind.BUSINESS_TOKEN, str(BUSINESS))
        ]

    def test_the_partner_id_may_be_in_upper_case(self, stack: SecuredStack) -> None:
        assert stack.get(INVOICES, basic(str(PARTNER).upper()))["caller"].partner_id == PARTNER


class TestCredentials:
    @pytest.mark.parametrize(
        ("credentials", "code"),
        [
            ([], "authentication_required"),
            ([""], "authentication_required"),
            (["Digest username=x"], "authentication_required"),
            (["Token abc"], "authentication_required"),
            (["Bearerabc"], "authentication_required"),
            ([partner_token(), partner_token()], "authentication_required"),
            (["Bearer"], "invalid_token"),
            (["Bearer "], "invalid_token"),
            (["Bearer nonsense"], "invalid_token"),
            (["Bearer a b"], "invalid_token"),
            ([b"Bearer \xff\xfe"], "invalid_token"),
            ([partner_token() + "="], "invalid_token"),
            ([partner_token()[:-3]], "invalid_token"),
            ([partner_token(OLD)], "token_expired"),
            ([business_token(issued=OLD)], "token_expired"),
            (["Basic"], "invalid_credentials"),
            (["Basic !!!"], "invalid_credentials"),
            (["Basic " + base64.b64encode(b"no colon").decode()], "invalid_credentials"),
            (["Basic " + base64.b64encode(b"\xff\xfe:x").decode()], "invalid_credentials"),
            ([basic("partner")], "invalid_credentials"),
            ([basic(PARTNER.hex)], "invalid_credentials"),
            ([basic(STRANGER)], "invalid_credentials"),
            ([basic(password="")], "invalid_credentials"),
            ([basic(password="wrong")], "invalid_credentials"),
            ([basic(password=api_keys.make_key("live").text)], "invalid_credentials"),
            ([basic(password=KEY.text + "\n")], "invalid_credentials"),
        ],
    )
    @pytest.mark.parametrize("path", [INVOICES, REFUND, "/v1/businesses/", "/v1/token/"])
    def test_bad_ones_are_refused_whatever_the_operation_takes(
        self, stack: SecuredStack, path: str, credentials: list[str | bytes], code: str
    ) -> None:
        refusal = stack.refusal(path, *credentials)
        assert (type(refusal), refusal.code) == (errors.NotAuthenticated, code)

    def test_that_are_missing_are_asked_for_in_the_way_that_the_operation_takes(
        self, stack: SecuredStack
    ) -> None:
        assert "as HTTP Basic in the Authorization header" in stack.refusal("/v1/token/").message
        assert "a Bearer token or a partner's Basic" in stack.refusal("/v1/businesses/").message

    def test_unknown_partner_and_wrong_key_get_the_same_answer(self, stack: SecuredStack) -> None:
        stranger = stack.refusal(INVOICES, basic(STRANGER))
        wrong = stack.refusal(INVOICES, basic(password=api_keys.make_key("live").text))
        malformed = stack.refusal(INVOICES, basic(password="x"))
        assert stranger.args == wrong.args == malformed.args

    def test_a_malformed_key_costs_no_query(self, stack: SecuredStack) -> None:
        stack.refusal(INVOICES, basic(password=KEY.text[:-1]))
        assert stack.admission.asked == []

    def test_a_remembered_token_still_expires(self, stack: SecuredStack) -> None:
        token = business_token()
        stack.get(INVOICES, token)
        stack.now = NOW + timedelta(hours=1)
        assert stack.refusal(INVOICES, token).code == "token_expired"

    def test_a_revoked_token_is_the_gates_to_refuse(self, stack: SecuredStack) -> None:
        stack.admission.trouble = errors.NotAuthenticated("invalid_token", "Revoked.")
        assert stack.refusal(INVOICES, partner_token()).message == "Revoked."
        assert stack.refusal("/v1/businesses/", partner_token()).message == "Revoked."


class TestKinds:
    def test_a_kind_that_is_not_listed_is_refused_without_a_query(
        self, stack: SecuredStack
    ) -> None:
        refusal = stack.refusal(REFUND, partner_token())
        assert (type(refusal), refusal.code) == (errors.NotAllowed, "permission_denied")
        assert stack.admission.asked == []


class TestBusiness:
    ids = pytest.mark.parametrize(
        "named", [str(FOREIGN), "nonsense", "7", BUSINESS.hex, f"{{{BUSINESS}}}", f"{BUSINESS} "]
    )

    @ids
    @KINDS
    def test_malformed_foreign_and_unknown_get_one_answer(
        self, stack: SecuredStack, kind: CallerKind, named: str
    ) -> None:
        refusal = stack.refusal(f"/v1/businesses/{named}/invoices/", CREDENTIALS[kind]())
        assert (type(refusal), refusal.code) == (errors.NotAllowed, "permission_denied")
        assert refusal.message == "These credentials do not open this business."
        assert refusal.detail == {}

    def test_a_business_token_for_another_business_is_refused_unasked(
        self, stack: SecuredStack
    ) -> None:
        refusal = stack.refusal(INVOICES, business_token(FOREIGN))
        assert type(refusal) is errors.NotAllowed
        assert stack.admission.asked == []

    def test_a_malformed_business_costs_no_query(self, stack: SecuredStack) -> None:
        stack.refusal(f"/v1/businesses/{BUSINESS.hex}/invoices/", partner_token())
        assert stack.admission.asked == []

    @ids
    @pytest.mark.parametrize("kind", [CallerKind.PARTNER_KEY, CallerKind.PARTNER_TOKEN])
    def test_the_business_as_a_resource_is_not_found(
        self, stack: SecuredStack, kind: CallerKind, named: str
    ) -> None:
        refusal = stack.refusal(f"/v1/businesses/{named}/", CREDENTIALS[kind]())
        assert (type(refusal), refusal.code) == (errors.NotFound, "business_not_found")

    def test_a_business_token_asking_for_another_business_may_not(
        self, stack: SecuredStack
    ) -> None:
        refusal = stack.refusal(f"/v1/businesses/{FOREIGN}/", business_token())
        assert (type(refusal), refusal.code) == (errors.NotAllowed, "permission_denied")


class TestTrouble:
    @pytest.mark.parametrize("path", [INVOICES, "/v1/businesses/"])
    @pytest.mark.parametrize("kind", [CallerKind.PARTNER_KEY, CallerKind.PARTNER_TOKEN])
    def test_a_database_that_is_away_is_never_called_a_wrong_password(
        self, stack: SecuredStack, path: str, kind: CallerKind
    ) -> None:
        stack.admission.trouble = errors.Unavailable("service_unavailable", "Try again.")
        assert type(stack.refusal(path, CREDENTIALS[kind]())) is errors.Unavailable

    @KINDS
    def test_a_bug_stays_a_bug(self, stack: SecuredStack, kind: CallerKind) -> None:
        stack.admission.trouble = ZeroDivisionError()
        with pytest.raises(ZeroDivisionError):
            stack.get(INVOICES, CREDENTIALS[kind]())

    def test_trouble_with_the_database_is_no_failed_login(self, stack: SecuredStack) -> None:
        stack.admission.trouble = errors.Unavailable("service_unavailable", "Try again.")
        for _ in range(10):
            stack.refusal(INVOICES, basic())
        stack.admission.trouble = None
        assert stack.refusal(INVOICES, basic(password="x")).code == "invalid_credentials"


class TestFailedLogins:
    def test_after_many_from_one_address_it_is_told_to_wait(self, stack: SecuredStack) -> None:
        for n in range(3):
            wrong = basic(UUID(int=n))
            assert stack.refusal(INVOICES, wrong, address="203.0.113.9").code != "rate_limited"
        refusal = stack.refusal(INVOICES, basic(UUID(int=9)), address="203.0.113.9")
        assert (type(refusal), refusal.detail) == (errors.TooMany, {"retry_after_seconds": 60})
        other = stack.refusal(INVOICES, basic(UUID(int=9)), address="203.0.113.10")
        assert other.code == "invalid_credentials"

    def test_after_many_for_one_partner_it_is_told_to_wait(self, stack: SecuredStack) -> None:
        wrong = basic(password="x")
        for n in range(3):
            stack.refusal(INVOICES, wrong, address=f"203.0.113.{n}")
        assert stack.refusal(INVOICES, wrong, address="203.0.113.9").code == "rate_limited"

    def test_the_right_key_still_opens(self, stack: SecuredStack) -> None:
        for _ in range(10):
            stack.refusal(INVOICES, basic(password="x"), address="203.0.113.9")
        assert stack.get(INVOICES, basic(), address="203.0.113.9")["caller"].partner_id == PARTNER

    def test_bad_tokens_are_not_logins(self, stack: SecuredStack) -> None:
        for _ in range(10):
            assert stack.refusal(INVOICES, "Bearer x", address="a").code == "invalid_token"


class TestLimits:
    def test_the_remaining_limit_is_in_answers_to_a_known_caller(self, stack: SecuredStack) -> None:
        lines = dict(stack.get("/v1/businesses/", partner_token())["limits"])
        assert lines == {
            b"ratelimit": b'"partner";r=19;t=60',
            b"ratelimit-policy": b'"partner";q=20;w=60',
        }
        lines = dict(
            stack.get(INVOICES.replace(str(BUSINESS), str(BUSINESS).upper()), business_token())[
                "limits"
            ]
        )
        assert lines == {
            b"ratelimit": b'"partner";r=18;t=60, "business";r=9;t=60',
            b"ratelimit-policy": b'"partner";q=20;w=60, "business";q=10;w=60',
        }

    def test_a_business_ends_before_its_partner(self, stack: SecuredStack) -> None:
        for _ in range(10):
            stack.get(INVOICES, business_token())
        refusal = stack.refusal(INVOICES, basic())
        assert (type(refusal), refusal.code) == (errors.TooMany, "rate_limited")
        assert refusal.message.startswith("The business has used its 10 requests")
        assert refusal.detail == {"retry_after_seconds": 60}
        for _ in range(10):  # Refused requests do not count.
            stack.get("/v1/businesses/", basic())
        assert stack.refusal("/v1/businesses/", basic()).message.startswith("The partner has used")

    def test_a_refused_request_counts_against_no_limit(self, stack: SecuredStack) -> None:
        for _ in range(30):
            stack.refusal(INVOICES.replace(str(BUSINESS), str(FOREIGN)), partner_token())
            stack.refusal("/v1/businesses/", business_token())
        assert dict(stack.get("/v1/businesses/", basic())["limits"])[b"ratelimit"].startswith(
            b'"partner";r=19;'
        )


class TestContract:
    @pytest.mark.parametrize(
        "security",
        [
            [{}],
            [{"PartnerToken": []}, {}],
            [{"PartnerToken": [], "PartnerKey": []}],
            [{"Cookie": []}],
            [{"PartnerToken": []}, {"Portal": []}],
        ],
    )
    def test_security_that_nobody_can_meet_as_meant_does_not_start(
        self, security: list[dict[str, list[str]]]
    ) -> None:
        document = contract(
            {"/v1/open/": operation("open", security)},
            Cookie={"type": "apiKey", "in": "cookie", "name": "c"},
            Portal={"type": "http", "scheme": "bearer", "x-token-kind": "portal"},
        )
        with pytest.raises(ContractError):
            SecuredStack(document).get("/v1/open/", partner_token())

    def test_a_business_open_to_everybody_does_not_start(self) -> None:
        document = contract({"/v1/{business_id}/": operation("open", [])})
        with pytest.raises(ContractError, match="does not say who may call it"):
            SecuredStack(document).get(f"/v1/{BUSINESS}/")

    def test_security_for_the_whole_document_holds_where_an_operation_is_silent(self) -> None:
        document = contract({"/v1/open/": operation("open", [])})
        del document["paths"]["/v1/open/"]["get"]["security"]
        document["security"] = [{"PartnerToken": []}]
        stack = SecuredStack(document)
        assert stack.refusal("/v1/open/").code == "authentication_required"
        assert stack.get("/v1/open/", partner_token())["caller"].partner_id == PARTNER
