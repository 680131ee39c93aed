"""The fixed words of records, studies and the board that the app says in the visitor's language.

Their tables stand where the records are made. The app gives a word of them to ``_`` when it shows it;
here they are named, so that the catalogue can be checked against them.
"""

import typing
from collections.abc import Iterator

from explorer.model.claim import CLAIM_VERDICTS, HEADINGS
from explorer.model.engines import ENGINES
from explorer.model.graph import NodeKind, Phase, Proof
from explorer.model.report import ORACLE, Difference
from explorer.report.claims.wording import (
    ANSWERS,
    COLUMNS,
    COUNT_FORMS,
    NOT_AS_STATED,
    NOT_RUN,
    PAGE_TITLE,
    verdict_name,
)
from explorer.report.study import NO_ROWS
from explorer.topics import STUDIES, study_topic
from explorer.words import answers
from explorer.workers.workers import WorkerState

MISSING = ("forward", "noise", "source", "values")
"""What engines say that a node lacks: the keys of ``Node.missing``."""


def terms() -> Iterator[str]:
    """Every word of these tables that the app shows."""
    yield from answers.ENGINE_COLUMNS
    yield from typing.get_args(typing.get_type_hints(Difference)["what"])
    yield from map(verdict_name, CLAIM_VERDICTS)
    yield from (NOT_RUN, PAGE_TITLE, NO_ROWS, NOT_AS_STATED)
    for forms in COUNT_FORMS.values():
        yield from forms
    yield from COLUMNS
    yield from filter(None, ANSWERS.values())
    yield from HEADINGS
    yield from typing.get_args(WorkerState)
    yield ORACLE
    yield from (engine.how for engine in ENGINES.values())
    for names in (NodeKind, Phase, Proof):
        yield from filter(None, typing.get_args(names))
    yield from MISSING
    for name in STUDIES:
        topic = study_topic(name)
        yield from (topic.title, topic.question)
