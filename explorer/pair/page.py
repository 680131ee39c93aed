"""Two graphs side by side in a page that stands alone: a report in one file, a notebook's output.

The page holds the component's code and its data; nothing is asked of a server. Where scripts are not
run, and in print, a still picture stands in its place.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from explorer.drawing.formats import draw_shown
from explorer.drawing.marks import Marks
from explorer.drawing.shown import Shown, show_both
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from explorer.pair.alignments import (
    both_marks,
    caption,
    last_by_engine,
    merged_alignment,
    reported,
)
from explorer.pair.component import FOLDER, code, markup, style
from explorer.pair.details import SourceLines
from explorer.pair.records import Side, pair_record, sources, stage_changes


class TextTable:
    """Different texts in the order in which they were first said."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def runs(self, texts: Iterable[str]) -> list[tuple[int, int]]:
        """Texts as runs of neighbours in the table: each run's first place, and how many there are."""
        runs: list[tuple[int, int]] = []
        for text in texts:
            place = self._place(text)
            if runs and sum(runs[-1]) == place:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((place, 1))
        return runs

    def _place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
        return self._places[text]


class Two(NamedTuple):
    """Two graphs that are shown side by side; stages of one engine have no alignment."""

    name: str
    left: GradGraph
    right: GradGraph
    alignment: Alignment | None


def two_panes(
    graphs: Sequence[GradGraph],
    alignments: Sequence[Alignment],
    code: Sequence[Path],
    still: str,
    first: Sequence[str] = (),
) -> str:
    """The component as HTML: every two engines, ``first`` those named so, then an engine's stages.

    ``code`` are the folders and packages of the user's whose lines are shown; ``still`` is the HTML of
    the picture for print and for readers without scripts. It is all there is where no two graphs are
    aligned.
    """
    engines = list(_engines(graphs, alignments, first))
    if not engines:
        return still
    pairs: list[dict[str, Any]] = []
    lines: dict[str, SourceLines] = {}
    texts = TextTable()
    prefixes: dict[int, str] = {}
    for two in (*engines, *_stages(graphs)):
        shown = show_both(two.left, two.right, "fit")
        for graph in (two.left, two.right):
            prefixes.setdefault(id(graph), f"pane{len(prefixes)}-")
        names = prefixes[id(two.left)], prefixes[id(two.right)]
        pairs.append({"name": two.name, "pair": _packed_record(_record(two, shown, names), texts)})
        lines.update(sources(*shown, code))
    return _page({"texts": texts.texts, "pairs": pairs, "sources": lines}, still)


def _engines(
    graphs: Sequence[GradGraph], alignments: Sequence[Alignment], first: Sequence[str]
) -> Iterator[Two]:
    """The last stages of every two engines."""
    last = last_by_engine(graphs)
    for names in combinations(dict.fromkeys((*first, *last)), 2):
        left, right = last[names[0]], last[names[1]]
        alignment = reported(left, right, graphs, alignments)
        if alignment:
            yield Two(f"{left.engine} · {right.engine}", left, right, alignment)


def _stages(graphs: Sequence[GradGraph]) -> Iterator[Two]:
    """Each stage of an engine beside the one before."""
    known: dict[str, GradGraph] = {}
    for graph in graphs:
        before = known.get(graph.engine)
        if before and before.stage != graph.stage:
            yield Two(f"{graph.engine} · {before.stage} · {graph.stage}", before, graph, None)
        known[graph.engine] = graph


def _record(two: Two, shown: tuple[Shown, Shown], prefixes: tuple[str, str]) -> dict[str, Any]:
    left_marks, right_marks = both_marks(shown, two.alignment)
    left = _side(two.left, shown[0], left_marks, prefixes[0])
    if two.alignment:
        # Two engines have no stages in common.
        right = _side(two.right, shown[1], right_marks, prefixes[1])
        return pair_record(left, right, two.alignment, merged_alignment(two.alignment, *shown))
    new = stage_changes(two.left, two.right).new
    right = _side(two.right, shown[1], right_marks, prefixes[1], new)
    return pair_record(left, right, None, None)


def _side(
    graph: GradGraph,
    shown: Shown,
    marks: Marks,
    prefix: str,
    new: frozenset[str] = frozenset(),
) -> Side:
    svg = draw_shown(shown, format="svg", marks=marks, prefix=prefix).decode()
    return Side(caption(graph), svg, prefix, shown, graph, f"{graph.engine} {graph.stage}", new)


def _packed_record(record: dict[str, Any], texts: TextTable) -> dict[str, Any]:
    """A record whose drawings and nodes are runs of texts: most are the same beside any other graph."""
    for side in ("left", "right"):
        pane = record[side]
        pane["modules"] = []  # no server draws a module opened or folded
        pane["svg"] = texts.runs(pane["svg"].split("\n"))
        nodes = (f"{json.dumps(id_)}:{_json(node)}" for id_, node in pane["nodes"].items())
        pane["nodes"] = texts.runs(nodes)
        layers = (f"{json.dumps(path)}:{_json(layer)}" for path, layer in pane["layers"].items())
        pane["layers"] = texts.runs(layers)
    return record


def _page(document: Mapping[str, Any], still: str) -> str:
    # Without a time in it: the same graphs give the same page.
    packed = base64.b64encode(gzip.compress(_json(document).encode(), mtime=0)).decode()
    name = hashlib.sha256(packed.encode()).hexdigest()[:16]
    parts = {"html": markup(), "style": f"{style()}\n{_part('page.css')}"}
    return "\n".join(
        (
            f'<div class="explorer-panes" data-panes="{name}">{still}',
            f'<script type="application/gzip">{packed}</script></div>',
            f'<script type="module">{code()}\n{_part("page.js")}',
            f"mountAll({json.dumps(name)}, {json.dumps(parts)})</script>",
        )
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _part(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
