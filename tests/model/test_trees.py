"""Trees of names: how they are written, and filled with what the names stand for."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.results import Leaf, Result
from explorer.model.trees import (
    Branch,
    Tree,
    alike,
    branch,
    fill,
    leaves,
    left_out,
    names_in,
    render,
    tree_of,
)

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


Pair = namedtuple("Pair", ["loss", "state"])


@dataclass
class Output:
    loss: object
    state: object = None


RETURNED = (1.0, [2.0, {"k": 3.0}], None, Pair(4.0, None), Output(5.0))


def test_a_tree_nests_as_the_call_did_whatever_the_containers() -> None:
    tree = tree_of(RETURNED, "abcde")
    assert (
        render(tree)
        == "(a, [b, {'k': c}], None, Pair(loss=d, state=None), Output(loss=e, state=None))"
    )
    assert list(leaves(RETURNED)) == [1, 2, 3, 4, 5]
    assert names_in(tree) == tuple("abcde")
    nested = fill(tree, (1, 2, 3, 4, 5))
    assert nested == (
        1,
        [2, {"k": 3}],
        None,
        {"loss": 4, "state": None},
        {"loss": 5, "state": None},
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((1, [2, 3]), [1, (2, 3)], True),
        ({"a": 1, "b": 2}, (1, 2), True),
        ({"a": 1, "b": 2}, {"b": 1, "a": 2}, False),
        ((1, (2, 3)), (1, 2, 3), False),
        ((1, None), (1,), False),
        ((1, None), (1, 2), False),
    ],
)
def test_trees_are_alike_when_they_nest_alike(one: object, other: object, same: bool) -> None:
    assert alike(tree_of(one, "xyz"), tree_of(other, "xyz")) is same


class Cache:
    """An object in which nobody looks for tensors."""


def test_objects_with_keys_beside_tensors_are_left_out_and_named() -> None:
    array = np.ones(2)
    returned = OrderedDict(logits=array, loss=1.5, cache=Cache(), note="text", absent=None)
    assert list(leaves(returned)) == [array, 1.5]
    tree = tree_of(returned, ("a", "b"))
    assert render(tree) == "{'logits': a, 'loss': b, 'absent': None}"
    assert left_out(returned) == {"cache": "Cache", "note": "str"}
    nested = (array, {"inner": {"cache": Cache()}, "y": array})
    assert left_out(nested) == {"cache": "Cache"}
    assert len(list(leaves(nested))) == 2


def test_an_object_that_has_no_key_is_still_a_leaf_which_engines_refuse() -> None:
    cache = Cache()
    assert list(leaves((1.0, cache))) == [1.0, cache]
    assert left_out((1.0, cache)) == {}
