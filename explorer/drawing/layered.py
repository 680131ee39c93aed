"""A simple layered layout: longest-path layers, barycentre order, and places that keep their
distance; no Graphviz needed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

SWEEPS = 4
"""Passes of barycentre ordering; more change little."""


def layers(nodes: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The length of the longest path that leads to each node; nodes on a cycle stay where the walk
    left them.
    """
    level = dict.fromkeys(nodes, 0)
    after: defaultdict[str, list[str]] = defaultdict(list)
    waiting: Counter[str] = Counter()
    for origin, target in edges:
        after[origin].append(target)
        waiting[target] += 1
    ready = [node for node in level if not waiting[node]]
    while ready:
        node = ready.pop()
        for target in after[node]:
            level[target] = max(level[target], level[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return level


def spread(
    wanted: Sequence[float],
    sizes: Sequence[float],
    apart: float,
    weights: Sequence[float] | None = None,
) -> list[float]:
    """Centres nearest to the wanted ones (least weighted squares), in the given order, with
    ``apart`` between neighbours.

    Isotonic regression by pooling adjacent violators, after the sizes are taken out.
    """
    offsets, total = [], 0.0
    for index, size in enumerate(sizes):
        total += (sizes[index - 1] + size) / 2 + apart if index else 0.0
        offsets.append(total)
    blocks: list[tuple[float, float, int]] = []
    for index, want in enumerate(wanted):
        mean, weight, count = want - offsets[index], weights[index] if weights else 1.0, 1
        while blocks and blocks[-1][0] > mean:
            before, heft, many = blocks.pop()
            mean = (before * heft + mean * weight) / (heft + weight)
            weight, count = weight + heft, count + many
        blocks.append((mean, weight, count))
    flat = [mean for mean, _, count in blocks for _ in range(count)]
    return [place + offset for place, offset in zip(flat, offsets, strict=True)]


def layered(
    sizes: Mapping[str, tuple[float, float]],
    edges: Sequence[tuple[str, str]],
    last: Iterable[str],
    across: float,
    down: float,
) -> dict[str, tuple[float, float]]:
    """The centre of every node, y growing downwards; ``last`` stand in the bottom layer."""
    level = layers(sizes, edges)
    bottom = max(level.values(), default=0)
    level.update(dict.fromkeys(last, bottom))
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for node in sizes:
        rows[level[node]].append(node)
    before, after = _neighbours(edges)
    x = dict.fromkeys(sizes, 0.0)
    for sweep in range(SWEEPS):
        near = after if sweep % 2 else before
        for row in sorted(rows, reverse=bool(sweep % 2)):
            _place(rows[row], near, x, sizes, across)
    places, y = {}, 0.0
    for row in sorted(rows):
        height = max(sizes[node][1] for node in rows[row])
        places.update({node: (x[node], y + height / 2) for node in rows[row]})
        y += height + down
    return places


def _neighbours(
    edges: Sequence[tuple[str, str]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    before: defaultdict[str, list[str]] = defaultdict(list)
    after: defaultdict[str, list[str]] = defaultdict(list)
    for origin, target in edges:
        before[target].append(origin)
        after[origin].append(target)
    return before, after


def _place(
    row: list[str],
    near: Mapping[str, list[str]],
    x: dict[str, float],
    sizes: Mapping[str, tuple[float, float]],
    across: float,
) -> None:
    wanted = {
        node: sum(x[other] for other in near[node]) / len(near[node]) if near.get(node) else x[node]
        for node in row
    }
    row.sort(key=wanted.__getitem__)
    x.update(
        zip(
            row,
            spread([wanted[node] for node in row], [sizes[node][0] for node in row], across),
            strict=True,
        )
    )
