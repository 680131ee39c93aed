"""The remedy for what is missing: a pip line with the version that the explorer is tried with."""

import re

import pytest

from explorer.exploration.doctor import PACKAGES
from explorer.model.engines import NEEDED
from explorer.shipped import requirements_file
from explorer.text import remedies
from explorer.text.remedies import pins, remedy


def test_every_requirement_is_read_with_its_pin_for_each_python() -> None:
    file = requirements_file()
    assert file
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    names = {re.split("=", line)[0] for line in lines}
    assert set(pins((3, 10))) == names
    # What Python itself has from 3.11 on.
    assert set(pins((3, 11))) == set(pins((3, 12))) == names - {"tomli"}
    assert {*PACKAGES, *NEEDED} <= names


def test_a_remedy_pins_the_version_for_this_python() -> None:
    assert remedy("mindspore") == 'python -m pip install "mindspore==2.10.0"'
    assert pins((3, 10))["streamlit"] != pins((3, 11))["streamlit"]


def test_once_installed_the_remedy_is_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remedies, "requirements_file", lambda: None)
    assert remedy("torch") == 'python -m pip install "autodiff-explorer[torch]"'
    assert remedy("vl_convert") == 'python -m pip install "autodiff-explorer[pictures]"'
    assert remedy("rich") == 'python -m pip install "rich"'
