"""What an op reads once its inputs are edited, in any framework."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from explorer.model.arrays import AnyArray, unpack
from explorer.model.causes import (
    Edits,
    FromNode,
    FromSlot,
    FromThere,
    Inserted,
    InsertOperator,
    Rewire,
    Zeros,
)

ValueOf = Callable[[str, int], Any]
"""The value of a node by its id and the place of the output; KeyError where there is none."""


class Tensors(NamedTuple):
    """How a framework changes its tensors.

    ``inserted`` are operators by name, ``zeros`` makes zeros like a tensor, and ``given`` one like it, in
    its dtype, of the elements of an array of its shape.
    """

    inserted: Mapping[Inserted, Callable[[Any, InsertOperator], Any]]
    zeros: Callable[[Any], Any]
    given: Callable[[Any, AnyArray], Any]


def edited_inputs(
    tensors: Sequence[Any], edits: Edits, value_of: ValueOf, framework: Tensors
) -> list[Any]:
    """The tensors that an op reads, with edits; raises what a change of one of them raises."""
    edited = list(tensors)
    for edit in edits:
        for slot in edit.slots if isinstance(edit, (InsertOperator, Rewire)) else ():
            value = tensors[slot]
            match edit:
                case InsertOperator(op=op):
                    edited[slot] = framework.inserted[op](edited[slot], edit)
                case Rewire(source=FromSlot(other)):
                    edited[slot] = tensors[other]
                case Rewire(source=FromNode(node, output)):
                    edited[slot] = value_of(node, output)
                case Rewire(source=FromThere(_, array)) if array is not None:
                    edited[slot] = framework.given(value, unpack(array).reshape(value.shape))
                case Rewire(source=Zeros()):
                    edited[slot] = framework.zeros(value)
                case _:
                    raise ValueError(f"{edit} has no value")
    return edited
