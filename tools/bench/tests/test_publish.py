"""RESULTS.md of the bench agrees with the published run."""

from tools.bench.publish import PAGE, published


class TestPage:
    def test_it_is_that_of_the_published_run(self) -> None:
        assert PAGE.read_text(encoding="utf-8") == published(), "run: make bench-publish"
