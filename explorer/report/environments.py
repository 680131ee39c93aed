"""Environments as blocks and as JSON documents."""

from collections.abc import Iterator, Sequence

from explorer.blocks.records import Block, Paragraph, Row, Span, Table, columns
from explorer.model.engines import FRAMEWORK_LABELS
from explorer.model.environments import EnvironmentCheck, EnvironmentFacts
from explorer.report.json import Document, to_builtins
from explorer.text.language import _
from explorer.words.environments import ORIGINS, installed, name_of, runs


def environments_blocks(environments: Sequence[EnvironmentFacts]) -> Iterator[Block]:
    """A row for each environment, and how to add one where there is none beside the explorer's own."""
    rows: list[Row] = []
    for facts in environments:
        environment = facts.environment
        what = installed(facts)
        found: str | tuple[Span, ...] = (Span(what, tone="alarm"),) if facts.error else what
        origin = _(ORIGINS[environment.origin])
        rows.append((name_of(environment), found, runs(facts), origin, environment.python))
    heads = (_("environment"), _("installed"), _("runs"), _("named"), "Python")
    yield Table(columns(heads), tuple(rows))
    if len(environments) == 1:
        yield Paragraph(_("`explorer env add NAME PYTHON` adds an environment."))


def environments_document(environments: Sequence[EnvironmentFacts]) -> Document:
    """The environments as plain data."""
    return {"environments": to_builtins(environments)}


def check_blocks(checks: Sequence[EnvironmentCheck]) -> Iterator[Block]:
    """A row for each framework in each environment."""
    rows: list[Row] = []
    for check in checks:
        label = FRAMEWORK_LABELS[check.framework] if check.framework else ""
        state = Span(_("ok"), tone="good") if check.is_fine else Span(_("missing"), tone="alarm")
        said = check.error
        if check.is_fine:
            text = _("{version} on {devices}")
            said = text.format(version=check.version, devices=", ".join(check.devices))
        rows.append((name_of(check.environment), label, (state,), said))
    yield Table(columns((_("environment"), _("framework"), "", "")), tuple(rows))


def checks_document(checks: Sequence[EnvironmentCheck]) -> Document:
    """The checks as plain data."""
    return {"checks": to_builtins(checks)}
