"""Devices by name: what may be asked for, and what an engine gets."""

import pytest

from explorer.model.engines import Framework
from explorer.model.errors import UsageError
from explorer.scenario.devices import assign, parse


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("cpu", "cpu"),
        ("cuda", "cuda:0"),
        ("cuda:1", "cuda:1"),
        ("npu", "npu:0"),
        ("mps", "mps"),
        ("auto", "auto"),
    ],
)
def test_a_kind_without_a_number_is_its_first(text: str, spelling: str) -> None:
    assert str(parse(text)) == spelling


@pytest.mark.parametrize(
    "text", ["gpu", "CPU", "cpu:0", "cuda:", "cuda:01", "cuda:-1", "cuda:1234", "", " cpu", "mps:0"]
)
def test_what_is_no_device_is_refused_with_all_forms(text: str) -> None:
    with pytest.raises(UsageError, match=r"allowed: cpu, cuda\[:N\], mps, npu\[:N\], auto"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "meant"), [("gpu", "cuda"), ("GPU:1", "cuda"), ("Ascend", "npu"), ("cudaa", "cuda")]
)
def test_mindspore_s_name_of_a_device_leads_to_ours(text: str, meant: str) -> None:
    with pytest.raises(UsageError, match=rf"did you mean '{meant}\[:N\]'\? allowed: cpu, "):
        parse(text)


@pytest.mark.parametrize(
    ("device", "framework", "available", "gets"),
    [
        ("cpu", "mindspore", ("cpu",), "cpu"),
        ("cuda", "torch", ("cpu", "cuda:0"), "cuda:0"),
        ("auto", "torch", ("cpu", "cuda:0", "cuda:1"), "cuda:0"),
        ("auto", "torch", ("cpu", "mps"), "mps"),
        ("auto", "mindspore", ("cpu", "npu:0"), "npu:0"),
        ("auto", "mindspore", ("cpu",), "cpu"),
        ("auto", "torch", ("cpu",), "cpu"),
        ("auto", "torch", ("cpu", "mps", "npu:0", "cuda:2", "cuda:1"), "cuda:1"),
        ("auto", "torch", ("cpu", "mps", "npu:1"), "npu:1"),
        ("cuda:1", "torch", ("cpu", "cuda:0", "cuda:1"), "cuda:1"),
        ("npu", "torch", ("cpu", "npu:0"), "npu:0"),
        ("mps", "torch", ("cpu", "mps"), "mps"),
    ],
)
def test_an_engine_gets_what_was_asked_or_the_best_there_is(
    device: str, framework: Framework, available: tuple[str, ...], gets: str
) -> None:
    assert assign(device, {framework: available}) == {framework: gets}


NO_CUDA = "mindspore does not support cuda devices (it can use cpu)"
NO_NPU = "mindspore finds no npu:0 on this machine (it can use cpu)"
NO_MPS = "mindspore does not support mps devices (it can use cpu, npu:1)"


@pytest.mark.parametrize(
    ("device", "mindspore", "torch", "message"),
    [
        (
            "cuda",
            "cpu",
            "cpu",
            f"{NO_CUDA}; torch finds no cuda:0 on this machine (it can use cpu)",
        ),
        ("mps", "cpu npu:1", "cuda:0", f"{NO_MPS}; torch finds no mps on this machine (it can use"),
        (
            "cuda",
            "cpu",
            "cpu cuda:0",
            f"{NO_CUDA}; run only the engines of torch, which can use it",
        ),
        ("npu", "cpu", "npu:0", f"{NO_NPU}; run only the engines of torch, which can use it"),
    ],
)
def test_a_device_that_an_engine_cannot_use_lists_those_it_can_and_who_can_use_it(
    device: str, mindspore: str, torch: str, message: str
) -> None:
    available: dict[Framework, tuple[str, ...]] = {
        "mindspore": tuple(mindspore.split()),
        "torch": tuple(torch.split()),
    }
    with pytest.raises(UsageError) as caught:
        assign(device, available)
    assert str(caught.value).startswith(f"device {device!r}: {message}")
    assert str(caught.value).endswith("use device auto for the best one of each framework")
    assert ("which can use it" in str(caught.value)) == ("which can use it" in message)


@pytest.mark.parametrize("device", ["npu", "npu:3", "mps", "cuda", "cpu"])
@pytest.mark.parametrize("framework", ["mindspore", "torch"])
def test_a_kind_that_is_not_here_is_another_mistake_than_one_that_a_framework_has_not(
    device: str, framework: Framework
) -> None:
    with pytest.raises(UsageError) as caught:
        assign(device, {framework: ()})
    has_kind = framework == "torch" or device.startswith(("cpu", "npu"))
    wording = (
        f"{framework} finds no {parse(device)} on" if has_kind else f"{framework} does not support"
    )
    assert wording in str(caught.value)
    assert "(it can use none); " in str(caught.value)
