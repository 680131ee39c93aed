"""The remedy for what is missing: a pip line with the version that the explorer is tried with."""

import importlib.metadata
import re

import pytest

from explorer.exploration import doctor
from explorer.exploration.doctor import PACKAGES, pins, remedy
from explorer.model.engines import FRAMEWORKS
from explorer.shipped import requirements_file


def test_every_requirement_is_read_with_its_pin_for_each_python() -> None:
    file = requirements_file()
    assert file
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    names = {re.split("=", line)[0] for line in lines}
    assert set(pins((3, 10))) == set(pins((3, 11))) == set(pins((3, 12))) == names
    assert {*PACKAGES, *FRAMEWORKS} <= names


def test_a_remedy_pins_the_version_for_this_python() -> None:
    assert remedy("mindspore") == 'python -m pip install "mindspore==2.10.0"'
    assert pins((3, 10))["streamlit"] != pins((3, 11))["streamlit"]


def test_once_installed_the_package_s_metadata_says_what_is_pinned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metadata = [
        "torch==2.13.0",
        'networkx==3.4.2; python_version < "3.11"',
        "networkx==3.6.1 ; python_version >= '3.11'",
        "distributed==2026.8.0; extra == 'cluster'",
    ]
    monkeypatch.setattr(doctor, "requirements_file", lambda: None)
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: metadata)
    assert pins((3, 10)) == {"torch": "torch==2.13.0", "networkx": "networkx==3.4.2"}
    assert pins((3, 12)) == {"torch": "torch==2.13.0", "networkx": "networkx==3.6.1"}


def test_where_nothing_says_a_version_the_remedy_names_the_package_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_installed(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "requirements_file", lambda: None)
    monkeypatch.setattr(importlib.metadata, "requires", not_installed)
    assert remedy("torch") == 'python -m pip install "torch"'
