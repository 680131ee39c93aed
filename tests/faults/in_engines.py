"""Faults in answers, captures and the oracle."""

from tests.faults.fault import Fault

TORCH = "explorer/engines/torch"
MINDSPORE = "explorer/engines/mindspore"
ORACLE = "explorer/engines/oracle.py"
ORACLE_NET = f"{TORCH}/double_net.py"
SLOPES = "explorer/numeric/slopes.py"

IN_TORCH = (
    Fault(
        "cotangents by place among what is on the tape",
        f"{TORCH}/net.py",
        "for index, root in roots.items():",
        "for index, root in enumerate(roots.values()):",
        "tests/engines/test_order_of_leaves.py::test_an_output_that_is_cut_off_leaves_the_next_one_its_own_cotangent[torch-tape]",
    ),
    Fault(
        "PyTorch's weights in their own order",
        f"{TORCH}/net.py",
        "    trainable = request.trainable or declared\n",
        "    trainable = declared\n",
        "tests/engines/test_order_of_leaves.py::test_weights_come_in_the_order_that_was_fixed_and_not_in_the_net_s[torch-tape]",
    ),
    Fault(
        "one array under two names becomes two tensors",
        f"{TORCH}/net.py",
        "    return {name: by_array[id(array)] for name, array in arrays.items()}\n",
        "    return {name: by_array[id(array)].clone() for name, array in arrays.items()}\n",
        "tests/engines/test_torch_answers.py::test_a_tape_sums_over_both_uses_of_one_tensor_and_a_graph_keeps_positions_apart",
    ),
    Fault(
        "float64 asked for and not given",
        f"{TORCH}/net.py",
        "            value = value.to(dtype)\n",
        "            value = value.to(torch.float32)\n",
        "tests/engines/test_oracle.py::test_the_guide_s_figures_come_out_of_the_forward_alone",
    ),
    Fault(
        "has_aux differentiates every output",
        f"{TORCH}/tape.py",
        "        return returned[0]\n",
        "        return returned\n",
        "tests/engines/test_torch_answers.py::test_has_aux_false_differentiates_the_sum_of_the_outputs_and_true_the_first",
    ),
    Fault(
        "a nested gradient one order too low",
        f"{TORCH}/tape.py",
        "    for _ in range(case.order - 1):\n",
        "    for _ in range(case.order - 2):\n",
        "tests/engines/test_torch_answers.py::test_a_nested_gradient_is_that_of_the_sum_of_the_gradient_before",
    ),
    Fault(
        "a second pass starts from the first one's cotangents",
        f"{TORCH}/tape.py",
        "        cotangents = seeds(case, dict(enumerate(heads)))\n",
        "        cotangents = [2 * head for head in heads]\n",
        "tests/engines/test_torch_answers.py::test_a_nested_gradient_is_that_of_the_sum_of_the_gradient_before",
    ),
    Fault(
        "no note where zeros are made up on the tape",
        f"{TORCH}/tape.py",
        '            without.append(name.removeprefix("d"))\n',
        "",
        "tests/engines/test_torch_answers.py::test_what_no_output_depends_on_gets_zeros_and_a_note_where_they_are_made_up",
    ),
    Fault(
        "ones where the joint graph has no gradient",
        f"{TORCH}/graph.py",
        "            gradient = torch.zeros_like(leaf)\n",
        "            gradient = torch.ones_like(leaf)\n",
        "tests/engines/test_torch_answers.py::test_what_no_output_depends_on_gets_zeros_and_a_note_where_they_are_made_up",
    ),
    Fault(
        "the joint graph runs with other random numbers",
        f"{TORCH}/graph.py",
        "    start_random_numbers(net.seed)\n",
        "    start_random_numbers(net.seed + 1)\n",
        "tests/engines/test_same_draws.py",
    ),
    Fault(
        "a recorded joint graph runs with other random numbers",
        f"{TORCH}/joint_graph.py",
        "        start_random_numbers(self.net.seed)\n",
        "        start_random_numbers(self.net.seed + 1)\n",
        "tests/engines/test_same_draws.py",
    ),
    Fault(
        "values are read after they are overwritten",
        f"{TORCH}/tape_recorder.py",
        "            self.tensors.keep_values(tensor)\n",
        "            pass\n",
        "tests/engines/test_torch_captures.py::test_a_value_is_what_it_was_before_it_was_overwritten",
    ),
    Fault(
        "a hook on the tape keeps the tape",
        f"{TORCH}/tape_nodes.py",
        "node.register_hook(self._finished.note)",
        "node.register_hook(lambda *_: self._finished.note())",
        "tests/knocks/test_endurance.py::test_a_worker_frees_what_it_captured[torch-tape]",
    ),
    Fault(
        "what was captured waits for a search for garbage",
        f"{TORCH}/tape_records.py",
        "functools.partial(_forget, weakref.ref(self), key)",
        "functools.partial(_forget, lambda: self, key)",
        "tests/engines/test_torch_captures.py::test_nothing_that_was_captured_waits_for_a_search_for_garbage[torch-tape]",
    ),
    Fault(
        "the capture itself is recorded under the backward",
        f"{TORCH}/tape_recorder.py",
        '        self.phase = "backward"\n        self.tape.expect_pass(heads)\n',
        "        self.tape.expect_pass(heads)\n",
        "tests/engines/test_torch_captures.py::test_a_backward_multiplication_derives_from_the_forward_one_in_its_module",
    ),
    Fault(
        "channels dropped element by element",
        f"{TORCH}/dropout.py",
        "nn.Dropout2d: 2,",
        "nn.Dropout2d: 0,",
        "tests/engines/test_fixed_dropout.py::test_a_layer_that_is_called_twice_and_one_that_drops_channels_share_their_masks",
    ),
    Fault(
        "a recomputed operator is the one before it again",
        f"{TORCH}/tape_recorder.py",
        "links[number], reached[shown] = again, again + 1\n",
        "links[number], reached[shown] = again, again\n",
        "tests/engines/test_capture_facts.py::test_each_operator_of_a_recomputed_block_is_that_of_forward_with_its_values",
    ),
    Fault(
        "other files before the scenario's own",
        "explorer/engines/source_lines.py",
        "    return user_first(own + others, library)\n",
        "    return user_first(others + own, library)\n",
        "tests/engines/test_torch_source_lines.py::test_the_lines_of_the_scenario_s_file_come_before_those_of_what_it_imports",
    ),
    Fault(
        "a float64 tensor is written twice where its noise is measured",
        f"{TORCH}/noise.py",
        "convert = _wide_copy if writes else _wide\n",
        "convert = _wide\n",
        "tests/engines/test_torch_noise.py::test_what_is_written_in_place_is_written_once_in_any_precision",
    ),
)

IN_ORACLE = (
    Fault(
        "the oracle's state is not restored",
        ORACLE_NET,
        "            for name, start in self.state.items():\n"
        "                self.net.state[name].copy_(tensors.get(name, start))\n",
        "            for name in self.state.keys() & tensors.keys():\n"
        "                self.net.state[name].copy_(tensors[name])\n",
        "tests/engines/test_oracle.py::test_every_evaluation_starts_from_the_state_of_the_first",
    ),
    Fault(
        "the oracle's random numbers go on",
        ORACLE_NET,
        "        start_random_numbers(SEED)\n",
        "",
        "tests/engines/test_oracle.py::test_every_evaluation_draws_the_same_numbers",
    ),
    Fault(
        "the oracle varies the first input, whichever is asked for",
        ORACLE_NET,
        "            arguments[leaf] = value\n",
        "            arguments[0] = value\n",
        "tests/engines/test_oracle.py::test_the_guide_s_figures_come_out_of_the_forward_alone",
    ),
    Fault(
        "the oracle differentiates what has_aux sets aside",
        ORACLE,
        "outputs = sums[:first_outputs]\n",
        "outputs = sums\n",
        "tests/engines/test_oracle.py::test_the_guide_s_figures_come_out_of_the_forward_alone",
    ),
    Fault(
        "the oracle forgets explicit cotangents",
        ORACLE,
        "outputs[:, int(case.sens_param)]",
        "outputs[:, 0]",
        "tests/engines/test_oracle.py::test_every_answer_of_both_engines_agrees[dense_mse-cases0]",
    ),
    Fault(
        "a central difference divided by one step",
        SLOPES,
        "central = (plus - minus) / (2 * step)\n",
        "central = (plus - minus) / step\n",
        "tests/engines/test_oracle.py::test_the_guide_s_figures_come_out_of_the_forward_alone",
    ),
    Fault(
        "many kinks have the bounds of one",
        ORACLE,
        "return self._births[variation.key] == 1\n",
        "return True\n",
        "tests/engines/test_oracle_kinks.py::test_elements_that_feed_many_kinks_at_once_are_not_judged_and_all_others_are",
    ),
    Fault(
        "a leaf with kinks is left out whole",
        ORACLE,
        "                smooth[part] = True\n",
        "                smooth[part] = False\n",
        "tests/engines/test_oracle_kinks.py::test_of_a_large_leaf_the_directions_leave_out_what_is_at_kinks",
    ),
    Fault(
        "a jump is a kink",
        SLOPES,
        'return Slope(math.nan, 0.0, "jump")\n',
        'return Slope(wide.central, wide.parting, "kink")\n',
        "tests/engines/test_oracle_kinks.py::test_a_jump_is_no_kink_and_bounds_nothing",
    ),
    Fault(
        "inputs and weights never require gradients",
        ORACLE_NET,
        "        self._use(taped, has_tape=True)\n",
        "        self._use(taped, has_tape=False)\n",
        "tests/engines/test_oracle_kinks.py::test_a_net_that_differentiates_by_its_weights_in_the_forward_is_estimated",
    ),
    Fault(
        "a kink of the gradient is none of its own gradient's",
        SLOPES,
        "parting = found.parting if is_kink else 0.0\n",
        "parting = 0.0\n",
        "tests/engines/test_oracle_kinks.py::test_where_the_first_gradient_has_a_kink_the_second_is_not_judged",
    ),
    Fault(
        "stopped values are varied too",
        "explorer/engines/torch/stopped_values.py",
        "        return _copy(held) if _are_alike(held, value) else value\n",
        "        return value\n",
        "tests/engines/test_stopped_values.py::test_what_is_stopped_is_a_constant_to_central_differences",
    ),
)

IN_MINDSPORE = (
    Fault(
        "MindSpore's weights in their own order",
        f"{MINDSPORE}/net.py",
        "    trainable = request.trainable or declared\n",
        "    trainable = declared\n",
        "tests/engines/test_order_of_leaves.py::test_weights_come_in_the_order_that_was_fixed_and_not_in_the_net_s[mindspore-tape]",
    ),
    Fault(
        "every output of MindSpore's net gets the first one's cotangent",
        f"{MINDSPORE}/net.py",
        "cotangent(index, tuple(output.shape)",
        "cotangent(0, tuple(output.shape)",
        "tests/engines/test_order_of_leaves.py::test_an_output_that_is_cut_off_leaves_the_next_one_its_own_cotangent[mindspore-tape]",
    ),
    Fault(
        "one array under two names becomes two MindSpore tensors",
        f"{MINDSPORE}/net.py",
        "    return {name: by_array[id(array)] for name, array in arrays.items()}\n",
        "    return {name: ms.Tensor(array) for name, array in arrays.items()}\n",
        "tests/engines/test_mindspore_answers.py::test_one_array_under_two_names_is_one_tensor",
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
        "tests/engines/test_order_of_leaves.py::test_weights_come_in_the_order_that_was_fixed_and_not_in_the_net_s[mindspore-tape]",
    ),
    Fault(
        "value_and_grad's parts swapped",
        f"{MINDSPORE}/answers.py",
        "        return result[1]\n    if case.has_aux:\n",
        "        return result[0]\n    if case.has_aux:\n",
        "tests/engines/test_order_of_leaves.py"
        "::test_a_captured_graph_ends_in_the_gradients_and_not_in_the_values_beside_them",
    ),
    Fault(
        "MindSpore's tape: values not read before they are overwritten",
        f"{MINDSPORE}/tape_recorder.py",
        "            self._capture.graph.keep_values(written)\n",
        "",
        "tests/engines/test_overwritten_values.py::test_a_value_is_what_it_was_before_it_was_overwritten",
    ),
    Fault(
        "MindSpore's tape: only the tensor that is written is read, and no view of it",
        f"{MINDSPORE}/tape_tensors.py",
        "            for slot in self._by_storage.pop(_storage(tensor), ()):\n",
        "            for slot in self._by_storage.pop(_storage(tensor), ())[:1]:\n",
        "tests/engines/test_overwritten_values.py::test_a_view_shows_what_it_showed_before_the_memory_that_it_shares_was_overwritten",
    ),
    Fault(
        "a second derivative captured as a first",
        f"{MINDSPORE}/gradient_cell.py",
        "        return ms.grad(ms.grad(self.differentiated, self.position), self.position)(\n",
        "        return ms.grad(self.differentiated, self.position)(\n",
        "tests/engines/test_mindspore_graphs.py::test_nested_gradients_are_captured",
    ),
    Fault(
        "a Cell that the compiler keeps",
        f"{MINDSPORE}/gradient_cell.py",
        "        return ms.value_and_grad(self.differentiated, self.position, self.weights, self.aux)(\n"
        "            *(inputs + self.defaults)\n",
        "        return ms.value_and_grad(self.differentiated, self.position, self.weights, self.aux)(\n"
        "            *inputs, *self.defaults\n",
        "tests/knocks/test_endurance.py::test_a_worker_frees_what_it_captured[mindspore-graph]",
    ),
    Fault(
        "auxiliary outputs in the place of the gradient",
        f"{MINDSPORE}/graph.py",
        "        return gradient, tuple(outputs[1:])\n",
        "        return gradient, tuple(outputs[:-1])\n",
        "tests/engines/test_order_of_leaves.py::test_a_compiled_capture_answers_what_was_asked",
    ),
    Fault(
        "kernels joined to statements in the opposite order",
        f"{MINDSPORE}/kernel_values.py",
        "        return sorted(statements, key=_number_of_operator)\n",
        "        return sorted(statements, key=_number_of_operator)[::-1]\n",
        "tests/engines/test_mindspore_graphs.py::test_a_gradient_node_holds_the_gradient_and_so_does_what_feeds_it[ms_shared-mindspore-graph]",
    ),
    Fault(
        "a sum is of the first node that feeds all its addends",
        f"{MINDSPORE}/forward_links.py",
        "        return max(fitting, default=None)\n",
        "        return min(fitting, default=None)\n",
        "tests/engines/test_forward_links.py::test_a_sum_that_no_operator_reads_is_of_the_last_node_that_feeds_all_its_addends",
    ),
    Fault(
        "what reads a sum does not say what it is of",
        f"{MINDSPORE}/forward_links.py",
        "            forward = max(open_ & self._origins_of(operators), default=None)\n",
        "            forward = None\n",
        "tests/engines/test_capture_facts.py::test_a_sum_of_gradients_is_that_of_the_node_whose_gradient_is_computed_of_it[used_together_twice-mindspore-graph]",
    ),
    Fault(
        "a Cell that is made while another runs is in none",
        f"{MINDSPORE}/source_lines.py",
        '                module = self._paths.get(id(frame.f_locals.get("self")))\n',
        '                module = self._paths.get(id(frame.f_locals.get("self")), "")\n',
        "tests/engines/test_capture_facts.py::test_a_module_that_is_made_while_another_runs_belongs_to_that_one[mindspore-tape]",
    ),
    Fault(
        "the gradient of a view stays in the compiler's module",
        f"{MINDSPORE}/operator_sites.py",
        "        if forward in placed or forward in scoped:\n",
        "        if forward in placed:\n",
        "tests/engines/test_capture_facts.py::test_a_node_lies_in_the_code_of_the_module_that_it_is_in[real/gpt-mindspore-graph]",
    ),
)
