"""The report's faces: what each says, and that foreign text harms none of them."""

import io
import json as stdlib_json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from explorer.report.nesting import nest
from rich.console import Console

from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.model.results import Failure, Leaf, OracleResult, Result
from explorer.report import json, reading, wording, write
from explorer.report.html import html
from explorer.report.markdown import markdown
from explorer.report.terminal import show
from explorer.scenario.matrix import matrix
from explorer.text.clean import clean
from explorer.text.messages import one_line
from tests.sample_report import HOSTILE, case_report, report

CASE_KEYS = {
    "api",
    "grad_position",
    "weights",
    "has_aux",
    "order",
    "label",
    "results",
    "verdict",
    "expected",
    "greatest",
}
SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def drawn(graph: GradGraph, kind: str, prefix: str) -> bytes:
    return SVG.encode() if kind == "svg" else f"{graph.engine} as {kind}".encode()


def printed(made: Report, width: int = 100, **terminal: Any) -> str:
    stream = io.StringIO()
    show(
        made,
        Console(file=stream, width=width, markup=False, highlight=False, emoji=False, **terminal),
    )
    return stream.getvalue()


def with_result(made: Report, result: Result) -> Report:
    """The report, with every engine giving ``result`` to its seventh case, grad(0)."""
    case = made.cases[6]
    changed = msgspec.structs.replace(case, results=dict.fromkeys(case.results, result))
    return msgspec.structs.replace(made, cases=(changed,))


def parsed(made: Report) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    document: dict[str, Any] = stdlib_json.loads(json.encode(made), parse_constant=refuse)
    return document


def test_json_has_the_keys_that_outside_programs_rely_on() -> None:
    document = parsed(report())
    assert {
        "schema",
        "scenario",
        "title",
        "versions",
        "devices",
        "cases",
        "graphs",
        "alignments",
    } <= set(document)
    assert document["schema"] == 1
    for case in document["cases"]:
        assert set(case) >= CASE_KEYS
        for result in case["results"].values():
            assert {"outcome", "structure", "values", "error", "code"} <= set(result)
    differing = next(case for case in document["cases"] if case["verdict"] == "differs")
    assert set(differing["greatest"]) >= {"abs", "rel", "engines", "leaf", "index"}


def test_json_tells_an_int_position_from_a_one_tuple() -> None:
    by_label = {case["label"]: case["grad_position"] for case in parsed(report())["cases"]}
    assert by_label["grad(net, grad_position=0, weights=None, has_aux=False)"] == 0
    assert by_label["grad(net, grad_position=(0,), weights=None, has_aux=False)"] == [0]
    assert by_label["grad(net, grad_position=None, weights=one, has_aux=False)"] is None


def test_json_nests_values_like_the_structure() -> None:
    by_label = {case["label"]: case for case in parsed(report(foreseen=False))["cases"]}
    result = by_label["grad(net, grad_position=(0, 1), weights=all, has_aux=True)"]["results"][
        "torch-tape"
    ]
    assert result["structure"] == "(((dx, dy), (dfc.weight,)), (logits,))"
    assert result["values"][0][0] == [[[4.0, 6.0, 8.0]], -2.0]
    assert result["values"][0][1][0][0] == pytest.approx([2, 4, 6])
    assert result["values"][1] == [20.0]


def test_json_has_null_values_and_the_error_where_an_engine_raised() -> None:
    result = parsed(report())["cases"][0]["results"]["mindspore-graph"]
    assert (result["outcome"], result["structure"], result["values"]) == ("raised", None, None)
    assert result["error"]["type"] == "ValueError"


def test_json_spells_numbers_that_are_not_finite() -> None:
    leaf = Leaf("dx", pack(np.array([math.nan, math.inf, -math.inf, 1.5])))
    made = with_result(report(), Result(outcome="ok", structure="dx", leaves=(leaf,)))
    made = msgspec.structs.replace(
        made,
        cases=tuple(msgspec.structs.replace(case, greatest=None) for case in made.cases),
        alignments=(),
    )
    assert parsed(made)["cases"][0]["results"]["torch-tape"]["values"] == [
        "NaN",
        "Infinity",
        "-Infinity",
        1.5,
    ]


@pytest.mark.parametrize(("count", "whole"), [(1024, True), (1025, False)])
def test_json_lists_up_to_1024_elements_and_summarises_more(count: int, whole: bool) -> None:
    leaf = Leaf("dx", pack(np.ones(count, np.float32)))
    values = parsed(with_result(report(), Result(outcome="ok", structure="dx", leaves=(leaf,))))
    (case,) = values["cases"]
    found = case["results"]["torch-tape"]["values"]
    assert (
        (found == [1.0] * count)
        if whole
        else (found["shape"], found["mean"], found["dtype"]) == ([count], 1.0, "float32")
    )


def test_json_is_the_same_bytes_for_the_same_report() -> None:
    assert json.encode(report()) == json.encode(report())
    assert json.encode(report()).startswith(b'{\n  "schema": 1')


def test_json_holds_the_graphs_with_values_and_links() -> None:
    graph = parsed(report())["graphs"][0]
    assert [node["id"] for node in graph["nodes"]] == ["n0", "n1", "n2", "n3"]
    assert graph["nodes"][2]["forward"] == "n1"
    assert graph["nodes"][0]["outputs"][0]["values"] == [[4.0, 6.0, 8.0]]
    assert graph["edges"][1] == {"from": "n0", "to": "n2", "out": 0, "in": 0, "kind": "saved"}


def test_nesting_survives_names_with_commas_and_parentheses() -> None:
    odd = Leaf("d(a, b)", pack(np.zeros(1)))
    plain = Leaf("dx", pack(np.ones(1)))
    result = Result(outcome="ok", structure="(d(a, b), (dx,))", leaves=(odd, plain))
    assert nest(result) == (odd, (plain,))


@pytest.mark.parametrize("structure", ["(dx", "dx)", "(dx, dy)", "", "dx, dx", "dz"])
def test_nesting_refuses_a_structure_that_does_not_name_the_leaves(structure: str) -> None:
    with pytest.raises(ValueError, match="does not name the leaves dx in order"):
        nest(Result(outcome="ok", structure=structure, leaves=(Leaf("dx", pack(np.zeros(1))),)))


def test_short_names_are_unique_and_say_only_what_is_not_default() -> None:
    cases = matrix(3, has_parameters=True, order=3)
    assert len({wording.short(case) for case in cases}) == len(cases)
    assert wording.short(GradCase("grad", 0, "all", True)) == "grad(0, weights=all, has_aux)"
    assert wording.short(GradCase("GradOperation", 0)) == "GradOperation()"


def test_one_line_a_case_where_all_agree() -> None:
    made = report(foreseen=False)
    rows = [row for group in reading.read(made).groups for row in group.rows]
    assert len(rows) == 80
    assert [row.call for row in rows if row.lines] == ["None"]  # what must fail says so once
    assert [row.value for row in rows if row.verdict == "all raise"] == ["", *["as grad(None)"] * 3]
    assert rows[6].value == "[[4, 6, 8]]"


def test_engines_that_differ_speak_together_where_they_say_the_same() -> None:
    row = next(row for row in reading.read(report()).groups[0].rows if row.call == "1")
    assert [(line.who, line.text) for line in row.lines[:2]] == [
        ("both graph engines", "-2"),
        ("both tape engines", "-4"),
    ]
    assert (row.verdict, row.state, row.value) == ("differs", "foreseen", "")


def test_differing_values_that_read_alike_get_more_digits() -> None:
    near = case_report(GradCase("grad", 0), wrong="torch-tape", factor=1 + 2**-19)
    differing = msgspec.structs.replace(near, verdict="differs")
    (row,) = reading.read(msgspec.structs.replace(report(), cases=(differing,))).groups[0].rows
    assert [line.who for line in row.lines] == ["all but torch-tape", "torch-tape"]
    assert [line.text for line in row.lines] == [
        "[[4, 6, 8]]",
        "[[4.00000763, 6.00001144, 8.00001526]]",
    ]


def test_an_unexpected_difference_is_an_alarm_with_its_place() -> None:
    made = reading.read(report(unexpected=True))
    row = next(row for row in made.groups[0].rows if row.call == "(0,)")
    assert (made.state, row.state) == ("alarm", "alarm")
    assert "greatest at dx[0, 2]: 0.008" in row.lines[-1].text
    assert made.notes[row.notes[0] - 1].startswith("not as expected: ")


def test_the_summary_counts_every_case_once() -> None:
    summary = reading.read(report(unexpected=True)).summary
    total, *counts = map(int, re.findall(r"\d+", summary))
    assert total == sum(counts[:-1]) == 80
    assert "4 fail everywhere as they must" in summary
    assert reading.read(report()).summary.endswith("; 0 unexpected")


def test_the_oracle_column_says_how_much_it_saw() -> None:
    case = case_report(GradCase("grad", 0))
    assert wording.oracle(case) == "agrees"
    along = tuple(msgspec.structs.replace(each, directions=16) for each in case.oracle.estimates)
    assert (
        wording.oracle(msgspec.structs.replace(case, oracle=OracleResult("ok", along)))
        == "agrees ·16"
    )
    assert wording.oracle(msgspec.structs.replace(case, oracle_agrees=False)) == "differs"
    assert wording.oracle(msgspec.structs.replace(case, oracle_agrees=None)) == "—"


def test_mindspore_errors_are_shown_without_its_own_sources() -> None:
    sources = f"\n\n{'-' * 52}\n- C++ Call Stack: (For framework developers)\nx.cc:1"
    error = Failure(
        "ValueError", f"For 'grad', it can not be None (value_ptr: 0x557529f56740).{sources}"
    )
    assert wording.failure(error) == "ValueError: For 'grad', it can not be None (value_ptr: 0x…)."


@pytest.mark.parametrize("width", [80, 100, 120, 150])
def test_the_terminal_table_fits_its_width(width: int) -> None:
    text = printed(report(unexpected=True), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("grad(net") == 2
    assert "80 cases:" in text


def test_the_terminal_shows_structure_and_ids_where_there_is_room() -> None:
    heads = {width: printed(report(), width).splitlines()[7] for width in (80, 120, 150)}
    assert ("structure" in heads[80], "structure" in heads[120], "structure" in heads[150]) == (
        False,
        True,
        True,
    )
    assert ("ids" in heads[120], "ids" in heads[150]) == (False, True)


def test_foreign_text_cannot_steer_the_terminal() -> None:
    text = printed(report(title=HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]\\x1b[31m\\u202e" in text  # and rich's own markup is text too
    coloured = printed(report(title=HOSTILE), force_terminal=True, color_system="standard")
    assert set(re.findall(r"\x1b\[([0-9;]*)m", coloured)) <= {
        "0",
        "1",
        "2",
        "31",
        "32",
        "33",
        "36",
        "1;31",
        "1;32",
    }


def test_clean_spells_out_what_cannot_be_seen() -> None:
    assert clean("a\x1b[0m\u202eb\ud800\n") == "a\\x1b[0m\\u202eb\\ud800\\n"
    assert clean("a\nb", keep="\n") == "a\nb"
    assert one_line("a \n\t b" + "x" * 1000, limit=10) == "a bxxxxxx…"


class Tags(HTMLParser):
    """Collects tags, and refuses those that are closed in a wrong order."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_needs_nothing_from_outside() -> None:
    page = html(report(title=HOSTILE), {"torch-tape": SVG})
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    names = {tag for tag, _ in tags.seen}
    assert not names & {"script", "link", "img", "iframe", "object"}
    assert [tag for tag, _ in tags.seen].count("svg") == 1
    links = [
        str(attributes[key])
        for _, attributes in tags.seen
        for key in ("href", "src")
        if key in attributes
    ]
    assert links
    assert all(link.startswith("#note") for link in links)
    assert "&lt;script&gt;" in page
    assert "prefers-color-scheme: dark" in page


def test_markdown_escapes_and_keeps_its_tables_square() -> None:
    text = markdown(report(title=HOSTILE), {"torch-tape": "torch-tape.svg"})
    assert "<script>" not in text
    assert "![Gradient graph of torch\\-tape](torch-tape.svg)" in text
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(counts) == 1


def test_an_output_folder_holds_a_picture_a_graph_and_the_reports_asked_for(tmp_path: Path) -> None:
    written = write.write(
        report(),
        write.prepare(tmp_path / "a" / "b"),
        ("svg", "mermaid", "json", "markdown", "html"),
        drawn,
    ).paths
    assert sorted(path.name for path in written) == [
        "mindspore-graph.mmd",
        "mindspore-graph.svg",
        "report.html",
        "report.json",
        "report.md",
        "torch-tape.mmd",
        "torch-tape.svg",
    ]
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == sorted(
        path.name for path in written
    )
    assert (tmp_path / "a" / "b" / "report.json").read_bytes() == json.encode(report())


def test_a_picture_that_cannot_be_made_costs_no_other_file(tmp_path: Path) -> None:
    def refusing(graph: GradGraph, kind: str, prefix: str) -> bytes:
        if kind == "mermaid":
            raise UsageError("too large for Mermaid")
        return drawn(graph, kind, prefix)

    written = write.write(report(), tmp_path, ("svg", "mermaid", "json"), refusing)
    assert written.refused == [
        "mindspore-graph.mmd: too large for Mermaid",
        "torch-tape.mmd: too large for Mermaid",
    ]
    assert [path.name for path in written.paths] == [
        "mindspore-graph.svg",
        "torch-tape.svg",
        "report.json",
    ]


def test_earlier_stages_of_an_engine_get_their_own_names() -> None:
    last = report().graphs[0]
    first = msgspec.structs.replace(last, stage="../type_inference")
    assert list(write.stems((first, last))) == [
        "mindspore-graph",
        "mindspore-graph-.._type_inference",
    ]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below"):
        with pytest.raises(UsageError, match=r"nothing can be written to .* give another folder"):
            write.prepare(folder)


def test_a_file_that_cannot_be_replaced_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        write.put(tmp_path / "report.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
