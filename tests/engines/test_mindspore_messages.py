"""MindSpore's messages: what is left of one that says nothing, or fills the screen."""

import pytest

from explorer.model.failures import Failure
from explorer.text import failures
from explorer.text.language import said_in

pytestmark = pytest.mark.mindspore

RULE = "-" * 52

STACK = (
    f"\n\n{RULE}\n- C++ Call Stack: (For framework developers)\n{RULE}\nccsrc/context.cc:469 f\n"
)


def said(text: str) -> str:
    return failures.message(recorded(text))


def recorded(text: str) -> Failure:
    from explorer.engines.mindspore.errors import failure

    return failure(RuntimeError(text), "net.py")


def headed(text: str) -> str:
    return f"\n{RULE}\n- Kernel select failed:\n{RULE}\n{text}\nnode: @graph40:CNode_1{{}}{STACK}"


@pytest.mark.parametrize(
    "text",
    [
        headed("Unsupported op [Einsum] on CPU, Please confirm whether the device is correct."),
        f"The kernel Einsum unregistered.{STACK}",
    ],
)
def test_a_missing_kernel_is_named_with_what_to_do(text: str) -> None:
    message = said(text)
    assert "Einsum" in message
    assert "other operators" in message
    assert "\n" not in message


def test_a_kernel_that_does_not_take_a_type_lists_what_it_takes_once() -> None:
    message = said(
        headed(
            "Select CPU operator[MaxPool] fail! Unsupported data type!\nThe supported data types"
            " are input[Float32], output[Float32]; input[Float16], output[Float16];"
            " input[Float32], output[Float16]; , but get input[Int32 ] and output[Int32 ]"
        )
    )
    assert "MaxPool does not support Int32" in message
    assert message.endswith("Float32 or Float16")


def test_what_mindspore_said_itself_is_recorded_beside_what_it_means() -> None:
    own = "Unsupported op [Einsum] on CPU, Please confirm whether the device is correct."
    reason = recorded(headed(own))
    assert (reason.kind, reason.details) == ("no_kernel", ("Einsum", "CPU"))
    assert reason.message == own
    with said_in("zh"):
        assert "没有算子 Einsum 的 CPU 内核" in failures.message(reason)


def test_bfloat16_is_not_taken_for_float16() -> None:
    message = said(
        "Select CPU operator[AddN] fail! Unsupported data type!\nThe supported data types are"
        " input[Float16], output[Float16]; , but get input[BFloat16 ] and output[BFloat16 ]"
    )
    assert "AddN does not support BFloat16" in message


def test_an_argument_that_is_left_out_is_not_to_be_cast() -> None:
    message = said(
        "Select CPU operator[Zeros] fail! Unsupported data type!\nThe supported data types are"
        " input[Int64 Int64], output[Float32]; input[Int32 Int64], output[Float32]; , but get"
        " input[None None ] and output[Float32 ]"
    )
    assert "cast" not in message
    assert "the operator Zeros is given an argument without a value" in message


def test_the_tape_s_way_of_writing_the_same_is_read_too() -> None:
    message = said(
        "Select CPU operator[Erfinv] fail! Unsupported data type!\nThe supported data types are"
        " input[Float32], output[Float32];input[Float64], output[Float64];,\n"
        " but get input[[const vector]{Int32}], output[[const vector]{Float32}]." + STACK
    )
    assert "Erfinv does not support Int32" in message
    assert message.endswith("Float32 or Float64")


@pytest.mark.parametrize(("signatures", "more"), [(2, ""), (3, "and 1 more"), (30, "and 28 more")])
def test_two_signatures_of_an_operator_are_enough(signatures: int, more: str) -> None:
    calls = "\n".join(f'"Tensor.sum(axis=<{index}>)"\n   why' for index in range(signatures))
    message = said(f"Failed calling sum.\nThe valid calling should be:\n{calls}{STACK}")
    assert message.count("Tensor.sum") == 2
    assert message.endswith(more or '(axis=<1>)"')


def test_any_other_message_stays_as_it_is_up_to_its_stack() -> None:
    assert said(f"proposed_shape '{{7}}' is invalid\nfor size 6{STACK}").strip() == (
        "proposed_shape '{7}' is invalid\nfor size 6"
    )


def test_an_error_about_the_framework_s_own_nodes_names_none_of_them() -> None:
    message = said(
        "Output_idx 0 of node @pynative_kernel_graph4000000001:CNode_177{[0]: ValueNode<Primitive>"
        " MakeTuple, [1]: ValueNode<Int64Imm> 1} node:0x55e274dd4ba0 output addr is not exist."
    )
    assert "memory" in message
    assert "internal error of MindSpore" in message
    assert not any(sign in message for sign in ("CNode", "@", "{", "Output_idx"))


def test_an_address_in_memory_is_no_part_of_a_message() -> None:
    assert said("should be multi output, but got 0x562f8acc22b0") == (
        "should be multi output, but got an object"
    )
