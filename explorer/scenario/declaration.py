"""The declaration of a scenario: everything that is said of its nets, as one plain record."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, FRAMEWORKS, Framework
from explorer.model.findings import ReportFinding
from explorer.model.report import ORACLE
from explorer.scenario.layouts import Layout

RENAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
"""The last part of a parameter's name in MindSpore 2.10.0, and in PyTorch 2.13.0."""

STYLES = tuple(sorted({engine.style for engine in ENGINES.values()}))

PARTIES = (*ENGINES, *STYLES, *FRAMEWORKS, ORACLE)
"""Who may be expected to disagree: engines, styles, frameworks, and the oracle."""

CONDITIONS = ("position", *GradCase.__struct_fields__)
"""The attributes of a case that an expected difference may name."""


@dataclass(frozen=True)
class ExpectedDifference:
    """Parties expected to disagree with the others on the cases that ``when`` describes, and why.

    ``engines`` are names of engines, styles ("tape"), frameworks ("torch") or
    "central-differences". ``when`` maps attributes of a case to the value they must have;
    "position" asks whether an input is among those differentiated.
    """

    engines: tuple[str, ...]
    reason: str
    when: dict[str, Any] = field(default_factory=dict)

    def applies(self, case: GradCase) -> bool:
        """Whether ``case`` is one of those described."""
        return all(has(case, condition, value) for condition, value in self.when.items())

    def covers(self, party: str) -> bool:
        """Whether the engine called ``party``, or the oracle, is expected to disagree."""
        names = {party}
        if party in ENGINES:
            names |= {ENGINES[party].style, ENGINES[party].framework}
        return not names.isdisjoint(self.engines)


def has(case: GradCase, condition: str, value: Any) -> bool:
    """Whether an attribute of ``case`` has a value; ``condition`` is one of CONDITIONS."""
    # "position" asks about membership: (0, 1) differentiates input 1 as 1 does.
    if condition == "position":
        return value in case.positions
    return bool(getattr(case, condition) == value)


@dataclass(frozen=True)
class Tolerance:
    """How far apart two answers may be, on the cases that ``when`` describes, and why.

    Elements a and b are within it where |a - b| ≤ ``atol`` + ``rtol`` · max(|a|, |b|). ``leaves``
    are the tensors that it is for, by the names in a report ("dx"); all where none is named.
    """

    reason: str
    rtol: float = 0.0
    atol: float = 0.0
    leaves: tuple[str, ...] = ()
    when: dict[str, Any] = field(default_factory=dict)

    def applies(self, case: GradCase, leaf: str) -> bool:
        """Whether it is for a leaf of the answers to ``case``."""
        is_for_leaf = not self.leaves or leaf in self.leaves
        return is_for_leaf and all(has(case, name, value) for name, value in self.when.items())


@dataclass(frozen=True)
class ExpectedFinding:
    """Findings about parameters of these ``names`` (PyTorch's) that are meant to be, and why."""

    names: tuple[str, ...]
    reason: str

    def applies(self, finding: ReportFinding) -> bool:
        """Whether a finding is about these parameters and no others."""
        return bool(finding.names) and set(finding.names) <= set(self.names)


@dataclass(frozen=True)
class Scenario:
    """One small net, defined for one or both frameworks, with its inputs and its notes (Markdown).

    ``module`` is the imported file, whose functions the methods call; ``train`` says whether the
    nets run in training mode; ``renames`` maps MindSpore's names of parameters to PyTorch's, beyond
    RENAMES. ``constants`` are the inputs that no case differentiates. ``cases`` says which cases
    are asked, by name or by their attributes; None is all. ``layouts`` are those of parameters that
    lie otherwise in MindSpore than in PyTorch, by their names in either. ``left_out`` are buffers
    of which each net keeps its own. ``same_dropout`` says whether both nets drop the same elements:
    None is as far as that can be, True refuses nets that draw random numbers beside. ``leader`` is the
    framework with whose net's values both start where parameters() gives none.
    """

    name: str
    path: Path
    title: str
    notes: str
    module: ModuleType
    train: bool
    output_names: tuple[str, ...]
    renames: dict[str, str]
    expected: tuple[ExpectedDifference, ...]
    constants: tuple[str, ...] = ()
    cases: tuple[str | dict[str, Any], ...] | None = None
    layouts: dict[str, Layout] = field(default_factory=dict)
    expected_findings: tuple[ExpectedFinding, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()
    left_out: tuple[str, ...] = ()
    same_dropout: bool | None = None
    leader: Framework = "torch"

    def inputs(self) -> dict[str, AnyArray]:
        """Fresh input arrays by name.

        An array object that stands under two names is one object here too: nets must see that their
        arguments are one tensor.
        """
        arrays = self.module.inputs()
        # Copied, so that a net that writes into its input spoils no other engine's.
        copies = {id(array): np.array(array) for array in arrays.values()}
        return {name: copies[id(array)] for name, array in arrays.items()}

    def parameters(self) -> dict[str, AnyArray] | None:
        """The values that both nets start from, by PyTorch's names; None leaves them to its net."""
        function = getattr(self.module, "parameters", None)
        if function is None:
            return None
        return {name: np.array(value) for name, value in function().items()}

    @property
    def shares_dropout(self) -> bool:
        """Whether the dropout layers of both nets get the same masks."""
        if self.same_dropout is not None:
            return self.same_dropout
        return self.mindspore_net is not None and self.torch_net is not None

    @property
    def mindspore_net(self) -> Callable[[], Any] | None:
        """Makes the MindSpore net, inside a worker; None where the scenario leaves MindSpore out."""
        return getattr(self.module, "mindspore_net", None)

    @property
    def torch_net(self) -> Callable[[], Any] | None:
        """Makes the PyTorch net, inside a worker; None where the scenario leaves PyTorch out."""
        return getattr(self.module, "torch_net", None)

    def defines(self, framework: str) -> bool:
        """Whether there is a net for ``framework``."""
        return hasattr(self.module, f"{framework}_net")

    def outputs(self, count: int) -> tuple[str, ...]:
        """Names of ``count`` outputs: the scenario's own, else "out" or "out0", "out1", …"""
        # Names for another number of outputs would stand beside the wrong ones.
        if len(self.output_names) == count:
            return self.output_names
        if count == 1:
            return ("out",)
        return tuple(f"out{index}" for index in range(count))
