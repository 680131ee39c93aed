"""Environments as blocks and as JSON documents."""

from collections.abc import Iterable, Iterator, Sequence

from explorer.blocks.records import Block, Paragraph, Row, Section, Span, Table, columns
from explorer.model.doctor import LimitText
from explorer.model.engines import FRAMEWORK_LABELS
from explorer.model.environments import EnvironmentCheck, EnvironmentFacts
from explorer.report.json import Document, to_builtins
from explorer.text.language import _, named
from explorer.words.environments import (
    ORIGINS,
    by_limit,
    installed,
    limit_texts,
    name_of,
    runs,
    with_mark,
)


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
    """A row for each framework in each environment, and what is limited there."""
    rows: list[Row] = []
    limits: list[LimitText] = []
    for check in checks:
        label = FRAMEWORK_LABELS[check.framework] if check.framework else ""
        state = Span(_("ok"), tone="good") if check.is_fine else Span(_("missing"), tone="alarm")
        said = check.error
        if check.is_fine:
            version = with_mark(check.version, tried=check.tried)
            text = _("{version} on {devices}")
            said = text.format(version=version, devices=", ".join(check.devices))
        limits += limit_texts(name_of(check.environment), check.limits)
        rows.append((name_of(check.environment), label, (state,), said))
    yield Table(columns((_("environment"), _("framework"), "", "")), tuple(rows))
    yield from limits_blocks(limits)


def limits_blocks(limits: Iterable[LimitText]) -> Iterator[Block]:
    """What engines cannot give in some environments; nothing where nothing is limited."""
    rows: list[Row] = []
    for (engine, text), environments in by_limit(limits).items():
        rows.append((engine, text, named(environments)))
    if rows:
        heads = (_("engine"), _("limit"), _("environments"))
        yield Section(_("Limited by the version"), (Table(columns(heads), tuple(rows)),))


def checks_document(checks: Sequence[EnvironmentCheck]) -> Document:
    """The checks as plain data."""
    return {"checks": to_builtins(checks)}
