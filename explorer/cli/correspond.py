"""The ``correspond`` command: what a function or layer is in the other framework."""

from explorer.blocks.markdown import page as markdown_page
from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import CorrespondOptions
from explorer.cli.output import print_document
from explorer.cli.terminal import console
from explorer.model.errors import UsageError
from explorer.operators.records import Row
from explorer.operators.table import correspondences, names, rows_named
from explorer.report.correspondences import (
    correspondences_document,
    list_blocks,
    page,
    row_blocks,
)
from explorer.text.choices import refusal
from explorer.text.language import _
from explorer.text.program_name import program


def correspond(options: CorrespondOptions) -> int:
    """Print the rows that a name means; list all without one."""
    chosen = correspondences() if options.name is None else _named(options.name)
    if options.as_json:
        print_document(correspondences_document(chosen))
    elif options.as_markdown:
        print(_markdown(chosen, is_whole=options.name is None), end="")
    elif len(chosen) == 1:
        show(row_blocks(chosen[0]), console())
    else:
        show(list_blocks(chosen), console())
    return exit_codes.AS_EXPECTED


def _named(name: str) -> tuple[Row, ...]:
    found = rows_named(name)
    if found:
        return found
    fact = _("unknown function or layer {name}").format(name=repr(name))
    see = _("`{command}` lists all").format(command=f"{program()} correspond")
    raise UsageError(refusal(fact, name, sorted(names()), see))


def _markdown(chosen: tuple[Row, ...], *, is_whole: bool) -> str:
    if is_whole:
        return page()
    return markdown_page([block for row in chosen for block in row_blocks(row)])
