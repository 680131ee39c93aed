"""Marks, attributes, types and comments that the IR reader does not know are carried along."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from explorer.engines.mindspore.ir import IRSyntaxError, Module, parse, read_stages
from tests.support.ir_texts import (
    RETURN,
    SAMPLES,
    module_of,
    node_of_type,
    nodes_of,
    statement,
    without,
)

SAMPLE_NAMES = sorted(path.stem for path in SAMPLES.glob("*.ir"))

ABSTRACT_END = re.compile(r"(?<=[)\w.}])>(?=[,)]|$| : |  :  )")
TYPES = "      : ("


def text_of(name: str) -> str:
    return (SAMPLES / f"{name}.ir").read_text(encoding="utf-8")


def known(record: msgspec.Struct) -> Any:
    """A record without what its reader does not know."""
    return without(record, "marks", "notes", "layouts", "log")


def marked(text: str, mark: str) -> str:
    """A text with a mark at every value."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("%para"):
            line = ABSTRACT_END.sub(f", {mark}>", line, count=1)
        elif "(<" in line:
            line = ABSTRACT_END.sub(f", {mark}>", line)
        lines.append(line)
    return "\n".join(lines)


def marks_of_values(module: Module) -> set[str]:
    values = []
    for node in nodes_of(module):
        values += [*node.inputs, *((node.output,) if node.output else ())]
    carried = [value.marks for value in values if value.shape is not None]
    return {" and ".join(marks) for marks in carried}


def sectioned(text: str, section: str) -> str:
    """A text with a section behind every statement, which may have several lines."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(TYPES) and not lines[-1].startswith(TYPES):
            lines[-1] += f" {section}"
        lines.append(line)
    return "\n".join(lines)


def before_each(text: str, is_there: Callable[[str], bool], added: str) -> str:
    """A text with a line before each one for which ``is_there`` holds."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines += [added, line] if is_there(line) else [line]
    return "\n".join(lines)


def commented(text: str, comment: str) -> str:
    """A text with a comment under every node."""

    def is_scope(line: str) -> bool:
        return line.startswith("      #") and "cope: (" in line

    return before_each(text, is_scope, f"      {comment}")


class Unknown(NamedTuple):
    """What a version might print, where in a text, and what is then carried along."""

    texts: tuple[str, ...]
    put_in: Callable[[str, str], str]
    carried: Callable[[Module], set[str]]


MARKS = "a mark of every value"

UNKNOWN = {
    MARKS: Unknown(
        ("has_view_output", "storage=shared", "view_of={[const vector]{1, 0}}", "strides=(3, 1)"),
        marked,
        marks_of_values,
    ),
    "a section behind every statement": Unknown(
        ("new_attrs: {kind: 3, flag: Bool(1)}", "{view of: %0}", "new_mark", "tags: [a, b]"),
        sectioned,
        lambda module: {" and ".join(node.marks) for node in nodes_of(module) if node.marks},
    ),
    "a comment under every node": Unknown(
        ("# New comment: {a}", "# another (x", "~ a line of any kind"),
        commented,
        lambda module: {note for node in nodes_of(module) for note in node.notes},
    ),
}


@pytest.mark.parametrize("name", SAMPLE_NAMES)
@pytest.mark.parametrize(
    ("form", "text"), [(form, text) for form, it in UNKNOWN.items() for text in it.texts]
)
def test_what_is_unknown_is_carried_along_and_costs_nothing_else(
    form: str, text: str, name: str
) -> None:
    module = parse(UNKNOWN[form].put_in(text_of(name), text), name)
    plain = parse(text_of(name), name)
    assert known(module) == known(plain)
    # Before any pass no value has a shape, behind which marks stand.
    has_none = (form, name) == (MARKS, "dense_bootstrap")
    added = UNKNOWN[form].carried(module) - UNKNOWN[form].carried(plain)
    assert added == (set() if has_none else {text})


@pytest.mark.parametrize(
    "before", ["ref_key=fc.weight", "is_parameter", "value=...", "elements_use_flags={[x]{1, 1}}"]
)
def test_an_unknown_mark_may_come_before_and_behind_every_known_one(before: str) -> None:
    for marks in (f"new_mark, {before}", f"{before}, new_mark"):
        text = module_of(node_of_type(f"Tensor[Float32], (3), {marks}"), RETURN)
        plain = module_of(node_of_type(f"Tensor[Float32], (3), {before}"), RETURN)
        output, expected = (parse(it, "f.ir").subgraphs[0].nodes[0].output for it in (text, plain))
        assert output is not None
        assert output.marks == ("new_mark",)
        assert msgspec.structs.replace(output, marks=()) == expected


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
    text = before_each(text_of(name), lambda line: line.startswith(start), "# New: comment")
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
