"""Strategies of hypothesis for IR modules: every kind of value, type, node and subgraph."""

from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from explorer.engines.mindspore.ir import records as ir

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
def sources(draw: st.DrawFn) -> ir.Source:
    first = draw(st.integers(1, 99))
    return ir.Source(
        file=f"{draw(IDENTIFIER)}/b.py",
        line=first,
        last_line=first + draw(st.integers(0, 9)),
        columns=draw(st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99))),
        code=draw(CODE),
        shared=draw(st.booleans()),
    )


SOURCES = st.lists(sources(), max_size=2).map(tuple)

# Types and shapes

PLAIN_TYPES = st.sampled_from(
    [ir.Type(name) for name in ("Bool", "Int64", "Func", "UMonad", "Object:EnvType", "None")]
)
TENSOR_TYPES = st.sampled_from(
    [ir.Type(name, (ir.Type("Float32"),)) for name in ("Tensor", "Any(Tensor)", "Dynamic Tuple")]
)


def types_of(inner: st.SearchStrategy[ir.Type]) -> st.SearchStrategy[ir.Type]:
    """Types that hold others."""
    several = st.lists(inner, max_size=3).map(tuple)
    pairs = st.lists(st.tuples(IDENTIFIER, inner), max_size=3)
    return st.one_of(
        st.builds(ir.Type, st.sampled_from(["Tuple", "List"]), several),
        pairs.map(dictionary_type),
        st.tuples(inner, inner, inner).map(lambda types: ir.Type("Slice", types)),
        st.builds(lambda key, kind: ir.Type("Keyword", (kind,), (key,)), IDENTIFIER, inner),
        inner.map(lambda kind: ir.Type("Ref", (kind,))),
    )


def dictionary_type(pairs: list[tuple[str, ir.Type]]) -> ir.Type:
    kinds = tuple(kind for _, kind in pairs)
    return ir.Type("Dictionary", kinds, tuple(key for key, _ in pairs))


def shapes_of(inner: st.SearchStrategy[ir.Shape]) -> st.SearchStrategy[ir.Shape]:
    """Shapes of tuples and lists."""
    kinds = st.sampled_from(["Tuple", "List"])
    return st.builds(ir.SequenceShape, kinds, st.lists(inner, max_size=3).map(tuple))


SIZES = st.lists(st.integers(-2, 99), max_size=4).map(tuple)
PLAIN_SHAPES = st.one_of(st.none(), SIZES.map(ir.TensorShape), st.just(ir.SequenceShape("Dynamic")))
TYPES = st.recursive(PLAIN_TYPES | TENSOR_TYPES, types_of, max_leaves=6)
SHAPES: st.SearchStrategy[ir.Shape] = st.recursive(PLAIN_SHAPES, shapes_of, max_leaves=5)
ABSTRACTS = st.just(ir.Abstract(ir.Type("null"))) | st.builds(
    ir.Abstract, TYPES, SHAPES, st.none() | IDENTIFIER, st.booleans(), st.booleans(), st.booleans()
)
FUNCTION = ir.Abstract(ir.Type("Func"))

# Values

SYMBOLS = [
    "None",
    "UMonad[U]",
    "F32",
    "NameSpace[Entry: 'f, (']",
    "Functor[A]{false}",
    "Slice[0 : 1 : None]",
]
ELEMENTS = ["1", "[1 2]", "\n[[1 2]\n [3 ... 4]]", "[(1,2)]"]
LEAVES: list[st.SearchStrategy[ir.Value]] = [
    st.integers(-99, 99).map(lambda number: ir.Scalar(number, "I64")),
    st.integers(-99, 99).map(ir.Scalar),
    st.floats(allow_nan=False).map(lambda number: ir.Scalar(number, "F32")),
    st.booleans().map(lambda flag: ir.Scalar(flag, "Bool")),
    STRING.map(ir.StringValue),
    st.sampled_from(SYMBOLS).map(ir.Symbol),
    st.builds(ir.TensorValue, SIZES, st.just("Float32"), st.sampled_from(ELEMENTS)),
]


def values_of(inner: st.SearchStrategy[ir.Value]) -> st.SearchStrategy[ir.Value]:
    """Values that hold others."""
    several = st.lists(inner, max_size=3).map(tuple)
    pairs = st.lists(st.tuples(STRING.map(ir.StringValue), inner), max_size=2)
    return st.one_of(
        st.builds(ir.SequenceValue, st.sampled_from(["tuple", "list"]), several),
        pairs.map(
            lambda items: ir.DictValue(
                tuple(key for key, _ in items), tuple(value for _, value in items)
            )
        ),
        st.builds(ir.KeywordValue, IDENTIFIER, inner),
    )


class Names(NamedTuple):
    """What the values of a module can refer to."""

    labels: tuple[str, ...]
    graphs: tuple[str, ...]


@cache
def values(names: Names, nodes: int) -> st.SearchStrategy[ir.Value]:
    """Values whose references lead somewhere, in a subgraph that has ``nodes`` nodes so far."""
    graphs = st.sampled_from(names.graphs)
    leaves = [*LEAVES, graphs.map(ir.GraphRef), st.builds(ir.OuterRef, graphs, IDENTIFIER)]
    if nodes:
        leaves.append(st.integers(0, nodes - 1).map(ir.NodeRef))
    if names.labels:
        labels = st.sampled_from(names.labels)
        leaves.append(st.builds(ir.ParameterRef, labels, st.just("") | graphs))
    return st.recursive(st.one_of(leaves), values_of, max_leaves=4)


# Nodes, subgraphs and modules


@st.composite
def nodes(draw: st.DrawFn, index: int, names: Names, functions: list[str]) -> ir.IRNode:
    """A node in a subgraph that may call the parameters labelled ``functions``."""
    kinds: list[ir.OpKind] = ["Primitive", "PrimFunc", "S_Prim", "MetaFuncGraph", "call"]
    kind = draw(st.sampled_from(kinds))
    callee: ir.Value | None = None
    targets: list[str] = []
    if kind == "call":
        callees: list[ir.Value] = [ir.GraphRef(names.graphs[0])]
        callees += map(ir.NodeRef, range(index))
        callees += map(ir.ParameterRef, functions)
        callee = draw(st.sampled_from(callees))
        if not isinstance(callee, ir.GraphRef):
            targets = draw(st.lists(st.sampled_from(names.graphs), max_size=2))
    return draw_statement(
        draw,
        index,
        names,
        operands=draw(st.lists(values(names, index), max_size=3)),
        name=draw(IDENTIFIER),
        op="" if kind == "call" else draw(OPERATOR),
        kind=kind,
        output=draw(ABSTRACTS),
        callee=callee,
        targets=tuple(targets),
        detail="[add]{fn: M{(Tensor, Tensor), (Tuple)}}" if kind == "MetaFuncGraph" else "",
    )


def draw_statement(
    draw: st.DrawFn, index: int, names: Names, operands: list[ir.Value], **fields: Any
) -> ir.IRNode:
    """A node of which ``fields`` are decided."""
    count = len(operands)
    attributes = st.dictionaries(IDENTIFIER, values(names, index), max_size=2)
    scope = draw(st.sampled_from(["", "Default", "Gradients/Default/net-Net (x)"]))
    is_full = bool(scope) and draw(st.booleans())
    return ir.IRNode(
        index=index,
        line=0,
        operands=tuple(operands),
        inputs=tuple(draw(st.lists(ABSTRACTS, min_size=count, max_size=count))),
        instance_name=draw(st.sampled_from(["", "matmul"])),
        attrs=draw(attributes),
        cnode_attrs=draw(attributes),
        primal_attrs=draw(attributes),
        layouts=draw(st.sampled_from([(), ("(Tensor) -> (Tensor)", "(S:[2], <null>)")])),
        scope=scope,
        full_name=f"{scope}/Op-op1" if is_full else "",
        side_effects=draw(st.sampled_from([(), ("memory", "load")])),
        remarks=draw(st.sampled_from([(), ("@jit.cond: True",)])),
        sources=draw(SOURCES),
        forward_sources=draw(SOURCES),
        similar_sources=draw(SOURCES),
        failed_at=draw(st.none() | st.integers(0, 9)),
        **fields,
    )


@st.composite
def subgraphs(draw: st.DrawFn, name: str, own_labels: list[str], names: Names) -> ir.Subgraph:
    """A subgraph with some of the module's parameters."""
    parameters = []
    for label in own_labels:
        abstract = draw(ABSTRACTS | st.just(FUNCTION))
        parameters.append(ir.Parameter(label, label.partition("_")[2], abstract))
    functions = callable_labels(parameters)
    count = draw(st.integers(0, 4))
    body = [draw(nodes(index, names, functions)) for index in range(count)]
    fields = {"name": "", "op": "Return", "kind": "Primitive", "output": None}
    returned = draw_statement(draw, count, names, [draw(values(names, count))], **fields)
    attribute_values = st.sampled_from(["", "1", "(a, b)"])
    return ir.Subgraph(
        name=name,
        parameters=tuple(parameters),
        nodes=tuple(body),
        returned=returned,
        line=0,
        parent=draw(st.none() | st.sampled_from(names.graphs)),
        attrs=draw(st.dictionaries(st.sampled_from(["core", "less_bn"]), attribute_values)),
        side_effects=draw(st.sampled_from([(), ("load",)])),
        sources=draw(SOURCES),
    )


def callable_labels(parameters: list[ir.Parameter]) -> list[str]:
    """The parameters that a node can call by their bare names."""
    functions = []
    for parameter in parameters:
        is_function = parameter.abstract is not None and parameter.abstract.type.name == "Func"
        if is_function and "(" not in parameter.label:
            functions.append(parameter)
    names = [parameter.name for parameter in functions]
    return [parameter.label for parameter in functions if names.count(parameter.name) == 1]


@st.composite
def modules(draw: st.DrawFn) -> ir.Module:
    """Modules that could be printed: every reference leads to something."""
    graphs = draw(st.lists(GRAPH_NAME, min_size=1, max_size=3, unique=True))
    owned: dict[str, list[str]] = {graph: [] for graph in graphs}
    labels = []
    for number in range(draw(st.integers(0, 4))):
        name = draw(IDENTIFIER | st.just("wéird (n) %q : x, {y}"))
        labels.append(f"para{number}_{name}")
        owned[draw(st.sampled_from(graphs))].append(labels[-1])
    names = Names(tuple(labels), tuple(graphs))
    body = [draw(subgraphs(graph, owned[graph], names)) for graph in graphs]
    return ir.Module(
        entry=graphs[0],
        parameters=body[0].parameters,
        subgraphs=tuple(body),
        attrs=draw(st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["", "1"]))),
        config=draw(
            st.dictionaries(st.sampled_from(["jit_level", "options"]), st.sampled_from(["", "{}"]))
        ),
    )
