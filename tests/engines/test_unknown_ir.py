"""Marks, attributes, types and comments that the IR reader does not know are carried along."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from explorer.engines.mindspore.ir import (
    IRNode,
    IRSyntaxError,
    Module,
    Subgraph,
    parse,
    read_stages,
)
from explorer.engines.mindspore.ir.records import Abstract, Parameter
from tests.support.ir_texts import RETURN, SAMPLES, module_of, node_of_type, statement

SAMPLE_NAMES = sorted(path.stem for path in SAMPLES.glob("*.ir"))

UNKNOWN_MARKS = (
    "has_view_output",
    "storage=shared",
    "view_of={[const vector]{1, 0}}",
    "strides=(3, 1)",
)

ABSTRACT_END = re.compile(r"(?<=[)\w.}])>(?=[,)]|$| : |  :  )")
TYPES = "      : ("


def text_of(name: str) -> str:
    return (SAMPLES / f"{name}.ir").read_text(encoding="utf-8")


def known(module: Module) -> Module:
    """A module without what its reader does not know, and without line numbers."""
    return msgspec.structs.replace(
        module,
        parameters=tuple(map(_known_parameter, module.parameters)),
        subgraphs=tuple(map(_known_graph, module.subgraphs)),
        notes=(),
        log="",
    )


def _known_graph(graph: Subgraph) -> Subgraph:
    returned = _known_node(graph.returned) if graph.returned else None
    return msgspec.structs.replace(
        graph,
        parameters=tuple(map(_known_parameter, graph.parameters)),
        nodes=tuple(map(_known_node, graph.nodes)),
        returned=returned,
        line=0,
        notes=(),
    )


def _known_node(node: IRNode) -> IRNode:
    return msgspec.structs.replace(
        node,
        inputs=tuple(map(_known_abstract, node.inputs)),
        output=_known_abstract(node.output) if node.output else None,
        line=0,
        marks=(),
        notes=(),
        layouts=(),
    )


def _known_parameter(parameter: Parameter) -> Parameter:
    abstract = _known_abstract(parameter.abstract) if parameter.abstract else None
    return msgspec.structs.replace(parameter, abstract=abstract, marks=())


def _known_abstract(abstract: Abstract) -> Abstract:
    return msgspec.structs.replace(abstract, marks=())


def nodes_of(module: Module) -> list[IRNode]:
    nodes: list[IRNode] = []
    for graph in module.subgraphs:
        nodes += graph.nodes
        if graph.returned:
            nodes.append(graph.returned)
    return nodes


def with_lines(text: str, before: Callable[[str], bool], added: str) -> str:
    """A text with a line before each one for which ``before`` holds."""
    lines: list[str] = []
    for line in text.split("\n"):
        if before(line):
            lines.append(added)
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("mark", UNKNOWN_MARKS)
@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_a_mark_of_a_value_is_carried_along_at_every_value(name: str, mark: str) -> None:
    text = text_of(name)
    lines = []
    for line in text.split("\n"):
        if line.startswith("%para"):
            line = ABSTRACT_END.sub(f", {mark}>", line, count=1)
        elif "(<" in line:
            line = ABSTRACT_END.sub(f", {mark}>", line)
        lines.append(line)
    module = parse("\n".join(lines), name)
    assert known(module) == known(parse(text, name))
    carried = [
        abstract.marks
        for node in nodes_of(module)
        for abstract in (*node.inputs, *((node.output,) if node.output else ()))
        if abstract.shape is not None
    ]
    assert set(carried) <= {(mark,)}


@pytest.mark.parametrize(
    "before", ["ref_key=fc.weight", "is_parameter", "value=...", "elements_use_flags={[x]{1, 1}}"]
)
def test_an_unknown_mark_may_come_before_and_behind_every_known_one(before: str) -> None:
    for marks in (f"new_mark, {before}", f"{before}, new_mark"):
        text = module_of(node_of_type(f"Tensor[Float32], (3), {marks}"), RETURN)
        plain = module_of(node_of_type(f"Tensor[Float32], (3), {before}"), RETURN)
        output = parse(text, "f.ir").subgraphs[0].nodes[0].output
        assert output is not None
        assert output.marks == ("new_mark",)
        assert _known_abstract(output) == parse(plain, "f.ir").subgraphs[0].nodes[0].output


@pytest.mark.parametrize(
    "section",
    [
        "new_attrs: {kind: 3, flag: Bool(1)}",
        "{view of: %0}",
        "new_mark",
        "tags: [a, b]",
    ],
)
@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_a_section_of_a_node_is_carried_along_behind_every_statement(
    name: str, section: str
) -> None:
    lines: list[str] = []
    for line in text_of(name).split("\n"):
        # The types come behind a statement, which may have several lines.
        if line.startswith(TYPES) and not lines[-1].startswith(TYPES):
            lines[-1] += f" {section}"
        lines.append(line)
    module = parse("\n".join(lines), name)
    assert known(module) == known(parse(text_of(name), name))
    assert all(node.marks == (section,) for node in nodes_of(module) if node.marks)
    assert any(node.marks for node in nodes_of(module))


@pytest.mark.parametrize(
    "attribute", ["new_flag", "new_key: Fancy<1>", "two words: 'x y'", "k: <null>"]
)
def test_an_attribute_is_carried_along_in_every_section(attribute: str) -> None:
    text = text_of("dense_validate")
    changed = re.sub(r"(?<=attrs: \{)", f"{attribute}, ", text)
    changed = re.sub(r"(attrs: \{[^{}]*)\}", rf"\1, last_{attribute}}}", changed)
    key = attribute.partition(":")[0]
    attributed = 0
    for node, plain in zip(
        nodes_of(parse(changed, "f.ir")), nodes_of(parse(text, "f.ir")), strict=True
    ):
        for now, before in (
            (node.attrs, plain.attrs),
            (node.cnode_attrs, plain.cnode_attrs),
            (node.primal_attrs, plain.primal_attrs),
        ):
            if before:
                assert {k: v for k, v in now.items() if k not in (key, f"last_{key}")} == before
                assert key in now
                attributed += 1
    assert attributed > 10


@pytest.mark.parametrize(
    "kind",
    ["NewType", "NewType[Float32, 3]", "Func(Float32) : x", "Tensor[Float32]{view}", "a.b::C[d=1]"],
)
@pytest.mark.parametrize("shape", ["", ", NoShape", ", (3)", ", NewShape{1, 2}", ", NewShape[(1)]"])
def test_a_type_or_shape_of_any_form_is_carried_along(kind: str, shape: str) -> None:
    node = parse(module_of(node_of_type(kind + shape), RETURN), "f.ir").subgraphs[0].nodes[0]
    assert node.output is not None
    assert node.output.type.name in {kind, kind.partition("[")[0]}


@pytest.mark.parametrize("comment", ["# New comment: {a}", "# another (x", "~ a line of any kind"])
@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_a_comment_under_every_node_is_carried_along(name: str, comment: str) -> None:
    text = with_lines(
        text_of(name),
        lambda line: line.startswith("      #") and "cope: (" in line,
        f"      {comment}",
    )
    module = parse(text, name)
    assert known(module) == known(parse(text_of(name), name))
    assert (comment,) in {node.notes for node in nodes_of(module)}


@pytest.mark.parametrize(
    "start",
    [
        "# IR entry",
        "# Total subgraphs",
        "# Total params",
        "jit config {",
        "subgraph attr:",
        "subgraph @",
    ],
)
@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_a_comment_before_every_part_of_a_file_is_carried_along(name: str, start: str) -> None:
    text = with_lines(text_of(name), lambda line: line.startswith(start), "# New: comment")
    assert known(parse(text, name)) == known(parse(text_of(name), name))


@pytest.mark.parametrize("mark", ["new_mark", "New: mark", "<view>"])
@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_a_mark_of_a_parameter_of_the_entry_is_carried_along(name: str, mark: str) -> None:
    text = re.sub(r"^(%para.*)$", rf"\1  :  {mark}", text_of(name), flags=re.MULTILINE)
    module = parse(text, name)
    plain = parse(text_of(name), name)
    for parameter, before in zip(module.parameters, plain.parameters, strict=True):
        assert (parameter.label, parameter.abstract) == (before.label, before.abstract)
        assert parameter.has_default == before.has_default
        assert parameter.marks == ((mark,) if mark != "<view>" else ())


def test_an_operand_of_an_unknown_form_is_carried_along_as_it_is_printed() -> None:
    for operand in ("'a b'", "Tensor(shape=[2], dtype=Float32, device=cpu, value=[1 2])", "F<1>"):
        module = parse(module_of(statement(operand, 1), RETURN), "f.ir")
        assert len(module.subgraphs[0].nodes[0].operands) == 1


def test_a_stage_that_cannot_be_read_takes_no_other_stage_along(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.ir"
    damaged.write_text("# IR entry: @f\n", encoding="utf-8")
    files = {"first": damaged, "last": SAMPLES / "dense_validate.ir"}
    assert list(read_stages(files, "last")) == ["last"]
    with pytest.raises(IRSyntaxError):
        read_stages(files, "first")
