"""The checker of a captured graph: every way in which one can break the contract of its record."""

from explorer.model.graph import GradGraph


def lint(graph: GradGraph) -> list[str]:
    """Every way in which a graph breaks its contract, each as one sentence with the fact and the
    likely cause; [] when sound.
    """
    return [*_ids(graph), *_edges(graph), *_links(graph), *_cycle(graph)]


def _ids(graph: GradGraph) -> list[str]:
    wanted = [f"n{index}" for index in range(len(graph.nodes))]
    given = [node.id for node in graph.nodes]
    if given == wanted:
        return []
    index, odd = next(
        (i, (got, want))
        for i, (got, want) in enumerate(zip(given, wanted, strict=True))
        if got != want
    )
    return [
        f"node {index} is called {odd[0]!r}, not {odd[1]!r}: ids are n0, n1, … in traversal order"
    ]


def _edges(graph: GradGraph) -> list[str]:
    nodes = graph.by_id()
    found = []
    for edge in graph.edges:
        name = f"edge {edge.origin}→{edge.target}"
        lost = [end for end in (edge.origin, edge.target) if end not in nodes]
        if lost:
            found.append(
                f"{name} ends at {', '.join(lost)}, which is no node: a node was dropped after its edges were made"
            )
            continue
        origin, target = nodes[edge.origin], nodes[edge.target]
        crosses = (origin.phase, target.phase) == ("forward", "backward") and origin.kind in {
            "op",
            "call",
            "accumulate",
        }
        if origin.phase == "backward" and target.phase == "forward":
            found.append(f"{name} leads from backward into forward: a phase is wrong")
        elif edge.kind == "data" and crosses:
            found.append(
                f"{name} carries a forward value into backward as 'data': it should be 'saved'"
            )
        elif edge.kind == "saved" and not (
            origin.phase == "forward" and target.phase == "backward"
        ):
            found.append(
                f"{name} is 'saved' but does not lead from forward into backward: a phase is wrong"
            )
        if edge.kind != "control" and origin.outputs and edge.output >= len(origin.outputs):
            found.append(
                f"{name} leaves output {edge.output} of a node with {len(origin.outputs)}: slots are counted from 0"
            )
    return found


def _links(graph: GradGraph) -> list[str]:
    nodes = graph.by_id()
    found = []
    for node in graph.nodes:
        if node.forward is None:
            continue
        linked = nodes.get(node.forward)
        if linked is None:
            found.append(
                f"{node.id} derives from {node.forward}, which is no node: the forward node was dropped"
            )
        elif node.phase != "backward" or linked.phase != "forward":
            link = f"{node.id} ({node.phase}) derives from {linked.id} ({linked.phase})"
            found.append(f"{link}: a link leads from a backward node to a forward node")
    return found


def _cycle(graph: GradGraph) -> list[str]:
    waiting = dict.fromkeys((node.id for node in graph.nodes), 0)
    after: dict[str, list[str]] = {node: [] for node in waiting}
    for edge in graph.edges:
        if edge.origin in waiting and edge.target in waiting:
            waiting[edge.target] += 1
            after[edge.origin].append(edge.target)
    ready = [node for node, count in waiting.items() if not count]
    done = 0
    while ready:
        done += 1
        for target in after[ready.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if done == len(waiting):
        return []
    stuck = [node for node, count in waiting.items() if count]
    return [
        f"{len(stuck)} nodes lie on or behind a cycle, first {stuck[0]}: a gradient graph has none; an edge is turned round"
    ]
