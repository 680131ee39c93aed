"""The tree of an answer's structure: a tensor, a tuple of one, and what has keys look different."""

import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.results import Leaf, Result
from explorer.model.trees import Branch, Tree, branch
from explorer.report.scenario.case_rows import structure_tree

DX, OUT = np.zeros((2, 3), np.float32), np.array(1.0)


@pytest.mark.parametrize(
    ("structure", "names", "lines"),
    [
        ("dx", ["dx"], ["dx  2×3 float32"]),
        (branch("dx"), ["dx"], ["tuple of 1 part", "└─ dx  2×3 float32"]),
        (
            branch(branch("dx", None), "out"),
            ["dx", "out"],
            [
                "tuple of 2 parts",
                "├─ tuple of 2 parts",
                "│  ├─ dx  2×3 float32",
                "│  └─ None",
                "└─ out  scalar float64",
            ],
        ),
        (
            Branch(("dx",), "dict", ("loss",)),
            ["dx"],
            ["dict of 1 part", "└─ loss: dx  2×3 float32"],
        ),
    ],
)
def test_a_structure_is_a_tree(structure: Tree, names: list[str], lines: list[str]) -> None:
    arrays = {"dx": DX, "out": OUT}
    leaves = tuple(Leaf(name, pack(arrays[name])) for name in names)
    result = Result(outcome="ok", structure=structure, leaves=leaves)
    assert structure_tree(result).split("\n") == lines
