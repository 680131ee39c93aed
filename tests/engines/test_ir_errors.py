"""IR texts that cannot be read: where, what stands there, and what may stand there."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.engines.mindspore.ir import IRSyntaxError, parse, read
from explorer.engines.mindspore.ir.lines import Fault
from explorer.engines.mindspore.ir.records import NodeRef
from explorer.engines.mindspore.ir.values import Scope, read_atom
from tests.support.ir_texts import FIRST_STATEMENT, HEADER, RETURN, SAMPLES, module_of, statement
from tests.support.tables import rows


def refused(text: str) -> IRSyntaxError:
    with pytest.raises(IRSyntaxError) as caught:
        parse(text, "some/net.ir")
    error = caught.value
    place = f"some/net.ir:{error.line}:{error.column}"
    start = f"{place}: expected {error.allowed}, found {error.found} ("
    assert str(error).startswith(start)
    return error


@pytest.mark.parametrize(
    "row", msgspec.toml.decode(Path(__file__).with_name("ir_errors.toml").read_bytes())["row"]
)
def test_what_cannot_be_read_is_reported_where_it_stands(row: dict[str, Any]) -> None:
    error = refused(module_of(*row["lines"]))
    line, column = row["at"]
    assert (error.line, error.column) == (FIRST_STATEMENT + line, column)
    assert row["found"] in error.found
    assert row["allowed"] in error.allowed


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in SAMPLES.glob("*.ir") if path.stem != "analyze_fail")
)
def test_a_file_cut_anywhere_is_refused_at_or_before_the_cut(name: str) -> None:
    lines = (SAMPLES / f"{name}.ir").read_text(encoding="utf-8").rstrip().split("\n")
    last = max(index for index, line in enumerate(lines) if line == "}")
    for kept in range(0, last + 1, 3):
        whole = "\n".join(lines[:kept])
        assert refused(whole).line <= kept + 1, kept
        if kept and len(lines[kept - 1]) > 1:
            assert refused(whole[:-1]).line <= kept + 1, kept


@pytest.mark.parametrize(
    ("pattern", "replacement", "found", "allowed"),
    rows(__file__, "test_a_wrong_header_is_reported"),
)
def test_a_wrong_header_is_reported(
    pattern: str, replacement: str, found: str, allowed: str
) -> None:
    text = (SAMPLES / "dense_validate.ir").read_text(encoding="utf-8")
    assert text.count(pattern) == 1
    error = refused(text.replace(pattern, replacement))
    assert found in error.found
    assert allowed in error.allowed


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        (f"{HEADER}\nsubgraph @f() {{", "a node ('  %0(name) = …')"),
        (
            "# IR entry: @f\n# Total subgraphs: 1\n\n# Total params: 0\n\nsymbol engine details:\na",
            "'}' after the details of the symbol engine",
        ),
    ],
)
def test_a_file_that_ends_too_early_says_what_is_missing(text: str, allowed: str) -> None:
    error = refused(text)
    last = text.splitlines()[-1]
    assert (error.line, error.column) == (text.count("\n") + 1, len(last) + 1)
    assert "the end of the file" in error.found
    assert allowed in error.allowed


def test_an_entry_of_the_order_may_have_several_lines_and_must_end() -> None:
    order = ["# Order:", "# 999: @f:a{[0]: ValueNode<Tensor> [[1", " 2]]}", "#1000: @f:b{[0]: a}"]
    module = module_of(statement("", 0), RETURN)
    assert len(parse(module + "\n".join(order) + "\n", "net.ir").subgraphs) == 1
    for torn in (order[:2], [*order[:2], order[3]]):
        error = refused(module + "\n".join(torn) + "\n")
        assert "the rest of an entry" in error.allowed


def test_a_node_is_known_in_its_own_subgraph_alone() -> None:
    scope = Scope([])
    with pytest.raises(Fault, match="none so far"):
        scope.check(NodeRef(0), 0)
    scope.nodes = 4
    assert scope.quick("%3, %2)", 0) == (NodeRef(3), 2)
    # The next subgraph has fewer: that the text was read before says nothing.
    scope.nodes = 3
    with pytest.raises(Fault, match="%0 … %2"):
        scope.quick("%3)", 0)
    assert scope.quick("%2)", 0) == (NodeRef(2), 2)


@pytest.mark.parametrize(
    ("text", "offset", "allowed"),
    [
        (", a", 0, "a value"),
        ("A{b[c]", 6, "'}'"),
        ("A{b]", 3, "bracket"),
        ("@ ", 1, "the name of a subgraph"),
    ],
)
def test_a_name_has_letters_and_closes_its_brackets(text: str, offset: int, allowed: str) -> None:
    with pytest.raises(Fault) as caught:
        read_atom(text, 0, Scope([]))
    assert caught.value.offset == offset
    assert allowed in caught.value.allowed


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.ir"
    path.write_bytes(b"# IR entry: @f\n# \xff\n")
    with pytest.raises(
        IRSyntaxError, match=re.escape(f"{path}:2:3: expected UTF-8 text, found byte 0xff")
    ):
        read(path)


def test_what_is_called_must_be_declared_where_all_parameters_have_names() -> None:
    call = statement("", 0, head="  %0(a) = fn[@g]")
    error = refused(module_of(call, RETURN, parameters="%para1_x"))
    assert "'call @graph'" in error.allowed
    assert "fn[@g]" in error.found


def test_a_parameter_of_another_form_is_reported_on_the_line_that_declares_it() -> None:
    error = refused(module_of(statement("", 0), RETURN, parameters="%x"))
    assert (error.line, error.column) == (HEADER.count("\n") + 2, 1)
    assert error.found == "'x'"
    assert "para1_name" in error.allowed


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(sorted(SAMPLES.glob("*.ir"))), st.data())
def test_any_damage_is_refused_or_harmless_but_never_another_error(
    path: Path, data: st.DataObject
) -> None:
    text = path.read_text(encoding="utf-8")
    at, count = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 5))
    inserted = data.draw(st.text('()[]{}<>,:"%#@$ \nab1', max_size=3))
    damaged = text[:at] + inserted + text[at + count :]
    error = refusal(damaged)
    if error is not None:
        lines = damaged.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


def refusal(text: str) -> IRSyntaxError | None:
    """The error with which a text is refused; None where it can be read."""
    try:
        parse(text, "f.ir")
    except IRSyntaxError as error:
        return error
    return None
