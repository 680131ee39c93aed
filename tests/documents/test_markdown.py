"""Blocks of Markdown files: what is written where, again and again the same, and what is refused."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from explorer.blocks.records import Block, Code, Figure, Paragraph, Table, columns
from explorer.cli.entry import run
from explorer.documents.directives import Directive
from explorer.documents.markdown import END, embedded
from explorer.model.errors import UsageError
from explorer.workers.workers import Workers

SVG = b'<svg class="gradgraph"></svg>'


def parts_of(shown: Directive) -> tuple[Block, ...]:
    """Parts of every sort, with texts that would be more than text."""
    return (
        Figure("name", (SVG,), alt='a "quoted" <b> & more', caption="*told* <i>", width="50%"),
        Table(columns(["a|b"]), (("1 | 2 <script>",),), caption=shown.subject),
        Paragraph("the `point` is [here](x)", is_strong=True),
        Code("```\nprinted\n```"),
    )


def document(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_bytes(text.encode())
    return path


BLOCK = "<!-- explorer: gradient-graph dense_mse -->"


def test_the_text_around_blocks_stays_and_old_content_goes(tmp_path: Path) -> None:
    path = document(
        tmp_path, f"before\r\n{BLOCK}\nof yesterday\n{END}\nbetween\n{BLOCK}{END} after"
    )
    made = embedded(path, parts_of)
    assert made.text.startswith(f"before\r\n{BLOCK}\n")
    assert "of yesterday" not in made.text
    assert "\nbetween\n" in made.text
    assert made.text.endswith(f"{END} after")
    assert made.text.count("<picture>") == made.text.count(END) == 2
    # A filled document is as it should be, and a block in a fence is shown and not run.
    assert embedded(document(tmp_path, made.text), parts_of) == made
    fenced = f"```\n{BLOCK}\n```\n"
    assert embedded(document(tmp_path, fenced), parts_of).text == fenced


def test_pictures_lie_beside_the_document_light_and_dark(tmp_path: Path) -> None:
    made = embedded(document(tmp_path, f"{BLOCK}\n{END}\n"), parts_of)
    light, dark = tmp_path / "images" / "name-light.svg", tmp_path / "images" / "name-dark.svg"
    assert set(made.files) == {light, dark}
    assert b"dark" in made.files[dark]
    assert b"dark" not in made.files[light]
    assert 'srcset="images/name-dark.svg"' in made.text
    assert 'src="images/name-light.svg"' in made.text
    assert 'width="50%"' in made.text


def test_foreign_text_stays_text(tmp_path: Path) -> None:
    made = embedded(document(tmp_path, f"{BLOCK}\n{END}\n"), parts_of)
    assert "<script>" not in made.text
    assert "<i>" not in made.text
    assert 'alt="a &quot;quoted&quot; &lt;b&gt; &amp; more"' in made.text
    assert "````text\n```\nprinted\n```\n````" in made.text
    assert "\\[here\\]" in made.text


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (f"a\n\n{BLOCK}\n", 3, "no end"),
        (f"{BLOCK}\n{BLOCK}\n{END}\n", 2, "inside"),
        (f"a\n<!-- explorer: gradient-grph x -->\n{END}\n", 2, "gradient-graph"),
        (f"<!-- explorer: gradient-graph dense_mse a b -->\n{END}\n", 1, "quote"),
        (f"<!-- explorer: gradient-graph dense_mse caption='x -->\n{END}\n", 1, "quotation"),
        (f"<!-- explorer: -->\n{END}\n", 1, "unknown block ''"),
    ],
)
def test_what_is_no_block_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, word: str
) -> None:
    path = document(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        embedded(path, parts_of)
    assert f"{path}:{line}: " in str(refused.value)
    assert word in str(refused.value)


def test_every_wrong_block_of_a_document_is_told(tmp_path: Path) -> None:
    text = (
        f"<!-- explorer: gradient-grph x -->\n{END}\n{BLOCK}\n{END}\n"
        f"<!-- explorer: gradient-claim thirty -->\n{END}\n{BLOCK}\n"
    )
    path = document(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        embedded(path, parts_of)
    lines = str(refused.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:{line}" for line in (1, 5, 7)]
    assert path.read_text() == text


@pytest.mark.torch
@pytest.mark.mindspore
def test_the_command_fills_and_then_finds_nothing_stale(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("explorer.api.functions.Workers", lambda *_: nullcontext(workers))
    text = (
        '<!-- explorer: gradient-graph dense_mse engines="torch-tape" -->\n<!-- /explorer -->\n'
        f"<!-- explorer: gradient-claim 30 code=yes -->\n{END}\n"
    )
    path = document(tmp_path, text)
    assert run(["embed", "--check", str(path)]) == 1
    assert path.read_text() == text
    assert not (tmp_path / "images").exists()
    assert "out of date: " in capsys.readouterr().err

    assert run(["embed", str(path)]) == 0
    assert "aten" in (tmp_path / "images" / "dense_mse-torch_tape-dark.svg").read_text()
    assert "PyTorch adds gradients up" in path.read_text()
    assert ".backward()" in path.read_text()  # the code that was run
    filled = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    capsys.readouterr()
    assert run(["embed", str(path)]) == 0
    assert capsys.readouterr().out == ""
    assert run(["embed", "--check", str(path)]) == 0
    assert {file: file.read_bytes() for file in filled} == filled

    picture = tmp_path / "images" / "dense_mse-torch_tape-light.svg"
    picture.unlink()
    assert run(["embed", "--check", str(path)]) == 1
    assert "light.svg" in capsys.readouterr().err


def test_nothing_is_written_where_one_document_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = document(tmp_path, "no block\n")
    bad = tmp_path / "bad.md"
    bad.write_text(BLOCK)
    assert run(["embed", str(good), str(bad), str(tmp_path / "none.md")]) == 2
    told = capsys.readouterr().err
    assert "bad.md:1: " in told
    assert "none.md: " in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.md", "page.md"]
