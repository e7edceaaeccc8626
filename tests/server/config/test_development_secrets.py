import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from access.tokens import Keyring
from server.config import development_secrets, settings
from server.config.settings import SettingsError


def faults(environ: dict[str, str], *, development: bool = False) -> str:
    with pytest.raises(SettingsError) as caught:
        settings.load(environ, development=development)
    return str(caught.value)


class TestReadOrMake:
    @pytest.fixture
    def bare(self, tmp_path: Path) -> dict[str, str]:
        return {"ACCOUNTING_DATA_DIR": str(tmp_path / "deep" / "data")}

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "deep" / "data" / "development-secrets"

    def test_secrets_are_made_once_and_kept(self, bare: dict[str, str], file: Path) -> None:
        first = settings.load(bare, development=True).secrets
        assert settings.load(bare, development=True).secrets == first
        assert Keyring(first)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert [path.name for path in file.parent.iterdir()] == [file.name]

    def test_given_ones_win(self, bare: dict[str, str], file: Path) -> None:
        bare["ACCOUNTING_SECRET_KEYS"] = "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        assert settings.load(bare, development=True).secrets[0].name == "a"
        assert not file.parent.exists()

    def test_production_does_not_use_them(self, bare: dict[str, str]) -> None:
        settings.load(bare, development=True)
        assert "is required" in faults(bare)

    def test_many_at_once_agree(self, file: Path) -> None:
        with ThreadPoolExecutor(16) as pool:
            rings = set(pool.map(development_secrets.read_or_make, [file.parent] * 64))
        assert len(rings) == 1

    def test_a_file_open_to_others_is_refused(self, bare: dict[str, str], file: Path) -> None:
        settings.load(bare, development=True)
        file.chmod(0o640)
        assert "only its owner can read" in faults(bare, development=True)

    def test_a_link_is_refused(self, bare: dict[str, str], file: Path, tmp_path: Path) -> None:
        settings.load(bare, development=True)
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
        assert "cannot be kept" in faults(bare, development=True)

    @pytest.mark.parametrize("content", ["", "nonsense", "a:short", "\xff"])
    def test_a_damaged_file_is_told(self, bare: dict[str, str], file: Path, content: str) -> None:
        settings.load(bare, development=True)
        file.write_bytes(content.encode("latin-1"))
        told = faults(bare, development=True)
        assert "development secret" in told
        assert f"remove {file}" in told

    def test_a_folder_that_cannot_be_made_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        bare = {"ACCOUNTING_DATA_DIR": str(tmp_path / "file" / "data")}
        assert "cannot be kept" in faults(bare, development=True)
