"""Files that ship with the explorer are found in a checkout and in an installed package."""

from pathlib import Path

import pytest

from explorer import shipped


def test_in_a_checkout_they_lie_beside_the_package() -> None:
    assert shipped.scenarios_folder() == shipped.PACKAGE.parent / "scenarios"
    assert (shipped.scenarios_folder() / "dense_mse.py").is_file()
    assert shipped.requirements_file() == shipped.PACKAGE.parent / "requirements.txt"


def test_once_installed_scenarios_lie_inside_and_no_requirements_are_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "explorer"
    (package / "scenarios").mkdir(parents=True)
    (package.parent / "requirements.txt").write_text("somebody==1.0\n")
    monkeypatch.setattr(shipped, "PACKAGE", package)
    assert shipped.scenarios_folder() == package / "scenarios"
    assert shipped.requirements_file() is None
