"""A topic: its questions, and the findings, tables, charts and claims that are made of the answers.

A study reports all questions of a topic; a claim is a guide's statement, judged by some of them.
Both live in the topic's package: ``questions.py`` is the table of what is measured,
``in_mindspore*.py``, ``in_torch*.py`` and ``in_keras*.py`` are the programs that measure it,
``inputs.py`` has what these share, ``figures.py`` the records of what they measured;
``findings*.py`` report, ``claims*.py`` judge.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from explorer.model.claim import HEADINGS, Ruling
from explorer.model.engines import WorkerKind
from explorer.model.measurement import Measurement
from explorer.model.message import Text
from explorer.model.study import Chart, Table
from explorer.topics.evidence import Evidence
from explorer.topics.question import Question, Target, place

MEASUREMENT_SECONDS = 600.0
"""The limit of one measurement where nobody says otherwise.

The slowest takes 40 seconds on two free cores, compilers included, and ten times that where eight
processes share them. It is there for what hangs.
"""

Item = TypeVar("Item")
FindingFunction = Callable[[Evidence], Iterable[Text]]
TableFunction = Callable[[Evidence], Iterable[Table[Text]]]
ChartFunction = Callable[[Evidence], Iterable[Chart[Text]]]
Judge = Callable[[Evidence, dict[str, Any]], Ruling]


@dataclass(frozen=True)
class Claim:
    """One statement of the guides, and the pure function that judges it.

    ``id`` is its row; ``heading`` is where the board lists it; ``would`` says what is true if the
    statement holds. ``sections`` are the headings in the guides that it stands under, by guide,
    where they are known. Which code the guides print, its questions say. ``judge`` is called once
    every party has answered ``asks``, with the evidence and with ``expects``, the guide's own
    figures as data.
    """

    id: int
    heading: str
    statement: str
    guides: tuple[str, ...]
    would: str
    asks: tuple[Question, ...]
    judge: Judge
    expects: dict[str, Any]
    sections: Mapping[str, str] = field(default_factory=dict)

    @property
    def measurements(self) -> list[Measurement]:
        """The programs whose figures the judge needs; each once."""
        # Two of its questions may share a measurement: one question as it is, and .by() one party.
        measurements: dict[str, Measurement] = {}
        for question in self.asks:
            for measurement in question.measurements(Target()):
                measurements[measurement.name] = measurement
        return list(measurements.values())


def any_scenario(scenario: str) -> None:
    """Refuses no scenario."""


@dataclass
class Topic:
    """Questions that belong together, filled as the modules of the topic's package are imported.

    ``name`` begins the names of its measurements and is what the command line calls its study.
    ``title`` and ``question`` head the study; a topic without a title has claims alone.
    ``default_scenario`` is the shipped scenario that the study is run on when none is named; None
    for a study with nets of its own, which refuses a scenario. ``seconds`` is the limit of one
    measurement. ``check_scenario`` raises UsageError for the file of a scenario that the study
    cannot be run on. A study that ``starts_by_names`` gives both nets one start, parameter by
    parameter of one name.
    """

    name: str
    package: str
    title: str = ""
    question: str = ""
    default_scenario: str | None = None
    seconds: float = MEASUREMENT_SECONDS
    check_scenario: Callable[[str], None] = any_scenario
    starts_by_names: bool = False
    questions: dict[str, Question] = field(default_factory=dict)
    findings: list[FindingFunction] = field(default_factory=list)
    tables: list[TableFunction] = field(default_factory=list)
    charts: list[ChartFunction] = field(default_factory=list)
    claims: dict[int, Claim] = field(default_factory=dict)

    def ask(
        self,
        name: str,
        asks: tuple[str, ...],
        *,
        program: str | Mapping[str, str] = "",
        scenario: str = "",
        options: Mapping[str, Any] | None = None,
        options_of: Mapping[str, Mapping[str, Any]] | None = None,
        kinds: Mapping[str, WorkerKind] | None = None,
        unless_on: str = "",
        printed: str = "",
        meant: str = "",
    ) -> Question:
        """Declare a question called ``name``, and return it; the study measures it at every run.

        ``program`` is the name of the function that answers it: "clipping" is the function of that
        name in each party's module in_mindspore, in_torch or in_keras, "gradients:clipping" the one
        in in_mindspore_gradients and so on. It is ``name`` where it is left out; where parties
        differ, it maps each to its own "module:function". The other arguments are those of
        Question. Raises ValueError when the topic has a question of that name already.
        """
        if name in self.questions:
            raise ValueError(f"the topic {self.name} asks {name!r} twice")
        if isinstance(program, str):
            programs = {party: place(program or name, party) for party in asks}
        else:
            programs = {party: program[party] for party in asks}
        self.questions[name] = Question(
            topic=self.name,
            name=name,
            asks=asks,
            package=self.package,
            programs=programs,
            scenario=scenario,
            options=options or {},
            options_of=options_of or {},
            kinds=kinds or {},
            unless_on=unless_on,
            printed=printed,
            meant=meant,
        )
        return self.questions[name]

    def share(self, question: Question) -> Question:
        """Let the study ask a question of another topic, and return it; it is measured once for both."""
        self.questions[f"{question.topic}.{question.name}"] = question
        return question

    def measurements(self, target: Target) -> list[Measurement]:
        """All questions as programs to run, on what the study looks at."""
        measurements: list[Measurement] = []
        for question in self.questions.values():
            measurements.extend(question.measurements(target))
        return measurements

    def finding(self, *needs: Question) -> Callable[[FindingFunction], FindingFunction]:
        """Register a function that yields findings, one sentence each.

        It is called when every party has answered ``needs``; without ``needs`` it is always called.
        """

        def register(function: FindingFunction) -> FindingFunction:
            self.findings.append(_when_answered(needs, function))
            return function

        return register

    def table(self, *needs: Question) -> Callable[[TableFunction], TableFunction]:
        """Register a function that yields tables; it is called as for ``finding``."""

        def register(function: TableFunction) -> TableFunction:
            self.tables.append(_when_answered(needs, function))
            return function

        return register

    def chart(self, *needs: Question) -> Callable[[ChartFunction], ChartFunction]:
        """Register a function that yields charts; it is called as for ``finding``."""

        def register(function: ChartFunction) -> ChartFunction:
            self.charts.append(_when_answered(needs, function))
            return function

        return register

    def claim(
        self,
        id: int,
        statement: str,
        *,
        heading: str,
        guides: tuple[str, ...],
        would: str,
        asks: tuple[Question, ...],
        expects: dict[str, Any] | None = None,
        sections: Mapping[str, str] | None = None,
    ) -> Callable[[Judge], Judge]:
        """Register the function that judges row ``id`` of the guides' statements.

        The arguments are those of Claim. Raises ValueError for a heading that the board does not
        have, and for a row that the topic judges already.
        """
        if heading not in HEADINGS:
            raise ValueError(
                f"claim {id} stands under {heading!r}; the board has {', '.join(HEADINGS)}"
            )
        if id in self.claims:
            raise ValueError(f"the topic {self.name} judges row {id} twice")

        def register(judge: Judge) -> Judge:
            self.claims[id] = Claim(
                id=id,
                heading=heading,
                statement=statement,
                guides=guides,
                would=would,
                asks=asks,
                judge=judge,
                expects=expects or {},
                sections=sections or {},
            )
            return judge

        return register


def _when_answered(
    needs: tuple[Question, ...], function: Callable[[Evidence], Iterable[Item]]
) -> Callable[[Evidence], Iterable[Item]]:
    def when_answered(evidence: Evidence) -> Iterable[Item]:
        return function(evidence) if evidence.answered(*needs) else ()

    return when_answered
