"""What the README says of speed is what the published run says."""

from bench.publish import README, RESULTS, written
from bench.results import load


class TestReadme:
    def test_its_table_is_that_of_the_published_run(self) -> None:
        text = README.read_text(encoding="utf-8")
        assert written(text, load(RESULTS) if RESULTS.exists() else None) == text
        assert text.count("<!-- /bench -->") == 1
