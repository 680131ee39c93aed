"""The doctor's remedies: the pip line for what is missing, at the version that requirements.txt
pins.
"""

import re

from explorer.exploration.doctor import PACKAGES, REQUIREMENTS, pins, remedy
from explorer.model.engines import FRAMEWORKS


def test_every_requirement_is_read_with_its_pin_for_each_python() -> None:
    lines = [
        line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")
    ]
    names = {re.split("=", line)[0] for line in lines}
    assert set(pins((3, 10))) == set(pins((3, 11))) == set(pins((3, 12))) == names
    assert {*PACKAGES, *FRAMEWORKS} <= names


def test_a_remedy_pins_the_version_for_this_python() -> None:
    assert remedy("mindspore") == 'python -m pip install "mindspore==2.10.0"'
    assert pins((3, 10))["streamlit"] != pins((3, 11))["streamlit"]
