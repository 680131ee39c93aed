"""The records of a MindSpore IR text: modules, subgraphs, nodes, operands and their types."""

from collections.abc import Iterator
from typing import Literal, TypeAlias, Union

import msgspec

OpKind = Literal["Primitive", "PrimFunc", "S_Prim", "MetaFuncGraph", "call"]


class Type(msgspec.Struct, frozen=True, gc=False):
    """A type such as ``Tensor[Float32]`` or ``Tuple[Int64*2]`` (repeats spelled out in ``args``).

    ``keys`` are the names of a Dictionary's or Keyword's values.
    """

    name: str
    args: "tuple[Type, ...]" = ()
    keys: tuple[str, ...] = ()


class TensorShape(msgspec.Struct, frozen=True, gc=False, tag="tensor"):
    """The sizes of a tensor: -1 for one known only when the net runs, a lone -2 for any rank."""

    sizes: tuple[int, ...]


class SequenceShape(msgspec.Struct, frozen=True, gc=False, tag="sequence"):
    """The shapes in a tuple or a list, None where an element has none.

    A "Dynamic" one has an unknown length.
    """

    kind: Literal["Tuple", "List", "Dynamic"]
    items: "tuple[Shape, ...]" = ()


Shape: TypeAlias = Union[TensorShape, SequenceShape, None]  # noqa: UP007 - "Shape" recurs, and a quoted name takes no "|"


class Abstract(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The compiler's knowledge of a value, ``<Tensor[Float32], (1, 3)>``: its type and its shape.

    ``ref_key`` is the name of the parameter that it refers to, None where it refers to none.
    ``known`` says that the compiler also holds the value. How elements are used
    (``elements_use_flags``) is dropped; ``marks`` are those that this reader does not know,
    verbatim.
    """

    type: Type
    shape: Shape = None
    ref_key: str | None = None
    is_parameter: bool = False
    is_inplace: bool = False
    known: bool = False
    marks: tuple[str, ...] = ()

    def leaves(self) -> Iterator[tuple[Type, Shape]]:
        """The types that are no tuple or list, in order, each with its shape."""
        waiting: list[tuple[Type, Shape]] = [(self.type, self.shape)]
        while waiting:
            kind, shape = waiting.pop()
            if kind.name in {"Tuple", "List"}:
                shapes = shape.items if isinstance(shape, SequenceShape) else ()
                inner = shapes if len(shapes) == len(kind.args) else (None,) * len(kind.args)
                waiting += reversed(list(zip(kind.args, inner, strict=True)))
            else:
                yield kind, shape


class NodeRef(msgspec.Struct, frozen=True, gc=False, tag="node"):
    """``%12``: the node with that index in the same subgraph."""

    index: int


class ParameterRef(msgspec.Struct, frozen=True, gc=False, tag="parameter", omit_defaults=True):
    """``%para3_x``: a parameter by its label.

    ``graph`` is the name of the subgraph that holds it, empty for the same one.
    """

    label: str
    graph: str = ""


class OuterRef(msgspec.Struct, frozen=True, gc=False, tag="outer"):
    """``$(@graph:name)``: a node of a parent graph by its debug name.

    Several nodes of that graph may share the name.
    """

    graph: str
    name: str


class GraphRef(msgspec.Struct, frozen=True, gc=False, tag="graph"):
    """``@name``: a subgraph, as the target of a call or as a value."""

    name: str


FLOATS = frozenset({"F16", "F32", "F64", "BF16"})
"""How the IR writes the types of floats."""


class Scalar(msgspec.Struct, frozen=True, gc=False, tag="scalar", omit_defaults=True):
    """``I64(1)``, ``Bool(0)``, ``F32(0.5)``: a number.

    ``dtype`` is the short name of its type, empty where none is printed.
    """

    value: bool | int | float
    dtype: str = ""

    @property
    def number(self) -> bool | int | float:
        """The number as Python has it: the IR writes a whole float without its dot (2.10.0)."""
        return float(self.value) if self.dtype in FLOATS else self.value


class StringValue(msgspec.Struct, frozen=True, gc=False, tag="text"):
    """A quoted string."""

    value: str


class Symbol(msgspec.Struct, frozen=True, gc=False, tag="symbol"):
    """Anything else with a name, verbatim: ``None``, ``UMonad[U]``, ``NameSpace[…]``, ``F32``."""

    text: str


class TensorValue(msgspec.Struct, frozen=True, gc=False, tag="tensor"):
    """``Tensor(shape=[2], dtype=Float32, value=[…])``: a tensor.

    ``text`` is the value as printed, that of a large tensor with "..." inside.
    """

    shape: tuple[int, ...]
    dtype: str
    text: str


class SequenceValue(msgspec.Struct, frozen=True, gc=False, tag="items"):
    """A tuple ``(…)`` or a list ``[…]`` of values."""

    kind: Literal["tuple", "list"]
    values: "tuple[Value, ...]" = ()


class DictValue(msgspec.Struct, frozen=True, gc=False, tag="table"):
    """A dictionary ``{key: value, …}`` in printed order."""

    keys: "tuple[Value, ...]" = ()
    values: "tuple[Value, ...]" = ()


class KeywordValue(msgspec.Struct, frozen=True, gc=False, tag="keyword"):
    """``KeywordArg[key : k, value : v]``: an argument that is passed by name."""

    key: str
    value: "Value"


Value: TypeAlias = Union[  # noqa: UP007 - several of these recur through "Value"
    NodeRef,
    ParameterRef,
    OuterRef,
    GraphRef,
    Scalar,
    StringValue,
    Symbol,
    TensorValue,
    SequenceValue,
    DictValue,
    KeywordValue,
]
Attributes: TypeAlias = dict[str, Value]


class Source(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A stretch of source code: file, lines from 1, columns from 0, and the first line's text.

    ``shared``: the compiler notes that several nodes may come from this line.
    """

    file: str
    line: int
    last_line: int
    columns: tuple[int, int] | None = None
    code: str = ""
    shared: bool = False


class IRNode(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One node ``%12(name) = op(operands)``, or a subgraph's Return.

    ``op`` is the operator's name without its prefix ("MatMul" of ``PrimFunc_MatMul``), empty for a
    "call", which has a ``callee`` and, where the compiler has found them out, the subgraphs it may
    reach in ``targets``. ``detail`` is what a MetaFuncGraph's name carries in brackets. ``layouts``
    are further lines on formats, kinds and symbolic shapes, verbatim. ``remarks`` are comments in
    the source that steer the compiler. ``forward_sources`` are those of the forward node that a
    backward node may derive from, ``similar_sources`` those of code that a generated node may stand
    for. ``line`` is the IR text's own. ``failed_at`` is set on nodes whose evaluation did not
    succeed. ``marks`` and ``notes`` are what stands behind the operands, and in the comments, that
    this reader does not know, verbatim.
    """

    index: int
    name: str
    op: str
    kind: OpKind
    operands: tuple[Value, ...]
    inputs: tuple[Abstract, ...]
    output: Abstract | None
    line: int
    callee: Value | None = None
    targets: tuple[str, ...] = ()
    detail: str = ""
    instance_name: str = ""
    attrs: Attributes = {}
    cnode_attrs: Attributes = {}
    primal_attrs: Attributes = {}
    layouts: tuple[str, ...] = ()
    scope: str = ""
    full_name: str = ""
    side_effects: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    forward_sources: tuple[Source, ...] = ()
    similar_sources: tuple[Source, ...] = ()
    failed_at: int | None = None
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def primal(self, key: str) -> str | None:
        """The text of a primal attribute, such as "unique_id"; None where the node has none."""
        value = self.primal_attrs.get(key)
        return value.value if isinstance(value, StringValue) else None

    @property
    def unique_id(self) -> str | None:
        """The id by which backward nodes name this node.

        It is not unique once graphs have been inlined.
        """
        return self.primal("unique_id")

    @property
    def forward_unique_id(self) -> str | None:
        """The ``unique_id`` of the forward node that this backward node derives from."""
        return self.primal("forward_unique_id")

    @property
    def forward_node_name(self) -> str | None:
        """The name of the forward node that this backward node derives from: "MatMul_6903"."""
        return self.primal("forward_node_name")


class Parameter(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A parameter of a subgraph.

    ``label`` ("para3_fc.weight") is how operands name it, ``name`` the part after the number.
    ``symbols`` is the shape with names for unknown sizes, ``layout`` the device format, ``marks``
    what this reader does not know, all verbatim.
    """

    label: str
    name: str
    abstract: Abstract | None = None
    has_default: bool = False
    symbols: str = ""
    layout: str = ""
    is_weight: bool | None = None
    marks: tuple[str, ...] = ()


class Subgraph(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One function of the IR: parameters, nodes in printed order, and the Return that ends it.

    ``returned`` is None where a stage has emptied the subgraph. The entry's parameters are the
    module's. ``notes`` are comments that this reader does not know, verbatim.
    """

    name: str
    parameters: tuple[Parameter, ...]
    nodes: tuple[IRNode, ...]
    returned: IRNode | None
    line: int
    parent: str | None = None
    attrs: dict[str, str] = {}
    side_effects: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()


class Module(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One IR file: the entry's name and parameters, and every subgraph in printed order.

    ``log`` is what comes before the IR in the file that a failed compilation leaves. ``notes`` are
    the lines of its header that this reader does not know, verbatim.
    """

    entry: str
    parameters: tuple[Parameter, ...]
    subgraphs: tuple[Subgraph, ...]
    attrs: dict[str, str] = {}
    config: dict[str, str] = {}
    log: str = ""
    notes: tuple[str, ...] = ()

    def by_name(self) -> dict[str, Subgraph]:
        """The subgraphs, keyed by name."""
        return {graph.name: graph for graph in self.subgraphs}
