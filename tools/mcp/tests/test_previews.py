"""The states of previews, without a server."""

from hashlib import sha256

import pytest

from tools.mcp.previews import LIFETIME_SECONDS, Preview, PreviewRefused, Previews


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def previews(clock: list[float]) -> Previews:
    return Previews(lambda: clock[0])


@pytest.fixture
def kept(previews: Previews) -> Preview:
    return previews.keep("commit_bill", "bills/", b'{"memo":"x"}', '"7"')


class TestPreview:
    def test_has_the_digest_of_its_bytes_and_a_key_of_its_id(self, kept: Preview) -> None:
        assert kept.digest == f"sha256:{sha256(kept.body).hexdigest()}"
        assert kept.headers == {"Idempotency-Key": f"mcp-{kept.id}", "If-Match": '"7"'}

    def test_ids_differ(self, previews: Previews, kept: Preview) -> None:
        assert previews.keep(kept.tool, kept.path, kept.body, None).id != kept.id


class TestTake:
    def test_of_one_that_is_being_committed_is_refused(
        self, previews: Previews, kept: Preview
    ) -> None:
        assert previews.take("commit_bill", kept.id) is kept
        with pytest.raises(PreviewRefused, match="is being committed"):
            previews.take("commit_bill", kept.id)

    def test_of_a_reopened_one_has_the_same_key_and_a_new_lifetime(
        self, previews: Previews, kept: Preview, clock: list[float]
    ) -> None:
        key = previews.take("commit_bill", kept.id).headers
        clock[0] = LIFETIME_SECONDS + 1
        previews.reopen(kept)
        clock[0] += LIFETIME_SECONDS
        assert previews.take("commit_bill", kept.id).headers == key

    def test_of_an_expired_one_is_refused(
        self, previews: Previews, kept: Preview, clock: list[float]
    ) -> None:
        clock[0] = LIFETIME_SECONDS + 0.1
        with pytest.raises(PreviewRefused, match="has expired after 15 minutes"):
            previews.take("commit_bill", kept.id)
