"""The nodes of a gradient graph as lines: a label, what it reads, and what was recorded of it."""

from collections import Counter, defaultdict

from explorer.model.graph import Arguments, Edge, GradGraph, Node, NodeKind, Output, Phase
from explorer.text.arguments import arguments_text, layer_text
from tests.corpus.values import written_values

VALUES = " = "
"""What precedes the values in a line; they reach to its end, one group an output."""

BETWEEN = "; "
"""What separates the values of one output from those of the next."""

NAMED: tuple[NodeKind, ...] = ("input", "parameter", "output")
"""Kinds of nodes whose label is their name."""

PREFIXES: dict[Phase, str] = {"forward": "", "backward": "B."}
"""What the label of a node of each phase begins with."""

FROM_MEMORY = "*"
"""What marks a saved tensor among the inputs of a node."""

LARGE = 60
"""A graph of more nodes is written in short: what its nodes read, and their arguments, are left out."""

SHORT_TYPES = {"float": "f", "bfloat": "bf", "complex": "c", "int": "i", "uint": "u"}
"""How the names of dtypes are shortened before their number of bits: "f32"."""

Labels = dict[str, str]
"""The label of every node of a graph, by its id."""


def labels_of(graph: GradGraph, file: str) -> Labels:
    """What each node is called in the corpus: its op and line, "mul.Tensor@45", or its name.

    ``file`` is the scenario's, of which lines go without a name. Nodes with one op and line are
    numbered: such labels, unlike ids, do not all change with one more node in front of them.
    """
    plain = {node.id: _plain_label(node, file) for node in graph.nodes}
    numbers: Counter[str] = Counter()
    labels: Labels = {}
    for node in graph.nodes:
        label = plain[node.id]
        numbers[label] += 1
        number = numbers[label]
        labels[node.id] = label if number == 1 else f"{label}#{number}"
    return labels


def _plain_label(node: Node, file: str) -> str:
    if node.kind in NAMED:
        return f"{node.kind}:{node.name}"
    op = node.op.removeprefix("aten.").removesuffix(".default")
    place = node.source[0].removeprefix(f"{file}:") if node.source else ""
    label = f"{PREFIXES[node.phase]}{op}"
    return f"{label}@{place}" if place else label


def graph_section(graph: GradGraph, labels: Labels) -> list[str]:
    """A title, and a line for each node in execution order."""
    read: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        read[edge.target].append(edge)
    # Ops of a graph with many are not computed again.
    was_proven = any(node.proof in ("proven", "refuted") for node in graph.nodes)
    proofs = "" if was_proven else ", not computed again"
    lines = [f"{graph.engine} {graph.stage}: {graph.case}, {len(graph.nodes)} nodes{proofs}"]
    is_large = len(graph.nodes) > LARGE
    for scope, layer in graph.layers.items():
        lines.append(f" layer {scope or '.'}: {layer_text(layer)}")
    for node in sorted(graph.nodes, key=lambda node: node.order):
        edges = [] if is_large else read[node.id]
        arguments = {} if is_large else node.arguments
        lines.append(" " + _node_line(node, edges, arguments, labels, was_proven))
    return lines


def _node_line(
    node: Node, edges: list[Edge], arguments: Arguments, labels: Labels, was_proven: bool
) -> str:
    words = [f"{labels[node.id]}{_inputs(edges, labels)}"]
    if arguments:
        words.append(f"with {arguments_text(arguments)}")
    if node.kind not in (*NAMED, "op"):
        words.append(node.kind)
    if node.name and node.kind not in NAMED:
        words.append(f"named {node.name}")
    if node.scope:
        words.append(f"in {node.scope}")
    if node.forward:
        words.append(f"of {labels.get(node.forward, node.forward)}")
    if node.body:
        words.append(f"body {node.body}")
    if node.calls:
        words.append(f"calls {','.join(node.calls)}")
    words += [",".join(map(_type, node.outputs))] if node.outputs else []
    if was_proven and node.proof not in ("", "proven"):
        words.append(node.proof)
    if node.saved_bytes:
        words.append(f"saves {node.saved_bytes}")
    missing = [what for what in sorted(node.missing) if was_proven or what != "proof"]
    if missing:
        words.append(f"without {','.join(missing)}")
    line = " ".join(words)
    values = BETWEEN.join(map(written_values, node.outputs))
    return f"{line}{VALUES}{values}" if values else line


def _type(output: Output) -> str:
    word = output.dtype.rstrip("0123456789")
    short = SHORT_TYPES.get(word, word) + output.dtype[len(word) :]
    return f"{short}[{','.join(map(str, output.shape))}]"


def _inputs(edges: list[Edge], labels: Labels) -> str:
    """The nodes that a node reads, in the order of its inputs."""
    if not edges:
        return ""
    inputs = []
    for edge in sorted(edges, key=lambda edge: (edge.input, edge.kind, edge.origin)):
        slot = f".{edge.output}" if edge.output else ""
        mark = FROM_MEMORY if edge.kind == "saved" else ""
        control = "after " if edge.kind == "control" else ""
        inputs.append(f"{control}{mark}{labels[edge.origin]}{slot}")
    return f"({', '.join(inputs)})"
