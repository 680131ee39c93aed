"""Strategies of hypothesis for IR modules: every kind of value, type, node and subgraph."""

from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

from explorer.engines.mindspore.ir.records import (
    Abstract,
    Attributes,
    DictValue,
    GraphRef,
    IRNode,
    KeywordValue,
    Module,
    NodeRef,
    OpKind,
    OuterRef,
    Parameter,
    ParameterRef,
    Scalar,
    SequenceShape,
    SequenceValue,
    Shape,
    Source,
    StringValue,
    Subgraph,
    Symbol,
    TensorShape,
    TensorValue,
    Type,
    Value,
)

First = TypeVar("First")
Second = TypeVar("Second")

# Names and texts

IDENTIFIER = st.sampled_from(
    ["x", "y1", "_n", "equiv_1_x", "▸фx", "◂f", "梯度", "call_1", "inf", "_", "e5", "none"]
)
GRAPH_NAME = st.sampled_from(["1_f", "12_✓f", "3_▸f", "3_◂f", "40_↵↻g", "f"])
OPERATOR = st.sampled_from(
    ["Mul", "Conv2D", "J", "ReLU", "call", "resolve", "dict_setitem", "Parameter"]
)
ODD_CHARACTERS = "ab (),:[]{}%@$'#é/"
STRING = st.builds(
    lambda *parts: "".join(parts),
    st.text(ODD_CHARACTERS, max_size=8),
    st.sampled_from(["", 'x "q" y', "two\nlines", "\nx"]),
    # A quote that one of these followed would end the string.
    st.text(ODD_CHARACTERS, max_size=4).map(lambda text: text.strip("(),:[]{}") or "z"),
)
CODE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20)


@st.composite
def sources(draw: st.DrawFn) -> Source:
    first = draw(st.integers(1, 99))
    return Source(
        file=f"{draw(IDENTIFIER)}/b.py",
        line=first,
        last_line=first + draw(st.integers(0, 9)),
        columns=draw(st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99))),
        code=draw(CODE),
        shared=draw(st.booleans()),
    )


SOURCES = st.lists(sources(), max_size=2).map(tuple)


def columns(pairs: list[tuple[First, Second]]) -> tuple[tuple[First, ...], tuple[Second, ...]]:
    """The first items of some pairs, and the second ones."""
    return tuple(first for first, _ in pairs), tuple(second for _, second in pairs)


# Types and shapes

PLAIN_TYPES = st.sampled_from(
    [Type(name) for name in ("Bool", "Int64", "Func", "UMonad", "Object:EnvType", "None")]
)
TENSOR_TYPES = st.sampled_from(
    [Type(name, (Type("Float32"),)) for name in ("Tensor", "Any(Tensor)", "Dynamic Tuple")]
)


def types_of(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    """Types that hold others."""
    several = st.lists(inner, max_size=3).map(tuple)
    pairs = st.lists(st.tuples(IDENTIFIER, inner), max_size=3)
    return st.one_of(
        st.builds(Type, st.sampled_from(["Tuple", "List"]), several),
        pairs.map(dictionary_type),
        st.tuples(inner, inner, inner).map(lambda types: Type("Slice", types)),
        st.builds(lambda key, kind: Type("Keyword", (kind,), (key,)), IDENTIFIER, inner),
        inner.map(lambda kind: Type("Ref", (kind,))),
    )


def dictionary_type(pairs: list[tuple[str, Type]]) -> Type:
    keys, kinds = columns(pairs)
    return Type("Dictionary", kinds, keys)


def shapes_of(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    """Shapes of tuples and lists."""
    kinds = st.sampled_from(["Tuple", "List"])
    return st.builds(SequenceShape, kinds, st.lists(inner, max_size=3).map(tuple))


SIZES = st.lists(st.integers(-2, 99), max_size=4).map(tuple)
PLAIN_SHAPES = st.one_of(st.none(), SIZES.map(TensorShape), st.just(SequenceShape("Dynamic")))
TYPES = st.recursive(PLAIN_TYPES | TENSOR_TYPES, types_of, max_leaves=6)
SHAPES: st.SearchStrategy[Shape] = st.recursive(PLAIN_SHAPES, shapes_of, max_leaves=5)
ABSTRACTS = st.just(Abstract(Type("null"))) | st.builds(
    Abstract, TYPES, SHAPES, st.none() | IDENTIFIER, st.booleans(), st.booleans(), st.booleans()
)
FUNCTION = Abstract(Type("Func"))

# Values; where they refer to something, a number stands for it until a module has names

SYMBOLS = [
    "None",
    "UMonad[U]",
    "F32",
    "NameSpace[Entry: 'f, (']",
    "Functor[A]{false}",
    "Slice[0 : 1 : None]",
]
ELEMENTS = ["1", "[1 2]", "\n[[1 2]\n [3 ... 4]]", "[(1,2)]"]
INDEX = st.integers(0, 9)
LEAVES: list[st.SearchStrategy[Value]] = [
    st.integers(-99, 99).map(lambda number: Scalar(number, "I64")),
    st.integers(-99, 99).map(Scalar),
    st.floats(allow_nan=False).map(lambda number: Scalar(number, "F32")),
    st.booleans().map(lambda flag: Scalar(flag, "Bool")),
    STRING.map(StringValue),
    st.sampled_from(SYMBOLS).map(Symbol),
    st.builds(TensorValue, SIZES, st.just("Float32"), st.sampled_from(ELEMENTS)),
    INDEX.map(NodeRef),
    INDEX.map(lambda number: GraphRef(str(number))),
    st.builds(lambda number, name: OuterRef(str(number), name), INDEX, IDENTIFIER),
    st.builds(lambda label, graph: ParameterRef(str(label), str(graph)), INDEX, INDEX),
]


def values_of(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    """Values that hold others."""
    several = st.lists(inner, max_size=3).map(tuple)
    pairs = st.lists(st.tuples(STRING.map(StringValue), inner), max_size=2)
    return st.one_of(
        st.builds(SequenceValue, st.sampled_from(["tuple", "list"]), several),
        pairs.map(lambda items: DictValue(*columns(items))),
        st.builds(KeywordValue, IDENTIFIER, inner),
    )


VALUES: st.SearchStrategy[Value] = st.recursive(st.one_of(LEAVES), values_of, max_leaves=4)
ATTRIBUTES = st.dictionaries(IDENTIFIER, VALUES, max_size=2)


@dataclass(frozen=True)
class Names:
    """What the values of a module can refer to."""

    labels: list[str]
    graphs: list[str]

    def resolve(self, value: Value, nodes: int) -> Value:
        """A value whose references lead somewhere, in a subgraph that has ``nodes`` nodes so far."""
        match value:
            case NodeRef(number):
                return NodeRef(number % nodes) if nodes else Symbol("None")
            case GraphRef(number):
                return GraphRef(self.graph(number))
            case OuterRef(number, name):
                return OuterRef(self.graph(number), name)
            case ParameterRef(label, graph):
                return self.parameter(int(label), graph)
            case SequenceValue(kind, values):
                return SequenceValue(kind, self.resolve_all(values, nodes))
            case DictValue(keys, values):
                return DictValue(keys, self.resolve_all(values, nodes))
            case KeywordValue(key, inner):
                return KeywordValue(key, self.resolve(inner, nodes))
        return value

    def resolve_all(self, values: tuple[Value, ...], nodes: int) -> tuple[Value, ...]:
        return tuple(self.resolve(value, nodes) for value in values)

    def resolve_attributes(self, attributes: Attributes, nodes: int) -> Attributes:
        return {key: self.resolve(value, nodes) for key, value in attributes.items()}

    def graph(self, number: str) -> str:
        return self.graphs[int(number) % len(self.graphs)]

    def parameter(self, number: int, graph: str) -> Value:
        """A parameter of the graph at hand, or of the one with that number if it is odd."""
        if not self.labels:
            return Symbol("None")
        owner = self.graph(graph) if int(graph) % 2 else ""
        return ParameterRef(self.labels[number % len(self.labels)], owner)


# Nodes, subgraphs and modules


@st.composite
def nodes(draw: st.DrawFn, index: int, names: Names, functions: list[str]) -> IRNode:
    """A node in a subgraph that may call the parameters labelled ``functions``."""
    kinds: list[OpKind] = ["Primitive", "PrimFunc", "S_Prim", "MetaFuncGraph", "call"]
    kind = draw(st.sampled_from(kinds))
    callee: Value | None = None
    targets: list[str] = []
    if kind == "call":
        values: list[Value] = [GraphRef(names.graphs[0])]
        values += map(NodeRef, range(index))
        values += map(ParameterRef, functions)
        callee = draw(st.sampled_from(values))
        if not isinstance(callee, GraphRef):
            targets = draw(st.lists(st.sampled_from(names.graphs), max_size=2))
    return draw_statement(
        draw,
        index,
        names,
        operands=draw(st.lists(VALUES, max_size=3)),
        name=draw(IDENTIFIER),
        op="" if kind == "call" else draw(OPERATOR),
        kind=kind,
        output=draw(ABSTRACTS),
        callee=callee,
        targets=tuple(targets),
        detail="[add]{fn: M{(Tensor, Tensor), (Tuple)}}" if kind == "MetaFuncGraph" else "",
    )


@st.composite
def returns(draw: st.DrawFn, index: int, names: Names) -> IRNode:
    """The Return of a subgraph that has so many nodes."""
    operands = [draw(VALUES)]
    fields = {"name": "", "op": "Return", "kind": "Primitive", "output": None}
    return draw_statement(draw, index, names, operands, **fields)


def draw_statement(
    draw: st.DrawFn, index: int, names: Names, operands: list[Value], **fields: Any
) -> IRNode:
    """A node of which ``fields`` are decided."""
    count = len(operands)
    attributes = [names.resolve_attributes(draw(ATTRIBUTES), index) for _ in range(3)]
    scope = draw(st.sampled_from(["", "Default", "Gradients/Default/net-Net (x)"]))
    is_full = bool(scope) and draw(st.booleans())
    return IRNode(
        index=index,
        line=0,
        operands=names.resolve_all(tuple(operands), index),
        inputs=tuple(draw(st.lists(ABSTRACTS, min_size=count, max_size=count))),
        instance_name=draw(st.sampled_from(["", "matmul"])),
        attrs=attributes[0],
        cnode_attrs=attributes[1],
        primal_attrs=attributes[2],
        layouts=draw(st.sampled_from([(), ("(Tensor) -> (Tensor)", "(S:[2], <null>)")])),
        scope=scope,
        full_name=f"{scope}/Op-op1" if is_full else "",
        side_effects=draw(st.sampled_from([(), ("memory", "load")])),
        remarks=draw(st.sampled_from([(), ("@jit.cond: True",)])),
        sources=draw(SOURCES),
        forward_sources=draw(SOURCES),
        similar_sources=draw(SOURCES),
        failed_at=draw(st.none() | INDEX),
        **fields,
    )


@st.composite
def subgraphs(draw: st.DrawFn, name: str, own_labels: list[str], names: Names) -> Subgraph:
    """A subgraph with some of the module's parameters."""
    parameters = []
    for label in own_labels:
        abstract = draw(ABSTRACTS | st.just(FUNCTION))
        parameters.append(Parameter(label, label.partition("_")[2], abstract))
    functions = callable_labels(parameters)
    count = draw(st.integers(0, 4))
    body = [draw(nodes(index, names, functions)) for index in range(count)]
    attribute_values = st.sampled_from(["", "1", "(a, b)"])
    return Subgraph(
        name=name,
        parameters=tuple(parameters),
        nodes=tuple(body),
        returned=draw(returns(len(body), names)),
        line=0,
        parent=draw(st.none() | st.sampled_from(names.graphs)),
        attrs=draw(st.dictionaries(st.sampled_from(["core", "less_bn"]), attribute_values)),
        side_effects=draw(st.sampled_from([(), ("load",)])),
        sources=draw(SOURCES),
    )


def callable_labels(parameters: list[Parameter]) -> list[str]:
    """The parameters that a node can call by their bare names."""
    functions = []
    for parameter in parameters:
        is_function = parameter.abstract is not None and parameter.abstract.type.name == "Func"
        if is_function and "(" not in parameter.label:
            functions.append(parameter)
    names = [parameter.name for parameter in functions]
    return [parameter.label for parameter in functions if names.count(parameter.name) == 1]


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Modules that could be printed: every reference leads to something."""
    graphs = draw(st.lists(GRAPH_NAME, min_size=1, max_size=3, unique=True))
    owned: dict[str, list[str]] = {graph: [] for graph in graphs}
    labels = []
    for number in range(draw(st.integers(0, 4))):
        name = draw(IDENTIFIER | st.just("wéird (n) %q : x, {y}"))
        labels.append(f"para{number}_{name}")
        owned[draw(st.sampled_from(graphs))].append(labels[-1])
    names = Names(labels, graphs)
    body = [draw(subgraphs(graph, owned[graph], names)) for graph in graphs]
    return Module(
        entry=graphs[0],
        parameters=body[0].parameters,
        subgraphs=tuple(body),
        attrs=draw(st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["", "1"]))),
        config=draw(
            st.dictionaries(st.sampled_from(["jit_level", "options"]), st.sampled_from(["", "{}"]))
        ),
    )
