"""Marks that a gradient call leaves in a program: what it differentiates, its loss, its gradients."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jax._src import core

from explorer.engines.jax.optimizers import Link
from explorer.model.trace import StartRole

NoteKind = Literal["given", "begins", "loss", "aux", "gradients", "held"]
"""What marked arrays are.

- "given": arguments that are not differentiated
- "begins": arguments that are, when a forward begins
- "loss": what it has returned
- "aux": what it has returned beside, by the paths of arguments that were not differentiated
- "gradients": those of the arguments, in the same order
- "held": what an optimizer has made to be held
"""


@dataclass(frozen=True)
class Note:
    """What a mark says of its operands, by their order; an array without a name is not spoken of.

    Arguments that are given have ``paths`` beside their names, by which they are found in what comes back;
    what is held has the ``chain`` of optax that has made it.
    """

    kind: NoteKind
    names: tuple[str | None, ...]
    roles: tuple[StartRole, ...] = ()
    paths: tuple[str, ...] = ()
    chain: Sequence[Link] = field(default=(), compare=False)


MARK = core.Primitive("mark")
MARK.multiple_results = True
MARK.def_impl(lambda *operands, note: list(operands))
MARK.def_abstract_eval(lambda *operands, note: list(operands))


def marked(note: Note, values: Sequence[Any]) -> list[Any]:
    """The same values, of which whoever gets the operation knows what they are."""
    return list(MARK.bind(*values, note=note)) if values else []
