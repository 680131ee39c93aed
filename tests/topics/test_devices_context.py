"""Every verdict on set_context and on where outputs are, by figures that are written down."""

from collections.abc import Callable

import pytest

from explorer.model.measurement import Figures
from explorer.topics.devices.questions import CONTEXT, OUTPUTS, TOPIC
from explorer.topics.measurements import measure
from explorer.topics.question import MINDSPORE_STYLES, Question, Target
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims, put, unchanged, written

CLAIMS = TOPIC.claims
Change = Callable[[World], None]

REFUSED = {"raised": "RuntimeError", "message": "Unsupported device target Ascend. This process"}
WARNED = "the parameter 'device_target' will be deprecated and removed in a future version."

CHOSEN: dict[tuple[Question, str], Figures] = {
    (CONTEXT, "mindspore"): {
        "here": "CPU",
        "kinds": ["CPU"],
        "as printed": REFUSED,
        "as meant": "CPU",
        "warnings": [WARNED],
    }
}


def context(name: str, value: object) -> Change:
    return put(CONTEXT, ["mindspore"], name, value=value)


def an_npu_and_no_warning(world: World) -> None:
    world[CONTEXT, "mindspore"] |= {
        "here": "Ascend",
        "kinds": ["CPU", "Ascend"],
        "as printed": "Ascend",
        "as meant": "Ascend",
        "warnings": [],
    }


def an_npu_that_is_not_chosen(world: World) -> None:
    an_npu_and_no_warning(world)
    world[CONTEXT, "mindspore"]["as meant"] = "CPU"


@pytest.mark.row(73)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "holds_with_changes", "Write set_device(target, number)"),
        (context("warnings", ["of something else"]), "not_checkable_here", "nothing to choose"),
        (context("as meant", REFUSED), "outdated", ""),
        (an_npu_and_no_warning, "holds", ""),
        (an_npu_that_is_not_chosen, "does_not_hold", ""),
    ],
)
def test_set_context_is_judged_by_the_device_after_it_and_by_what_it_says(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[73], written(CHOSEN), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


WRITTEN = [[7.0, 6.0]]
AS_IT_WAS = [[6.0, 6.0]]
READ_ONLY = {"raised": "ValueError", "message": "assignment destination is read-only"}
NEEDS_DETACH = {"raised": "RuntimeError", "message": "Can't call numpy() on Tensor that requires"}

ON_THE_CPU: dict[tuple[Question, str], Figures] = {
    **{
        (OUTPUTS, style): {
            "target": "CPU",
            "device": "CPU",
            "element written": WRITTEN,
            "array written": WRITTEN,
        }
        for style in MINDSPORE_STYLES
    },
    (OUTPUTS, "torch"): {
        "cpu": {
            "device": "cpu",
            "element written": WRITTEN,
            "array written": NEEDS_DETACH,
            "array of the detached written": WRITTEN,
        }
    },
}


def on_an_npu(device: str) -> Change:
    """MindSpore runs on an NPU, and arrays are copies; its outputs say that they are on a device."""

    def change(world: World) -> None:
        for style in MINDSPORE_STYLES:
            world[OUTPUTS, style] |= {
                "target": "Ascend",
                "device": device,
                "array written": AS_IT_WAS,
            }

    return change


@pytest.mark.row(79)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "not_checkable_here", "memory in graph and tape: copy it to keep the output."),
        (
            put(OUTPUTS, ["mindspore-graph"], "array written", value=AS_IT_WAS),
            "not_checkable_here",
            "memory in tape: copy",
        ),
        (on_an_npu("CPU"), "holds", "Read and write outputs at once."),
        (on_an_npu("Ascend:0"), "outdated", "expect them on the device"),
        (
            put(OUTPUTS, ["mindspore-graph"], "array written", value=READ_ONLY),
            "depends_on_style",
            "asnumpy().copy()",
        ),
        (
            put(OUTPUTS, MINDSPORE_STYLES, "element written", value=READ_ONLY),
            "does_not_hold",
            "asnumpy().copy()",
        ),
    ],
)
def test_outputs_are_judged_by_where_they_are_and_by_what_is_written(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[79], written(ON_THE_CPU), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_installed_versions_are_the_worlds_that_are_written_down(workers: Workers) -> None:
    measured = measured_for_claims(workers, [CLAIMS[73], CLAIMS[79]])
    found = measured[CONTEXT.measurement_name("mindspore")].figures
    assert found["here"] == "CPU"
    assert found["as meant"] == "CPU"
    assert any(WARNED in text for text in found["warnings"])
    assert found["as printed"]["message"].startswith(REFUSED["message"])
    for style in MINDSPORE_STYLES:
        name = OUTPUTS.measurement_name(style)
        assert measured[name].figures == ON_THE_CPU[OUTPUTS, style]
    on_cpu = measured[OUTPUTS.measurement_name("torch")].figures["cpu"]
    assert on_cpu["array of the detached written"] == WRITTEN
    assert on_cpu["array written"]["raised"] == "RuntimeError"


@pytest.mark.mindspore
def test_choosing_the_device_that_is_here_leaves_the_worker_usable() -> None:
    outputs = OUTPUTS.by(*MINDSPORE_STYLES).measurements(Target())
    # Not what this session has measured already: the outputs of a worker that was asked before.
    with Workers() as one_worker:
        measure(CONTEXT.measurements(Target()), one_worker)
        after = measure(outputs, one_worker)
    for style in MINDSPORE_STYLES:
        assert after[OUTPUTS.measurement_name(style)].figures == ON_THE_CPU[OUTPUTS, style]
