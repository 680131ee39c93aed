"""Output folders: which files there are, and that each is whole or not there."""

from collections.abc import Collection
from pathlib import Path

import msgspec
import pytest

from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from explorer.report.files import check_folder, prepare_folder, put_file
from explorer.report.json import encode
from explorer.report.scenario.files import stems, write_report
from explorer.report.schemas import report_document
from tests.support.sample_report import report


def draw(graph: GradGraph, picture_format: str, prefix: str, diverging: Collection[str]) -> bytes:
    if picture_format == "svg":
        return f'<svg xmlns="http://www.w3.org/2000/svg" id="{prefix}"></svg>'.encode()
    return f"{graph.engine} as {picture_format}".encode()


def names(paths: list[Path]) -> list[str]:
    return sorted(path.name for path in paths)


@pytest.mark.slow
def test_a_folder_holds_a_picture_a_graph_and_the_reports_asked_for(tmp_path: Path) -> None:
    folder = prepare_folder(tmp_path / "a" / "b")
    formats = ("svg", "mermaid", "json", "markdown", "html")
    written = write_report(report(), folder, formats, draw).paths
    assert names(written) == [
        "mindspore-graph.mmd",
        "mindspore-graph.svg",
        "report.html",
        "report.json",
        "report.md",
        "torch-tape.mmd",
        "torch-tape.svg",
    ]
    assert names(list(folder.iterdir())) == names(written)
    assert (folder / "report.json").read_bytes() == encode(report_document(report()))
    assert "(torch-tape.svg)" in (folder / "report.md").read_text()
    # The drawings of one page have ids of their own.
    page = (folder / "report.html").read_text()
    assert page.count('id="torch-tape-"') == page.count('id="mindspore-graph-"') == 1


def test_a_picture_that_cannot_be_made_costs_no_other_file(tmp_path: Path) -> None:
    def refusing(
        graph: GradGraph, picture_format: str, prefix: str, diverging: Collection[str]
    ) -> bytes:
        if picture_format == "mermaid":
            raise UsageError("too large for Mermaid")
        return draw(graph, picture_format, prefix, diverging)

    written = write_report(report(), tmp_path, ("svg", "mermaid", "json"), refusing)
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
    assert list(stems((first, last))) == ["mindspore-graph", "mindspore-graph-.._type_inference"]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below"):
        with pytest.raises(UsageError, match=r"nothing can be written to .* give another folder"):
            prepare_folder(folder)


def test_a_folder_that_is_not_there_is_refused_where_none_is_to_be_made(tmp_path: Path) -> None:
    assert check_folder(tmp_path) == tmp_path
    with pytest.raises(UsageError, match=r"there is no folder '.*new'; make it first"):
        check_folder(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_file_that_cannot_be_replaced_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        put_file(tmp_path / "report.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_numbers_in_a_list_are_one_line_and_the_document_is_the_same() -> None:
    document = {"a": [1, -2.5, 1e-7], "b": [[1.0], []], "c": ["[\n 1\n ]", 2], "d": [[1, "NaN"]]}
    text = encode(document)
    assert msgspec.json.decode(text) == document
    assert b'"a": [1, -2.5, 1e-7]' in text
    assert text.endswith(b"}\n")
