"""What the reader of MindSpore's IR says of real files, and of values and types of every form."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from explorer.engines.mindspore.ir import IRSyntaxError, Module, parse, read
from explorer.engines.mindspore.ir.records import (
    Abstract,
    DictValue,
    GraphRef,
    IRNode,
    KeywordValue,
    NodeRef,
    OuterRef,
    Parameter,
    ParameterRef,
    Scalar,
    SequenceShape,
    SequenceValue,
    Source,
    StringValue,
    Subgraph,
    Symbol,
    TensorShape,
    TensorValue,
    Type,
    Value,
)
from tests.support.ir_modules import modules
from tests.support.ir_printer import module_text
from tests.support.ir_texts import RETURN, SAMPLES, module_of, node_of_type, statement, without
from tests.support.narrowing import present

FLOAT = Type("Tensor", (Type("Float32"),))
FORWARD_PRODUCT = "Default/MatMul-op1"
BACKWARD_PRODUCT = "Gradients/Default/Grad_MatMul/MatMul-op0"


def sample(name: str) -> Module:
    return read(SAMPLES / f"{name}.ir")


def node(module: Module, full_name: str) -> IRNode:
    """The only node of a module with that name."""
    nodes = [node for graph in module.subgraphs for node in graph.nodes]
    (only,) = (node for node in nodes if node.full_name == full_name)
    return only


def parsed(*statements: str, parameters: str = "") -> Subgraph:
    """The only subgraph of a text with these statements."""
    return parse(module_of(*statements, parameters=parameters), "f.ir").subgraphs[0]


def operands_of(text: str, count: int) -> tuple[Value, ...]:
    return parsed(statement(text, count), RETURN).nodes[0].operands


# Real files


def test_a_backward_node_names_the_forward_node_it_derives_from() -> None:
    module = sample("dense_validate")
    forward = node(module, FORWARD_PRODUCT)
    assert (forward.op, forward.kind, forward.name) == ("MatMul", "PrimFunc", "equiv_3_x")
    assert forward.unique_id == "6447"
    backward = node(module, BACKWARD_PRODUCT)
    assert backward.forward_node_name == "MatMul_6447"
    assert (backward.forward_unique_id, backward.unique_id) == ("6447", None)
    no = Scalar(False, "Bool")
    assert backward.operands == (NodeRef(9), NodeRef(0), no, no)
    assert backward.output == Abstract(FLOAT, TensorShape((1, 3)))
    assert backward.scope == "Gradients/Default/Grad_MatMul"


def test_source_lines_keep_the_users_text_whatever_stands_in_it() -> None:
    module = sample("dense_validate")
    code = '        logits = self.fc(x).squeeze()  # 损失: "quoted" (paren'
    line = Source("nets_ir.py", 14, 14, (17, 24), code)
    forward = node(module, FORWARD_PRODUCT)
    assert line in forward.sources
    assert forward.forward_sources == ()
    backward = node(module, BACKWARD_PRODUCT)
    assert backward.sources == ()
    assert msgspec.structs.replace(line, shared=True) in backward.forward_sources


def test_a_source_may_have_several_lines() -> None:
    nodes = sample("dense_validate").subgraphs[0].nodes
    sources = {source for node in nodes for source in node.sources}
    file = "site-packages/mindspore/ops/function/array_func.py"
    assert Source(file, 2034, 2069, None, "def squeeze(input, axis=None):") in sources


def test_the_header_gives_parameters_and_the_compilers_settings() -> None:
    module = sample("dense_validate")
    x, y, weight = module.parameters
    assert (x.label, x.name, x.symbols) == ("para1_args0", "args0", "[1, 3]")
    assert x.abstract == Abstract(FLOAT, TensorShape((1, 3)))
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
    assert [node.index for node in graph.nodes] == list(range(19))
    assert graph.returned is not None
    assert graph.returned.operands == (NodeRef(18),)
    assert graph.returned.inputs == (graph.nodes[18].output,)


def test_a_branch_on_a_value_is_a_switch_between_two_subgraphs() -> None:
    module = sample("branch_validate")
    nodes = module.by_name()[module.entry].nodes
    taken, other = "81_76_57_▸9_✓f_218", "83_78_65_▸18_✗f_224"
    arguments = (ParameterRef("para1_args0"), ParameterRef("para2_args1"))
    assert nodes[4].operands == (GraphRef(taken), *arguments)
    assert (nodes[6].op, nodes[6].operands) == ("Switch", (NodeRef(3), NodeRef(4), NodeRef(5)))
    assert (nodes[7].kind, nodes[7].op) == ("call", "")
    assert (nodes[7].callee, nodes[7].targets) == (NodeRef(6), (taken, other))
    assert nodes[9].operands == (TensorValue((), "Float32", "1"),)
    assert {taken, other, *nodes[9].targets} < set(module.by_name())
    assert module.by_name()[taken].attrs["indirect"] == "1"
    backward = module.by_name()["82_77_58_◂9_✓f_220"]
    labels = [parameter.label for parameter in backward.parameters]
    assert labels == ["para3_▸y", "para4_▸x", "para5_Parameter_234"]


def test_strings_hold_quotes_brackets_and_line_breaks() -> None:
    module = sample("strings_validate")
    label = 'para2_wéird (name) "q" : x, {y}'
    reduce = node(module, "Default/ReduceSum-op1")
    assert reduce.instance_name == "reduce"
    assert reduce.attrs == {
        "line": StringValue("two\nlines"),
        "note": StringValue('a "quoted" (paren, [x] {y}: %3('),
        "ключ": StringValue("знач"),
        "tup": SequenceValue(
            "tuple", (Scalar(1), SequenceValue("tuple", (Scalar(2.5), Symbol("s"))))
        ),
        "empty": StringValue(""),
    }
    (printed,) = (node for node in module.subgraphs[0].nodes if node.op == "Print")
    text, argument, monad = printed.operands
    assert text == StringValue('in "graph" (%s)')
    assert (argument, monad) == (ParameterRef("para1_args0"), Symbol("IOMonad[IO]"))
    load = module.subgraphs[0].nodes[0]
    assert load.operands == (ParameterRef(label), Symbol("UMonad[U]"))
    assert load.inputs[0].ref_key == 'wéird (name) "q" : x, {y}'


def test_kernel_stages_add_layouts_and_say_only_the_scope() -> None:
    first, *_ = sample("inputs_kernels").subgraphs[0].nodes
    assert (first.full_name, first.scope) == ("", "Gradients/Default/Grad_SumExt")
    assert first.layouts[1] == "(Tensor, Tuple) -> (Tensor)"
    assert first.inputs[1].type == Type("Tuple", (Type("Int64"), Type("Int64")))
    assert first.attrs["IsFeatureMapInputList"] == SequenceValue("tuple", (Scalar(0), Scalar(1)))
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
    nodes = [node for graph in module.subgraphs for node in graph.nodes]
    failed = {node.failed_at: node for node in nodes if node.failed_at is not None}
    assert sorted(failed) == list(range(8))
    last = failed[7]
    assert (last.name, last.callee, last.kind) == ("CNode_67", NodeRef(0), "call")
    assert last.sources[0].code == "    return matmul_ext_op(input, other)"
    assert {graph.parent for graph in module.subgraphs} == {None, "grad_f_43"}


def test_graphs_that_a_failed_compilation_did_not_come_to_are_read_too() -> None:
    text = (SAMPLES / "analyze_fail.ir").read_text(encoding="utf-8")
    graph = module_of(statement("", 0), RETURN)
    rest = text.replace("No more function graphs.", graph[graph.index("subgraph attr:") :])
    known = sample("analyze_fail").subgraphs
    *before, last = parse(rest, "analyze_fail.ir").subgraphs
    assert len(before) == len(known)
    assert [node.name for node in last.nodes] == ["a"]


@pytest.mark.parametrize("name", sorted(path.stem for path in SAMPLES.glob("*.ir")))
def test_samples_say_where_they_stand_and_survive_json(name: str) -> None:
    module = sample(name)
    lines = (SAMPLES / f"{name}.ir").read_text(encoding="utf-8").split("\n")
    for graph in module.subgraphs:
        for node in graph.nodes:
            assert lines[node.line - 1].startswith(f"  %{node.index}({node.name}) = ")
    assert msgspec.json.decode(msgspec.json.encode(module), type=Module) == module


# Values and types


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", Symbol("None")),
        ("I64(-3)", Scalar(-3, "I64")),
        ("F32(1e-05)", Scalar(1e-05, "F32")),
        ("F64(-inf)", Scalar(float("-inf"), "F64")),
        ("BF16(0.5)", Scalar(0.5, "BF16")),
        ("()", SequenceValue("tuple")),
        ("[x, y]", SequenceValue("list", (Symbol("x"), Symbol("y")))),
        ("{}", DictValue()),
        (
            '{"a": I64(1), "b (": None}',
            DictValue((StringValue("a"), StringValue("b (")), (Scalar(1, "I64"), Symbol("None"))),
        ),
        (
            "KeywordArg[key : dtype, value : (1, -1)]",
            KeywordValue("dtype", SequenceValue("tuple", (Scalar(1), Scalar(-1)))),
        ),
        ("Slice[0 : 2 : None]", Symbol("Slice[0 : 2 : None]")),
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
def test_values_of_every_form_stand_alone_and_in_others(text: str, value: Value) -> None:
    assert operands_of(text, 1) == (value,)
    pair = SequenceValue("tuple", (value, value))
    assert operands_of(f"{text}, ({text}, {text})", 2) == (value, pair)


def test_the_name_of_a_graph_has_no_colon() -> None:
    with pytest.raises(IRSyntaxError):
        operands_of("@fn::name_1", 1)


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
    applied = statement("None", 1, f"  %0(a) = {head}")
    node = parsed(applied, RETURN, parameters="%para1_fn").nodes[0]
    assert (node.kind, node.op, node.callee, node.targets) == (kind, op, callee, targets)
    assert node.detail == (head.removeprefix(op) if kind == "MetaFuncGraph" else "")


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
    output = present(parsed(node_of_type(text), RETURN).nodes[0].output)
    sizes = []
    for kind, shape in output.leaves():
        sizes.append((kind, shape.sizes if isinstance(shape, TensorShape) else None))
    assert sizes == leaves


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Tuple[Tensor[Float32]], TupleShape((1, 3))", "Tuple"),
        ("List[Tensor[Float32]], ListShape((1, 3))", "List"),
        ("Dynamic List[element: Tensor[Float32]], DynamicSequenceShape", "Dynamic"),
    ],
)
def test_a_shape_says_which_kind_of_sequence_it_is_of(text: str, kind: str) -> None:
    output = present(parsed(node_of_type(text), RETURN).nodes[0].output)
    assert isinstance(output.shape, SequenceShape)
    assert output.shape.kind == kind


@pytest.mark.parametrize(
    ("shape", "shapes"),
    [
        (SequenceShape("Tuple", (TensorShape((2,)), None)), [TensorShape((2,)), None]),
        # The kernel stages leave shapes out.
        (SequenceShape("Tuple", (TensorShape((2,)),)), [None, None]),
        (None, [None, None]),
    ],
)
def test_each_leaf_of_a_tuple_has_its_shape_where_all_have_one(
    shape: SequenceShape | None, shapes: list[TensorShape | None]
) -> None:
    abstract = Abstract(Type("Tuple", (FLOAT, Type("Bool"))), shape)
    assert list(abstract.leaves()) == list(zip((FLOAT, Type("Bool")), shapes, strict=True))


def test_several_nodes_of_a_subgraph_may_have_one_name() -> None:
    same = [statement("", 0, f"  %{index}(x) = Op") for index in range(2)]
    nodes = parsed(*same, RETURN).nodes
    assert [(node.index, node.name) for node in nodes] == [(0, "x"), (1, "x")]


DEPTH = 10_000


@pytest.mark.slow
def test_values_may_nest_to_any_depth() -> None:
    value = operands_of("(" * DEPTH + ")" * DEPTH, 1)[0]
    for _ in range(DEPTH - 1):
        assert isinstance(value, SequenceValue)
        value = value.values[0]
    assert value == SequenceValue("tuple")


@pytest.mark.slow
def test_types_and_shapes_may_nest_to_any_depth() -> None:
    kind = "Tuple[" * DEPTH + "]" * DEPTH
    shape = "TupleShape(" * DEPTH + ")" * DEPTH
    assert parsed(node_of_type(f"{kind}, {shape}"), RETURN).nodes[0].output is not None


def test_a_subgraph_may_have_any_number_of_nodes() -> None:
    chain = [statement(f"%{i - 1}", 1, f"  %{i}(a) = Op") for i in range(1, DEPTH)]
    assert len(parsed(statement("", 0), *chain, RETURN).nodes) == DEPTH


@pytest.mark.parametrize(
    ("head", "callee"),
    [
        ("  %0(a) = Parameter_5", Symbol("Parameter_5")),
        ("  %0(a) = Parameter_5[@@g]", Symbol("Parameter_5")),
        ("  %0(a) = fn[@@g]", Symbol("fn")),
        ("  %0(a) = Op", None),
    ],
)
def test_beside_a_parameter_without_a_name_one_may_be_called_that_is_declared_nowhere(
    head: str, callee: Symbol | None
) -> None:
    module = parse(module_of(statement("", 0, head=head), RETURN, parameters="%para1_"), "net.ir")
    (node,) = module.subgraphs[0].nodes
    assert node.callee == callee
    assert node.op == ("" if callee else "Op")


def test_where_all_parameters_have_names_what_looks_undeclared_is_an_operator() -> None:
    statements = (statement("", 0, head="  %0(a) = Parameter_5"), RETURN)
    for parameters in ("%para1_x", ""):
        (node,) = parse(module_of(*statements, parameters=parameters), "net.ir").subgraphs[0].nodes
        assert (node.op, node.callee) == ("Parameter_5", None)


SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=SLOW_TO_DRAW)
@given(modules())
@pytest.mark.sample
@pytest.mark.whole
def test_what_is_printed_is_read_back_unchanged(module: Module) -> None:
    assert without(parse(module_text(module), "f.ir")) == without(module)
