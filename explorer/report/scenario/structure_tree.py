"""The structure of an answer drawn as a tree of text: a line for each container and each tensor."""

from collections.abc import Iterator

from explorer.model.results import Leaf, Result
from explorer.model.trees import Branch, Tree
from explorer.text.clean import clean
from explorer.text.numbers import counted

BRANCH, LAST_BRANCH = "├─ ", "└─ "
"""What stands before a part that others follow, and before the last one."""

RUNG, GAP = "│  ", "   "
"""What stands before the lines below such a part."""


def structure_tree(result: Result) -> str:
    """The tree of an answer with the shape and the dtype of each tensor.

    A tuple of one tensor and a bare tensor, which read alike in a hurry, look different in it.
    """
    leaves = iter(result.leaves)
    return "\n".join(_lines(result.structure, leaves, "", ""))


def _lines(tree: Tree, leaves: Iterator[Leaf], first: str, below: str) -> Iterator[str]:
    """The lines of a part: ``first`` stands before its own line, ``below`` before those under it."""
    if not isinstance(tree, Branch):
        yield first + _tensor(tree, leaves)
        return
    yield f"{first}{clean(tree.kind)} of {counted(len(tree.parts), 'part')}"
    for place, part in enumerate(tree.parts):
        is_last = place == len(tree.parts) - 1
        key = f"{clean(tree.keys[place])}: " if tree.keys else ""
        sign, further = (LAST_BRANCH, GAP) if is_last else (BRANCH, RUNG)
        yield from _lines(part, leaves, below + sign + key, below + further)


def _tensor(name: str | None, leaves: Iterator[Leaf]) -> str:
    if name is None:
        return "None"
    leaf = next(leaves, None)
    if leaf is None:
        return clean(name)
    shape = "×".join(map(str, leaf.value.shape)) or "scalar"
    return f"{clean(name)}  {shape} {leaf.value.dtype}"
