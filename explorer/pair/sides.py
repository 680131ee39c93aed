"""The two panes of a pair of graphs: their captions, and what their drawings say of each node."""

from explorer.drawing.marks import Marks, diverging_nodes, marks
from explorer.drawing.shown import Shown
from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.passes import PASSES
from explorer.pair.merged_graph import merged_alignment
from explorer.text.language import _

STAGES = {compiler_pass.stage: compiler_pass.label for compiler_pass in PASSES}
"""The label of each captured stage of MindSpore's compiler."""


def caption(graph: GradGraph) -> str:
    """What stands above a pane: the engine, how it differentiates, and the compiler's stage."""
    text = f"{graph.engine} · {_(ENGINES[graph.engine].how)}"
    return f"{text} · {graph.stage}" if graph.stage in STAGES else text


def both_marks(shown: tuple[Shown, Shown], alignment: Alignment | None) -> tuple[Marks, Marks]:
    """The pair numbers and the first divergence, by the ids of what is in sight of both graphs."""
    left, right = shown
    if alignment is None:
        return marks(left, {}), marks(right, {})
    merged = merged_alignment(alignment, left, right)
    left_parts, right_parts = diverging_nodes(alignment)
    return (
        marks(left, merged.numbers("left"), left_parts),
        marks(right, merged.numbers("right"), right_parts),
    )
