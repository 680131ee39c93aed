"""What the panel of a node and of its pair says, and from where."""

import base64
import re
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import pytest

from explorer.model.alignment import Pair, Plain, Unpaired
from explorer.model.graph import Absence, GradGraph, Node, NodeKind, Output
from explorer.numeric.summaries import summarise
from explorer.pair.component import words
from explorer.pair.details import (
    AROUND,
    ELEMENTS,
    alone,
    heat_map,
    modules_detail,
    node_detail,
    pair_detail,
    source_lines,
)
from explorer.pair.records import stage_changes
from explorer.text.language import said_in
from tests.support.narrowing import present
from tests.support.sample_report import HOSTILE, graph


def node_of(values: object, **fields: object) -> Node:
    array = np.asarray(values, np.float32)
    output = Output(array.shape, "float32", summarise(array))
    known = {"id": "n1", "op": "Mul", "kind": "op", "phase": "forward", "outputs": (output,)}
    return Node(**{**known, **fields})  # type: ignore[arg-type]


def test_few_values_are_written_and_many_are_a_heat_map() -> None:
    (few,) = node_detail(node_of(np.ones(ELEMENTS)), {}).outputs
    (many,) = node_detail(node_of(np.ones(ELEMENTS + 1)), {}).outputs
    assert few.values
    assert few.map is None
    assert not many.values
    assert many.map is not None
    assert (many.map.rows, many.map.columns) == (1, ELEMENTS + 1)


def test_a_heat_map_has_zero_in_the_middle_and_marks_what_is_not_finite() -> None:
    drawn = heat_map(np.array([[-2.0, 0.0, 1.0], [2.0, np.nan, np.inf]]))
    assert list(base64.b64decode(drawn.cells)) == [1, 128, 192, 255, 0, 0]
    assert (drawn.rows, drawn.columns, drawn.range) == (2, 3, "−2 … 2")


def test_a_heat_map_of_zeros_or_of_a_scalar_is_one_too() -> None:
    assert set(base64.b64decode(heat_map(np.zeros((2, 2))).cells)) == {128}
    assert heat_map(np.array(3.0)).rows == 1


def facts(node: Node) -> dict[str, str]:
    return dict(node_detail(node, {}).facts)


def test_whether_a_value_is_proven_is_told_with_the_reason_where_it_is_not() -> None:
    texts = {proof: facts(node_of(1, proof=proof))["value"] for proof in ("proven", "refuted", "")}
    assert len(set(texts.values())) == 3
    unproven = node_of(1, proof="unproven", missing={"proof": Absence("no_operator")})
    assert "no single operator" in facts(unproven)["value"]


def test_saved_bytes_and_module_are_told_and_control_characters_spelled_out() -> None:
    told = facts(node_of(1, saved_bytes=24, scope=f"fc{HOSTILE}"))
    assert "24" in told["saves"]
    assert "\x1b" not in told["module"]
    assert "\\x1b" in told["module"]


def test_one_byte_and_one_zero_are_in_the_singular() -> None:
    assert facts(node_of(1, saved_bytes=1))["saves"] == "1 byte for backward"
    assert facts(node_of(1, saved_bytes=2))["saves"] == "2 bytes for backward"
    one, two = node_detail(node_of([0.0, 1.0, 2.0]), {}), node_detail(node_of([0.0, 0.0, 2.0]), {})
    assert one.outputs[0].figures.endswith("1 zero")
    assert two.outputs[0].figures.endswith("2 zeros")


def test_one_pair_of_two_modules_is_in_the_singular() -> None:
    assert modules_detail(1).evidence == "1 pair joins what these two show."
    assert modules_detail(2).evidence == "2 pairs join what these two show."


@pytest.mark.parametrize("kind", get_args(NodeKind))
def test_the_kind_of_a_node_is_said_in_the_reader_s_language(kind: str) -> None:
    with said_in("zh"):
        said = facts(node_of(1, kind=kind))["节点"]
    assert re.fullmatch(r"n1，前向[\u4e00-\u9fff]+，第 0 步", said)


def test_an_op_without_a_source_is_described_in_chinese_throughout() -> None:
    absences = {what: Absence("unwritten") for what in ("forward", "source", "values")}
    with said_in("zh"):
        told = facts(node_of(1, missing=absences))
    assert told["节点"] == "n1，前向算子，第 0 步"
    assert {"没有前向", "没有源代码", "没有值"} <= set(told)


def test_why_a_node_is_alone_is_said_in_one_language() -> None:
    why = Plain("first_difference")
    unpaired = Unpaired(side="left", node="n1", reason="difference", why=why)
    engines = "torch-tape", "mindspore-graph"
    assert alone(unpaired, engines) == (
        "No node here is its pair. Difference: a divergence: the two graphs differ here."
    )
    with said_in("zh"):
        said = alone(unpaired, engines)
    assert said.endswith("。")
    assert not re.search("[A-Za-z.:]", said)


def test_words_for_one_node_go_with_those_for_several() -> None:
    for name, text in words().items():
        several, is_one, _ = name.partition("_one")
        if is_one and several in words():
            assert text.startswith("1 ")
            assert words()[several].startswith("{n} ")


def test_a_backward_node_leads_to_its_forward_node_only_where_that_is_in_sight() -> None:
    forward = node_of(1, id="n0", name="h")
    backward = node_of(1, forward="n0")
    link = present(node_detail(backward, {"n0": forward}).forward)
    assert (link.id, link.title) == ("n0", "h · Mul")
    assert node_detail(backward, {}).forward is None


def pair(**fields: object) -> Pair:
    known = {"left": "n1", "right": "n1", "left_output": 0, "right_output": 0, "number": 1}
    return Pair(**{"how": "value", **known, **fields})  # type: ignore[arg-type]


def test_the_greatest_difference_of_a_pair_is_told_with_its_place() -> None:
    told = pair_detail(pair(), node_of([[1, 2], [3, 4]]), node_of([[1, 2.5], [3, 4.25]]))
    assert "0.5 at [0, 1]" in told.difference
    assert "2 on the left, 2.5 on the right" in told.difference


def test_a_pair_compares_the_output_that_each_side_is_paired_by() -> None:
    # The variance of a batch norm is its third output, and an op of its own on the other side.
    mean, variance = node_of([1, 2]).outputs[0], node_of([3, 4]).outputs[0]
    several = node_of(0, outputs=(mean, variance))
    alone_ = node_of([3, 4])
    for paired, left, right in (
        (pair(left_output=1), several, alone_),
        (pair(right_output=1), alone_, several),
    ):
        assert pair_detail(paired, left, right).difference == "Equal in every element."


def test_a_transposed_pair_is_compared_element_by_element() -> None:
    left, right = node_of([[1, 2], [3, 4]]), node_of([[1, 3], [2, 4]])
    assert "Equal" in pair_detail(pair(how="transposed"), left, right).difference
    assert "Greatest" in pair_detail(pair(), left, right).difference


def test_a_pair_of_many_elements_that_differ_has_a_map_of_the_difference() -> None:
    one, other = np.zeros((8, 8)), np.zeros((8, 8))
    other[3, 4] = 1
    told = pair_detail(pair(), node_of(one), node_of(other))
    assert "[3, 4]" in told.difference
    assert base64.b64decode(present(told.map).cells)[3 * 8 + 4] == 255
    assert pair_detail(pair(), node_of(one), node_of(one)).map is None


def test_lines_of_two_packages_and_of_a_single_module_are_found_by_the_path_in_each(
    tmp_path: Path,
) -> None:
    for name in ("own/torch", "own/mindspore", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "models.py").write_text(name)
    for name in ("single", "secret"):
        (tmp_path / f"{name}.py").write_text(name)
    code = (tmp_path / "own", tmp_path / "other", tmp_path / "single.py")

    def line(place: str) -> str:
        return dict(source_lines(place, code).lines).get(1, "")

    for name in ("own/torch", "own/mindspore", "other"):
        assert line(f"{name}/models.py:1") == name
    assert line("single.py:1") == "single"
    # What lies beside the packages is none of theirs.
    assert line("secret.py:1") == ""
    assert line("own/../secret.py:1") == ""


def test_a_line_of_a_file_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("before\n")
    source_lines("net.py:1", (tmp_path,))
    (tmp_path / "net.py").write_text("after, and longer\n")
    assert source_lines("net.py:1", (tmp_path,)).lines == ((1, "after, and longer"),)


@pytest.mark.parametrize(
    "place",
    ["../secret.py:1", "/etc/passwd:1", "torch/../typing_extensions.py:9", "secret.txt:1", "x:y"],
)
def test_no_name_leads_out_of_the_scenario_s_folder(place: str, tmp_path: Path) -> None:
    inner = tmp_path / "scenarios"
    inner.mkdir()
    for folder, name in ((tmp_path, "secret.py"), (inner, "secret.txt")):
        (folder / name).write_text("secret\n")
    assert source_lines(place, (inner,)).lines == ()


def test_a_pass_s_new_nodes_are_those_that_the_stage_before_had_not() -> None:
    before = graph("mindspore-graph")
    fused = node_of(1, id="n4", op="Fused")
    kept = tuple(node for node in before.nodes if node.op != "MulBackward")
    after: GradGraph = msgspec.structs.replace(before, nodes=(*kept, fused, kept[1]))
    changes = stage_changes(before, after)
    assert changes.new == {"n4", "n1"}  # a second Mul is one more than there was
    assert changes.added == "1 Fused, 1 Mul"
    assert changes.removed == "1 MulBackward"
    assert stage_changes(before, before).new == frozenset()


def complex_node(*values: complex) -> Node:
    array = np.array(values, np.complex64)
    output = Output(array.shape, "complex64", summarise(array))
    return msgspec.structs.replace(node_of(1), outputs=(output,))


def test_complex_numbers_of_a_pair_are_compared_by_their_parts() -> None:
    pair = Pair(left="n1", right="n1", number=1, how="name", left_output=0, right_output=0)
    one = complex_node(1 + 1j, 2 + 2j)
    assert pair_detail(pair, one, one).difference == "Equal in every element."
    other = pair_detail(pair, one, complex_node(1 + 1j, 2 - 70j))
    assert other.difference == (
        "Greatest difference 72 at [1]: 2+2j on the left, 2-70j on the right."
    )
    lost = pair_detail(pair, one, complex_node(complex(1, np.nan), 2 + 2j))
    assert lost.difference == (
        "Not the same nan or inf at [0]: 1+1j on the left, 1+nanj on the right."
    )
    # A real number is a complex one without an imaginary part.
    real = msgspec.structs.replace(node_of([1.0, 2.0]), id="n1")
    assert "Greatest difference 2 at [1]" in pair_detail(pair, one, real).difference


LAST = 20


@pytest.mark.parametrize("at", [1, 2, AROUND + 1, 10, LAST - AROUND, LAST - 1, LAST])
def test_as_many_lines_are_shown_before_a_line_as_behind_it(at: int, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("".join(f"line{number} = {number}\n" for number in range(1, LAST + 1)))
    shown = source_lines(f"net.py:{at}", [tmp_path])
    assert shown.at == at
    numbers = [number for number, _ in shown.lines]
    assert numbers == [n for n in range(1, LAST + 1) if abs(n - at) <= AROUND]
    assert all(text == f"line{number} = {number}" for number, text in shown.lines)
