"""Accepted and refused releases in a clone of this repository."""

import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from server.contract.document import parse
from server.contract.published import published
from tests.contract.released import newest, number_of
from tests.release import (
    CHANGELOG,
    CONTRACT,
    RELEASED,
    VERSIONS,
    ReleaseError,
    git,
    read,
    release,
)
from tests.test_packaging import ROOT, tracked

DAY = date(2027, 1, 31)
WORDS = "- **Something new** that partners notice.\n"


def above(step: int) -> str:
    """Return a version above the last one: the next major for 0, minor for 1, patch for 2."""
    numbers = list(number_of(newest().stem))
    numbers[step] += 1
    return ".".join(map(str, [*numbers[: step + 1], *[0] * (2 - step)]))


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with the present files, all committed, and one line to release."""
    folder = tmp_path_factory.mktemp("release") / "clone"
    words = ["git", "clone", "--quiet", "--no-tags", ROOT, folder]
    subprocess.run(words, check=True, capture_output=True)
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    before, _, after = read(folder, CHANGELOG).partition("\n## ")
    unreleased = after.partition("\n")[0] == "Unreleased"
    section = after if unreleased else f"Unreleased\n\n{WORDS}\n## {after}"
    (folder / CHANGELOG).write_text(f"{before}\n## {section}", encoding="utf-8")
    return committed(folder)


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> Path:
    return cloned(origin, tmp_path / "clone")


@pytest.fixture(scope="module")
def standing(origin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone for refusals, each of which leaves it unchanged."""
    return cloned(origin, tmp_path_factory.mktemp("standing") / "clone")


@pytest.fixture(scope="module")
def released(origin: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A clone with a released version."""
    folder, version = cloned(origin, tmp_path_factory.mktemp("released") / "clone"), above(1)
    release(folder, version, DAY)
    return folder, version


def cloned(origin: Path, folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", origin, folder], check=True, capture_output=True)
    return committed(folder)


def committed(folder: Path) -> Path:
    git(folder, "config", "user.name", "Somebody")
    git(folder, "config", "user.email", "somebody@example.com")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "As it is")
    return folder


def replaced(folder: Path, name: str, old: str, new: str) -> None:
    text = read(folder, name)
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def refused(folder: Path, version: str) -> str:
    """Return the message of a refusal, which leaves everything unchanged."""
    before = git(folder, "rev-parse", "HEAD"), git(folder, "status", "--porcelain")
    with pytest.raises(ReleaseError) as caught:
        release(folder, version, DAY)
    assert (git(folder, "rev-parse", "HEAD"), git(folder, "status", "--porcelain")) == before
    assert git(folder, "tag", "--list", f"v{version}") == ""
    return str(caught.value)


class TestRelease:
    def test_names_the_version_keeps_the_contract_commits_and_tags(
        self, released: tuple[Path, str]
    ) -> None:
        clone, version = released
        assert git(clone, "status", "--porcelain") == ""
        assert git(clone, "log", "-1", "--format=%s") == f"Release {version}"
        assert git(clone, "rev-parse", f"v{version}^{{commit}}") == git(clone, "rev-parse", "HEAD")
        assert f'\nversion = "{version}"\n' in read(clone, "pyproject.toml")
        assert f'"version": "{version}"' in read(clone, "tools/clients/typescript/package.json")
        contract = read(clone, CONTRACT).encode()
        assert parse(contract)["info"]["version"] == version
        assert (clone / RELEASED / f"{version}.yaml").read_bytes() == published(contract)
        assert f"\n## {version} - 2027-01-31\n" in read(clone, CHANGELOG)
        assert "## Unreleased" not in read(clone, CHANGELOG)

    def test_changes_nothing_else(self, released: tuple[Path, str]) -> None:
        clone, version = released
        changed = git(clone, "diff", "--name-only", "HEAD~1").splitlines()
        assert set(changed) == {*VERSIONS, CHANGELOG, f"{RELEASED}/{version}.yaml"}

    def test_twice_is_refused(self, released: tuple[Path, str]) -> None:
        clone, version = released
        with pytest.raises(ReleaseError, match="is not above"):
            release(clone, version, DAY)


class TestRefusals:
    def test_of_work_that_is_not_committed(self, clone: Path) -> None:
        (clone / "new.txt").write_text("New.", encoding="utf-8")
        assert refused(clone, above(1)) == "Commit or put away first:\n?? new.txt"

    @pytest.mark.parametrize("version", ["", "1.4", "v1.4.0", "1.4.0\n", "1.04.0", "newest"])
    def test_of_what_is_no_version(self, standing: Path, version: str) -> None:
        assert refused(standing, version).startswith("Say which: make release VERSION=")

    @pytest.mark.parametrize("version", [newest().stem, "0.9.9", "1.0.0"])
    def test_of_a_version_that_is_not_above_the_last(self, standing: Path, version: str) -> None:
        assert (
            refused(standing, version)
            == f"{version} is not above {newest().stem}, which is released."
        )

    @pytest.mark.parametrize("section", ["## Unreleased\n\n", ""])
    def test_of_nothing_to_tell(self, clone: Path, section: str) -> None:
        changelog = f"# Changelog\n\n{section}## 1.0.0 - 2026-11-20\n\n- **All** of it.\n"
        (clone / CHANGELOG).write_text(changelog, encoding="utf-8")
        committed(clone)
        assert refused(clone, above(1)) == "CHANGELOG.md has nothing under Unreleased."

    def test_of_what_breaks_clients_without_a_new_major_version(self, clone: Path) -> None:
        replaced(clone, CONTRACT, "operationId: get_integrity\n", "operationId: prove_books\n")
        committed(clone)
        words = refused(clone, above(1))
        assert "operationId: is prove_books, was get_integrity" in words
        assert words.endswith("That needs a new major version.")
        release(clone, above(0), DAY)

    def test_of_a_tag_that_is_there_already(self, clone: Path) -> None:
        version = above(1)
        git(clone, "tag", f"v{version}")
        with pytest.raises(ReleaseError, match=f"There is a tag v{version} already"):
            release(clone, version, DAY)
        assert git(clone, "status", "--porcelain") == ""
