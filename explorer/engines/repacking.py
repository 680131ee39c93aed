"""Results of MindSpore's net in the pieces in which PyTorch's net holds its parameters."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from explorer.model.arrays import pack, unpack
from explorer.model.requests import Repacked
from explorer.model.results import Leaf
from explorer.model.trees import Branch, Tree


def repacked(
    tree: Tree, leaves: Sequence[Leaf], pieces: Iterable[Repacked]
) -> tuple[Tree, tuple[Leaf, ...]]:
    """A result's names and leaves with the gradients of parameters joined or split as in PyTorch."""
    for piece in pieces:
        own = [f"d{name}" for name in piece.own]
        torch = {f"d{name}": shape for name, shape in piece.torch.items()}
        places = [place for place, leaf in enumerate(leaves) if leaf.name in own]
        # A call that differentiates the first weight alone has none of them.
        if len(places) != len(own):
            continue
        joined = _in_pieces([leaves[place] for place in places], torch)
        first = places[0]
        leaves = [*leaves[:first], *joined, *leaves[first + len(places) :]]
        tree = _with_names(tree, own, tuple(torch))
    return tree, tuple(leaves)


def _in_pieces(leaves: Sequence[Leaf], shapes: Mapping[str, tuple[int, ...]]) -> list[Leaf]:
    dtype = leaves[0].value.dtype
    rows_shape = next(iter(shapes.values()))[1:]
    rows = np.concatenate([unpack(leaf.value).reshape(-1, *rows_shape) for leaf in leaves])
    pieces, start = [], 0
    for name, shape in shapes.items():
        piece = rows[start : start + shape[0]].reshape(shape)
        pieces.append(Leaf(name, pack(piece, dtype)))
        start += shape[0]
    return pieces


def _with_names(tree: Tree, own: Sequence[str], torch: tuple[str, ...]) -> Tree:
    """The tree with PyTorch's names in the place of MindSpore's, which follow each other."""
    if not isinstance(tree, Branch):
        return tree
    parts: list[Tree] = []
    for part in tree.parts:
        if part == own[0]:
            parts += torch
        elif part not in own:
            parts.append(_with_names(part, own, torch))
    return Branch(tuple(parts), tree.kind, tree.keys)
