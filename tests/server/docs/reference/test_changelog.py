import re

from server.docs.reference.changelog import changelog, for_partners
from server.docs.reference.site import static

RELEASE = """

### Added

- **Codes**: `create_tax_code`, and
  more.
- Operators: a setting, and
  another.
- Rates.

### Fixed

- Operators: a leak.

### Changed

- Dates.

### Operators

- Operators: a command.
"""


class TestForPartners:
    def test_entries_for_operators_are_left_out_with_headings_that_have_no_others(self) -> None:
        assert for_partners(RELEASE) == (
            "### Added\n\n- **Codes**: `create_tax_code`, and\n  more.\n- Rates.\n\n"
            "### Changed\n\n- Dates."
        )

    def test_a_release_for_operators_only_has_no_text(self) -> None:
        assert for_partners("\n### Fixed\n\n- Operators: a leak.\n") == ""

    def test_a_plain_sentence_stays(self) -> None:
        assert for_partners("\nCorrections.\n\n### Fixed\n\n- A bug.\n") == (
            "Corrections.\n\n### Fixed\n\n- A bug."
        )


class TestChangelog:
    def test_the_page_has_all_entries_but_those_for_operators(self) -> None:
        whole = static("changelog.md")
        entries = re.findall(r"^- .*$", whole, re.MULTILINE)
        shown = "\n".join(text for _, text in dict(changelog(whole)).values())
        left_out = [entry for entry in entries if entry not in shown]
        assert left_out == [entry for entry in entries if entry.startswith("- Operators")]
        assert left_out
        assert "Operators" not in shown

    def test_anchors_are_versions(self) -> None:
        found = dict(changelog("# Log\n\n## 1.3.2 - 2026-11-20\n\n- A bug.\n"))
        assert found == {"version-1-3-2": ("1.3.2 - 2026-11-20", "- A bug.")}
