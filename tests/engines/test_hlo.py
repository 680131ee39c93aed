"""The reader of compiled programs, on text that XLA wrote (jax 0.6.2)."""

from explorer.engines.jax.hlo import Instruction, read_module

REDUCE = (
    "f32[] reduce(%param_0.8, %constant.10), dimensions={0,1}, to_apply=%region_0.33, "
    r'metadata={op_name="jit(g)/jit(main)/transpose(jvp(fc))/\302\2472/reduce_sum"'
    r' source_file="/a (b)/net, 1.py" source_line=12}'
)

TEXT = r"""
HloModule jit_g, is_scheduled=true, entry_computation_layout={(f32[4]{0}, f32[2,4]{1,0})->(f32[], s32[])}

%region_0.33 (Arg_0.30: f32[], Arg_1.31: f32[]) -> f32[] {
  %Arg_0.30 = f32[] parameter(0), metadata={op_name="jit(g)/jit(main)/reduce_sum"}
  %Arg_1.31 = f32[] parameter(1), metadata={op_name="jit(g)/jit(main)/reduce_sum"}
  ROOT %add.32 = f32[] add(%Arg_0.30, %Arg_1.31)
}

%early (Arg_0.30: f32[]) -> f32[] {
  %Arg_0.30 = f32[] parameter(0)
  ROOT %first = f32[] negate(%Arg_0.30)
  %second = f32[] negate(%first)
}

%fused (param_0.8: f32[2,4]) -> f32[] {
  %param_0.8 = f32[2,4]{1,0} parameter(0)
  %constant.10 = f32[] constant(-1.5)
  ROOT %reduce.0 = {REDUCE}
}

ENTRY %main.53 (Arg_0.1: f32[4], Arg_1.2: f32[2,4]) -> (f32[], s32[]) {
  %Arg_0.1 = f32[4]{0} parameter(0), metadata={op_name="p[\'b\']"}
  %Arg_1.2 = f32[2,4]{1,0} parameter(1), metadata={op_name="x"}
  %sum = f32[] fusion(%Arg_1.2), kind=kLoop, calls=%fused
  %pair = (f32[4]{0}, /*index=1*/bf16[2,3]{1,0}) custom-call(%Arg_0.1), custom_call_target="a, (b"
  %choice = f32[] conditional(%sum, %Arg_0.1, %Arg_0.1), branch_computations={%fused, %region_0.33}
  ROOT %tuple.52 = (f32[], s32[]) tuple(%sum, %choice)
}
"""

MODULE = read_module(TEXT.replace("{REDUCE}", REDUCE))


def by_name(computation: str) -> dict[str, Instruction]:
    return {it.name: it for it in MODULE.computations[computation]}


def test_the_computations_of_a_module_are_read_and_the_entry_is_known() -> None:
    assert MODULE.entry == "main.53"
    assert list(MODULE.computations) == ["region_0.33", "early", "fused", "main.53"]
    assert MODULE.root("main.53").name == "tuple.52"
    assert MODULE.root("region_0.33").op == "add"
    assert MODULE.root("early").name == "first", "the result need not be the last instruction"


def test_an_instruction_has_its_operands_attributes_and_the_computation_that_it_runs() -> None:
    reduce = by_name("fused")["reduce.0"]
    assert (reduce.op, reduce.shapes) == ("reduce", (("f32", ()),))
    assert reduce.operands == ("param_0.8", "constant.10")
    assert reduce.attributes == {"dimensions": "{0,1}"}
    assert reduce.calls == ("region_0.33",)


def test_names_and_lines_are_those_of_the_net() -> None:
    reduce = by_name("fused")["reduce.0"]
    assert reduce.op_name == "jit(g)/jit(main)/transpose(jvp(fc))/§2/reduce_sum"
    assert (reduce.file, reduce.line) == ("/a (b)/net, 1.py", 12)
    assert by_name("main.53")["Arg_0.1"].op_name == "p['b']"
    assert by_name("main.53")["sum"].file == ""


def test_numbers_that_are_written_into_a_program_are_its_text() -> None:
    assert by_name("fused")["constant.10"].text == "-1.5"
    assert by_name("main.53")["Arg_1.2"].text == "1"


def test_a_tuple_has_the_shapes_of_its_parts() -> None:
    pair = by_name("main.53")["pair"]
    assert pair.op == "custom-call"
    assert pair.shapes == (("f32", (4,)), ("bf16", (2, 3)))
    assert pair.attributes == {"custom_call_target": '"a, (b"'}


def test_a_choice_names_all_of_its_branches() -> None:
    choice = by_name("main.53")["choice"]
    assert choice.operands == ("sum", "Arg_0.1", "Arg_0.1")
    assert choice.calls == ("fused", "region_0.33")


def test_lines_that_a_module_numbers_are_those_of_the_net() -> None:
    """As jax 0.10.2 writes them."""
    text = """HloModule jit_g

FileNames
1 "/a b/net.py"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=6 end_column=45}
2 {file_name_id=1 function_name_id=1 line=2 end_line=2 column=17 end_column=28}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


ENTRY %main.1 (x.1: f32[3]) -> f32[3] {
  %x.1 = f32[3]{0} parameter(0), metadata={op_name="x"}
  ROOT %tanh.0 = f32[3]{0} tanh(%x.1), metadata={op_name="jit(g)/jvp()/tanh" stack_frame_id=2}
}
"""
    x, tanh = read_module(text).computations["main.1"]
    assert (tanh.file, tanh.line) == ("/a b/net.py", 2)
    assert (x.file, x.line) == ("", 0)
