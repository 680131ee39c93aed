"""Two runs side by side."""

from pathlib import Path

import pytest

from benchmarks import compare
from benchmarks._figures import Basis, Figure
from benchmarks._records import RecordError, Run, read, write


def figure(*rounds: float, name: str = "n", basis: Basis = "wall", wanted: str = "low") -> Figure:
    fields = {"name": name, "basis": basis, "rounds": rounds, "wanted": wanted}
    return Figure(unit="s", benchmark="b", **fields)  # type: ignore[arg-type]  # str for Literal


def run(*figures: Figure, torch: str = "2.13.0") -> Run:
    return Run(
        began="2026-11-23T120000Z",
        commit="abc",
        machine="2 cores",
        versions={"torch": torch},
        seconds={},
        others={},
        figures=figures,
    )


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (figure(1.0, 1.2, 1.1), figure(1.3, 1.5, 1.4), "worse"),
        (figure(1.3, 1.5, 1.4), figure(1.0, 1.2, 1.1), "better"),
        (figure(1.0, 2.0, 1.5), figure(2.0, 3.0, 2.5), ""),  # as far as one spread, not further
        (figure(1.0, 1.0, 1.0), figure(1.0, 9.0, 2.0), ""),  # the second run spreads more
        (figure(1.0, 1.2, wanted="high"), figure(2.0, 2.2, wanted="high"), "better"),
        (figure(1.0), figure(2.0), "one round"),
        (figure(1.0, 1.0), figure(2.0), "one round"),
        (
            figure(99.0, basis="share", wanted="high"),
            figure(98.0, basis="share", wanted="high"),
            "worse",
        ),
        (figure(3.0, basis="count"), figure(3.0, basis="count"), ""),
        (figure(), figure(1.0), ""),
    ],
)
def test_a_figure_has_moved_where_medians_are_further_apart_than_rounds(
    before: Figure, after: Figure, verdict: str
) -> None:
    assert compare.moved(before, after) == verdict


def test_the_table_has_both_medians_their_ratio_and_what_only_one_run_has() -> None:
    a = run(figure(2.0, 2.0), figure(1.0, name="gone"))
    b = run(figure(4.0, 4.0), figure(1.0, name="new"), torch="2.14.0")
    told = compare.comparison(a, b)
    (row,) = (line for line in told.splitlines() if line.startswith("b  "))
    assert " ".join(row.split()) == "b n wall 2 s 4 s 2 worse"
    assert "only in A: b: gone" in told
    assert "only in B: b: new" in told
    assert "torch: 2.13.0 in A, 2.14.0 in B" in told
    assert "1 figures in both; 0 better, 1 worse" in told


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    kept = run(figure(1.0, 2.0))
    write(kept, tmp_path / "folder" / "run.json")
    assert read(tmp_path / "folder" / "run.json") == kept


@pytest.mark.parametrize("text", [None, "", "{}", "[1]", '{"schema": 2}'])
def test_what_is_no_record_of_a_run_is_refused_with_what_writes_one(
    text: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "run.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(RecordError, match="python -m benchmarks --json"):
        read(file)


def test_another_schema_is_named(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    write(run(), file)
    file.write_text(file.read_text().replace('"schema": 1', '"schema": 7'))
    with pytest.raises(RecordError, match="schema 7, and 1 is read"):
        read(file)


def test_a_wrong_file_is_a_message_and_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["compare", str(tmp_path / "no.json"), "also-none.json"])
    assert compare.main() == 2
    assert "no.json" in capsys.readouterr().err
