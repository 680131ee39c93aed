"""Faults in answers, captures and the oracle."""

from tests.faults.fault import Fault

TORCH = "explorer/engines/torch"
MINDSPORE = "explorer/engines/mindspore"
ORACLE = "explorer/engines/oracle.py"

IN_TORCH = (
    Fault(
        "cotangents by place among what is on the tape",
        f"{TORCH}/net.py",
        "for index, root in roots.items():",
        "for index, root in enumerate(roots.values()):",
        "tests/engines/test_order_of_leaves.py",
    ),
    Fault(
        "PyTorch's weights in their own order",
        f"{TORCH}/net.py",
        "    trainable = request.trainable or declared\n",
        "    trainable = declared\n",
        "tests/engines/test_order_of_leaves.py",
    ),
    Fault(
        "one array under two names becomes two tensors",
        f"{TORCH}/net.py",
        "    return {name: by_array[id(array)] for name, array in arrays.items()}\n",
        "    return {name: by_array[id(array)].clone() for name, array in arrays.items()}\n",
        "tests/engines/test_torch_answers.py",
    ),
    Fault(
        "float64 asked for and not given",
        f"{TORCH}/net.py",
        "            value = value.to(dtype)\n",
        "            value = value.to(torch.float32)\n",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "has_aux differentiates every output",
        f"{TORCH}/tape.py",
        "    return returned[0] if case.has_aux else returned\n",
        "    return returned\n",
        "tests/engines/test_torch_answers.py",
    ),
    Fault(
        "a nested gradient one order too low",
        f"{TORCH}/tape.py",
        "    for _ in range(case.order - 1):\n",
        "    for _ in range(case.order - 2):\n",
        "tests/engines/test_torch_answers.py",
    ),
    Fault(
        "a second pass starts from the first one's cotangents",
        f"{TORCH}/tape.py",
        "        cotangents = seeds(case, dict(enumerate(heads)))\n",
        "        cotangents = [2 * head for head in heads]\n",
        "tests/engines/test_torch_answers.py",
    ),
    Fault(
        "no note where zeros are made up on the tape",
        f"{TORCH}/tape.py",
        '            without.append(name.removeprefix("d"))\n',
        "",
        "tests/engines/test_torch_answers.py",
    ),
    Fault(
        "ones where the joint graph has no gradient",
        f"{TORCH}/graph.py",
        "            gradient = torch.zeros_like(leaf)\n",
        "            gradient = torch.ones_like(leaf)\n",
        "tests/engines/test_torch_answers.py",
    ),
    Fault(
        "the joint graph runs with other random numbers",
        f"{TORCH}/graph.py",
        "    torch.manual_seed(net.seed)\n",
        "    torch.manual_seed(net.seed + 1)\n",
        "tests/engines/test_torch_captures.py",
    ),
    Fault(
        "a recorded joint graph runs with other random numbers",
        f"{TORCH}/joint_part.py",
        "        torch.manual_seed(self.net.seed)\n",
        "        torch.manual_seed(self.net.seed + 1)\n",
        "tests/engines/test_torch_captures.py",
    ),
    Fault(
        "values are read after they are overwritten",
        f"{TORCH}/tape_recorder.py",
        "            self.tensors.keep_values(tensor)\n",
        "            pass\n",
        "tests/engines/test_torch_captures.py",
    ),
    Fault(
        "the capture itself is recorded under the backward",
        f"{TORCH}/tape_recorder.py",
        '        self.phase = "backward"\n        self.tape.expect_pass(heads)\n',
        "        self.tape.expect_pass(heads)\n",
        "tests/engines/test_torch_captures.py",
    ),
    Fault(
        "channels dropped element by element",
        f"{TORCH}/fixed_dropout.py",
        "nn.Dropout2d: 2,",
        "nn.Dropout2d: 0,",
        "tests/engines/test_fixed_dropout.py",
    ),
)

IN_ORACLE = (
    Fault(
        "the oracle's state is not restored",
        ORACLE,
        "            for name, start in self.state.items():\n"
        "                self.net.state[name].copy_(value if name == leaf else start)\n",
        "            if isinstance(leaf, str):\n"
        "                self.net.state[leaf].copy_(value)\n",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "the oracle's random numbers go on",
        ORACLE,
        "        torch.default_generator.manual_seed(SEED)\n",
        "",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "the oracle varies both positions of one tensor",
        ORACLE,
        "[argument.clone() for argument in self.net.arguments]",
        "list(self.net.arguments)",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "the oracle differentiates what has_aux sets aside",
        ORACLE,
        "            slopes = slopes[:, : function.first_outputs]\n",
        "            slopes = slopes[:, :]\n",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "the oracle forgets explicit cotangents",
        ORACLE,
        "[:, :, int(case.sens_param)]",
        "[:, :, 0]",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "one-sided differences",
        ORACLE,
        "self._sums(leaf, start + step) - self._sums(leaf, start - step)",
        "2 * (self._sums(leaf, start + step) - self._sums(leaf, start))",
        "tests/engines/test_oracle.py",
    ),
    Fault(
        "stopped values are varied too",
        "explorer/engines/torch/stopped_values.py",
        "        return _copy(held) if _are_alike(held, value) else value\n",
        "        return value\n",
        "tests/engines/test_stopped_values.py",
    ),
)

IN_MINDSPORE = (
    Fault(
        "MindSpore's weights in their own order",
        f"{MINDSPORE}/net.py",
        "    trainable = request.trainable or declared\n",
        "    trainable = declared\n",
        "tests/engines/test_order_of_leaves.py",
    ),
    Fault(
        "every output of MindSpore's net gets the first one's cotangent",
        f"{MINDSPORE}/net.py",
        "cotangent(index, tuple(output.shape)",
        "cotangent(0, tuple(output.shape)",
        "tests/engines/test_order_of_leaves.py",
    ),
    Fault(
        "one array under two names becomes two MindSpore tensors",
        f"{MINDSPORE}/net.py",
        "    return {name: by_array[id(array)] for name, array in arrays.items()}\n",
        "    return {name: ms.Tensor(array) for name, array in arrays.items()}\n",
        "tests/engines/test_mindspore_answers.py",
    ),
    Fault(
        "a weight's gradient in MindSpore's layout",
        f"{MINDSPORE}/net.py",
        "        return pack(to_torch(array_of(value), held.layout), dtype_of(value))\n",
        "        return packed(value)\n",
        "tests/engines/test_known_cells.py",
    ),
    Fault(
        "the last weight stands for the first",
        f"{MINDSPORE}/answers.py",
        "        return net.weights[0]\n",
        "        return net.weights[-1]\n",
        "tests/engines/test_mindspore_answers.py",
    ),
    Fault(
        "value_and_grad's parts swapped",
        f"{MINDSPORE}/answers.py",
        "        return result[1]\n    return result[0]",
        "        return result[0]\n    return result[0]",
        "tests/engines/test_mindspore_graphs.py",
    ),
    Fault(
        "MindSpore's tape: values not read before they are overwritten",
        f"{MINDSPORE}/tape_recorder.py",
        "            self._capture.graph.keep_values(written)\n",
        "",
        "tests/engines/test_overwritten_values.py",
    ),
    Fault(
        "MindSpore's tape: only the tensor that is written is read, and no view of it",
        f"{MINDSPORE}/tape_values.py",
        "            for slot in self._by_storage.pop(_storage(tensor), ()):\n",
        "            for slot in self._by_storage.pop(_storage(tensor), ())[:1]:\n",
        "tests/engines/test_overwritten_values.py",
    ),
    Fault(
        "a second derivative captured as a first",
        f"{MINDSPORE}/gradient_cell.py",
        "        return ms.grad(ms.grad(self.network, self.position), self.position)(*inputs,",
        "        return ms.grad(self.network, self.position)(*inputs,",
        "tests/engines/test_mindspore_graphs.py",
    ),
    Fault(
        "the oldest file of a pass is read",
        f"{MINDSPORE}/graph.py",
        "    return max(paths, key=",
        "    return min(paths, key=",
        "tests/engines/test_mindspore_graphs.py",
    ),
    Fault(
        "auxiliary outputs in the place of the gradient",
        f"{MINDSPORE}/graph.py",
        "        return gradient, tuple(outputs[1:])\n",
        "        return gradient, tuple(outputs[:-1])\n",
        "tests/engines/test_mindspore_graphs.py",
    ),
    Fault(
        "kernels joined to statements in the opposite order",
        f"{MINDSPORE}/kernel_values.py",
        "            self._join_in_order(sorted(ran, key=_number_of_operator), kernels)\n",
        "            self._join_in_order(sorted(ran, key=_number_of_operator)[::-1], kernels)\n",
        "tests/engines/test_mindspore_graphs.py",
    ),
)
