"""Questions: what a topic measures, who is asked, and which program answers for each."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from explorer.model.engines import ENGINES, FRAMEWORK_LABELS, WorkerKind
from explorer.model.measurement import Measurement
from explorer.scenario.find import SHIPPED, find, names, real_names


@dataclass(frozen=True)
class Party:
    """A framework, one of its styles, a part of it, or a library on top of it: who can be asked.

    ``kind`` is the worker that the answer is computed in; ``library`` names the modules with the
    programs ("in_torch"); ``style`` is passed to the programs, empty where there is none to choose;
    ``label`` is the name for readers.
    """

    kind: WorkerKind
    library: str
    style: str
    label: str


PARTIES: dict[str, Party] = {
    **{
        name: Party(engine.framework, engine.framework, engine.style, engine.label)
        for name, engine in ENGINES.items()
    },
    **{name: Party(name, name, "", label) for name, label in FRAMEWORK_LABELS.items()},
    "nn": Party("mindspore", "mindspore", "", "mindspore.nn"),
    "experimental": Party("mindspore", "mindspore", "", "mindspore.experimental.optim"),
    "torch-func": Party("torch", "torch", "func", "torch.func"),
    "keras": Party("torch", "keras", "", "Keras"),  # runs on PyTorch, in its worker
}
"""Everybody who can be asked, by the name that ends a measurement's name."""

FRAMEWORKS = ("mindspore", "torch")
MINDSPORE_STYLES = ("mindspore-graph", "mindspore-tape")
"""Parties that many questions are asked of: a party a framework, or MindSpore in both styles."""

LOOKED_AT = "<the scenario looked at>"  # in angle brackets, as no scenario or file is called
"""The ``scenario`` of a question about whichever scenario the study is run on."""


@dataclass(frozen=True)
class Target:
    """What a study is run on: the file of a scenario ("" for none), and the device."""

    scenario: str = ""
    device: str = "cpu"

    @property
    def name(self) -> str:
        """The name of the scenario in records: the stem of its file."""
        return Path(self.scenario).stem


@dataclass(frozen=True)
class Question:
    """One thing to measure, asked of one or several parties.

    ``programs`` gives the program of each party as "module:function", to be found in the topic's
    package ``package``. ``scenario`` is the name of a shipped scenario, the path of a file,
    LOOKED_AT, or "" for a program with a net of its own. ``options`` go to every program,
    ``options_of`` to one party's; ``kinds`` names another worker than the party's own.
    ``unless_on`` is the file of a scenario that another question is always about: when the study is
    run on that one, this question is not asked. ``printed`` names the function or class in the
    programs' modules that has the statements of a guide's code, ``meant`` the one that says what its
    author meant; both are run by the program, and shown by claims. Two questions are equal when
    topic, name and parties are.
    """

    topic: str
    name: str
    asks: tuple[str, ...]
    package: str = field(compare=False)
    programs: Mapping[str, str] = field(compare=False)
    scenario: str = field(default="", compare=False)
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    options_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, compare=False)
    kinds: Mapping[str, WorkerKind] = field(default_factory=dict, compare=False)
    unless_on: str = field(default="", compare=False)
    printed: str = field(default="", compare=False)
    meant: str = field(default="", compare=False)

    def by(self, *parties: str) -> "Question":
        """The same question, asked of ``parties`` alone.

        Raises ValueError when one of them is not asked this question.
        """
        unknown = [party for party in parties if party not in self.asks]
        if unknown:
            question = f"{self.topic}.{self.name}"
            raise ValueError(
                f"{question} is not asked of {', '.join(unknown)}; of {', '.join(self.asks)}"
            )
        return replace(self, asks=parties)

    def also_of(self, *parties: str) -> "Question":
        """The same question, asked of further parties too, by programs of the same name."""
        _, _, function = next(iter(self.programs.values())).partition(":")
        programs = {party: place(function, party) for party in parties}
        return replace(self, asks=(*self.asks, *parties), programs={**self.programs, **programs})

    def on(self, scenario: str) -> "Question":
        """The same question asked about a scenario of one's own choice, by its name or its file."""
        return replace(self, scenario=scenario)

    def measurement_name(self, party: str) -> str:
        """The name of one party's measurement in records: "training.clipping.torch"."""
        return f"{self.topic}.{self.name}.{party}"

    def measurements(self, target: Target) -> list[Measurement]:
        """The question as programs to run, one a party.

        Raises ValueError when it is about the scenario of the study, and ``target`` names none.
        """
        if self.scenario == LOOKED_AT and target.scenario and target.scenario == self.unless_on:
            return []
        return [self._measurement(party, target) for party in self.asks]

    def _measurement(self, party: str, target: Target) -> Measurement:
        style = PARTIES[party].style
        options: dict[str, Any] = {"style": style} if style else {}
        options.update(self.options)
        options.update(self.options_of.get(party, {}))
        return Measurement(
            name=self.measurement_name(party),
            kind=self.kinds.get(party, PARTIES[party].kind),
            target=f"{self.package}.{self.programs[party]}",
            scenario=self._scenario_file(target),
            device=target.device,
            options=options,
            printed=self.printed,
            meant=self.meant,
        )

    def _scenario_file(self, target: Target) -> str:
        if self.scenario != LOOKED_AT:
            return _file_of(self.scenario) if self.scenario else ""
        if not target.scenario:
            question = f"{self.topic}.{self.name}"
            raise ValueError(
                f"{question} is about a scenario, and none is named; say which: .on(…)"
            )
        return target.scenario


def place(program: str, party: str) -> str:
    """The "module:function" of a party's program, within a topic's package."""
    # Derived from the party, so that a question names its function once for all libraries.
    part, _, function = program.rpartition(":")
    module = f"in_{PARTIES[party].library}"
    if part:
        module += f"_{part}"
    return f"{module}:{function}"


def _file_of(scenario: str) -> str:
    # A file of one's own may come and go; of the shipped ones a board asks hundreds of times.
    known = _shipped().get(scenario)
    return str(known or find(scenario))


@functools.cache
def _shipped() -> dict[str, Path]:
    return {**names(SHIPPED), **real_names()}
