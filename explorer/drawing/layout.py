"""Places nodes with Graphviz in a child process, or in simple layers where that fails."""

import functools
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from explorer.drawing.picture import Point, Size
from explorer.drawing.structure import Link, Neighbours, layers, neighbours
from explorer.folders import caches
from explorer.store.keys import Key, digest_of_parts, key_of
from explorer.store.store import Store
from explorer.text.language import _
from explorer.text.remedies import remedy

# Boxes of a row


class Wish(msgspec.Struct, frozen=True):
    """The preferred place of a box in a row.

    ``centre`` is where its centre should be and ``size`` its length along the row, both in points.
    ``weight`` is how much it holds its place against others.
    """

    centre: float
    size: float
    weight: float = 1.0


class _Block(NamedTuple):
    """Boxes that touch: the place they share, the sum of their weights, and their number."""

    place: float
    weight: float
    members: int


def spread(wishes: Sequence[Wish], apart: float) -> list[float]:
    """The centres nearest to the preferred ones, with at least ``apart`` points between neighbours.

    The order of the boxes stays. Nearest means the least sum of squared distances, each times its
    weight. This is isotonic regression, by the pool-adjacent-violators algorithm; source: M. J.
    Best and N. Chakravarti, "Active set algorithms for isotonic regression", Mathematical
    Programming 47 (1990).
    """
    # Once the room that the boxes before it need is subtracted, a centre only has to be no smaller
    # than the one before: that is the isotonic regression which the algorithm solves.
    offsets = _offsets(wishes, apart)
    blocks: list[_Block] = []
    for wish, offset in zip(wishes, offsets, strict=True):
        block = _Block(wish.centre - offset, wish.weight, 1)
        # Boxes that would overlap move together from here on, to the mean of their wishes.
        while blocks and blocks[-1].place > block.place:
            block = _pooled(blocks.pop(), block)
        blocks.append(block)

    places: list[float] = []
    for block in blocks:
        places += [block.place] * block.members
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def _offsets(wishes: Sequence[Wish], apart: float) -> list[float]:
    """How far each centre is from the first when all boxes stand as close as they may."""
    offsets = [0.0] * len(wishes)
    for index in range(1, len(wishes)):
        distance = (wishes[index - 1].size + wishes[index].size) / 2 + apart
        offsets[index] = offsets[index - 1] + distance
    return offsets


def _pooled(first: _Block, second: _Block) -> _Block:
    weight = second.weight + first.weight
    place = (first.place * first.weight + second.place * second.weight) / weight
    return _Block(place, weight, first.members + second.members)


# Simple layers

SWEEPS = 4
"""Passes of ordering by barycentre; more change little."""


def layered(
    sizes: Mapping[str, Size],
    links: Sequence[Link],
    layer: Mapping[str, int],
    column_gap: float,
    row_gap: float,
) -> dict[str, Point]:
    """The centre of every node in points, y growing downwards.

    ``sizes`` are widths and heights; ``layer`` is the row of each node, counted from the top.
    ``column_gap`` is the least room between neighbours in a row, ``row_gap`` the room between rows.
    """
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for node in sizes:
        rows[layer[node]].append(node)

    before, after = neighbours(links)
    x = dict.fromkeys(sizes, 0.0)
    for sweep in range(SWEEPS):
        # Down the rows by the nodes above, then up the rows by the nodes below.
        upwards = sweep % 2 == 1
        for row in sorted(rows, reverse=upwards):
            _place_row(rows[row], after if upwards else before, x, sizes, column_gap)

    places = {}
    top = 0.0
    for row in sorted(rows):
        height = max(sizes[node][1] for node in rows[row])
        for node in rows[row]:
            places[node] = (x[node], top + height / 2)
        top += height + row_gap
    return places


def _place_row(
    row: list[str],
    near: Neighbours,
    x: dict[str, float],
    sizes: Mapping[str, Size],
    column_gap: float,
) -> None:
    """Sort the nodes of a row by the mean x of their neighbours, and place them as near to it."""
    means: dict[str, float] = {}
    for node in row:
        means[node] = x[node]
        linked = near.get(node)
        if linked:
            means[node] = sum(x[other] for other in linked) / len(linked)
    row.sort(key=means.__getitem__)
    centres = spread([Wish(means[node], sizes[node][0]) for node in row], column_gap)
    x.update(zip(row, centres, strict=True))


# Graphviz

LARGEST: Final = 1500
"""The most nodes that Graphviz is given: its time grows much faster than the graph."""

ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder that holds the package."""


class LayoutRequest(msgspec.Struct, frozen=True):
    """The nodes to be placed, with their widths and heights, and the edges; lengths in points.

    ``bottom_row`` are ids that belong at the bottom. ``clusters`` maps ids to the label of the
    cluster that they stand in; ``light`` edges may bend where others are straight. ``layers`` gives
    the row of every node where rows are settled already, and is empty where they are not; then
    ``bottom_row`` and ``clusters`` do not count. ``column_gap`` is the least room between
    neighbours in a row, ``row_gap`` the least between rows.
    """

    sizes: dict[str, Size]
    edges: list[Link]
    bottom_row: list[str] = []
    clusters: dict[str, str] = {}
    light: list[Link] = []
    layers: dict[str, int] = {}
    column_gap: float = 16.0
    row_gap: float = 26.0


class Layout(msgspec.Struct, frozen=True):
    """The centre of every node in points, y growing downwards.

    ``note`` says why it is not the layout of Graphviz ("" when it is).
    """

    places: dict[str, Point]
    note: str = ""


def arrange(request: LayoutRequest, timeout: float) -> Layout:
    """The layout of a request by Graphviz, or in simple layers after ``timeout`` seconds."""
    if not request.sizes:
        return Layout({})
    count = len(request.sizes)
    if count > LARGEST:
        reason = _("{n} nodes are more than the {most} that Graphviz is given")
        return arrange_simply(request, _note(reason.format(n=count, most=LARGEST)))
    try:
        key = _key(request)
    except metadata.PackageNotFoundError:
        reason = _("pygraphviz is not installed; {command}")
        return arrange_simply(request, _note(reason.format(command=remedy("pygraphviz"))))
    known = _store(caches()).get(key, Layout)
    if known is not None:
        return known
    try:
        layout = Layout(_ask_graphviz(request, timeout))
    # A graph is drawn whatever happens to Graphviz, with a plainer layout and a note that says so.
    except subprocess.TimeoutExpired:
        reason = _("Graphviz took longer than {seconds} s").format(seconds=f"{timeout:g}")
        return arrange_simply(request, _note(reason))
    except subprocess.CalledProcessError as error:
        reason = _("Graphviz ended with status {status}").format(status=error.returncode)
        return arrange_simply(request, _note(reason))
    except (OSError, msgspec.DecodeError) as error:
        reason = _("Graphviz gave no layout ({error})").format(error=type(error).__name__)
        return arrange_simply(request, _note(reason))
    # Only Graphviz's own: another one is made again, perhaps on a machine with more time.
    _store(caches()).put(key, layout)
    return layout


def _key(request: LayoutRequest) -> Key:
    # The same graph is drawn in a page, beside another one, and in a report: it is laid out once.
    return key_of("layout", "", request, digest_of_parts("drawing"), metadata.version("pygraphviz"))


@functools.cache
def _store(folder: Path) -> Store:
    return Store(folder)


def _ask_graphviz(request: LayoutRequest, timeout: float) -> dict[str, Point]:
    # In a process of its own: Graphviz is C code that no time limit can interrupt, and a crash in
    # it would end the program.
    answer = subprocess.run(
        [sys.executable, "-m", "explorer.drawing.graphviz_child"],
        input=msgspec.json.encode(request),
        capture_output=True,
        timeout=timeout,
        check=True,
        env={**os.environ, "PYTHONPATH": _search_path()},
    )
    return msgspec.json.decode(answer.stdout, type=dict[str, Point])


def _search_path() -> str:
    """Where the child looks for modules: first beside this package, wherever it was started."""
    path = str(ROOT)
    if os.environ.get("PYTHONPATH"):
        path += os.pathsep + os.environ["PYTHONPATH"]
    return path


def _note(reason: str) -> str:
    return _("Simple layout: {reason}.").format(reason=reason)


def arrange_simply(request: LayoutRequest, note: str) -> Layout:
    """The layout of a request in simple layers, with a note that says why."""
    layer = request.layers
    if not layer:
        layer = layers(request.sizes, request.edges)
        layer.update(dict.fromkeys(request.bottom_row, max(layer.values(), default=0)))
    places = layered(request.sizes, request.edges, layer, request.column_gap, request.row_gap)
    return Layout(places, note)


def substitute_layout(seconds: float = 10.0) -> str:
    """What had to stand in for Graphviz when two nodes were laid out; "" if nothing.

    Its first start on a cold disk is slow, so the limit is generous.
    """
    # That pygraphviz can be imported would not tell whether the child process that uses it works.
    sizes = {"n0": (60.0, 30.0), "n1": (60.0, 30.0)}
    return arrange(LayoutRequest(sizes=sizes, edges=[("n0", "n1")]), seconds).note
