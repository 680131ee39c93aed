"""What depends on MindSpore's version: each feature is found, and is named where a version lacks it."""

import pytest

from explorer.workers.workers import Workers
from tests.support.worker_targets import Word

SINCE = {
    "MsDispatchMode": "2.9",
    "_grad_node._unique_id": "2.9",
    "Tensor._grad_node": "2.8",
    "saved_tensors_hooks": "2.8",
    "graph._parse.parser": "2.9",
    "graph._parse.jit_fallback_modules": "2.9",
    "graph.api.ms_compile_cache": "2.9",
}


@pytest.mark.mindspore
@pytest.mark.parametrize("name", SINCE)
def test_an_older_version_lacks_a_feature_has_a_fallback_and_says_since_when(
    workers: Workers, name: str
) -> None:
    reply = workers.call("mindspore", "tests.support.worker_targets:lacking", Word(name), Word)
    assert isinstance(reply, Word)
    assert reply.text.startswith("MindSpore 2.")
    assert reply.text.endswith(f"has no {name}; MindSpore {SINCE[name]} and later have it")
