"""Studies and claims under test: measurements shared by a session, and worlds with other figures."""

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from explorer.model.claim import ClaimRow, ClaimVerdict, Observation, Ruling
from explorer.model.measurement import Figures, Measured, Measurement
from explorer.model.study import StudyRecord
from explorer.topics import topic
from explorer.topics.boards import needed
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import PARTIES, Question
from explorer.topics.studies import study, target
from explorer.topics.topic import Claim
from explorer.words.claims import advice_text, evidence_text, what_text
from explorer.words.messages import study_text
from explorer.workers.workers import Workers

SLOW = {"training.inductor.torch"}
"""Ten seconds of a C++ compiler; a test of its own asks what it says where there is none."""

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


def measured_for_claims(workers: Workers, claims: Iterable[Claim]) -> dict[str, Measured]:
    """What some claims need, by name, measured once a session."""
    return measured_once(workers, needed(claims))


@cache
def studied(name: str, workers: Workers) -> StudyRecord:
    """The record of one run of the study ``name`` on its own scenarios, without what is slow."""
    quick = dataclasses.replace(topic(name), questions=dict(topic(name).questions))
    for question in list(quick.questions.values()):
        if any(question.measurement_name(party) in SLOW for party in question.asks):
            del quick.questions[question.name]
    return study_text(study(quick, target(quick, None, "cpu"), workers))


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
    def evidence(self) -> Evidence:
        """What a judge or a finding sees of this world."""
        outcomes = {}
        for name, figures in self._figures.items():
            outcomes[name] = Measured(outcome="ok", figures=figures, timings=self._timings[name])
        return Evidence(outcomes)


def unchanged(world: World) -> None:
    """Leaves the world as it was measured."""


def put(
    question: Question, parties: Iterable[str], *path: str | int, value: Any
) -> Callable[[World], None]:
    """A change that sets one figure of a question for some parties: ``path`` leads to it."""
    *parents, last = path

    def change(world: World) -> None:
        for party in parties:
            figures: Any = world[question, party]
            for key in parents:
                figures = figures[key]
            figures[last] = value

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
    claim: Claim, measured: Mapping[str, Measured], change: Callable[[World], None] = unchanged
) -> Ruled:
    """The ruling on a claim in the world that was measured, after ``change`` has been at it."""
    # A world takes what failed for an answer without figures, which a judge may take for anything.
    for measurement in claim.measurements:
        assert measured[measurement.name].error is None, measurement.name
    world = World(
        {measurement.name: measured[measurement.name] for measurement in claim.measurements}
    )
    change(world)
    return _whole(claim, claim.judge(world.evidence, claim.expects))


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
    row = ClaimRow(
        id=claim.id,
        heading=claim.heading,
        statement=claim.statement,
        guides=claim.guides,
        would=claim.would,
        verdict=ruling.verdict,
        measured=(),
        advice=ruling.advice,
        observations=ruling.evidence,
    )
    advice = advice_text(row)
    assert advice.endswith("."), advice
    return Ruled(ruling.verdict, evidence_text(row), advice, ruling.evidence)
