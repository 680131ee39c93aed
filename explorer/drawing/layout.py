"""Places nodes with Graphviz in a child process, or in simple layers where that fails."""

import functools
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

import msgspec

from explorer.drawing.layered import layered
from explorer.drawing.links import Link, layers
from explorer.drawing.picture import Point, Size
from explorer.store.keys import Key, digest_of_parts, key_of
from explorer.store.store import Store, default_folder

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
        return arrange_simply(
            request, _note(f"{count} nodes are more than the {LARGEST} that Graphviz is given")
        )
    key = _key(request)
    known = _store(default_folder()).get(key, Layout)
    if known is not None:
        return known
    try:
        layout = Layout(_ask_graphviz(request, timeout))
    # A graph is drawn whatever happens to Graphviz, with a plainer layout and a note that says so.
    except subprocess.TimeoutExpired:
        return arrange_simply(request, _note(f"Graphviz took longer than {timeout:g} s"))
    except subprocess.CalledProcessError as error:
        return arrange_simply(request, _note(f"Graphviz ended with status {error.returncode}"))
    except (OSError, msgspec.DecodeError) as error:
        return arrange_simply(request, _note(f"Graphviz gave no layout ({type(error).__name__})"))
    # Only Graphviz's own: another one is made again, perhaps on a machine with more time.
    _store(default_folder()).put(key, layout)
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
    return f"Simple layout: {reason}."


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
