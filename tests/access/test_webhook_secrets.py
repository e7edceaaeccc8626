"""Secrets of webhook endpoints: sealing, rotation of the ring, and Standard Webhooks' vector."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest
from standardwebhooks import Webhook

from access.master_secrets import MasterSecret
from access.webhook_secrets import (
    SecretVault,
    UnreadableSecret,
    make_webhook_secret,
    signature,
)

OLD = MasterSecret("old", bytes(range(32)))
NEW = MasterSecret("new", bytes(range(32, 64)))
ENDPOINT = uuid4()


class TestSecretVault:
    def test_opens_what_it_sealed(self) -> None:
        secret = make_webhook_secret()
        stored = SecretVault([NEW, OLD]).seal(secret, ENDPOINT)
        assert stored.key_name == "new"
        assert secret.encode() not in stored.sealed
        assert secret not in repr(stored)
        assert SecretVault([NEW]).open(stored, ENDPOINT) == secret

    def test_seals_one_secret_differently_each_time(self) -> None:
        vault = SecretVault([NEW])
        assert vault.seal("whsec_a", ENDPOINT) != vault.seal("whsec_a", ENDPOINT)

    def test_opens_what_an_older_master_secret_sealed(self) -> None:
        stored = SecretVault([OLD]).seal("whsec_a", ENDPOINT)
        assert SecretVault([NEW, OLD]).open(stored, ENDPOINT) == "whsec_a"

    def test_opens_nothing_under_a_secret_that_has_left_the_ring(self) -> None:
        stored = SecretVault([OLD]).seal("whsec_a", ENDPOINT)
        with pytest.raises(UnreadableSecret, match="old"):
            SecretVault([NEW]).open(stored, ENDPOINT)
        with pytest.raises(UnreadableSecret, match="changed"):
            SecretVault([NEW]).open(replace(stored, key_name="new"), ENDPOINT)

    def test_opens_nothing_for_another_endpoint_or_of_changed_bytes(self) -> None:
        vault = SecretVault([NEW])
        stored = vault.seal("whsec_a", ENDPOINT)
        changed = stored.sealed[:-1] + bytes([stored.sealed[-1] ^ 1])
        with pytest.raises(UnreadableSecret):
            vault.open(stored, uuid4())
        with pytest.raises(UnreadableSecret):
            vault.open(replace(stored, sealed=changed), ENDPOINT)

    def test_opens_the_newest_without_an_old_one_that_nobody_can_read(self) -> None:
        gone, kept = (SecretVault([each]).seal("whsec_a", ENDPOINT) for each in (OLD, NEW))
        assert SecretVault([NEW]).open_valid([kept, gone], ENDPOINT) == ["whsec_a"]
        assert SecretVault([NEW, OLD]).open_valid([kept, gone], ENDPOINT) == ["whsec_a"] * 2
        with pytest.raises(UnreadableSecret):
            SecretVault([NEW]).open_valid([gone, kept], ENDPOINT)


class TestSignature:
    def test_is_that_of_the_published_vector(self) -> None:
        # Standard Webhooks 1.0.0.
        at = datetime.fromtimestamp(1614265330, UTC)
        made = signature(
            ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at,
            '{"test": 2432232314}',
        )
        assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    def test_is_the_same_in_every_time_zone(self) -> None:
        at = datetime(2026, 7, 1, 12, tzinfo=UTC)
        there = at.astimezone(timezone(timedelta(hours=9)))
        assert signature(["whsec_aaaa"], "1", at, "{}") == signature(
            ["whsec_aaaa"], "1", there, "{}"
        )

    def test_has_one_for_each_secret_and_each_receiver_accepts_it(self) -> None:
        first, second = make_webhook_secret(), make_webhook_secret()
        now = datetime.now(UTC)
        headers = {
            "webhook-id": "1",
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signature([first, second], "1", now, '{"type":"ping"}'),
        }
        for secret in (first, second):
            assert Webhook(secret).verify('{"type":"ping"}', headers) == {"type": "ping"}
