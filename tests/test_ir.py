"""The reader of MindSpore's IR texts: what it says of real files, of any file it could be given,
and of broken ones.
"""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.engines.mindspore.ir import IRSyntaxError, Module, parse, read
from explorer.engines.mindspore.ir.records import (
    Abstract,
    GraphRef,
    IRNode,
    Items,
    Keyword,
    NodeRef,
    OpKind,
    OuterRef,
    Parameter,
    ParameterRef,
    Scalar,
    SequenceShape,
    Shape,
    Source,
    Subgraph,
    Symbol,
    Table,
    TensorShape,
    TensorValue,
    Text,
    Type,
    Value,
)
from tests.ir_printer import module_text

SAMPLES = Path(__file__).parent / "ir_samples"
FLOAT = Type("Tensor", (Type("Float32"),))


def sample(name: str) -> Module:
    return read(SAMPLES / f"{name}.ir")


def node(module: Module, full_name: str) -> IRNode:
    return next(
        node for graph in module.subgraphs for node in graph.nodes if node.full_name == full_name
    )


def module_of(*statements: str, parameters: str = "") -> str:
    """An IR text with one subgraph of these statements, each with its types."""
    body = "\n".join(statements)
    header = "# IR entry: @f\n# Total subgraphs: 1\n\n# Total params: 0\n\nsubgraph attr:"
    return f"{header}\nsubgraph @f({parameters}) {{\n{body}\n}}\n"


def statement(operands: str, count: int, head: str = "  %0(a) = Op", tail: str = "") -> str:
    return f"{head}({operands}){tail}\n      : ({', '.join(['<null>'] * count)}) -> (<null>)"


RETURN = "  Return(%0)\n      : (<null>)"


def operands_of(text: str, count: int) -> tuple[Value, ...]:
    return parse(module_of(statement(text, count), RETURN), "f.ir").subgraphs[0].nodes[0].operands


# Real files


def test_a_backward_node_names_the_forward_node_it_derives_from() -> None:
    module = sample("dense_validate")
    forward, backward = (
        node(module, "Default/MatMul-op1"),
        node(module, "Gradients/Default/Grad_MatMul/MatMul-op0"),
    )
    assert (forward.op, forward.kind, forward.name, forward.unique_id) == (
        "MatMul",
        "PrimFunc",
        "equiv_3_x",
        "6447",
    )
    assert (backward.forward_node_name, backward.forward_unique_id, backward.unique_id) == (
        "MatMul_6447",
        "6447",
        None,
    )
    assert backward.operands == (
        NodeRef(9),
        NodeRef(0),
        Scalar(False, "Bool"),
        Scalar(False, "Bool"),
    )
    assert backward.output == Abstract(FLOAT, TensorShape((1, 3)))
    assert backward.scope == "Gradients/Default/Grad_MatMul"


def test_source_lines_keep_the_users_text_whatever_stands_in_it() -> None:
    module = sample("dense_validate")
    forward, backward = (
        node(module, "Default/MatMul-op1"),
        node(module, "Gradients/Default/Grad_MatMul/MatMul-op0"),
    )
    code = '        logits = self.fc(x).squeeze()  # 损失: "quoted" (paren'
    assert Source("nets_ir.py", 14, 14, (17, 24), code) in forward.sources
    assert forward.forward_sources == ()
    assert backward.sources == ()
    assert Source("nets_ir.py", 14, 14, (17, 24), code, shared=True) in backward.forward_sources
    assert Source(
        "site-packages/mindspore/ops/function/array_func.py",
        2034,
        2069,
        None,
        "def squeeze(input, axis=None):",
    ) in {source for each in module.subgraphs[0].nodes for source in each.sources}


def test_the_header_gives_parameters_and_the_compilers_settings() -> None:
    module = sample("dense_validate")
    x, y, weight = module.parameters
    assert (x.label, x.name, x.abstract, x.symbols) == (
        "para1_args0",
        "args0",
        Abstract(FLOAT, TensorShape((1, 3))),
        "[1, 3]",
    )
    assert y.abstract == Abstract(FLOAT, TensorShape(()))
    assert weight == Parameter(
        "para3_fc.weight",
        "fc.weight",
        Abstract(Type("Ref", (FLOAT,)), TensorShape((1, 3)), "fc.weight", is_parameter=True),
        has_default=True,
    )
    assert (module.config["jit_level"], module.attrs) == ("O0", {"less_bn": "0"})
    assert module.by_name()[module.entry].parameters == module.parameters


def test_the_result_is_what_return_is_given() -> None:
    graph = sample("dense_validate").subgraphs[0]
    assert graph.result == NodeRef(18)
    assert [each.index for each in graph.nodes] == list(range(19))
    assert graph.returned is not None
    assert graph.returned.inputs == (graph.nodes[18].output,)


def test_a_branch_on_a_value_is_a_switch_between_two_subgraphs() -> None:
    module = sample("branch_validate")
    nodes = module.by_name()[module.entry].nodes
    taken, other = "81_76_57_▸9_✓f_218", "83_78_65_▸18_✗f_224"
    assert nodes[4].operands == (
        GraphRef(taken),
        ParameterRef("para1_args0"),
        ParameterRef("para2_args1"),
    )
    assert (nodes[6].op, nodes[6].operands) == ("Switch", (NodeRef(3), NodeRef(4), NodeRef(5)))
    assert (nodes[7].kind, nodes[7].op, nodes[7].callee, nodes[7].targets) == (
        "call",
        "",
        NodeRef(6),
        (taken, other),
    )
    assert nodes[9].operands == (TensorValue((), "Float32", "1"),)
    assert {taken, other, *nodes[9].targets} < set(module.by_name())
    assert module.by_name()[taken].attrs["indirect"] == "1"
    assert [parameter.label for parameter in module.by_name()["82_77_58_◂9_✓f_220"].parameters] == [
        "para3_▸y",
        "para4_▸x",
        "para5_Parameter_234",
    ]


def test_strings_hold_quotes_brackets_and_line_breaks() -> None:
    module = sample("strings_validate")
    label = 'para2_wéird (name) "q" : x, {y}'
    reduce, printed = (
        node(module, "Default/ReduceSum-op1"),
        next(n for n in module.subgraphs[0].nodes if n.op == "Print"),
    )
    assert reduce.instance_name == "reduce"
    assert reduce.attrs == {
        "line": Text("two\nlines"),
        "note": Text('a "quoted" (paren, [x] {y}: %3('),
        "ключ": Text("знач"),
        "tup": Items("tuple", (Scalar(1), Items("tuple", (Scalar(2.5), Symbol("s"))))),
        "empty": Text(""),
    }
    assert printed.operands == (
        Text('in "graph" (%s)'),
        ParameterRef("para1_args0"),
        Symbol("IOMonad[IO]"),
    )
    load = module.subgraphs[0].nodes[0]
    assert load.operands == (ParameterRef(label), Symbol("UMonad[U]"))
    assert load.inputs[0].ref_key == 'wéird (name) "q" : x, {y}'


def test_kernel_stages_add_layouts_and_say_only_the_scope() -> None:
    first, *_ = sample("inputs_kernels").subgraphs[0].nodes
    assert (first.full_name, first.scope) == ("", "Gradients/Default/Grad_SumExt")
    assert first.layouts[1] == "(Tensor, Tuple) -> (Tensor)"
    assert first.inputs[1].type == Type("Tuple", (Type("Int64"), Type("Int64")))
    assert first.attrs["IsFeatureMapInputList"] == Items("tuple", (Scalar(0), Scalar(1)))
    assert sample("inputs_kernels").parameters[0].is_weight is False


def test_before_any_pass_names_are_unresolved_and_a_parameter_has_two_names() -> None:
    graph = sample("dense_bootstrap").subgraphs[0]
    assert graph.nodes[0].operands == (
        Symbol("NameSpace[Entry: 'after_grad']"),
        Symbol("after_grad"),
    )
    assert graph.nodes[1].operands == (NodeRef(0), ParameterRef("para1_args"))
    assert graph.nodes[1].output == Abstract(Type("null"))


def test_a_failed_compilations_file_says_what_failed_and_where() -> None:
    module = sample("analyze_fail")
    assert (
        "For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got 3 and 5." in module.log
    )
    failed = {
        n.failed_at: n for graph in module.subgraphs for n in graph.nodes if n.failed_at is not None
    }
    assert sorted(failed) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert (failed[7].name, failed[7].callee, failed[7].kind) == ("CNode_67", NodeRef(0), "call")
    assert failed[7].sources[0].code == "    return matmul_ext_op(input, other)"


def test_samples_say_where_they_stand_and_survive_json() -> None:
    for path in SAMPLES.glob("*.ir"):
        module, lines = read(path), path.read_text(encoding="utf-8").split("\n")
        for graph in module.subgraphs:
            assert all(
                lines[each.line - 1].startswith(f"  %{each.index}({each.name}) = ")
                for each in graph.nodes
            ), path.name
        assert msgspec.json.decode(msgspec.json.encode(module), type=Module) == module, path.name


# Values and types


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", Symbol("None")),
        ("I64(-3)", Scalar(-3, "I64")),
        ("F32(1e-05)", Scalar(1e-05, "F32")),
        ("F64(-inf)", Scalar(float("-inf"), "F64")),
        ("BF16(0.5)", Scalar(0.5, "BF16")),
        ("()", Items("tuple")),
        ("[x, y]", Items("list", (Symbol("x"), Symbol("y")))),
        ("{}", Table()),
        (
            '{"a": I64(1), "b (": None}',
            Table((Text("a"), Text("b (")), (Scalar(1, "I64"), Symbol("None"))),
        ),
        (
            "KeywordArg[key : dtype, value : (1, -1)]",
            Keyword("dtype", Items("tuple", (Scalar(1), Scalar(-1)))),
        ),
        ("Slice[0 : 2 : None]", Symbol("Slice[0 : 2 : None]")),
        ("@fn::name_1", None),
        ("$(@g:CNode_3)", OuterRef("g", "CNode_3")),
        ("[Key][Parameter]fc.weight", Symbol("[Key][Parameter]fc.weight")),
        ("ClassType[class 'a.b, (c']", Symbol("ClassType[class 'a.b, (c']")),
        ("Functor[ShapeCalc_ReduceShape]{false}", Symbol("Functor[ShapeCalc_ReduceShape]{false}")),
        (
            "Tensor(shape=[1], dtype=Complex64, value=[(1,2)])",
            TensorValue((1,), "Complex64", "[(1,2)]"),
        ),
        (
            "Tensor(shape=[2, 1], dtype=Float32, value=\n[[1]\n [2]])",
            TensorValue((2, 1), "Float32", "\n[[1]\n [2]]"),
        ),
        (
            "Tensor(shape=[0, 3], dtype=Float32, value=<uninitialized>)",
            TensorValue((0, 3), "Float32", "<uninitialized>"),
        ),
    ],
)
def test_constants_of_every_form(text: str, value: Value | None) -> None:
    if value is None:
        with pytest.raises(IRSyntaxError):
            operands_of(text, 1)
    else:
        assert operands_of(text, 1) == (value,)
        assert operands_of(f"{text}, ({text}, {text})", 2) == (
            value,
            Items("tuple", (value, value)),
        )


@pytest.mark.parametrize(
    ("head", "kind", "op", "callee", "targets"),
    [
        ("S_Prim_Switch", "S_Prim", "Switch", None, ()),
        ("call @12_✓f_3", "call", "", GraphRef("12_✓f_3"), ()),
        ("$(@g:CNode_1)[@@h]", "call", "", OuterRef("g", "CNode_1"), ("h",)),
        ("fn[@FuncUnion(@a, @b)]", "call", "", ParameterRef("para1_fn"), ("a", "b")),
        ("fn[@Partial(@a)]", "call", "", ParameterRef("para1_fn"), ("a",)),
        (
            "HyperMapPy_map[add]{leaf: M_add{(Tensor, Tensor), (Tuple)}}",
            "MetaFuncGraph",
            "HyperMapPy_map",
            None,
            (),
        ),
    ],
)
def test_what_is_applied(
    head: str, kind: str, op: str, callee: Value | None, targets: tuple[str, ...]
) -> None:
    text = module_of(statement("None", 1, f"  %0(a) = {head}"), RETURN, parameters="%para1_fn")
    found = parse(text, "f.ir").subgraphs[0].nodes[0]
    assert (found.kind, found.op, found.callee, found.targets) == (kind, op, callee, targets)
    assert found.detail == head[len(op) :] * (kind == "MetaFuncGraph")


def test_a_tensor_parameter_named_like_an_operator_is_not_what_is_called() -> None:
    text = module_of(statement("None", 1), RETURN, parameters="%para1_Op")
    typed = text.replace("subgraph @f(", "# Parameters: 1, (<Tensor[Float32], ()>)\nsubgraph @f(")
    assert parse(typed, "f.ir").subgraphs[0].nodes[0].op == "Op"
    assert parse(text, "f.ir").subgraphs[0].nodes[0].callee == ParameterRef("para1_Op")


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        (
            "Tuple[Tensor[Float32]*2,Bool], TupleShape((1, 3), (), NoShape)",
            [(FLOAT, (1, 3)), (FLOAT, ()), (Type("Bool"), None)],
        ),
        ("Tuple[], TupleShape(), elements_use_flags={[const vector]{}}", []),
        ("List[Tuple[Tensor[Float32]]], ListShape(TupleShape((-1, 2)))", [(FLOAT, (-1, 2))]),
        (
            "Dynamic Tuple[element: Tensor[Float32]], DynamicSequenceShape",
            [(Type("Dynamic Tuple", (FLOAT,)), None)],
        ),
        ("Dictionary[[],[]], NoShape", [(Type("Dictionary"), None)]),
        (
            'Dictionary[[a,b "q" (,],[Int64*2]], NoShape',
            [(Type("Dictionary", (Type("Int64"),) * 2, ("a", 'b "q" (')), None)],
        ),
        (
            "Keyword[key : dtype, value : None], NoShape",
            [(Type("Keyword", (Type("None"),), ("dtype",)), None)],
        ),
        ("Any(Tensor)[Float32], (2)", [(Type("Any(Tensor)", (Type("Float32"),)), (2,))]),
        ("Object:EnvType, NoShape", [(Type("Object:EnvType"), None)]),
    ],
)
def test_types_and_shapes_of_every_form(
    text: str, leaves: list[tuple[Type, tuple[int, ...] | None]]
) -> None:
    module = parse(module_of(f"  %0(a) = Op()\n      : () -> (<{text}>)", RETURN), "f.ir")
    output = module.subgraphs[0].nodes[0].output
    assert output is not None
    found = [
        (kind, shape.sizes if isinstance(shape, TensorShape) else None)
        for kind, shape in output.leaves()
    ]
    assert found == leaves


def test_a_reference_into_a_parent_may_mean_several_nodes_of_one_name() -> None:
    same = [statement("", 0, f"  %{index}(x) = Op") for index in range(2)]
    module = parse(module_of(*same, RETURN), "f.ir")
    assert [found.index for found in module.candidates(OuterRef("f", "x"))] == [0, 1]
    assert module.candidates(OuterRef("f", "y")) == module.candidates(OuterRef("g", "x")) == ()


def test_depth_and_length_are_no_limit() -> None:
    depth = 10_000
    found = operands_of("(" * depth + ")" * depth, 1)[0]
    for _ in range(depth - 1):
        assert isinstance(found, Items)
        found = found.values[0]
    assert found == Items("tuple")
    nested = "Tuple[" * depth + "]" * depth + ", " + "TupleShape(" * depth + ")" * depth
    module = parse(module_of(f"  %0(a) = Op()\n      : () -> (<{nested}>)", RETURN), "f.ir")
    assert module.subgraphs[0].nodes[0].output is not None
    chain = [f"  %{i}(a) = Op(%{i - 1})\n      : (<null>) -> (<null>)" for i in range(1, depth)]
    assert (
        len(parse(module_of(statement("", 0), *chain, RETURN), "f.ir").subgraphs[0].nodes) == depth
    )


# Errors


def refused(text: str) -> IRSyntaxError:
    with pytest.raises(IRSyntaxError) as caught:
        parse(text, "some/net.ir")
    error = caught.value
    assert str(error).startswith(
        f"some/net.ir:{error.line}:{error.column}: found {error.found}, where {error.allowed} may stand"
    )
    return error


FIRST = (
    module_of().count("\n", 0, module_of().index("{\n")) + 2
)  # the line on which the first statement stands


@pytest.mark.parametrize(
    ("lines", "line", "column", "found", "allowed"),
    [
        ((statement("%5", 1),), 0, 14, "'%5)'", "a node of this subgraph (none so far)"),
        (
            (statement("%para9_x", 1),),
            0,
            14,
            "'%para9_x)'",
            "a node (%12) or a parameter that the file declares (%para1_x)",
        ),
        ((statement("(I64(1)", 1),), 0, 22, "the end of the line", "', ' or ')'"),
        ((statement("I64(1))", 1),), 0, 21, "')'", "' {instance name: …}'"),
        ((statement("I64(1) I64(2)", 2),), 0, 20, "' I64(2))'", "', ' or ')'"),
        ((statement('"a', 1),), 0, 17, "the end of the line", "'\"' at the end of the string"),
        (
            (statement("None", 1, tail=" cnode_attrs: {a: I64(1)"),),
            0,
            43,
            "the end of the line",
            "', ' or '}'",
        ),
        (
            (statement("None", 1, tail=" cnode_attrs: {a: 1, a: 2}"),),
            0,
            40,
            "'a: 2}'",
            "not been given yet",
        ),
        (
            (statement("None", 2),),
            1,
            9,
            "'(<null>, <null>) -> (<null>)'",
            "as many types as operands, 1",
        ),
        (
            ("  %0(a) = Op()\n      : () -> (<Tensor[Float32>)",),
            1,
            31,
            "'>)'",
            "',' or ']' in the type Tensor",
        ),
        (
            ("  %0(a) = Op()\n      : () -> (<Tuple[Bool*9999999]>)",),
            1,
            27,
            "'*9999999]",
            "at most 1000000",
        ),
        (("  %0(a) = Op()\n      : () -> (<Bool, (1>)",), 1, 23, "'(1", "a shape"),
        (
            ("  %0(a) = Op()\n      : () -> (<Dictionary[[a,],[Bool,Bool]]>)",),
            1,
            43,
            "2 types",
            "names, 1",
        ),
        (("  %0(a) = Op()", RETURN), 1, 1, "'  Return(%0)'", "'      : ('"),
        (("  %1(a) = Op()\n      : () -> (<null>)",), 0, 3, "'%1(a) = Op()'", "%0, the next node"),
        (("garbage", RETURN), 0, 1, "'garbage'", "a node ('  %0(name) = …') or '  Return(…)'"),
        (
            (statement("", 0), "      # Garbage"),
            2,
            7,
            "'# Garbage'",
            "a comment on name, scope, side effects or source code",
        ),
        ((statement("", 0), RETURN, "more"), 4, 1, "'more'", "'}' after Return"),
        (
            (statement("", 0), "  Return(%0, %0)\n      : (<null>, <null>)"),
            2,
            16,
            "2 values",
            "one value that is returned",
        ),
        (
            (statement("Tensor(shape=[2], dtype=Int64, value=\n[1 2]", 1),),
            1,
            7,
            "the end of the line",
            "', ' or ')'",
        ),
    ],
)
def test_what_cannot_be_read_is_reported_where_it_stands(
    lines: tuple[str, ...], line: int, column: int, found: str, allowed: str
) -> None:
    error = refused(module_of(*lines))
    assert (error.line, error.column) == (FIRST + line, column)
    assert found in error.found
    assert allowed in error.allowed


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in SAMPLES.glob("*.ir") if path.stem != "analyze_fail")
)
def test_a_file_cut_anywhere_is_refused_at_or_before_the_cut(name: str) -> None:
    lines = (SAMPLES / f"{name}.ir").read_text(encoding="utf-8").rstrip().split("\n")
    last = max(index for index, line in enumerate(lines) if line == "}")
    for kept in range(0, last + 1, 3):
        whole = "\n".join(lines[:kept])
        assert refused(whole).line <= kept + 1, kept
        if kept and len(lines[kept - 1]) > 1:
            assert refused(whole[:-1]).line <= kept + 1, kept


@pytest.mark.parametrize(
    ("pattern", "replacement", "found", "allowed"),
    [
        ("# IR entry: @", "# IR entry @", "'# IR entry @", "'# IR entry: @name'"),
        ("# Total subgraphs: 1", "# Total subgraphs: 2", "the end of the file", "subgraph 2 of 2"),
        ("# Total params: 3", "# Total params: 4", "the end of the line", "parameter 4 of 4"),
        (
            "%para2_args1: <Tensor[Float32], ",
            "%para2_args1: <Tensor[Float32] ",
            "' ()>",
            "', ' and a shape",
        ),
        ("subgraph attr:", "subgraph attrs:", "'subgraph attrs:'", "'subgraph attr:'"),
        (
            "Total number of nodes: ",
            "Total number of nodes ",
            "'Total number of nodes 44'",
            "'Total number of nodes: …'",
        ),
    ],
)
def test_a_wrong_header_is_reported(
    pattern: str, replacement: str, found: str, allowed: str
) -> None:
    text = (SAMPLES / "dense_validate.ir").read_text(encoding="utf-8")
    assert text.count(pattern) == 1
    error = refused(text.replace(pattern, replacement))
    assert found in error.found
    assert allowed in error.allowed


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.ir"
    path.write_bytes(b"# IR entry: @f\n# \xff\n")
    with pytest.raises(
        IRSyntaxError, match=re.escape(f"{path}:2:3: found byte 0xff, where UTF-8 text may stand")
    ):
        read(path)


# Any file


IDENTIFIER = st.sampled_from(
    ["x", "y1", "_n", "equiv_1_x", "▸фx", "◂f", "梯度", "call_1", "inf", "_", "e5", "none"]
)
GRAPH_NAME = st.sampled_from(["1_f", "12_✓f", "3_▸f", "3_◂f", "40_↵↻g", "f"])
OPERATOR = st.sampled_from(
    ["Mul", "Conv2D", "J", "ReLU", "call", "resolve", "dict_setitem", "Parameter"]
)
STRING = st.builds(
    lambda *parts: "".join(parts),
    st.text("ab (),:[]{}%@$'#é/", max_size=8),
    st.sampled_from(["", 'x "q" y', "two\nlines", "\nx"]),
    st.text("ab (),:[]{}%@$'#é/", max_size=4).map(lambda text: text.strip("(),:[]{}") or "z"),
)
SIZES = st.lists(st.integers(-2, 99), max_size=4).map(tuple)
CODE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20)


@st.composite
def sources(draw: st.DrawFn) -> Source:
    first = draw(st.integers(1, 99))
    columns = draw(st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99)))
    return Source(
        f"{draw(IDENTIFIER)}/b.py",
        first,
        first + draw(st.integers(0, 9)),
        columns,
        draw(CODE),
        draw(st.booleans()),
    )


SOURCES = st.lists(sources(), max_size=2).map(tuple)
PLAIN_TYPES = st.sampled_from(
    [Type(name) for name in ("Bool", "Int64", "Func", "UMonad", "Object:EnvType", "None")]
)
TYPES = st.recursive(
    PLAIN_TYPES
    | st.sampled_from(
        [Type(name, (Type("Float32"),)) for name in ("Tensor", "Any(Tensor)", "Dynamic Tuple")]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda args: Type("Tuple", tuple(args))),
        st.lists(inner, max_size=3).map(lambda args: Type("List", tuple(args))),
        st.lists(st.tuples(IDENTIFIER, inner), max_size=3).map(
            lambda pairs: Type(
                "Dictionary", tuple(kind for _, kind in pairs), tuple(key for key, _ in pairs)
            )
        ),
        st.tuples(inner, inner, inner).map(lambda args: Type("Slice", args)),
        st.builds(lambda key, kind: Type("Keyword", (kind,), (key,)), IDENTIFIER, inner),
        inner.map(lambda kind: Type("Ref", (kind,))),
    ),
    max_leaves=6,
)
SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.one_of(st.none(), SIZES.map(TensorShape), st.just(SequenceShape("Dynamic"))),
    lambda inner: st.builds(
        SequenceShape, st.sampled_from(["Tuple", "List"]), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=5,
)
ABSTRACTS = st.just(Abstract(Type("null"))) | st.builds(
    Abstract, TYPES, SHAPES, st.none() | IDENTIFIER, st.booleans(), st.booleans(), st.booleans()
)
FUNCTION = Abstract(Type("Func"))
SYMBOLS = [
    "None",
    "UMonad[U]",
    "F32",
    "NameSpace[Entry: 'f, (']",
    "Functor[A]{false}",
    "Slice[0 : 1 : None]",
]


LEAVES: list[st.SearchStrategy[Value]] = [
    st.integers(-99, 99).map(lambda number: Scalar(number, "I64")),
    st.integers(-99, 99).map(Scalar),
    st.floats(allow_nan=False).map(lambda number: Scalar(number, "F32")),
    st.booleans().map(lambda flag: Scalar(flag, "Bool")),
    STRING.map(Text),
    st.sampled_from(SYMBOLS).map(Symbol),
    st.builds(
        TensorValue,
        SIZES,
        st.just("Float32"),
        st.sampled_from(["1", "[1 2]", "\n[[1 2]\n [3 ... 4]]", "[(1,2)]"]),
    ),
    st.integers(0, 9).map(NodeRef),
    st.integers(0, 9).map(lambda number: GraphRef(str(number))),
    st.builds(lambda number, name: OuterRef(str(number), name), st.integers(0, 9), IDENTIFIER),
    st.builds(
        lambda label, graph: ParameterRef(str(label), str(graph)),
        st.integers(0, 9),
        st.integers(0, 9),
    ),
]
"""Values; where they refer to something, a number stands for it until a module has names."""
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(LEAVES),
    lambda inner: st.one_of(
        st.builds(
            Items, st.sampled_from(["tuple", "list"]), st.lists(inner, max_size=3).map(tuple)
        ),
        st.lists(st.tuples(STRING.map(Text), inner), max_size=2).map(
            lambda pairs: Table(tuple(key for key, _ in pairs), tuple(value for _, value in pairs))
        ),
        st.builds(Keyword, IDENTIFIER, inner),
    ),
    max_leaves=4,
)
ATTRIBUTES = st.dictionaries(IDENTIFIER, VALUES, max_size=2)


def named(value: Value, nodes: int, labels: list[str], graphs: list[str]) -> Value:
    """The value with its references turned into ones that the module can hold."""
    match value:
        case NodeRef(number):
            return NodeRef(number % nodes) if nodes else Symbol("None")
        case GraphRef(number):
            return GraphRef(graphs[int(number) % len(graphs)])
        case OuterRef(number, name):
            return OuterRef(graphs[int(number) % len(graphs)], name)
        case ParameterRef(label, graph):
            owner = graphs[int(graph) % len(graphs)] if int(graph) % 2 else ""
            return (
                ParameterRef(labels[int(label) % len(labels)], owner) if labels else Symbol("None")
            )
        case Items(kind, values):
            return Items(kind, tuple(named(each, nodes, labels, graphs) for each in values))
        case Table(keys, values):
            return Table(keys, tuple(named(each, nodes, labels, graphs) for each in values))
        case Keyword(key, inner):
            return Keyword(key, named(inner, nodes, labels, graphs))
    return value


@st.composite
def nodes_of(
    draw: st.DrawFn,
    index: int,
    labels: list[str],
    callables: list[str],
    graphs: list[str],
    last: bool,
) -> IRNode:
    drawn = draw(st.lists(VALUES, min_size=int(last), max_size=1 if last else 3))
    operands = tuple(named(value, index, labels, graphs) for value in drawn)
    attrs, cnode_attrs, primal_attrs = (
        {key: named(value, index, labels, graphs) for key, value in draw(ATTRIBUTES).items()}
        for _ in range(3)
    )
    kind: OpKind = (
        "Primitive"
        if last
        else draw(st.sampled_from(["Primitive", "PrimFunc", "S_Prim", "MetaFuncGraph", "call"]))
    )
    callee: Value | None = None
    targets: tuple[str, ...] = ()
    if kind == "call":
        choices: list[Value] = [
            GraphRef(graphs[0]),
            *map(NodeRef, range(index)),
            *map(ParameterRef, callables),
        ]
        callee = draw(st.sampled_from(choices))
        targets = (
            ()
            if isinstance(callee, GraphRef)
            else tuple(draw(st.lists(st.sampled_from(graphs), max_size=2)))
        )
    scope = draw(st.sampled_from(["", "Default", "Gradients/Default/net-Net (x)"]))
    full_name = f"{scope}/Op-op1" if scope and draw(st.booleans()) else ""
    return IRNode(
        index=index,
        name="" if last else draw(IDENTIFIER),
        op="Return" if last else "" if kind == "call" else draw(OPERATOR),
        kind=kind,
        operands=operands,
        inputs=tuple(draw(st.lists(ABSTRACTS, min_size=len(operands), max_size=len(operands)))),
        output=None if last else draw(ABSTRACTS),
        line=0,
        callee=callee,
        targets=targets,
        detail="[add]{fn: M{(Tensor, Tensor), (Tuple)}}" if kind == "MetaFuncGraph" else "",
        instance_name=draw(st.sampled_from(["", "matmul"])),
        attrs=attrs,
        cnode_attrs=cnode_attrs,
        primal_attrs=primal_attrs,
        layouts=draw(st.sampled_from([(), ("(Tensor) -> (Tensor)", "(S:[2], <null>)")])),
        scope=scope,
        full_name=full_name,
        side_effects=draw(st.sampled_from([(), ("memory", "load")])),
        remarks=draw(st.sampled_from([(), ("@jit.cond: True",)])),
        sources=draw(SOURCES),
        forward_sources=draw(SOURCES),
        similar_sources=draw(SOURCES),
        failed_at=draw(st.none() | st.integers(0, 9)),
    )


@st.composite
def modules(draw: st.DrawFn) -> Module:
    graphs = draw(st.lists(GRAPH_NAME, min_size=1, max_size=3, unique=True))
    labels = [
        f"para{number}_{draw(IDENTIFIER | st.just('wéird (n) %q : x, {y}'))}"
        for number in range(draw(st.integers(0, 4)))
    ]
    owners = [draw(st.sampled_from(graphs)) for _ in labels]
    found = []
    for graph in graphs:
        own = [label for label, owner in zip(labels, owners, strict=True) if owner == graph]
        abstracts = [(label, draw(ABSTRACTS | st.just(FUNCTION))) for label in own]
        parameters = tuple(
            Parameter(label, label.partition("_")[2], abstract) for label, abstract in abstracts
        )
        callables = [
            label
            for label, abstract in abstracts
            if abstract.type.name == "Func" and "(" not in label
        ]
        names = [label.partition("_")[2] for label in callables]
        callables = [
            label for label, name in zip(callables, names, strict=True) if names.count(name) == 1
        ]
        count = draw(st.integers(0, 4))
        nodes = tuple(
            draw(nodes_of(index, labels, callables, graphs, last=False)) for index in range(count)
        )
        returned = draw(nodes_of(count, labels, [], graphs, last=True))
        found.append(
            Subgraph(
                name=graph,
                parameters=parameters,
                nodes=nodes,
                returned=returned,
                line=0,
                parent=draw(st.none() | st.sampled_from(graphs)),
                attrs=draw(
                    st.dictionaries(
                        st.sampled_from(["core", "less_bn"]), st.sampled_from(["", "1", "(a, b)"])
                    )
                ),
                side_effects=draw(st.sampled_from([(), ("load",)])),
                sources=draw(SOURCES),
            )
        )
    return Module(
        entry=graphs[0],
        parameters=found[0].parameters,
        subgraphs=tuple(found),
        attrs=draw(st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["", "1"]))),
        config=draw(
            st.dictionaries(st.sampled_from(["jit_level", "options"]), st.sampled_from(["", "{}"]))
        ),
    )


def unplaced(module: Module) -> Module:
    """The module without line numbers."""
    return msgspec.structs.replace(
        module,
        subgraphs=tuple(
            msgspec.structs.replace(
                graph,
                line=0,
                nodes=tuple(msgspec.structs.replace(each, line=0) for each in graph.nodes),
                returned=msgspec.structs.replace(graph.returned, line=0)
                if graph.returned
                else None,
            )
            for graph in module.subgraphs
        ),
    )


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(modules())
def test_what_is_printed_is_read_back_unchanged(module: Module) -> None:
    text = module_text(module)
    assert unplaced(parse(text, "f.ir")) == module


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(modules(), st.data())
def test_any_damage_is_refused_or_harmless_but_never_another_error(
    module: Module, data: st.DataObject
) -> None:
    text = module_text(module)
    at, count = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 5))
    damaged = (
        text[:at] + data.draw(st.text('()[]{}<>,:"%#@$ \nab1', max_size=3)) + text[at + count :]
    )
    refused_by = None
    try:
        parse(damaged, "f.ir")
    except IRSyntaxError as error:
        refused_by = error
    if refused_by is not None:
        lines = damaged.split("\n")
        assert 1 <= refused_by.line <= len(lines)
        assert 1 <= refused_by.column <= len(lines[refused_by.line - 1]) + 1
