"""A plugin of pytest that names the running test to coverage, in every thread."""

import pytest
from coverage import Coverage


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    current = Coverage.current()
    if current is not None:
        current.switch_context(item.nodeid)
