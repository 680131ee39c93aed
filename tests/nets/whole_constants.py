"""Texts of compiled programs with constants from protocol buffers, as JSON."""

import json

import numpy as np
from mindspore.train.mind_ir_pb2 import ModelProto

from explorer.engines.mindspore.whole_constants import with_whole_constants

ROOT = float(np.float32(2**0.5))


def program(*numbers):
    """A program with these constants, which are float32 where they can be, and one parameter."""
    model = ModelProto()
    for number in numbers:
        attribute = model.graph.node.add().attribute.add()
        if np.float32(number) == number:
            tensor = attribute.tensors.add()
            tensor.data_type, tensor.raw_data = 1, np.float32(number).tobytes()
        else:
            attribute.d = number
    weight = model.graph.parameter.add()
    weight.data_type, weight.raw_data = 1, np.float32([1 / 3]).tobytes()
    return model.SerializeToString()


print(
    json.dumps(
        {
            "single": with_whole_constants("Tensor(value=1.41421)\n", program(ROOT)),
            "double": with_whole_constants("F64(1.41421)\n", program(ROOT, 2**0.5)),
            "shared": with_whole_constants("F32(1.41421)\n", program(ROOT, 1.414209)),
            "source": with_whole_constants("  # In file a.py/x / 1.41421/\n", program(ROOT)),
            "weight": with_whole_constants("F32(0.333333)\n", program(ROOT)),
        }
    )
)
