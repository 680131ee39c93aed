"""Trees of names: how they are written, and filled with what the names stand for."""

import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.results import Leaf, Result
from explorer.model.trees import Branch, Tree, branch, fill, names_in, render

NESTED = branch(branch("dx", branch("dw")), branch("loss"))


def test_a_tree_is_written_as_python_writes_tuples() -> None:
    assert render(NESTED) == "((dx, (dw,)), (loss,))"
    assert render("dx") == "dx"
    assert names_in(NESTED) == ("dx", "dw", "loss")


def test_names_may_hold_commas_and_parentheses() -> None:
    odd, plain = Leaf("d(a, b)", pack(np.zeros(1))), Leaf("dx", pack(np.ones(1)))
    structure = branch(odd.name, branch(plain.name))
    result = Result(outcome="ok", structure=structure, leaves=(odd, plain))
    assert result.nested == (odd, (plain,))


@pytest.mark.parametrize("tree", [branch(), branch("dx", "dy"), Branch((branch(), branch()))])
def test_a_tree_that_does_not_name_every_item_is_refused(tree: Tree) -> None:
    with pytest.raises(ValueError, match="1 are given"):
        fill(tree, ("item",))
