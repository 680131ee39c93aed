"""How the graph of a nested gradient grows with the order."""

from collections.abc import Iterator

from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.higher_order.nested import EVERY_ORDER, NOT_ASKED, is_not_asked
from explorer.topics.higher_order.nested_nets import NestedNet, in_a_list
from explorer.topics.question import PARTIES


def node_counts(evidence: Evidence, net: NestedNet) -> dict[str, list[int | str]]:
    """The operators at every order, by engine and stage: "MindSpore, graph (validate)".

    An engine with one stage stands by its label alone.

    Where something was raised, or the order was not asked, a message stands in place of a count.
    """
    counts: dict[str, list[int | str]] = {}
    for engine, figures in evidence[net.nodes].items():
        by_order = figures["by order"]
        all_stages = stages(by_order)
        for stage in all_stages:
            label = PARTIES[engine].label
            if len(all_stages) > 1:
                label = f"{label} ({stage})"
            counts[label] = [count_at(by_order.get(str(order), {}), stage) for order in EVERY_ORDER]
    return counts


def stages(by_order: Figures) -> list[str]:
    """The stages at which an engine's graphs were counted, in order."""
    stages: dict[str, None] = {}
    for figure in by_order.values():
        if not raised(figure) and not is_not_asked(figure):
            stages |= dict.fromkeys(figure)
    return list(stages)


def count_at(figure: Figures, stage: str) -> int | str:
    """The operators of one order at a stage, or why there are none."""
    if is_not_asked(figure):
        return f"{NOT_ASKED} {figure[NOT_ASKED]}"
    if raised(figure):
        return said(figure)
    count: int | str = figure.get(stage, EMPTY)
    return count


def growth(evidence: Evidence, net: NestedNet) -> Iterator[str]:
    """How the graphs of a net grow from order to order, those that grow alike together."""
    clauses = []
    for labels, counts in grouped(last_stages(evidence, net)):
        # Orders that were refused or not asked have no count.
        by_order = zip(EVERY_ORDER, counts, strict=True)
        known = {order: count for order, count in by_order if isinstance(count, int)}
        if len(known) > 1:
            numbers = ", ".join(map(str, known.values()))
            clauses.append(
                f"{change_of_size(known)} in {', '.join(labels)} (orders {min(known)} to"
                f" {max(known)}: {numbers})"
            )
    if clauses:
        yield f"{net.name}: the gradient {'; '.join(clauses)}."


def change_of_size(operators: dict[int, int]) -> str:
    """How the number of operators changes from the first order to the last one known."""
    first, last = min(operators), max(operators)
    change = operators[last] - operators[first]
    if change == 0:
        return f"ends with the {operators[first]} operators that it starts with"
    verb = "grows" if change > 0 else "shrinks"
    return f"{verb} from {operators[first]} to {operators[last]} operators"


def last_stages(evidence: Evidence, net: NestedNet) -> dict[str, tuple[int | str, ...]]:
    """The operators at every order in the last graph of each engine, by its label."""
    lines: dict[str, tuple[int | str, ...]] = {}
    for engine, figures in evidence[net.nodes].items():
        by_order = figures["by order"]
        last = stages(by_order)[-1:]
        if last:
            counts = [count_at(by_order.get(str(order), {}), last[0]) for order in EVERY_ORDER]
            lines[in_a_list(PARTIES[engine].label)] = tuple(counts)
    return lines
