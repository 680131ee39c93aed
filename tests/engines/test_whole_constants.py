"""Constants of compiled programs in full: those of the protocol buffer in the place of six digits."""

import json
import sys

import numpy as np
import pytest

from tests.support.command_line import ROOT, ran

pytestmark = pytest.mark.mindspore

SINGLE = float(np.float32(2**0.5))


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    command = [sys.executable, str(ROOT / "tests" / "nets" / "whole_constants.py")]
    read: dict[str, str] = json.loads(ran(*command).stdout.splitlines()[-1])
    return read


def test_a_constant_has_all_of_its_digits(texts: dict[str, str]) -> None:
    assert texts["single"] == f"Tensor(value={SINGLE!r})\n"


def test_the_number_in_double_precision_comes_before_its_rounding(texts: dict[str, str]) -> None:
    assert texts["double"] == f"F64({2**0.5!r})\n"


def test_constants_that_share_six_digits_stay_as_they_are(texts: dict[str, str]) -> None:
    assert texts["shared"] == "F32(1.41421)\n"


def test_lines_of_the_source_and_values_of_parameters_are_left_alone(texts: dict[str, str]) -> None:
    assert "1.41421/" in texts["source"]
    assert texts["weight"] == "F32(0.333333)\n"
