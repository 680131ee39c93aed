"""The Sphinx extension: gradient graphs, tables, claims and differences as directives.

``extensions = ["explorer.sphinx"]`` in conf.py. Results are stored; a directive that
cannot be run gives a warning with file and line, and the build continues.
"""

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import explorer
from explorer.blocks.html import figure
from explorer.blocks.records import Block, Code, Figure, Paragraph, Table, spans
from explorer.documents.contents import Way, contents
from explorer.documents.directives import KINDS, Directive, directive
from explorer.model.errors import ExplorerError, WorkerFaultError

logger = logging.getLogger(__name__)


class gradient_figure(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801  # as docutils names nodes
    """A drawing; ``figure`` holds it as an SVG, and ``shown`` is the block that it comes from."""


class AnyOption(dict[str, Any]):
    """What docutils makes of options: the text of each, of one that is not known too."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class GradientDirective(SphinxDirective):  # type: ignore[misc]  # its types are skipped
    """One block; ``kind`` is the directive's own name."""

    kind: ClassVar[str]
    # The block reports every mistake in a document, with what is allowed, instead of docutils.
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = False

    def run(self) -> list[nodes.Node]:
        """The nodes of the block; none, and a warning, if it cannot be run."""
        file = Path(self.env.doc2path(self.env.docname))
        try:
            shown = directive(self.kind, "".join(self.arguments), self.options, file.parent)
            if shown.subject.endswith(".py"):
                self.env.note_dependency(shown.subject)
            prefix = f"gradient{self.env.new_serialno('gradient')}-"
            parts = contents(shown, Way(prefix=prefix, each=True))
        except (ExplorerError, WorkerFaultError) as error:
            message = str(error).strip().splitlines()[-1]
            logger.warning(message, location=self.get_location(), type="explorer")
            return []
        return [node for part in parts for node in _nodes(part, shown)]


def _nodes(part: Block, shown: Directive) -> list[nodes.Node]:
    if isinstance(part, Figure):
        return [gradient_figure("", figure=part, shown=shown)]
    if isinstance(part, Table):
        return [_table(part)]
    if isinstance(part, Paragraph):
        return [_paragraph(part)]
    assert isinstance(part, Code)
    return [_code(part)]


def _paragraph(part: Paragraph) -> nodes.Node:
    plain = nodes.strong if part.is_strong else nodes.inline
    pieces = []
    for span in spans(part.text):
        kind = nodes.literal if span.style == "code" else plain
        pieces.append(kind(span.text, span.text))
    return nodes.paragraph("", "", *pieces)


def _code(part: Code) -> nodes.Node:
    return nodes.literal_block(part.text, part.text, language=part.language)


def _table(part: Table) -> nodes.Node:
    names = [column.name for column in part.columns]
    group = nodes.tgroup("", cols=len(names))
    # Columns are as wide as their longest text, within reason.
    for texts in zip(names, *part.texts, strict=True):
        longest = max(map(len, texts))
        group += nodes.colspec("", colwidth=min(max(longest, 6), 60))
    group += nodes.thead("", _row(names))
    group += nodes.tbody("", *map(_row, part.texts))
    title = [nodes.title("", part.caption)] if part.caption else []
    return nodes.table("", *title, group, classes=["gradient-table"])


def _row(cells: list[str]) -> nodes.Node:
    entries = [nodes.entry("", nodes.paragraph("", "", nodes.Text(cell))) for cell in cells]
    return nodes.row("", *entries)


def _visit_html(translator: Any, node: nodes.Element) -> None:
    translator.body.append(figure(node["figure"]))
    raise nodes.SkipNode


def _visit_latex(translator: Any, node: nodes.Element) -> None:
    """A PNG beside the document: LaTeX sets no SVG without another program."""
    shown = node["figure"]
    (png,) = (
        part for part in contents(node["shown"], Way(file_format="png")) if isinstance(part, Figure)
    )
    name = f"{shown.name}.png"
    (Path(translator.builder.outdir) / name).write_bytes(png.files[0])
    caption = f"\\caption{{{translator.encode(shown.caption)}}}" if shown.caption else ""
    translator.body.append(
        "\n\\begin{figure}[htbp]\\centering\n"
        f"\\includegraphics[width=\\linewidth,height=0.8\\textheight,keepaspectratio]{{{name}}}\n"
        f"{caption}\n\\end{{figure}}\n"
    )
    raise nodes.SkipNode


def _visit_text(translator: Any, node: nodes.Element) -> None:
    shown = node["figure"]
    translator.new_state()
    translator.add_text(f"[{shown.alt}]")
    if shown.caption:
        translator.add_text(f"\n{shown.caption}")
    translator.end_state()
    raise nodes.SkipNode


def _visit_other(translator: Any, node: nodes.Element) -> None:
    translator.body.append(node["figure"].alt)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Add a directive for every kind of block, and a visitor for drawings in each format."""
    for kind, options in KINDS.items():
        spec = AnyOption(dict.fromkeys(options, directives.unchanged))
        made = type(kind, (GradientDirective,), {"kind": kind, "option_spec": spec})
        app.add_directive(kind, made)
    app.add_node(
        gradient_figure,
        html=(_visit_html, None),
        latex=(_visit_latex, None),
        text=(_visit_text, None),
        man=(_visit_other, None),
        texinfo=(_visit_other, None),
    )
    return {
        "version": explorer.__version__,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
