"""Two graphs as the data that the browser shows."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from explorer.compare.align import align
from explorer.drawing.folding import Folding
from explorer.drawing.shown import Shown, show_folded
from explorer.model.graph import GradGraph
from explorer.pair.alignments import merged_alignment
from explorer.pair.records import Side, pair_record
from tests.support.deep_nets import SPOILED, deep_report, with_arguments
from tests.support.explained import BEHIND, explained_report, mended_report
from tests.support.two_layer_nets import mindspore_net, pytorch_net


def record(
    spoiled: str = "",
    folding: Folding | None = None,
    has_cause: bool | None = None,
    is_mended: bool = False,
) -> dict[str, Any]:
    """The record of a net of two blocks in two engines, explained or not where that is said."""
    report = with_arguments(deep_report(2, spoiled))
    if is_mended:
        report = mended_report(report)
    if has_cause is not None:
        report = explained_report(report, has_cause=has_cause)
    left, _, right = report.graphs
    (alignment,) = report.alignments
    folding = folding or Folding()
    both = show_folded(left, folding), show_folded(right, folding)
    merged = merged_alignment(alignment, *both)
    sides = _side(both[0], left, "left"), _side(both[1], right, "right")
    whole = pair_record(*sides, alignment, merged)
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(whole))
    return decoded


def _side(shown: Shown, graph: GradGraph, name: str) -> Side:
    return Side(name, f"<svg>{name}</svg>", f"{name}-", shown, graph, name, frozenset({"n1"}))


def called(nodes: Mapping[str, Any], op: str) -> list[str]:
    return [id_ for id_, node in nodes.items() if node["op"] == op]


def test_nodes_know_what_they_read_and_what_reads_them() -> None:
    nodes = record()["left"]["nodes"]
    first = called(nodes, "aten.mm")[0]
    for before in nodes[first]["before"]:
        assert first in nodes[before]["after"]
    assert len(nodes[first]["before"]) == 2


def test_the_course_is_the_order_of_execution_and_a_module_runs_with_its_first_node() -> None:
    pane = record()["left"]
    assert pane["course"] == [f"n{place}" for place in range(len(pane["nodes"]))]
    assert [pane["nodes"][node]["at"] for node in pane["course"]] == list(range(len(pane["nodes"])))
    folded = record(folding=Folding(2))["left"]
    modules = [node for node in folded["nodes"].values() if node["module"]]
    assert {node["module"] for node in modules} == {"blocks.0", "blocks.1"}
    for node in modules:
        assert node["at"] == folded["course"].index(
            next(id_ for id_, other in folded["nodes"].items() if other is node)
        )


def test_a_tape_is_written_and_unwound_and_a_graph_runs() -> None:
    whole = record()
    assert whole["left"]["does"]["backward"] != whole["right"]["does"]["backward"]
    assert "unwound" in whole["left"]["does"]["backward"]


def test_graphs_that_never_part_have_no_node_that_differs() -> None:
    whole = record()
    assert whole["divergences"] == []
    for side in ("left", "right"):
        assert not any("differs" in node["marks"] for node in whole[side]["nodes"].values())


def test_the_first_divergence_and_what_follows_from_it_differ() -> None:
    whole = record(SPOILED)
    (place, *_) = whole["divergences"]
    assert whole["left"]["nodes"][place["left"]]["op"] == "aten.mm"
    assert whole["right"]["nodes"][place["right"]]["op"] == "MatMul"
    assert {"differs", "unpaired"} <= set(whole["right"]["nodes"][place["right"]]["marks"])
    told = whole["told"][f"{place['left']} {place['right']}"]
    assert "Greatest difference" in told["difference"]
    assert whole["pairs"]["left"][place["left"]] == [place["right"]]


def test_a_divergence_has_its_cause_what_to_write_and_what_was_tried() -> None:
    whole = record(SPOILED, has_cause=True)
    (place, *_) = whole["divergences"]
    (said,) = place["said"]
    assert said["what"].startswith("First divergence in forward: ")
    assert said["why"].startswith("Cause, tried: ")
    assert [mend["code"] for mend in said["mends"]] == [
        "nn.BatchNorm2d(eps=0.01)",
        "nn.BatchNorm2d(eps=1e-05)",
    ]
    assert (said["side"], said["at"]) == ("left", place["left"])
    assert "3 of them could not be computed" in said["tried"]
    assert "`" not in "".join((said["what"], said["why"], said["tried"], *said["nearest"]))


def test_what_was_tried_in_vain_stands_at_the_node_or_at_the_module_that_holds_it() -> None:
    for folding in (Folding(), Folding(2)):
        whole = record(SPOILED, folding, has_cause=False)
        said = whole["divergences"][0]["said"][0]
        assert (said["why"], said["mends"]) == ("", [])
        assert "none gives the other side's value" in said["tried"]
        assert len(said["nearest"]) == 2
        assert said["at"] in whole["left"]["nodes"]


def test_what_is_seen_as_if_mended_is_the_last_place_with_its_cause_and_what_to_write() -> None:
    whole = record(SPOILED, has_cause=True, is_mended=True)
    _, place = whole["divergences"]
    assert (place["left"], place["right"]) == (BEHIND, BEHIND)
    (said,) = place["said"]
    assert said["what"].startswith("As if mended, further divergence in forward: ")
    assert "eps=0.1" in said["why"]
    assert [mend["side"] for mend in said["mends"]] == ["left", "right"]
    assert whole["pairs"]["left"][BEHIND] == [BEHIND]


def test_of_what_is_seen_as_if_mended_the_plain_values_are_not_compared() -> None:
    told = record(SPOILED, is_mended=True)["told"][f"{BEHIND} {BEHIND}"]
    assert told["evidence"].startswith("As if mended, further divergence")
    assert "difference" not in told
    assert "map" not in told


def test_what_was_computed_again_is_a_sentence_and_empty_where_nothing_was() -> None:
    said = record(SPOILED, is_mended=True)["mended"]
    assert said.startswith("As if mended: torch-tape goes on with 1 value of mindspore-graph")
    assert "net.py:9" in said
    assert "`" not in said
    assert record(SPOILED)["mended"] == record()["mended"] == ""


def test_in_folded_modules_the_divergence_is_the_module_that_holds_it() -> None:
    whole = record(SPOILED, Folding(2))
    (place, *_) = whole["divergences"]
    assert whole["left"]["nodes"][place["left"]]["module"] == "blocks.0"


def test_a_pair_is_told_with_its_difference_and_two_modules_by_their_pairs() -> None:
    told = record()["told"].values()
    assert all("Equal" in detail["difference"] for detail in told if detail["difference"])
    assert any(detail["difference"] for detail in told)
    folded = record(folding=Folding(2))
    module = called(folded["left"]["nodes"], "blocks.1")[0]
    other = folded["pairs"]["left"][module][0]
    assert "pairs join" in folded["told"][f"{module} {other}"]["evidence"]


@pytest.mark.parametrize(
    "folding", [Folding(), Folding(1), Folding(None, folded=frozenset({"blocks.0"}))]
)
def test_everything_that_is_named_is_in_sight(folding: Folding) -> None:
    whole = record(SPOILED, folding)
    for side, other in (("left", "right"), ("right", "left")):
        nodes = whole[side]["nodes"]
        named = {*whole[side]["course"], *whole["pairs"][side]}
        named.update(id_ for ids in whole["pairs"][other].values() for id_ in ids)
        for node in nodes.values():
            named.update(node["before"], node["after"])
            if node["forward"]:
                named.add(node["forward"]["id"])
        assert named <= set(nodes)


def test_an_op_has_its_arguments_and_the_layer_that_it_runs_in() -> None:
    pane = record()["left"]
    product = pane["nodes"][called(pane["nodes"], "aten.mm")[0]]
    assert product["arguments"] == [["eps", "1e-05"], ["dim", "(0, 1)"]]
    assert pane["layers"][product["layer"]] == {
        "name": "nn.Linear",
        "settings": [["eps", "1e-05"], ["stride", "(2, 2)"], ["pad", "-inf"]],
    }
    active = pane["nodes"][called(pane["nodes"], "aten.tanh")[0]]
    assert active["arguments"] == []
    assert active["layer"] is None


@pytest.mark.parametrize("spoiled", ["", SPOILED])
def test_arguments_and_settings_with_another_value_on_the_other_side_are_named(
    spoiled: str,
) -> None:
    whole = record(spoiled)
    product = called(whole["left"]["nodes"], "aten.mm")[0]
    detail = whole["told"][f"{product} {whole['pairs']['left'][product][0]}"]
    assert detail["arguments"] == detail["settings"] == ["eps"]
    active = called(whole["left"]["nodes"], "aten.add.Tensor")[0]
    other = whole["pairs"]["left"].get(active)
    if other:
        assert "arguments" not in whole["told"][f"{active} {other[0]}"]


def test_a_search_finds_in_a_module_the_arguments_and_the_layers_inside_it() -> None:
    folded = record(folding=Folding(2))["left"]["nodes"]
    module = folded[called(folded, "blocks.1")[0]]
    assert module["arguments"] == []
    assert module["inside"].count("dim=(0, 1)") == 1  # of several products
    assert "nn.Linear(eps=1e-05" in module["inside"]
    assert record()["left"]["nodes"]["n0"]["inside"] == ""


@pytest.mark.parametrize("is_fused_left", [True, False])
def test_a_step_inside_an_op_of_the_other_side_is_told_beside_that_op(is_fused_left: bool) -> None:
    # Two layers: an addmm each in PyTorch, a MatMul and a BiasAdd each in MindSpore.
    graphs = [pytorch_net(), mindspore_net()]
    if not is_fused_left:
        graphs.reverse()
    alignment = align(graphs[0], graphs[1])
    left, right = (show_folded(graph, Folding()) for graph in graphs)
    sides = _side(left, graphs[0], "left"), _side(right, graphs[1], "right")
    told = pair_record(*sides, alignment, merged_alignment(alignment, left, right))["told"]
    steps = {}
    for pair in alignment.pairs:
        steps.update({f"{step} {pair.right}": pair for step in pair.left_within})
        steps.update({f"{pair.left} {step}": pair for step in pair.right_within})
    assert len(steps) >= 2
    for key, pair in steps.items():
        assert told[key].evidence.startswith(f"Pair {pair.number}, a step that one op")
