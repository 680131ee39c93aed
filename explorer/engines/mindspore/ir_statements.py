"""IR nodes as the capture of graphs sees them: tensors that go in and come out, place in the net,
and identity.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.engines.mindspore.ir import IRNode, Module, Subgraph
from explorer.engines.mindspore.ir.records import (
    Abstract,
    GraphRef,
    Scalar,
    Source,
    TensorShape,
    Type,
    Value,
)

Place = tuple[str, int]
DEFINITIONS = ("def ", "class ", "@")
"""What the first line of a source begins with that is no call but the function around it."""


@dataclass(frozen=True, eq=False)
class Statement:
    """One node of a subgraph; ``elements`` are the types in a tuple that it returns, None when it
    returns no tuple.
    """

    node: IRNode
    graph: str
    op: str
    called: tuple[str, ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]
    elements: tuple[Type, ...] | None
    places: tuple[Place, ...]

    @property
    def scope(self) -> str:
        """The full name: path and numbered operator."""
        return self.node.full_name

    @property
    def operands(self) -> tuple[Value, ...]:
        """What goes in; for a call through a value, that value first."""
        callee = self.node.callee
        return (
            (callee, *self.node.operands)
            if callee is not None and not isinstance(callee, GraphRef)
            else self.node.operands
        )

    @property
    def twin(self) -> str:
        """What a node of a Cell with ``recompute()`` shares with the one that computes it once
        more; "" for any other node.
        """
        numbers = [
            self.node.cnode_attrs.get(key) for key in ("recompute_sub_graph", "recompute_id")
        ]
        return (
            "↺" + ".".join(str(number.value) for number in numbers if isinstance(number, Scalar))
            if all(numbers)
            else ""
        )

    @property
    def duplicate(self) -> bool:
        """Whether this is the one that computes it once more, in backward."""
        return bool(self.twin) and "duplicated" in self.node.cnode_attrs

    @property
    def by_hand(self) -> bool:
        """Whether it was written in a ``bprop``: in a backward of the user's own, whose nodes the
        compiler does not mark.
        """
        return any(source.code.lstrip().startswith("def bprop(") for source in self.node.sources)


def program(module: Module) -> dict[str, list[Statement]]:
    """The statements of every subgraph, its Return last."""
    return {
        graph.name: [_statement(node, graph) for node in _nodes(graph)]
        for graph in module.subgraphs
    }


def tensors(kind: Type) -> int:
    """How many tensors a type holds."""
    return (
        1 if _dtype(kind) else sum(map(tensors, kind.args)) if kind.name in {"Tuple", "List"} else 0
    )


def outputs(abstract: Abstract | None) -> Iterator[tuple[tuple[int, ...], str]]:
    """Shape and dtype name of each tensor in a value."""
    for kind, shape in abstract.leaves() if abstract else ():
        dtype = _dtype(kind)
        if dtype:
            yield shape.sizes if isinstance(shape, TensorShape) else (), dtype


def _nodes(graph: Subgraph) -> tuple[IRNode, ...]:
    return (*graph.nodes, graph.returned) if graph.returned else graph.nodes


def _statement(node: IRNode, graph: Subgraph) -> Statement:
    called = node.targets or ((node.callee.name,) if isinstance(node.callee, GraphRef) else ())
    kind = node.output.type if node.output else None
    return Statement(
        node=node,
        graph=graph.name,
        op=node.op or "call",
        called=called,
        outputs=tuple(outputs(node.output)),
        elements=kind.args if kind and kind.name == "Tuple" else None,
        places=tuple(_places(node.sources or node.forward_sources)),
    )


def _places(sources: tuple[Source, ...]) -> Iterator[Place]:
    for source in sources:
        if not source.code.lstrip().startswith(DEFINITIONS):
            yield source.file, source.line


def _dtype(kind: Type) -> str:
    """The dtype name of a tensor's type, or of a reference to one; empty for any other type."""
    inner = kind.args[0] if kind.name == "Ref" and kind.args else kind
    return inner.args[0].name.lower() if inner.name == "Tensor" and inner.args else ""
