"""The product as a package: its modules come from this tree, and its files name no machine."""

import importlib
import re
import subprocess
import tomllib
from importlib.metadata import entry_points, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from server.contract.document import parse, read_source
from server.docs.reference.site import static

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
NOT_INSTALLED = ("tools.bench", "tools.clients")
LOCKS = (
    "requirements.lock",
    "requirements-traces.lock",
    "requirements-dev.lock",
    "requirements-bench.lock",
    "requirements-clients.lock",
    "package-lock.json",
)


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def pins(lock: str) -> dict[str, str]:
    """Return the version of each package in a lock file."""
    text = (ROOT / lock).read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, re.M))


class TestPackages:
    @pytest.mark.parametrize("name", PACKAGES)
    def test_each_comes_from_this_tree(self, name: str) -> None:
        found = importlib.import_module(name).__file__
        assert found is not None
        assert Path(found).parent == ROOT.joinpath(*name.split("."))

    def test_none_is_left_out(self) -> None:
        roots = {name.split(".")[0] for name in PACKAGES}
        here = {
            ".".join(file.parent.relative_to(ROOT).parts)
            for root in roots
            for file in (ROOT / root).rglob("__init__.py")
        }
        not_installed = {each for each in here if "tests" in each or each.startswith(NOT_INSTALLED)}
        assert here - not_installed == set(PACKAGES)

    def test_the_contract_lies_beside_its_package(self) -> None:
        assert read_source() == (ROOT / "openapi" / "accounting.yaml").read_bytes()

    def test_the_changelog_lies_beside_the_pages_that_show_it(self) -> None:
        assert static("changelog.md") == (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    def test_its_version_is_that_of_the_contract(self) -> None:
        assert PROJECT["project"]["version"] == parse(read_source())["info"]["version"]

    def test_the_command_is_installed(self) -> None:
        [command] = entry_points(group="console_scripts", name="accounting")
        assert command.value == "cli:main"

    def test_it_is_never_uploaded(self) -> None:
        assert "Private :: Do Not Upload" in PROJECT["project"]["classifiers"]


class TestLocks:
    @pytest.mark.parametrize("name", LOCKS)
    def test_a_lock_names_no_address(self, name: str) -> None:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(
            r'--(extra-)?index-url|--find-links|"resolved"|\bhttps?://\S+\.(whl|tgz)', text
        )

    @pytest.mark.parametrize("name", LOCKS[:3])
    def test_everything_is_pinned_and_hashed(self, name: str) -> None:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if line and not line.startswith((" ", "#"))]
        assert all(re.match(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==", pin) for pin in pins)
        assert all(pin.endswith("\\") for pin in pins)

    def test_what_runs_is_locked_alike_for_developers(self) -> None:
        server, traced, developer = (pins(name) for name in LOCKS[:3])
        assert server.items() <= traced.items() <= developer.items()

    def test_all_that_makes_traces_is_locked(self) -> None:
        locked, wanted = pins("requirements-traces.lock"), PROJECT["project"]
        left = [Requirement(told) for told in wanted["optional-dependencies"]["traces"]]
        seen = set[str]()
        while left:
            name = canonicalize_name(left.pop().name)
            if name not in seen:
                seen.add(name)
                told = [Requirement(each) for each in requires(name) or []]
                left += [each for each in told if each.marker is None or each.marker.evaluate()]
        assert seen <= locked.keys()
        assert len(seen) > len(wanted["optional-dependencies"]["traces"])


class TestImage:
    def test_all_that_is_installed_goes_into_it(self) -> None:
        lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        let_in = {line[1:] for line in lines if line.startswith("!")}
        roots = {name.split(".")[0] for name in PACKAGES} - {"tools"}
        tools = {"tools/__init__.py", "tools/verify"}
        assert let_in == {"pyproject.toml", "CHANGELOG.md", *LOCKS[:2], *roots, *tools}

    @pytest.mark.parametrize(("extra", "lock"), [("", LOCKS[0]), ("traces", LOCKS[1])])
    def test_an_extra_brings_its_lock(self, extra: str, lock: str) -> None:
        text = (ROOT / "Dockerfile").read_text("utf-8")
        assert f"COPY {' '.join(LOCKS[:2])} ./" in text
        [named] = re.findall(r'-r ("requirements.+lock")', text)
        words = ["sh", "-uc", f"printf %s {named}"]
        told = subprocess.run(words, env={"EXTRA": extra}, capture_output=True, check=True)
        assert told.stdout.decode() == lock

    def test_the_server_is_not_root_in_it(self) -> None:
        users = re.findall(r"^USER (.+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
        assert users
        assert int(users[-1]) > 0


class TestMakefile:
    @pytest.mark.parametrize(
        ("verb", "command"),
        [
            ("run", "accounting demo --serve"),
            ("serve", "accounting serve --development"),
            ("mock", "accounting.mock.yaml"),
        ],
    )
    @pytest.mark.parametrize(("given", "port"), [([], "8000"), (["PORT=8001"], "8001")])
    def test_a_server_takes_the_port_that_make_is_given(
        self, verb: str, command: str, given: list[str], port: str
    ) -> None:
        planned = subprocess.run(
            ["make", "--dry-run", verb, *given],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"{command} --port {port}\n" in planned.stdout


class TestTrackedFiles:
    def test_none_names_the_place_it_lies_at(self) -> None:
        here = f"{ROOT}/".encode()
        assert [name for name in tracked() if here in (ROOT / name).read_bytes()] == []
