"""The package as a user gets it: built, installed in an environment, run from another folder."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from explorer import shipped
from explorer.text.remedies import EXTRAS
from tests.support.command_line import ROOT, ran
from tests.support.own_package import MINDSPORE, WRONG, WRONG_LINE, write_package

SITE_PACKAGES = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def test_in_a_checkout_shipped_files_lie_beside_the_package() -> None:
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


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is packaged: nothing is written beside the sources."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("explorer", "scenarios"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (
        "pyproject.toml",
        "requirements.txt",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "app.py",
    ):
        shutil.copy(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built by pip."""
    out = tmp_path_factory.mktemp("wheel")
    _run("pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", out, source)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def sdist(source: Path) -> Path:
    """A source distribution, built by hatchling."""
    _run("hatchling", "build", "--target", "sdist", cwd=source)
    (made,) = (source / "dist").glob("*.tar.gz")
    return made


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    words = [sys.executable, "-m", *map(str, command)]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def environment_with(distribution: Path, folder: Path) -> Path:
    """A new environment into which pip has installed a distribution.

    What that needs is borrowed from the tests' own, and pip sees that it is all there.
    """
    home = folder / "venv"
    # Without pip, which on some Pythons brings a setuptools that is too old for PyTorch.
    venv.create(home, with_pip=False)
    borrowed = next(path for path in sys.path if path.endswith("site-packages"))
    (home / SITE_PACKAGES / "borrowed.pth").write_text(f"{borrowed}\n", encoding="utf-8")
    into = ("--python", home / "bin" / "python")
    _run("pip", *into, "install", "--no-index", "--no-build-isolation", distribution)
    return home


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it."""
    return environment_with(wheel, tmp_path_factory.mktemp("environment"))


def run(
    home: Path, folder: Path, *arguments: str, program: str = "explorer"
) -> "subprocess.CompletedProcess[str]":
    """A program as it is installed, in a folder that knows nothing of the repository."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    there = home / "bin" / program
    return ran(there, *arguments, cwd=folder, env=environment, seconds=300, check=False)


@pytest.mark.whole
def test_a_wheel_holds_the_package_its_data_and_the_shipped_scenarios(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for path in (ROOT / "explorer").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in names
    for path in (ROOT / "scenarios").rglob("*.py"):
        assert f"explorer/{path.relative_to(ROOT).as_posix()}" in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


BOUND = re.compile(r"([\w.-]+)>=([\d.]+)(; python_version < '[\d.]+')?")
"""A requirement with a lower bound and nothing else, perhaps of some Pythons."""


def declared() -> dict[str, Any]:
    """The section of the project in pyproject.toml."""
    tomllib = pytest.importorskip("tomllib", reason="Python has it from 3.11 on")
    with (ROOT / "pyproject.toml").open("rb") as file:
        project: dict[str, Any] = tomllib.load(file)["project"]
    return project


def test_what_is_always_installed_has_lower_bounds_alone_which_were_tried_and_no_framework() -> (
    None
):
    floors = {}
    for line in (ROOT / "tests" / "floors.txt").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        if version:
            floors[name] = version
    bounds = {}
    for requirement in declared()["dependencies"]:
        match = BOUND.fullmatch(requirement)
        assert match, requirement
        bounds[match[1]] = match[2]
    assert bounds.keys() == floors.keys()
    for name, bound in bounds.items():
        assert floors[name] == bound or floors[name] == f"{bound}.0", name
    assert bounds.keys().isdisjoint({"mindspore", "torch", "keras", "scipy", "streamlit"})


def test_the_extra_all_pins_the_tried_pair_as_requirements_txt_does() -> None:
    pins = [one for one in declared()["optional-dependencies"]["all"] if "==" in one]
    assert {"mindspore", "torch", "numpy"} <= {pin.partition("==")[0] for pin in pins}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("#")[0].strip() for line in lines}  # without their reasons
    for pin in pins:
        assert pin.replace(" ;", ";") in pinned


def test_every_extra_that_a_remedy_names_is_there() -> None:
    assert set(EXTRAS.values()) <= declared()["optional-dependencies"].keys()


@pytest.mark.whole
def test_a_wheel_names_its_licence_its_script_and_every_requirement(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{info}/METADATA").decode()
        scripts = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert "License-Expression: Apache-2.0" in metadata
    assert "explorer = explorer.cli:main" in scripts
    for requirement in declared()["dependencies"]:
        assert f"Requires-Dist: {requirement}\n" in metadata
    for extra in declared()["optional-dependencies"]:
        assert f"Provides-Extra: {extra}" in metadata


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.sample
def test_the_installed_package_explores_a_scenario_from_any_folder(
    installed: Path, tmp_path: Path
) -> None:
    options = ("--cases", "structure", "--request-timeout", "300")
    explored = run(installed, tmp_path, "scenario", "dense_mse", *options)
    assert explored.returncode == 0, explored.stderr
    assert "all as expected" in explored.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.sample
def test_an_installed_source_distribution_explores_a_scenario_from_any_folder(
    sdist: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    home = environment_with(sdist, tmp_path_factory.mktemp("environment"))
    explored = run(home, tmp_path, "scenario", "dense_mse", "--cases", "main")
    assert explored.returncode == 0, explored.stderr
    assert "all as expected" in explored.stdout
    assert not list(tmp_path.iterdir())


PORT = f"""
import numpy as np
import explorer


def test_port():
    batch = {{"x": np.ones((2, 3), np.float32), "y": np.zeros((2, 1), np.float32)}}
    explorer.assert_same_gradients(mindspore="{MINDSPORE}", torch="{WRONG}", inputs=batch)
"""


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
def test_where_it_is_installed_pytest_knows_its_option_and_nets_of_installed_packages(
    installed: Path, tmp_path: Path
) -> None:
    write_package(installed / SITE_PACKAGES)
    (tmp_path / "test_port.py").write_text(PORT)
    options = ("-m", "pytest", "-q", "--explorer-report", "reports")
    done = run(installed, tmp_path, *options, program="python")
    assert "1 failed" in done.stdout, done.stdout + done.stderr
    assert f"torch_models.py:{WRONG_LINE}" in done.stdout
    (report,) = (tmp_path / "reports").iterdir()
    assert report.suffix == ".html"
