"""Stories of a business, and the comparison of all stored records."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.contract import story_things
from tests.contract.valid_requests import Story
from tests.partner import Partner


@pytest.fixture(scope="module")
def story(acme: Partner) -> Story:
    """A story with every record, for tests that change none of them."""
    return Story.whole(acme)


@pytest.fixture
def own_story(acme: Partner) -> Iterator[Story]:
    """A story for one test, which may change it."""
    story = Story.begin(acme)
    yield story
    if any("webhook" in name for name in story.ids):
        story_things.delete_webhook_endpoints(story)
    story.close()


@pytest.fixture
def nothing_kept(api_server: ApiServer) -> Iterator[None]:
    """Check that a test stores nothing."""
    before = api_server.stored()
    yield
    assert api_server.stored() == before
