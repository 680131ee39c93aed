"""Why two ops give different values for equal inputs: what of all that was tried explains it."""

from typing import NamedTuple

import msgspec

from explorer.compare.causes.mends import mends
from explorer.compare.causes.other_leaves import later_place
from explorer.compare.causes.rooms import (
    Room,
    apart_if_same,
    apart_in_any_order,
    distance,
    is_telling,
    noise_of,
    room_of,
)
from explorer.compare.causes.suspects import Suspect
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import (
    LEFT_OUT,
    Cause,
    Change,
    LeftOut,
    OtherArguments,
    OtherInputs,
    OtherOperator,
    Trial,
    Tried,
)
from explorer.model.graph import GradGraph, Node, Output


class _Explanation(NamedTuple):
    """A trial that gives a value of the other side's, and how far the two are still apart."""

    trial: Trial
    apart: float
    target: Output


def cause_of(suspect: Suspect, tried: Tried, left: GradGraph, right: GradGraph) -> Cause | None:
    """What gives the other side's value; None where nothing does, or several would."""
    found = _likeliest(_explanations(suspect, tried), suspect.other.op)
    if found is None or (found.trial.node, found.trial.op) in suspect.not_there:
        return None
    trial = found.trial
    here, there = (left, right) if suspect.side == "left" else (right, left)
    node = here.by_id()[trial.node]
    change = change_of(trial, node)
    if isinstance(change, LeftOut):
        change = msgspec.structs.replace(
            change, later=later_place(GraphView(here), node, GraphView(there), suspect.other)
        )
    layers = here.layers.get(node.scope), there.layers.get(suspect.other.scope)
    cause = Cause(
        side=suspect.side,
        node=node.id,
        op=node.op,
        change=change,
        greatest=found.apart,
        noise=noise_of(suspect.own, found.target),
        layers=layers if suspect.side == "left" else layers[::-1],
        tried=sum(not trial.changes_nothing for trial in suspect.trials),
    )
    to_write = mends(cause, node, (left.engine, right.engine))
    return msgspec.structs.replace(cause, mends=to_write)


MERE_LAYOUT = frozenset({"transposed", "scaled", "rounded", "rolled", "reversed", "given"})
"""Changes of inputs that a relation of the two values says better, where there is one."""


def is_last_resort(cause: Cause) -> bool:
    """Whether a relation of the two values is to be preferred."""
    change = cause.change
    return isinstance(change, OtherInputs) and change.changes[0].how in MERE_LAYOUT


def is_other_value(cause: Cause) -> bool:
    """Whether a cause is another value as an input: what is done to that input says it better."""
    change = cause.change
    return isinstance(change, OtherInputs) and change.changes[0].how == "replaced"


def is_ahead(cause: Cause) -> bool:
    """Whether a cause is two ops in the opposite order, which says more than one of them left out."""
    change = cause.change
    return isinstance(change, OtherInputs) and change.changes[0].how == "ahead"


def change_of(trial: Trial, node: Node) -> Change:
    """What a trial changes of a node."""
    if trial.op:
        is_left_out = trial.op == LEFT_OUT
        return (
            LeftOut(handed_on=trial.hands_on)
            if is_left_out
            else OtherOperator(op=trial.op, arguments=trial.arguments)
        )
    own = {name: node.arguments[name] for name in trial.arguments}
    if _is_from_there(trial):
        return OtherArguments(own=own, arguments=trial.arguments, from_there=True)
    if trial.inputs:
        # What was given is known by its name.
        changes = tuple(msgspec.structs.replace(it, value=None) for it in trial.inputs)
        return OtherInputs(changes=changes, arguments=trial.then_arguments)
    return OtherArguments(own=own, arguments=trial.arguments)


def _is_from_there(trial: Trial) -> bool:
    """Whether other arguments are tried with the other side's values of the inputs."""
    return bool(trial.arguments) and any(change.how == "given" for change in trial.inputs)


def _explanations(suspect: Suspect, tried: Tried) -> list[_Explanation]:
    """The trials that give the other side's value.

    There are none where the op, computed as it was, does not give its own value.
    """
    unchanged, *changed = tried.outputs
    room = room_of(suspect.own, suspect.target)
    place = place_of(suspect, unchanged, room)
    if place is None:
        return []
    others = ops_of_other_values(suspect, tried, room)
    for target in (suspect.target, *suspect.further):
        found = []
        for trial, outputs in zip(suspect.trials[1:], changed, strict=True):
            is_change = trial.node not in others and not trial.changes_nothing
            if is_change and len(outputs) > place:
                found += _explanation(suspect.own, target, trial, outputs[place])
        found = _without_what_inputs_explain(found, suspect.trials)
        if found:
            return found
    return []


def _without_what_inputs_explain(
    found: list[_Explanation], trials: tuple[Trial, ...]
) -> list[_Explanation]:
    """The explanations but those from the other side's inputs, where these alone give its value.

    Then the two ops do the same, and what they read differs before.
    """
    from_there = {trial.inputs for trial in trials if _is_from_there(trial)}
    alone = {it.trial.inputs for it in found if not it.trial.arguments}
    return [it for it in found if it.trial.inputs not in from_there & alone]


def _explanation(own: Output, target: Output, trial: Trial, made: Output) -> list[_Explanation]:
    """What a trial explains: nothing if it does not give the other side's value."""
    is_chance = _puts_in_a_value(trial) and not is_telling(target)
    if is_chance or not _can_be_compared(own, target):
        return []
    room = room_of(own, target)
    apart = apart_if_same(made, target, room)
    if apart is None and trial.op == LEFT_OUT and trial.then and own.shape != target.shape:
        apart = apart_in_any_order(made, target, own, room)
    return [] if apart is None else [_Explanation(trial, apart, target)]


def ops_of_other_values(suspect: Suspect, tried: Tried, room: Room) -> set[str]:
    """The ops of a row that, computed as they were, do not give its value: a change of them tells nothing."""
    others = set()
    for trial, outputs in zip(suspect.trials, tried.outputs, strict=True):
        if trial.changes_nothing and place_of(suspect, outputs, room) is None:
            others.add(trial.node)
    return others


def _can_be_compared(own: Output, target: Output) -> bool:
    """Whether it is known how far two values are apart, or that they are, as their sizes differ."""
    return own.shape != target.shape or distance(own, target) is not None


def place_of(suspect: Suspect, outputs: tuple[Output, ...], room: Room) -> int | None:
    """Which of its outputs an op's own value is."""
    for place, output in enumerate(outputs):
        if apart_if_same(output, suspect.own, room) is not None:
            return place
    return None


def _likeliest(found: list[_Explanation], other: str) -> _Explanation | None:
    """The explanation that changes least; None where there are several such, or none.

    ``other`` is the op of the other side, whose name decides between two operators: below 6, relu and
    relu6 are one.
    """
    least = min((_effort(it.trial) for it in found), default=0)
    found = [it for it in found if _effort(it.trial) == least]
    if len(found) > 1 and found[0].trial.op:
        found = [it for it in found if _is_named(it.trial.op, other)]
    found = _as_layouts(found)
    kinds = {_kind(it.trial) for it in found}
    return found[0] if len(kinds) == 1 else None


def _as_layouts(found: list[_Explanation]) -> list[_Explanation]:
    """The explanations, without those that put another value into an input which only lies otherwise.

    A weight that is transposed may be there as such too.
    """
    plain = [it for it in found if not _is_replaced(it.trial)]
    slots = {tuple(change.slots for change in it.trial.inputs) for it in found}
    return plain if plain and len(slots) == 1 else found


def _puts_in_a_value(trial: Trial) -> bool:
    """Whether zeros or another value are put in: what makes one number of all does it by chance."""
    return any(change.how in ("replaced", "from_zeros") for change in trial.inputs)


def _is_replaced(trial: Trial) -> bool:
    return any(change.how == "replaced" for change in trial.inputs)


def _kind(trial: Trial) -> object:
    """What a trial changes. Any value that replaces an input and fits is as good as another one."""
    changes = tuple(
        msgspec.structs.replace(change, node="", output=0, label="", value=None)
        for change in trial.inputs
    )
    return (
        trial.node,
        frozenset(trial.arguments),
        frozenset(trial.then_arguments),
        trial.is_state,
        trial.op,
        trial.hands_on,
        changes,
    )


STANDS_FOR = {"max": "relu", "logistic": "sigmoid", "integer_pow": "square"}
"""Operations of JAX's graphs that other frameworks have an operator of another name for."""


def _is_named(op: str, other: str) -> bool:
    """Whether two operators have one name: "aten.relu.default", "ReLU"."""
    return _plain(op) in (_plain(other), STANDS_FOR.get(other))


def _plain(op: str) -> str:
    """The name of an operator of either framework: "relu" of "aten.relu.default" and "ReLU"."""
    _, *names = op.split(".") if "." in op else ("", op)
    return names[0].replace("_", "").removesuffix("Ext").lower()


def _effort(trial: Trial) -> int:
    """How much a trial changes: one argument, an op left out, another one, inputs, two arguments.

    As much as two where the inputs are the other side's too; most where a value is given.
    """
    if trial.op:
        return 2 if trial.op == LEFT_OUT else 3
    if _is_from_there(trial):
        return 5
    if trial.inputs:
        is_given = any(change.how == "given" for change in trial.inputs)
        return 6 if is_given else 4 + len(trial.then_arguments)
    return 1 if len(trial.arguments) == 1 else 5
