"""Subgraphs of MindSpore's IR: their names in words, and calls taken out where a function is called
once.
"""

import pytest

from explorer.engines.mindspore.draft import Draft
from explorer.engines.mindspore.subgraph_calls import Call, Calls, argument, readable
from explorer.model.graph import Output


@pytest.mark.parametrize(
    ("name", "condition", "words"),
    [
        (
            "165_160_99_▸59_✓net__locals__Net_construct_341",
            "if x.sum() > 0",
            "if x.sum() > 0: true branch",
        ),
        (
            "168_163_129_◂63_✗net__locals__Net_construct_356",
            "if x.sum() > 0",
            "if x.sum() > 0: false branch, backward",
        ),
        ("141_92_▸17_↻net_construct_307", "while h.sum() < 10", "while h.sum() < 10: loop body"),
        ("139_72_▸16_↵net_construct_302", "", "loop"),
        ("398_379_314_▸205_2✓net_construct_869", ": of line 41", "true branch of line 41"),
        ("144_106_◂21_↓net_construct_347", "", "afterwards, backward"),
        ("390_371_256_▸181_twice_855", "", "twice"),
        ("391_372_257_◂181_twice_865", "", "twice, backward"),
        ("73_deprecated_tensor_sum_176", "", "deprecated_tensor_sum"),
        ("main", "", "main"),
    ],
)
def test_a_compiler_s_name_is_told_in_words(name: str, condition: str, words: str) -> None:
    assert readable(name, condition) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("▸фh", "h"),
        ("equiv_17_cube", "cube"),
        ("equiv_9_CNode_349", "argument"),
        ("Parameter_375", "argument"),
        ("x", "x"),
    ],
)
def test_a_parameter_of_a_subgraph_is_called_as_in_the_source(name: str, words: str) -> None:
    assert argument(name) == words


def test_functions_called_once_within_functions_called_once_leave_no_call_behind() -> None:
    draft, depth = Draft(), 5000
    calls = Calls(draft)
    inner = draft.add("Exp", "op", "forward", body=f"f{depth}", outputs=(Output((3,), "float32"),))
    for level in reversed(range(depth)):
        number = draft.add(
            "call", "call", "forward", body=f"f{level}" if level else "", calls=(f"f{level + 1}",)
        )
        calls.sites[f"f{level + 1}"] = 1
        calls.results[f"f{level + 1}"] = [(inner if level + 1 == depth else number - 1, 0)]
        calls.made[number] = Call((f"f{level + 1}",), (), ())
    end = draft.add("Neg", "op", "forward", ((depth, 0),), outputs=(Output((3,), "float32"),))
    moved = calls.dissolve()
    assert [(node.id, node.op, node.body) for node in draft.nodes] == [
        ("n0", "Exp", ""),
        ("n1", "Neg", ""),
    ]
    assert (moved((depth, 0)), moved((end, 0))) == ((0, 0), (1, 0))
    assert list(draft.edges) == [(0, 0, 1, 0)]
