"""The board of claims on a terminal, as Markdown, as one HTML file, and as one strict JSON
document.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape as escaped
from itertools import groupby
from typing import Any

import msgspec
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from explorer.model.claim import CLAIM_VERDICTS, GUIDES, HEADINGS, Board, ClaimRow, ClaimVerdict
from explorer.report.html import STYLE
from explorer.report.markdown import escape, table
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.text.numbers import plain

COLOURS: dict[ClaimVerdict | None, tuple[str, str]] = {
    "holds": ("green", "good"),
    "holds_with_changes": ("yellow", "foreseen"),
    "depends_on_style": ("cyan", "foreseen"),
    "outdated": ("magenta", "alarm"),
    "does_not_hold": ("bold red", "alarm"),
    "not_checkable_here": ("dim", "idle"),
    None: ("bold red", "alarm"),
}
"""Each verdict's colour on a terminal, and its class on a page."""

NOT_RUN = "not run"
CODE_WIDTH = 2


def topics(board: Board) -> Iterator[tuple[str, list[ClaimRow]]]:
    """The rows by topic, in the order of the topics."""
    ordered = sorted(board.rows, key=lambda row: (HEADINGS.index(row.heading), row.id))
    for topic, rows in groupby(ordered, key=lambda row: row.heading):
        yield topic, list(rows)


def counted(board: Board) -> str:
    """ "61 claims: 40 holds, 9 holds with changes, …"."""
    found = Counter(row.verdict for row in board.rows)
    parts = [
        f"{found[verdict]} {_name(verdict)}"
        for verdict in (*CLAIM_VERDICTS, None)
        if found[verdict]
    ]
    return f"{len(board.rows)} claim{'s' if len(board.rows) != 1 else ''}: {', '.join(parts)}"


def show(board: Board, console: Console) -> None:
    """Print every row: number, statement, verdict, and one line of evidence."""
    console.print(Text(_versions(board), style="dim"))
    for topic, rows in topics(board):
        console.print()
        console.print(Text(topic, style="bold"))
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for justify, wrapped in (("right", False), ("left", True)):
            grid.add_column(justify=justify, no_wrap=not wrapped, vertical="top")  # type: ignore[arg-type]  # its own literals
        for row in rows:
            head = Text.assemble(
                (_name(row.verdict), COLOURS[row.verdict][0]), "  ", (one_line(row.statement), "")
            )
            grid.add_row(Text(str(row.id)), head)
            grid.add_row("", Text(one_line(row.evidence), style="dim"))
        console.print(Padding(grid, (0, 0, 0, 1)))
    console.print()
    console.print(Text(counted(board), style="bold"))


def show_one(board: Board, row: ClaimRow, console: Console) -> None:
    """Print one claim in full: what would be true, the verdict, evidence, advice, and the programs
    that were run.
    """
    for part in _one(board, row):
        console.print(part)


def _one(board: Board, row: ClaimRow) -> Iterable[RenderableType]:
    yield Text.assemble((f"{row.id}  ", "dim"), (one_line(row.statement), "bold"))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    verdict = Text(
        f"{_name(row.verdict)}: {CLAIM_VERDICTS[row.verdict]}" if row.verdict else NOT_RUN,
        style=COLOURS[row.verdict][0],
    )
    told: list[tuple[str, Text]] = [
        ("from", Text("; ".join(GUIDES[guide] for guide in row.guides))),
        ("if it holds", Text(row.would)),
        ("verdict", verdict),
        ("evidence", Text(clean(row.evidence))),
        ("what to do", Text(row.advice)),
        ("measured on", Text(_versions(board))),
    ]
    for name, text in told:
        grid.add_row(name, text)
    yield Padding(grid, (0, 0, 0, 3))
    for name in row.measured:
        each = board.measured[name]
        yield Text()
        yield Text(f"{name}: {each.outcome}", style="bold")
        yield Padding(
            Text(clean(each.code.rstrip(), keep="\n"), overflow="fold"), (0, 0, 0, CODE_WIDTH)
        )
        if each.figures:
            figures = msgspec.json.format(msgspec.json.encode(each.figures), indent=0).decode()
            yield Padding(
                Text(one_line(figures, 1500), style="cyan", overflow="fold"), (0, 0, 0, CODE_WIDTH)
            )


def document(board: Board) -> dict[str, Any]:
    """The board as plain dicts, lists, strings and finite numbers, with every figure and the code
    that found it.
    """
    made: dict[str, Any] = plain(msgspec.to_builtins(board))
    return made


def markdown(board: Board) -> str:
    """The board as a page of the documentation."""
    parts = [
        "# What the migration guides say, checked",
        f"Measured on {board.date} with {escape(_versions(board))}. **{escape(counted(board))}.**",
        "\n".join(
            f"- **{_name(verdict)}**: {meaning}" for verdict, meaning in CLAIM_VERDICTS.items()
        ),
        "\n".join(f"- {number}: {escape(guide)}" for number, guide in GUIDES.items()),
    ]
    for topic, rows in topics(board):
        cells = [
            (
                str(row.id),
                row.statement,
                _name(row.verdict),
                one_line(row.evidence),
                row.advice,
                ", ".join(row.guides),
            )
            for row in rows
        ]
        columns = ("row", "statement", "verdict", "evidence", "what to do", "guide")
        parts += [f"## {topic[:1].upper()}{topic[1:]}", table(columns, cells)]
    return "\n\n".join(parts) + "\n"


def html(board: Board) -> str:
    """The board as one HTML document that needs nothing else, with figures and code folded under
    each claim.
    """
    body = [
        "<h1>What the migration guides say, checked</h1>",
        f'<p class="faint">Measured on {escaped(board.date)} with {escaped(_versions(board))}</p>',
        f'<p class="summary">{escaped(counted(board))}</p>',
    ]
    for topic, rows in topics(board):
        body += [
            f"<h2>{escaped(topic[:1].upper() + topic[1:])}</h2>",
            *(_claim(board, row) for row in rows),
        ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>What the migration guides say, checked</title>\n<style>{STYLE}{CLAIM_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


CLAIM_STYLE = """
section.claim { border-top: 1px solid var(--rule); padding: .7rem 0; } section.claim h3 { font-size: 1rem; margin: 0; }
section.claim pre { overflow-x: auto; background: var(--band); padding: .6rem .8rem; font-size: 12.5px; }
section.claim summary { color: var(--faint); cursor: pointer; } .badge { font-weight: 600; }
"""


def _claim(board: Board, row: ClaimRow) -> str:
    programs = "".join(
        f'<p class="mono">{escaped(name)}</p><pre><code>{escaped(board.measured[name].code)}</code></pre>'
        for name in row.measured
    )
    return (
        f'<section class="claim" id="claim-{row.id}"><h3>{row.id}. {escaped(row.statement)}</h3>'
        f'<p><span class="badge {COLOURS[row.verdict][1]}">{escaped(_name(row.verdict))}</span> {escaped(row.evidence)}</p>'
        f"<p>{escaped(row.advice)}</p><details><summary>What was run</summary>{programs}</details></section>"
    )


def _name(verdict: ClaimVerdict | None) -> str:
    return verdict.replace("_", " ") if verdict else NOT_RUN


def _versions(board: Board) -> str:
    return ", ".join(f"{name} {version}" for name, version in board.versions.items())
