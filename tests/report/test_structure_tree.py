"""The tree of an answer's structure: a tensor, a tuple of one, and what has keys look different."""

import numpy as np
import pytest

from explorer.model.arrays import AnyArray
from explorer.model.trees import Branch, Tree, branch, names_in
from explorer.report.scenario.case_rows import structure_tree
from tests.support.results import answer

ARRAYS: dict[str, AnyArray] = {"dx": np.zeros((2, 3), np.float32), "out": np.array(1.0)}


@pytest.mark.parametrize(
    ("structure", "lines"),
    [
        ("dx", ["dx  2×3 float32"]),
        (branch("dx"), ["tuple of 1 part", "└─ dx  2×3 float32"]),
        (
            branch(branch("dx", None), "out"),
            [
                "tuple of 2 parts",
                "├─ tuple of 2 parts",
                "│  ├─ dx  2×3 float32",
                "│  └─ None",
                "└─ out  scalar float64",
            ],
        ),
        (Branch(("dx",), "dict", ("loss",)), ["dict of 1 part", "└─ loss: dx  2×3 float32"]),
    ],
)
def test_a_structure_is_a_tree(structure: Tree, lines: list[str]) -> None:
    arrays = [ARRAYS[name] for name in names_in(structure)]
    assert structure_tree(answer(*arrays, structure=structure)).split("\n") == lines
