"""Places nodes with Graphviz in a child process under a time limit, and by simple layers when that
runs out.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from explorer.drawing.layered import layered

LARGEST: Final = 1500
"""Above this many nodes Graphviz is not asked: its time grows much faster than the graph."""

POINTS: Final = 72.0


class Request(msgspec.Struct, frozen=True):
    """What is to be placed: the size of each node in points, the edges between them, and the ids
    that belong at the bottom.

    ``clusters`` maps ids to the label of the cluster that they stand in; ``light`` edges may bend
    where others are straight.
    """

    sizes: dict[str, tuple[float, float]]
    edges: list[tuple[str, str]]
    last: list[str] = []
    clusters: dict[str, str] = {}
    light: list[tuple[str, str]] = []
    across: float = 16.0
    down: float = 26.0


class Layout(msgspec.Struct, frozen=True):
    """The centre of every node, y growing downwards; ``instead`` says why Graphviz did not place
    them ("" when it did).
    """

    places: dict[str, tuple[float, float]]
    instead: str = ""


def arrange(request: Request, timeout: float) -> Layout:
    """The layout of a request, within about ``timeout`` seconds; by simple layers when Graphviz
    cannot.
    """
    if not request.sizes:
        return Layout({})
    if len(request.sizes) > LARGEST:
        return _instead(
            request,
            f"{len(request.sizes)} nodes are more than the {LARGEST} that Graphviz is given",
        )
    here = str(Path(__file__).resolve().parents[2])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])),
    }
    command = [sys.executable, "-m", "explorer.drawing.graphviz_child"]
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(request),
            capture_output=True,
            timeout=timeout,
            check=True,
            env=environment,
        )
        return Layout(msgspec.json.decode(done.stdout, type=dict[str, tuple[float, float]]))
    except subprocess.TimeoutExpired:
        return _instead(request, f"Graphviz took longer than {timeout:g} s")
    except subprocess.CalledProcessError as error:
        return _instead(request, f"Graphviz ended with status {error.returncode}")
    except (OSError, msgspec.DecodeError) as error:
        return _instead(request, f"Graphviz gave no layout ({type(error).__name__})")


def _instead(request: Request, reason: str) -> Layout:
    return Layout(
        layered(request.sizes, request.edges, request.last, request.across, request.down),
        f"Simple layout: {reason}.",
    )
