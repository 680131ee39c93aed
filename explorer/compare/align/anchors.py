"""Pairs that need no search: leaves and results, by their names."""

from explorer.compare.align.matching import NOISE, Match, Matching, Mismatch
from explorer.compare.align.vertices import OutputValue, Side, Vertex
from explorer.model.graph import Phase

PHASES: tuple[Phase, ...] = ("forward", "backward")


def pair_leaves(matching: Matching) -> None:
    """Pairs inputs, parameters and named constants by name, then what is a constant on one side.

    Inputs and parameters of one name whose values differ pair with nothing else.
    """
    _pair_by_name(matching)
    for side in matching.sides:
        _pair_with_constants(matching, side)


def _pair_by_name(matching: Matching) -> None:
    leaves, other_leaves = _leaves(matching.first), _leaves(matching.second)
    for name, first in leaves.items():
        second = other_leaves.get(name)
        if second is None:
            continue
        agrees = first.value.agrees(second.value)
        # Every engine numbers its constants itself: an equal name alone means nothing.
        if not agrees and "constant" in (first.kind, second.kind):
            continue
        matching.reserve(first, second)
        if agrees is False:
            matching.mismatches.append(Mismatch(first, second))
        else:
            matching.join(first.value, second.value, "name")


def _pair_with_constants(matching: Matching, side: Side) -> None:
    """Pairs a buffer of one side with the constant that it is on the other: the same numbers.

    Where several constants hold them, the first one in execution order is taken: a compiler may
    hold the same one once for forward and once for backward.
    """
    constants = [node for node in side.other.nodes if node.kind == "constant"]
    for leaf in side.nodes:
        if not leaf.is_leaf or not leaf.is_free or leaf.is_reserved:
            continue
        for constant in constants:
            if constant.is_free and _are_one(leaf, constant):
                first, second = (leaf, constant) if side.is_first else (constant, leaf)
                matching.join(first.value, second.value, "value")
                break


def _are_one(leaf: Vertex, constant: Vertex) -> bool:
    """Whether a leaf and a constant of one phase hold the same numbers, which are not just any."""
    is_telling = leaf.value.is_distinctive and leaf.phase == constant.phase
    return is_telling and leaf.value.agrees(constant.value) is True


def _leaves(side: Side) -> dict[str, Vertex]:
    """The first leaf or constant of each name."""
    leaves: dict[str, Vertex] = {}
    for node in side.nodes:
        if node.name and (node.is_leaf or node.kind == "constant"):
            leaves.setdefault(node.name, node)
    return leaves


def pair_results(matching: Matching) -> None:
    """Pairs results by phase and name, the rest by their order.

    A result pairs with a result only.
    """
    transposed = {
        match.first.node.name
        for match in matching.matches
        if _is_in_another_layout(matching, match)
    }
    for first, second in _results_to_compare(matching):
        any_layout = first.name.removeprefix("d") in transposed
        if first.name == second.name and first.name in matching.tolerance.alike:
            matching.join(first.value, second.value, "name")
        elif _are_equal_results(matching, first.result, second.result, any_layout):
            matching.join(first.value, second.value, "name")
            _pair_makers(matching, first, second)
        else:
            matching.mismatches.append(Mismatch(first, second))


def _is_in_another_layout(matching: Matching, match: Match) -> bool:
    return match.how == "name" and matching.layout(match.first, match.second) is not None


def _results_to_compare(matching: Matching) -> list[tuple[Vertex, Vertex]]:
    """Results of one name; then the rest of a phase, in order, where both sides have as many."""
    pairs = _results_of_one_name(matching)
    taken = {result for pair in pairs for result in pair}
    for phase in PHASES:
        rest = [node for node in matching.first.results(phase) if node not in taken]
        other_rest = [node for node in matching.second.results(phase) if node not in taken]
        # Engines need not call a result the same, but they list results in the same order.
        if len(rest) == len(other_rest):
            pairs += zip(rest, other_rest, strict=True)
    return pairs


def _results_of_one_name(matching: Matching) -> list[tuple[Vertex, Vertex]]:
    """Results of one phase and name; then those of one name, since either phase may write a buffer."""
    named, other_named = _named_results(matching.first), _named_results(matching.second)
    pairs = []
    for key, result in named.items():
        if key in other_named:
            pairs.append((result, other_named[key]))

    left, other_left = _names_left(named, other_named), _names_left(other_named, named)
    for name, result in left.items():
        if name in other_left:
            pairs.append((result, other_left[name]))
    return pairs


def _named_results(side: Side) -> dict[tuple[Phase, str], Vertex]:
    """The first result of each phase and name."""
    results: dict[tuple[Phase, str], Vertex] = {}
    for node in side.results():
        if node.name:
            results.setdefault((node.phase, node.name), node)
    return results


def _names_left(
    named: dict[tuple[Phase, str], Vertex], other_named: dict[tuple[Phase, str], Vertex]
) -> dict[str, Vertex]:
    """The results by name alone that the other side does not have in the same phase."""
    left: dict[str, Vertex] = {}
    for (phase, name), node in named.items():
        if (phase, name) not in other_named:
            left.setdefault(name, node)
    return left


def _are_equal_results(
    matching: Matching, first: OutputValue, second: OutputValue, any_layout: bool
) -> bool:
    """Whether results agree element by element, or are noise about zero.

    With ``any_layout``, as for a parameter that is stored transposed, the elements may be in any
    order.
    """
    agrees = first.agrees(second)
    if agrees is None or matching.are_noise(first, second, NOISE):
        return True
    return agrees and (any_layout or matching.layout(first, second) is None)


def _pair_makers(matching: Matching, first: Vertex, second: Vertex) -> None:
    """Pairs the nodes that make an equal result, unless one of the two only reshapes it.

    Both are of one phase: where the derivative of a product is the other factor itself, a compiler
    returns that, whose partner is the other side's factor.
    """
    if not first.inputs or not second.inputs:
        return
    value, other = first.inputs[0], second.inputs[0]
    if not _is_made_by_free_work(value) or not _is_made_by_free_work(other):
        return
    are_alike = (
        value.node.phase == other.node.phase
        and value.node.is_bookkeeping == other.node.is_bookkeeping
    )
    if are_alike and value.agrees(other):
        matching.join(value, other, "value+provenance")


def _is_made_by_free_work(value: OutputValue) -> bool:
    return value.is_main and value.node.is_free and value.node.is_work
