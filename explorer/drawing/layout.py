"""Places nodes with Graphviz in a child process under a time limit, and in simple layers when that
runs out.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from explorer.drawing.layered import layered
from explorer.drawing.links import Link

LARGEST: Final = 1500
"""Above this many nodes Graphviz is not asked: its time grows much faster than the graph."""

ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder that holds the package."""

Size = tuple[float, float]
Place = tuple[float, float]


class LayoutRequest(msgspec.Struct, frozen=True):
    """What is to be placed, lengths in points: the width and height of each node, and the edges.

    ``last`` are ids that belong at the bottom. ``clusters`` maps ids to the label of the cluster
    that they stand in; ``light`` edges may bend where others are straight. ``across`` is the least
    room between neighbours in a row, ``down`` between rows.
    """

    sizes: dict[str, Size]
    edges: list[Link]
    last: list[str] = []
    clusters: dict[str, str] = {}
    light: list[Link] = []
    across: float = 16.0
    down: float = 26.0


class Layout(msgspec.Struct, frozen=True):
    """The centre of every node in points, y growing downwards.

    ``instead`` says why Graphviz did not place them ("" when it did).
    """

    places: dict[str, Place]
    instead: str = ""


def arrange(request: LayoutRequest, timeout: float) -> Layout:
    """The layout of a request within about ``timeout`` seconds; in simple layers when Graphviz
    cannot.
    """
    if not request.sizes:
        return Layout({})
    count = len(request.sizes)
    if count > LARGEST:
        return _simple(request, f"{count} nodes are more than the {LARGEST} that Graphviz is given")
    try:
        return Layout(_ask_graphviz(request, timeout))
    # A graph is drawn whatever happens to Graphviz: with a plainer layout, and saying so.
    except subprocess.TimeoutExpired:
        return _simple(request, f"Graphviz took longer than {timeout:g} s")
    except subprocess.CalledProcessError as error:
        return _simple(request, f"Graphviz ended with status {error.returncode}")
    except (OSError, msgspec.DecodeError) as error:
        return _simple(request, f"Graphviz gave no layout ({type(error).__name__})")


def _ask_graphviz(request: LayoutRequest, timeout: float) -> dict[str, Place]:
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
    return msgspec.json.decode(answer.stdout, type=dict[str, Place])


def _search_path() -> str:
    """Where the child looks for modules: it is to run this very package, wherever it was started."""
    path = str(ROOT)
    if os.environ.get("PYTHONPATH"):
        path += os.pathsep + os.environ["PYTHONPATH"]
    return path


def _simple(request: LayoutRequest, reason: str) -> Layout:
    places = layered(request.sizes, request.edges, request.last, request.across, request.down)
    return Layout(places, f"Simple layout: {reason}.")
