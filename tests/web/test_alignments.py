"""The alignment of two graphs in sight: the report's own, also from the other side."""

import msgspec
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment, Seen
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.pair.alignments import mirrored
from explorer.web import graph_choices
from explorer.web.graph_choices import alignment_of
from tests.support.explained import CAUSE, explained
from tests.support.sample_report import DIVERGENCE, graph, report

MINDSPORE, TORCH = graph("mindspore-graph"), graph("torch-tape")


def report_with(alignment: Alignment, *graphs: GradGraph) -> Report:
    return msgspec.structs.replace(report(), graphs=graphs, alignments=(alignment,))


def test_the_report_s_own_alignment_is_taken_and_nothing_aligned_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alignment = align(MINDSPORE, TORCH)
    whole = report_with(alignment, MINDSPORE, TORCH)
    monkeypatch.setattr(graph_choices, "aligned", None)
    assert alignment_of(MINDSPORE, TORCH, whole) is alignment
    other_way_round = alignment_of(TORCH, MINDSPORE, whole)
    assert other_way_round == mirrored(alignment, TORCH)


def test_other_stages_are_aligned_where_they_have_values() -> None:
    earlier = msgspec.structs.replace(MINDSPORE, stage="opt_a")
    whole = report_with(align(MINDSPORE, TORCH), earlier, MINDSPORE, TORCH)
    assert alignment_of(earlier, TORCH, whole) == align(earlier, TORCH)
    bare_nodes = [msgspec.structs.replace(node, outputs=()) for node in MINDSPORE.nodes]
    bare = msgspec.structs.replace(MINDSPORE, stage="opt_a", nodes=tuple(bare_nodes))
    assert alignment_of(bare, TORCH, whole) is None
    # One engine's graphs are not paired with each other.
    assert alignment_of(TORCH, TORCH, whole) is None


def test_causes_and_what_was_tried_are_mirrored_with_the_rest() -> None:
    parted = msgspec.structs.replace(align(MINDSPORE, TORCH), seen=(Seen(DIVERGENCE),))
    alignment = explained(parted)
    mirror = mirrored(alignment, TORCH)
    cause, made = mirror.seen[0].cause, mirror.seen[0].attempts
    assert cause
    assert made
    assert cause.side == made.side == "right"
    assert [(mend.side, mend.arguments["eps"]) for mend in cause.mends] == [
        ("left", 1e-5),
        ("right", 1e-2),
    ]
    assert cause.layers == CAUSE.layers[::-1]
    assert mirrored(mirror, MINDSPORE) == alignment


def test_a_mirror_exchanges_sides_and_numbers_pairs_in_the_order_of_the_new_left_side() -> None:
    alignment = msgspec.structs.replace(align(MINDSPORE, TORCH), seen=(Seen(DIVERGENCE),))
    backwards = [msgspec.structs.replace(node, order=-node.order) for node in TORCH.nodes]
    left = msgspec.structs.replace(TORCH, nodes=tuple(backwards))
    mirror = mirrored(alignment, left)
    assert (mirror.left, mirror.right) == ("torch-tape", "mindspore-graph")
    assert [pair.number for pair in mirror.pairs] == list(range(1, len(alignment.pairs) + 1))
    before = [(pair.right, pair.left) for pair in alignment.pairs]
    assert [(pair.left, pair.right) for pair in mirror.pairs] == before[::-1]
    assert mirror.divergence is not None
    assert mirror.divergence.ends == DIVERGENCE.ends[::-1]
