"""The distinct answers to a case: the engines that give each, and what tells two of them apart."""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, product

from explorer.compare.answers import Answers
from explorer.compare.noise import scale
from explorer.compare.results import Movements, worst
from explorer.model.arrays import unpack
from explorer.model.report import AnswerGroup, Difference
from explorer.model.results import ANSWERED, Leaf, Result
from explorer.model.trees import Nested, fill
from explorer.numeric.differences import Floats, elementwise_difference, real_parts
from explorer.text.messages import one_line
from explorer.text.numbers import FEW, digits

READABLE = 10.0 ** (1 - FEW)
"""The share of a tensor's scale from which on a difference shows in FEW digits."""


def answer_groups(answers: Answers) -> tuple[AnswerGroup, ...]:
    """The distinct answers to a case, in the order of the engines.

    Two engines give one answer where no element of theirs differs by more than its noise. What a
    scenario's tolerances allow to differ is one answer only where it reads alike. Errors are one
    answer where their texts are.
    """
    members = _members(answers)
    marks: list[list[Difference]] = [[] for _ in members]
    for (place, one), (_, other) in combinations(enumerate(members), 2):
        marks[place] += _between(answers, one, other)
    refuted: list[tuple[int, Difference]] = []
    for place, group in enumerate(members):
        refuted += [(place, mark) for mark in _refuted(answers, group)]
    if refuted:
        place, mark = max(refuted, key=lambda found: found[1].ratio)
        marks[place].append(mark)

    groups = []
    for engines, differences in zip(members, marks, strict=True):
        groups.append(AnswerGroup(engines, _oracle_agrees(answers, engines), tuple(differences)))
    return tuple(groups)


def _oracle_agrees(answers: Answers, engines: Sequence[str]) -> bool | None:
    """Whether the oracle confirms each of some engines that it judges; None where it judges none."""
    near = [answers.near_oracle[name] for name in engines if name in answers.near_oracle]
    return all(near) if near else None


# Who gives one answer


def _members(answers: Answers) -> list[tuple[str, ...]]:
    """The engines that answered, those with the same answer together."""
    groups: list[list[str]] = []
    for name, result in answers.results.items():
        if result.outcome not in ANSWERED:
            continue
        # With each of the others, not with the first alone: nearness is not transitive.
        for group in groups:
            if all(_give_one_answer(answers, other, name) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return [tuple(group) for group in groups]


def _give_one_answer(answers: Answers, one: str, other: str) -> bool:
    result, another = answers.results[one], answers.results[other]
    if result.outcome != another.outcome:
        return False
    if result.outcome != "ok":
        return _error(result) == _error(another)
    if answers.comparison(one, other).verdict == "differs":
        return False
    return (one, other) not in answers.allowed or _read_alike(answers, one, other)


def _error(result: Result) -> str:
    return one_line(result.error.text) if result.error else ""


def _read_alike(answers: Answers, one: str, other: str) -> bool:
    """Whether two values differ in no digit that a report shows."""
    result, another = answers.fine[one], answers.fine[other]
    drawn = answers.drawn()
    if not _begin_alike(result, another, drawn):
        return False
    noise, other_noise = answers.noise_of(one), answers.noise_of(other)
    for leaf, other_leaf in zip(result.leaves, another.leaves, strict=True):
        if leaf.name in drawn:
            continue
        values, other_values = _floats(leaf), _floats(other_leaf)
        size = max(_scale(leaf, noise), _scale(other_leaf, other_noise))
        if (elementwise_difference(values, other_values) > READABLE * size).any():
            return False
    return True


def _scale(leaf: Leaf, noise: Movements) -> float:
    values = _floats(leaf)
    movement = noise.get(leaf.name)
    return scale(
        values, movement if movement is not None and movement.shape == values.shape else None
    )


def _floats(leaf: Leaf) -> Floats:
    return real_parts(unpack(leaf.value)).astype("float64")


# What tells answers apart that begin alike


def _between(answers: Answers, one: Sequence[str], other: Sequence[str]) -> Iterator[Difference]:
    """The greatest difference between two groups whose values begin alike."""
    if one[0] not in answers.fine or other[0] not in answers.fine:
        return
    if not _begin_alike(answers.fine[one[0]], answers.fine[other[0]], answers.drawn()):
        return
    compared = worst(answers.comparison(name, another) for name, another in product(one, other))
    if compared.greatest:
        yield compared.greatest


def _begin_alike(result: Result, other: Result, drawn: Collection[str]) -> bool:
    """Whether two values nest alike, and their tensors begin with the same digits."""
    return _beginnings(result, drawn) == _beginnings(other, drawn)


def _beginnings(result: Result, drawn: Collection[str]) -> "Nested[str]":
    """The first elements of each tensor, nested as the tensors are; those that are drawn are alike."""
    beginnings = [
        "" if leaf.name in drawn else digits(unpack(leaf.value)) for leaf in result.leaves
    ]
    return fill(result.structure, tuple(beginnings))


def _refuted(answers: Answers, group: Sequence[str]) -> Iterator[Difference]:
    """Where the oracle refutes a group, in tensors that begin like its own estimate."""
    engine = group[0]
    refuted = answers.refuted(engine)
    if not refuted:
        return
    gradients = {leaf.name: digits(unpack(leaf.value)) for leaf in answers.fine[engine].leaves}
    estimates = {part.name: digits(unpack(part.value)) for part in answers.oracle.estimates}
    for difference in refuted:
        if gradients[difference.leaf] == estimates[difference.leaf]:
            yield difference
