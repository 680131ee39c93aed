"""Gradients of MindSpore's parameters in the pieces of PyTorch's."""

import numpy as np

from explorer.engines.repacking import repacked
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.requests import Repacked
from explorer.model.results import Leaf
from explorer.model.trees import branch

ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)

JOINED = Repacked({"qkv[0:4]": (4, 2), "qkv[4:6]": (2, 2)}, {"qkv": (6, 2)})
SPLIT = Repacked({"q + k": (6, 2)}, {"q": (4, 2), "k": (2, 1, 2)})


def leaf(name: str, array: AnyArray) -> Leaf:
    return Leaf(name, pack(array))


def arrays(leaves: tuple[Leaf, ...]) -> dict[str, list[object]]:
    return {leaf.name: unpack(leaf.value).tolist() for leaf in leaves}


def test_parts_become_the_whole_where_they_follow_each_other() -> None:
    leaves = (leaf("dx", ROWS[:1]), leaf("dqkv[0:4]", ROWS[:4]), leaf("dqkv[4:6]", ROWS[4:]))
    tree, found = repacked(branch("dx", branch("dqkv[0:4]", "dqkv[4:6]")), leaves, [JOINED])
    assert tree == branch("dx", branch("dqkv"))
    assert arrays(found) == {"dx": ROWS[:1].tolist(), "dqkv": ROWS.tolist()}


def test_a_whole_becomes_parts_of_their_shapes() -> None:
    leaves = (leaf("dw", ROWS[:1]), leaf("dq + k", ROWS), leaf("db", ROWS[:1]))
    tree, found = repacked(branch("dw", "dq + k", "db"), leaves, [SPLIT])
    assert tree == branch("dw", "dq", "dk", "db")
    assert arrays(found) == {
        "dw": ROWS[:1].tolist(),
        "dq": ROWS[:4].tolist(),
        "dk": ROWS[4:].reshape(2, 1, 2).tolist(),
        "db": ROWS[:1].tolist(),
    }


def test_a_result_without_all_parts_stays_as_it_is() -> None:
    leaves = (leaf("dx", ROWS[:1]), leaf("dqkv[0:4]", ROWS[:4]))
    tree = branch("dx", "dqkv[0:4]")
    assert repacked(tree, leaves, [JOINED, SPLIT]) == (tree, leaves)
    assert repacked("dx", leaves[:1], [JOINED]) == ("dx", leaves[:1])
