"""Which cases of the matrix are run, and in which order: those that cover most kinds of calls first."""

from collections.abc import Hashable, Iterable
from itertools import compress
from typing import Literal

import msgspec

from explorer.model.cases import GradCase
from explorer.scenario.declaration import Declaration
from explorer.scenario.matrix import MAX_ORDER, case_called, cases_of

Selection = Literal["all", "structure", "main"]
"""Every case; a set that covers each kind of call once; or the one most comprehensive case."""

SELECTIONS: tuple[Selection, ...] = ("all", "structure", "main")


def widest(floating: tuple[bool, ...], has_aux: bool, weights: bool) -> GradCase:
    """The case that asks for most: every floating input, all weights.

    With ``has_aux`` the first output alone is differentiated. ``floating`` says of each
    input whether it is of a floating dtype.
    """
    # An integer has no gradient: PyTorch refuses to be asked for one.
    indices = tuple(compress(range(len(floating)), floating))
    position = indices[0] if len(indices) == 1 else indices or None
    return GradCase("grad", position, "all" if weights else None, has_aux)


def main_case(
    scenario: Declaration,
    has_aux: bool,
    weights: bool,
    cases: tuple[GradCase, ...],
    label: str | None = None,
) -> GradCase:
    """The case that is asked first: the one with that label, else the one that asks for most.

    Where a scenario's CASES leave that one out, it is the one nearest to it. ``has_aux`` says
    whether the first output alone is to be differentiated, ``weights`` whether the nets have any.
    Raises UsageError when no case has the label.
    """
    if label is not None:
        # A refusal names the case as a reader does; it may be one of nets with weights.
        known = cases_of(scenario, has_parameters=True, order=MAX_ORDER)
        short = {case.label: case.short for case in known}
        return case_called(short.get(label, label), cases, weights)
    wanted = asks_for_most(scenario, has_aux, weights)
    if scenario.cases is None or wanted in cases:
        return wanted
    return max(cases, key=lambda case: _likeness(case, wanted))


def asks_for_most(scenario: Declaration, has_aux: bool, weights: bool) -> GradCase:
    """The case that asks for most, whether it is one of the scenario's CASES or not.

    ``has_aux`` and ``weights`` are those of main_case.
    """
    floating = []
    for name, array in scenario.inputs().items():
        floating.append(array.dtype.kind == "f" and name not in scenario.constants)
    return widest(tuple(floating), has_aux, weights)


def _likeness(case: GradCase, wanted: GradCase) -> tuple[bool, int, bool]:
    """The likeness of a case to another; of more similar ones the tuple is greater."""
    asked_for = {*case.positions, case.weights} - {None}
    wanted_for = {*wanted.positions, wanted.weights} - {None}
    return case.order == 1, len(asked_for & wanted_for), case.has_aux == wanted.has_aux


class Takes(msgspec.Struct, frozen=True):
    """What can be asked of a net: whether has_aux splits its outputs, and which inputs are integers."""

    has_aux: bool = True
    integers: frozenset[int] = frozenset()

    def obstacle(self, case: GradCase) -> tuple[str, Hashable] | None:
        """What about a case must raise, or is not defined alike; None if it can be answered."""
        if case.must_fail or not self.integers.isdisjoint(case.positions):
            return "grad_position", case.grad_position
        if case.has_aux and not self.has_aux:
            return "has_aux", True
        return None


ANYTHING = Takes()


def takes(scenario: Declaration, has_aux: bool) -> Takes:
    """What can be asked of a scenario's nets; ``has_aux`` as for main_case."""
    integers = set()
    for position, array in enumerate(scenario.inputs().values()):
        if array.dtype.kind not in "fc":
            integers.add(position)
    return Takes(has_aux, frozenset(integers))


def features(case: GradCase, net: Takes = ANYTHING) -> frozenset[Hashable]:
    """The ways to ask that a case shows: its API, position, form of weights, and so on.

    One that must raise shows only what it raises for.
    """
    if case.api == "GradOperation":
        flags = ("get_all", "get_by_list", "sens_param")
        return frozenset((case.api, flag, getattr(case, flag)) for flag in flags)
    if case.order > 1:
        return frozenset({("order", case.order)})
    obstacle = net.obstacle(case)
    if obstacle:
        return frozenset({obstacle})
    # A position tells 0 from (0,), which are equal in no case but look alike as keys.
    return frozenset(
        {
            ("api", case.api),
            ("grad_position", case.grad_position),
            ("weights", case.weights),
            ("has_aux", case.has_aux),
        }
    )


def covering(
    cases: Iterable[GradCase], known: Iterable[GradCase] = (), net: Takes = ANYTHING
) -> tuple[GradCase, ...]:
    """Cases that together with those ``known`` show each way to ask at least once, in this order.

    A greedy cover: each case shows most of what none before it has shown. Of two that show as much,
    one that can be answered goes before one that must raise, else the first of ``cases``.
    """
    candidates = list(cases)
    missing: set[Hashable] = set()
    for case in candidates:
        missing |= features(case, net)
    for case in known:
        missing -= features(case, net)

    def gain(case: GradCase) -> tuple[int, bool]:
        return len(missing & features(case, net)), net.obstacle(case) is None

    chosen = []
    while missing:
        best = max(candidates, key=gain)
        missing -= features(best, net)
        candidates.remove(best)
        chosen.append(best)
    return tuple(chosen)


def named(cases: Iterable[GradCase]) -> frozenset[GradCase]:
    """Those of which a compiled net is asked ``return_ids=True`` too, which compiles it once more.

    They show each position and each form of weights once; the tape is asked it of all.
    """
    takers = [case for case in cases if case.takes_ids and not case.must_fail]
    return frozenset(covering(reversed(takers)))  # those first that ask for most


def spread(
    cases: Iterable[GradCase], known: Iterable[GradCase] = (), net: Takes = ANYTHING
) -> tuple[GradCase, ...]:
    """All ``cases`` in the order of asking: one cover after another, each of what is left."""
    left = list(cases)
    order: list[GradCase] = []
    while left:
        cover = covering(left, known, net)
        # Where those known show all that is left, the next cover starts from nothing.
        known = ()
        for case in cover:
            left.remove(case)
        order += cover
    return tuple(order)
