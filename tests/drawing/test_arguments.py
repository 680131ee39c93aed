"""The arguments of an op and its layer, in each format of a drawing."""

import math

import msgspec
import pytest

from explorer.drawing import draw
from explorer.drawing.formats import FormatName
from explorer.drawing.structure import layer_of
from explorer.model.graph import Absence, Arguments, GradGraph, Layer
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import SVG, boxes, read_svg


@pytest.fixture(scope="module")
def normalised() -> GradGraph:
    """A batch norm of a layer, whose op has a value that JSON has no number for."""
    g = HandmadeGraph()
    settings: Arguments = {
        "data_format": "NCHW",
        "epsilon": 1e-3,
        "momentum": 0.1,
        "fill": -math.inf,
    }
    g.add("BatchNorm", [g.leaf("x", "input")], scope="block.norm", arguments=settings)
    g.add("Relu", ["n1"], scope="block")
    layers = {"block.norm": Layer("nn.BatchNorm2d", {"eps": 1e-3, "momentum": 0.9})}
    return msgspec.structs.replace(g.record(), layers=layers)


def tooltip(graph: GradGraph, node: str) -> list[str]:
    svg = read_svg(draw(graph, format="svg", depth="all"))
    return (boxes(svg)[node].element.findtext(f"{SVG}title") or "").splitlines()


@pytest.mark.slow
def test_a_tooltip_has_the_arguments_that_matter_and_the_layer(normalised: GradGraph) -> None:
    lines = tooltip(normalised, "n1")
    assert "arguments: epsilon=0.001, momentum=0.1, fill=-inf" in lines
    assert "layer: nn.BatchNorm2d" in lines
    # Dot has the same tooltip, and an op without arguments and layer no lines of them.
    joined = r"\n".join(lines)
    assert f'tooltip="{joined}"' in draw(normalised, format="dot", depth="all").decode()
    without = tooltip(normalised, "n2")
    assert not any(line.startswith(("arguments", "layer")) for line in without)


@pytest.mark.slow
def test_a_tooltip_says_which_arguments_are_missing_and_why(normalised: GradGraph) -> None:
    absence = {"arguments": Absence("long_argument", "indices")}
    nodes = [msgspec.structs.replace(node, missing=absence) for node in normalised.nodes]
    graph = msgspec.structs.replace(normalised, nodes=tuple(nodes))
    (line,) = [line for line in tooltip(graph, "n1") if line.startswith("missing arguments: ")]
    assert "indices" in line


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["mermaid", "png"])
def test_a_label_stays_as_short_as_it_is_without_arguments(
    normalised: GradGraph, file_format: FormatName
) -> None:
    nodes = [msgspec.structs.replace(node, arguments={}) for node in normalised.nodes]
    without = msgspec.structs.replace(normalised, nodes=tuple(nodes), layers={})
    assert draw(normalised, format=file_format) == draw(without, format=file_format)


def test_json_has_all_of_them_and_loses_no_infinity(normalised: GradGraph) -> None:
    document = msgspec.json.decode(draw(normalised, format="json"))
    assert document["nodes"][1]["arguments"]["fill"] == "-Infinity"
    assert document["nodes"][1]["arguments"]["epsilon"] == 1e-3
    assert document["layers"]["block.norm"]["settings"]["momentum"] == 0.9


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        ("block.norm", "block.norm"),
        ("block.norm.inner", "block.norm"),
        ("block.normal", "block"),
        ("other", None),
        ("", None),
    ],
)
def test_a_node_runs_in_the_innermost_layer_around_it(scope: str, path: str | None) -> None:
    layers = {"block.norm": Layer("nn.BatchNorm2d"), "block": Layer("nn.TransformerEncoderLayer")}
    assert layer_of(scope, layers) == path
    # A net that is a layer itself is that of all its nodes.
    assert layer_of("", {"": Layer("nn.Linear")}) == ""
