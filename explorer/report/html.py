"""A report as one HTML file that needs nothing else: no scripts, no fonts, no links; light and
dark.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from explorer.model.report import Report
from explorer.report.reading import Group, Reading, Row, read
from explorer.report.wording import PAIRED

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --faint: #5d6678; --rule: #d9dde6; --ground: #ffffff; --band: #f4f6fa;
  --good: #1a7f4b; --foreseen: #946200; --alarm: #c02626; --idle: #5d6678; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8f0; --faint: #9aa4b8; --rule: #343c4c; --ground: #151a23;
  --band: #1d2430; --good: #5fd39a; --foreseen: #e8b552; --alarm: #ff8080; --idle: #9aa4b8; } }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 84rem; color: var(--ink); background: var(--ground);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .5rem; } p { margin: .4rem 0; max-width: 80ch; }
code, td, .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; }
.faint { color: var(--faint); max-width: none; } a { color: var(--faint); }
.summary { font-size: 1.1rem; font-weight: 600; padding: .6rem .9rem; margin: 1rem 0;
  border-left: 4px solid currentColor; background: var(--band); max-width: none; }
.good { color: var(--good); } .foreseen { color: var(--foreseen); } .alarm { color: var(--alarm); } .idle { color: var(--idle); }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th { text-align: left; font-weight: 600; color: var(--faint); font-size: 13px; }
th, td { padding: .22rem 1.1rem .22rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
td.verdict { white-space: nowrap; } tr.voice td { border: 0; background: var(--band); color: var(--faint); padding-left: .6rem; }
tr.voice td.said { color: var(--ink); overflow-wrap: anywhere; } figure { margin: 1.2rem 0 2.4rem; }
figcaption { font-weight: 600; margin-bottom: .4rem; } figure .wide { border: 1px solid var(--rule); padding: .5rem; }
figure svg { max-width: 100%; height: auto; } ol { padding-left: 1.6rem; }
"""
HEADS = ("call", "structure", "value", "ids", "verdict", "greatest", "oracle")


def html(report: Report, pictures: Mapping[str, str] | None = None) -> str:
    """The report as an HTML document; ``pictures`` maps a caption to an SVG of our own drawing, set
    as it is.
    """
    reading = read(report)
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(reading.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            *_head(reading),
            *(_group(group) for group in reading.groups),
            *_notes(reading),
            *_graphs(reading, pictures or {}),
            "</main>\n</body>\n</html>\n",
        )
    )


def _head(reading: Reading) -> Iterable[str]:
    yield f'<h1>{escape(reading.title)}</h1>\n<p class="faint">Scenario <code>{escape(reading.scenario)}</code></p>'
    yield from (f"<p>{escape(part)}</p>" for part in reading.about.split("\n\n") if part)
    yield f'<p class="summary {reading.state}">{escape(reading.summary)}</p>'
    yield f'<p class="faint">{escape(reading.oracle_summary)}</p>'
    rows = [(where.engine, where.how, where.version, where.device) for where in reading.where]
    yield _table(("engine", "how", "version", "device"), map(_cells, rows))


def _group(group: Group) -> str:
    heads = (
        HEADS
        if any(row.ids for row in group.rows)
        else tuple(head for head in HEADS if head != "ids")
    )
    rows = [line for row in group.rows for line in _rows(row, heads)]
    return f"<h2><code>{escape(group.heading)}</code></h2>\n{_table(heads, rows)}"


def _rows(row: Row, heads: Sequence[str]) -> Iterable[str]:
    marks = "".join(f' <a href="#note{number}">[{number}]</a>' for number in row.notes)
    cells = {name: f"<td>{escape(getattr(row, name))}</td>" for name in heads}
    cells["verdict"] = f'<td class="verdict {row.state}">{escape(row.verdict)}{marks}</td>'
    yield f"<tr>{''.join(cells.values())}</tr>"
    for line in row.lines:
        said = f'<td class="said" colspan="{len(heads) - 1}">{escape(line.text)}</td>'
        yield f'<tr class="voice"><td>{escape(line.who)}</td>{said}</tr>'


def _notes(reading: Reading) -> Iterable[str]:
    if reading.notes:
        items = "".join(
            f'<li id="note{number}">{escape(note)}</li>'
            for number, note in enumerate(reading.notes, 1)
        )
        yield f"<h2>Notes</h2>\n<ol>{items}</ol>"


def _graphs(reading: Reading, pictures: Mapping[str, str]) -> Iterable[str]:
    if not (reading.aligned or reading.ungraphed or pictures):
        return
    yield "<h2>Gradient graphs</h2>"
    if reading.aligned:
        rows = [
            (f"{each.left} · {each.right}", each.forward, each.backward, each.divergence)
            for each in reading.aligned
        ]
        yield f"<p>Counted, by pair: {escape(PAIRED)}.</p>"
        yield _table(("pair", "forward", "backward", "first divergence"), map(_cells, rows))
    for line in reading.ungraphed:
        yield f'<p>No graph from {escape(line.who)}: <span class="mono">{escape(line.text)}</span></p>'
    for caption, svg in pictures.items():
        yield f'<figure><figcaption>{escape(caption)}</figcaption><div class="wide">{svg}</div></figure>'


def _cells(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "\n".join(rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
