"""Any IR text: what is printed is read back."""

import pytest
from hypothesis import HealthCheck, given, settings

from explorer.engines.mindspore.ir import Module, parse
from tests.support.ir_modules import modules
from tests.support.ir_printer import module_text
from tests.support.ir_texts import without

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=SLOW_TO_DRAW)
@given(modules())
def test_what_is_printed_is_read_back_unchanged(module: Module) -> None:
    assert without(parse(module_text(module), "f.ir")) == without(module)
