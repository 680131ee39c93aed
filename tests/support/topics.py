"""Studies and claims under test: measurements of a session, recorded ones, and worlds with other figures."""

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from explorer.model.claim import ClaimRow, ClaimVerdict, Observation, Ruling
from explorer.model.measurement import Figures, Measured, Measurement
from explorer.report.recorded.results import recorded_outcomes, recording
from explorer.topics import topic
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import PARTIES, Question, Target
from explorer.topics.studies import asked, target
from explorer.topics.topic import Claim
from explorer.words.claims import advice_text, evidence_text, what_text
from explorer.workers.workers import Workers

_known: dict[bytes, Measured] = {}


def measured_once(workers: Workers, measurements: Iterable[Measurement]) -> dict[str, Measured]:
    """The outcomes by name; what was measured before in this session is not measured again."""
    wanted = tuple(measurements)
    fresh = {}
    for measurement in wanted:
        if msgspec.msgpack.encode(measurement) not in _known:
            fresh[measurement.name] = measurement
    for name, outcome in measure(fresh.values(), workers).items():
        _known[msgspec.msgpack.encode(fresh[name])] = outcome
    return {measurement.name: _known[msgspec.msgpack.encode(measurement)] for measurement in wanted}


def recorded(measurements: Iterable[Measurement]) -> dict[str, Measured]:
    """The outcomes by name as they are shipped; tests/report sees that a run gives the same."""
    outcomes = recorded_outcomes(measurements)
    assert outcomes is not None, "run `make recorded`"
    return outcomes


def looked_at(name: str) -> Target:
    """What the study ``name`` is about unless another scenario is named."""
    return target(topic(name), None, "cpu")


def recorded_study(name: str) -> dict[str, Measured]:
    """What the study ``name`` measured, as it is shipped."""
    return recorded(asked(topic(name), looked_at(name), recording().versions))


class World:
    """Figures as they were measured, to be changed.

    ``world[QUESTION, "torch"]`` are the figures of one party. ``timings`` holds seconds that
    stand in place of the measured ones.
    """

    def __init__(self, measured: Mapping[str, Measured]) -> None:
        self._figures = {name: copy.deepcopy(outcome.figures) for name, outcome in measured.items()}
        self._timings = {name: dict(outcome.timings) for name, outcome in measured.items()}

    def __getitem__(self, key: tuple[Question, str]) -> dict[str, Any]:
        return self._figures[key[0].measurement_name(key[1])]

    def __setitem__(self, key: tuple[Question, str], figures: dict[str, Any]) -> None:
        self._figures[key[0].measurement_name(key[1])] = figures

    def timings(self, question: Question, party: str) -> dict[str, float]:
        """The seconds of one party, to be changed."""
        return self._timings[question.measurement_name(party)]

    @property
    def outcomes(self) -> dict[str, Measured]:
        """The outcomes of this world, by the names of measurements."""
        outcomes = {}
        for name, figures in self._figures.items():
            outcomes[name] = Measured(outcome="ok", figures=figures, timings=self._timings[name])
        return outcomes

    @property
    def evidence(self) -> Evidence:
        """What a judge or a finding sees of this world."""
        return Evidence(self.outcomes)


Change = Callable[[World], None]
"""What is done to a world before it is judged."""


def unchanged(world: World) -> None:
    """Leaves the world as it was measured."""


def together(*changes: Change) -> Change:
    """Several changes of one world."""

    def change_all(world: World) -> None:
        for change in changes:
            change(world)

    return change_all


def put(question: Question, parties: Iterable[str], *path: str | int, value: Any) -> Change:
    """A change that sets one figure of a question for some parties: ``path`` leads to it.

    Without a path it sets all that they answer.
    """
    *parents, last = path or (None,)

    def change(world: World) -> None:
        for party in parties:
            if not path:
                world[question, party] = copy.deepcopy(value)
                continue
            figures: Any = world[question, party]
            for key in parents:
                figures = figures[key]
            figures[last] = value

    return change


def edited(
    question: Question, parties: Iterable[str], edit: Callable[[Any], object], *path: str | int
) -> Change:
    """A change that edits figures of a question in their place, for some parties: ``path`` leads to them."""

    def change(world: World) -> None:
        for party in parties:
            figures: Any = world[question, party]
            for key in path:
                figures = figures[key]
            edit(figures)

    return change


def moved(question: Question, parties: Iterable[str], *path: str | int, by: float) -> Change:
    """A change that adds ``by`` to a number: ``path`` leads to it."""
    *parents, last = path

    def move(figures: Any) -> None:
        figures[last] += by

    return edited(question, parties, move, *parents)


def copied(question: Question, parties: Iterable[str], to: str, *, of: str) -> Change:
    """A change that gives the figure ``to`` the value of the figure ``of``, for some parties."""

    def change(world: World) -> None:
        for party in parties:
            world[question, party][to] = world[question, party][of]

    return change


def borrowed(
    question: Question, party: str, *path: str, of: Question | None = None, by: str = ""
) -> Change:
    """A change that gives a party a figure of another party ``by``, or of another question ``of``.

    ``path`` leads to the figure on both sides; without one it is all that is answered.
    """

    def change(world: World) -> None:
        figure: Any = world[of or question, by or party]
        for key in path:
            figure = figure[key]
        put(question, [party], *path, value=copy.deepcopy(figure))(world)

    return change


def written(figures: Mapping[tuple[Question, str], Figures]) -> dict[str, Measured]:
    """The outcomes of a world that is written down: figures by question and party."""
    measured = {}
    for (question, party), answer in figures.items():
        measured[question.measurement_name(party)] = Measured(outcome="ok", figures=answer)
    return measured


@dataclasses.dataclass(frozen=True)
class Ruled:
    """A ruling as a line shows it: its evidence in one line, and as the observations it is of."""

    verdict: ClaimVerdict
    evidence: str
    advice: str
    observations: tuple[Observation, ...]


def ruled(claim: Claim, figures: Mapping[tuple[Question, str], Figures]) -> Ruled:
    """The ruling on a claim in a world that is written down.

    ``figures`` are those of each party by question, for all that the claim asks.
    """
    evidence = Evidence(written(figures))
    assert evidence.answered(*claim.asks)
    return _whole(claim, claim.judge(evidence, claim.expects))


def judge(
    claim: Claim,
    change: Change = unchanged,
    figures: Mapping[tuple[Question, str], Figures] | None = None,
) -> Ruled:
    """The ruling on a claim after ``change`` has been at its world.

    That is the world that is recorded, or one that is written down as ``figures``.
    """
    measured = recorded(claim.measurements) if figures is None else written(figures)
    world = World(
        {measurement.name: measured[measurement.name] for measurement in claim.measurements}
    )
    # A world takes what failed for an answer without figures, which a judge may take for anything.
    assert not Evidence(measured).failures
    change(world)
    return _whole(claim, claim.judge(world.evidence, claim.expects))


def row_of(claim: Claim, **judged: Any) -> ClaimRow:
    """A claim's row of a board, with what came of it."""
    names = ("id", "heading", "statement", "guides", "would")
    return ClaimRow(**{name: getattr(claim, name) for name in names}, **judged)


def _whole(claim: Claim, ruling: Ruling) -> Ruled:
    """A ruling, seen to be one that the board can show.

    It has a known verdict, observations of known parties, and advice.
    """
    # As text, since a tuple in a message comes back as a list.
    packed = msgspec.json.encode(ruling)
    assert msgspec.json.encode(msgspec.json.decode(packed, type=Ruling)) == packed
    assert ruling.evidence
    for observation in ruling.evidence:
        # A line says "what: value".
        assert what_text(observation)
        assert ": " not in what_text(observation)
        assert set(observation.who) <= set(PARTIES)
    ruled = {"verdict": ruling.verdict, "advice": ruling.advice, "observations": ruling.evidence}
    row = row_of(claim, measured=(), **ruled)
    advice = advice_text(row)
    assert advice.endswith("."), advice
    return Ruled(ruling.verdict, evidence_text(row), advice, ruling.evidence)
