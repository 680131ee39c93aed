"""Faults in the programs that studies and claims measure with, and in what judges them."""

from tests.faults.fault import Fault

TOPICS = "explorer/topics"

IN_MEASUREMENTS = (
    Fault(
        "the life of MindSpore's scaler without unscaling",
        f"{TOPICS}/loss_scale/in_mindspore.py",
        "        gradients = scaler.unscale(gradients)\n",
        "",
        "tests/topics/test_life_of_scalers.py::test_a_scaled_life_ends_at_the_weight_of_plain_steps[mindspore-tape]",
    ),
    Fault(
        "MindSpore's scaler never skips a step",
        f"{TOPICS}/loss_scale/in_mindspore.py",
        "        if finite:  # the scaler leaves it to the user to skip the step\n",
        "        if True:\n",
        "tests/topics/test_life_of_scalers.py::test_a_scaled_life_ends_at_the_weight_of_plain_steps[mindspore-tape]",
    ),
    Fault(
        "the guide's loss is scaled after its gradient",
        f"{TOPICS}/loss_scale/in_mindspore.py",
        "        return scaler.scale(loss), logits\n",
        "        return loss, logits\n",
        "tests/topics/test_measuring_programs.py::test_the_guide_s_loss_is_scaled_before_its_gradient",
    ),
    Fault(
        "data parallel ranks that stand alone",
        f"{TOPICS}/data_parallel/in_mindspore.py",
        "ms.ParallelMode.DATA_PARALLEL",
        "ms.ParallelMode.STAND_ALONE",
        "tests/topics/test_data_parallel.py::test_both_ranks_get_the_mean_and_the_sum_of_their_gradients[mindspore]",
    ),
    Fault(
        "every MindSpore rank has the first one's sample",
        f"{TOPICS}/data_parallel/in_mindspore.py",
        "np.array([SAMPLES[rank]], np.float32)",
        "np.array([SAMPLES[0]], np.float32)",
        "tests/topics/test_data_parallel.py::test_both_ranks_get_the_mean_and_the_sum_of_their_gradients[mindspore]",
    ),
    Fault(
        "the mean is the sum",
        f"{TOPICS}/data_parallel/in_mindspore.py",
        "numbers(reduced(local, mean=True)[0])",
        "numbers(reduced(local, mean=False)[0])",
        "tests/topics/test_data_parallel.py::test_both_ranks_get_the_mean_and_the_sum_of_their_gradients[mindspore]",
    ),
    Fault(
        "PyTorch's ranks train the bare net",
        f"{TOPICS}/data_parallel/in_torch.py",
        "    mean = step(DistributedDataParallel(net), net, rank)\n",
        "    mean = step(net, net, rank)\n",
        "tests/topics/test_data_parallel.py::test_both_ranks_get_the_mean_and_the_sum_of_their_gradients[torch]",
    ),
    Fault(
        "steps that run nothing",
        f"{TOPICS}/training/in_mindspore.py",
        "            run(*batch)\n",
        "            pass\n",
        "tests/topics/test_measuring_programs.py::test_a_step_under_jit_is_one_graph_with_all_its_parts",
    ),
    Fault(
        "gradients pile up from step to step",
        f"{TOPICS}/training/in_torch.py",
        "        optimizer.zero_grad()\n",
        "",
        "tests/topics/test_measuring_programs.py::test_two_ways_to_take_a_step_leave_the_same_weights",
    ),
    Fault(
        "the update adds the gradient",
        f"{TOPICS}/training/in_torch.py",
        "                weight -= RATE * grads[name]\n",
        "                weight += RATE * grads[name]\n",
        "tests/topics/test_measuring_programs.py::test_two_ways_to_take_a_step_leave_the_same_weights",
    ),
    Fault(
        "zeroing without effect",
        f"{TOPICS}/tape_life/in_torch_gradients.py",
        "    optimizer.zero_grad(set_to_none=False)\n",
        "",
        "tests/topics/test_measuring_programs.py::test_a_gradient_adds_up_until_it_is_zeroed",
    ),
    Fault(
        "a second backward on a new tape",
        f"{TOPICS}/tape_life/in_torch_gradients.py",
        "        second = backward_again(output)\n        figures[way]",
        "        second = backward_again(first_output(net))\n        figures[way]",
        "tests/topics/test_measuring_programs.py::test_the_second_backward_is_one_through_the_same_tape",
    ),
    Fault(
        "what is cut off is not cut off",
        f"{TOPICS}/tape_life/in_mindspore_gradients.py",
        "    return (ops.stop_gradient(x * x) * x).sum()\n",
        "    return (x * x * x).sum()\n",
        "tests/topics/test_measuring_programs.py::test_what_is_cut_off_is_a_constant_factor",
    ),
    Fault(
        "the loop is asked one length over and over",
        f"{TOPICS}/stages/in_mindspore.py",
        "        values = numbers(gradient(x, w, ms.Tensor(length, ms.int32)))\n",
        "        values = numbers(gradient(x, w, ms.Tensor(3, ms.int32)))\n",
        "tests/topics/test_measuring_programs.py::test_each_length_of_a_loop_has_the_gradient_of_its_power",
    ),
    Fault(
        "inputs and their negatives are the same",
        f"{TOPICS}/stages/in_mindspore.py",
        "        inputs = signed(net, sign)\n",
        "        inputs = signed(net, 1)\n",
        "tests/topics/test_measuring_programs.py::test_negative_inputs_take_the_other_branch",
    ),
    Fault(
        "a schedule that nobody steps",
        f"{TOPICS}/schedules/in_torch.py",
        "            if is_stepped:\n                scheduler.step()\n",
        "            if is_stepped:\n                pass\n",
        "tests/topics/test_measuring_programs.py::test_a_rate_decays_by_a_tenth_from_the_second_update_on",
    ),
    Fault(
        "the rate is read after the step",
        f"{TOPICS}/schedules/in_torch.py",
        '            rates_before.append(float(optimizer.param_groups[0]["lr"]))\n'
        "            optimizer.step()  # a scheduler that is stepped before its optimizer warns (2.13.0)\n"
        "            scheduler.step(*watched(name))\n",
        "            optimizer.step()  # a scheduler that is stepped before its optimizer warns (2.13.0)\n"
        "            scheduler.step(*watched(name))\n"
        '            rates_before.append(float(optimizer.param_groups[0]["lr"]))\n',
        "tests/topics/test_measuring_programs.py::test_a_rate_decays_by_a_tenth_from_the_second_update_on",
    ),
    Fault(
        "batch norm is always in training",
        f"{TOPICS}/operators/in_torch_layers.py",
        '    layer = _batch_norm(track_running_stats=track).train(mode == "training")\n',
        "    layer = _batch_norm(track_running_stats=track).train()\n",
        "tests/topics/test_measuring_programs.py::test_batch_norm_takes_the_batch_in_training_and_what_it_tracked_at_inference",
    ),
    Fault(
        "the gradient of dropout without its forward",
        f"{TOPICS}/operators/in_torch_layers.py",
        "    (gradient,) = torch.autograd.grad(output.sum(), ones)\n",
        "    (gradient,) = torch.autograd.grad((ones * 2).sum(), ones)\n",
        "tests/topics/test_measuring_programs.py::test_the_gradient_of_dropout_on_ones_is_its_output",
    ),
    Fault(
        "batch norm stays in training when it is told not to",
        f"{TOPICS}/networks/in_torch.py",
        "    norm = nn.BatchNorm1d(2, momentum=0.1).train(training)\n",
        "    norm = nn.BatchNorm1d(2, momentum=0.1)\n",
        "tests/topics/test_measuring_programs.py::test_a_batch_norm_remembers_the_batch_in_training_alone",
    ),
    Fault(
        "a reference of one order too low",
        f"{TOPICS}/higher_order/in_torch.py",
        "    for _ in range(request.case.order):\n",
        "    for _ in range(request.case.order - 1):\n",
        "tests/topics/test_measuring_programs.py::test_the_reference_of_the_wave_is_as_exact_as_float64",
    ),
    Fault(
        "second derivatives of the first alone",
        f"{TOPICS}/higher_order/in_torch.py",
        "        second = gradient_of(first)\n",
        "        second = first\n",
        "tests/topics/test_measuring_programs.py::test_a_second_derivative_is_how_the_first_changes",
    ),
    Fault(
        "a step that is said to be jitted and is not",
        f"{TOPICS}/training/in_mindspore.py",
        "    run = ms.jit(step) if is_jitted else step\n    x = ms",
        "    run = step\n    x = ms",
        "tests/topics/test_training_figures.py::test_a_step_under_jit_dispatches_nothing_by_itself",
    ),
    Fault(
        "a loss scale that the gradient was divided by already",
        f"{TOPICS}/training/in_mindspore_optimizers.py",
        "weight_left(gradient, loss_scale=scale, **decayed)",
        "weight_left(divided, loss_scale=scale, **decayed)",
        "tests/topics/test_training_figures.py::test_a_gradient_is_divided_by_the_loss_scale_and_the_decay_is_not",
    ),
    Fault(
        "the printed filter put right in silence",
        f"{TOPICS}/training/in_torch.py",
        '        if "conv" in name:\n',
        '        if "conv" not in name:\n',
        "tests/topics/test_training_figures.py::test_each_listing_chooses_what_its_condition_says",
    ),
    Fault(
        "rates of groups before the step that moves them",
        f"{TOPICS}/schedules/in_mindspore.py",
        "    optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))\n",
        "",
        "tests/topics/test_schedules.py::test_rates_of_groups_are_told_by_parameter_or_by_group",
    ),
)

IN_THE_CORE = (
    Fault(
        "float32 tolerance ten times as wide",
        "explorer/compare/noise.py",
        '    "float32": (1.3e-6, 1e-5),\n',
        '    "float32": (1.3e-5, 1e-4),\n',
        "tests/compare/test_boundaries.py",
    ),
    Fault(
        "tolerance relative to one side",
        "explorer/compare/results.py",
        "atol + rtol * np.maximum(np.abs(a), np.abs(b))",
        "atol + rtol * np.abs(b)",
        "tests/compare/test_boundaries.py",
    ),
    Fault(
        "float16 allowance of the alignment fifty times as wide",
        "explorer/compare/noise.py",
        'COARSE = {"float16": TORCH_TABLE["float16"][0],',
        'COARSE = {"float16": 50 * TORCH_TABLE["float16"][0],',
        "tests/compare/test_boundaries.py",
    ),
    Fault(
        "uniqueness checked one way",
        "explorer/compare/align/pairing.py",
        "        value = _only_agreeing(pool, group, other, limit) if other else None\n",
        "        value = _only_holder(pool, group, bucket, limit)\n",
        "tests/compare/test_boundaries.py",
    ),
    Fault(
        "claim 26 with <=",
        f"{TOPICS}/higher_order/claims.py",
        "all(fewer < more for fewer, more in pairwise(numbers))",
        "all(fewer <= more for fewer, more in pairwise(numbers))",
        "tests/topics/test_judges_at_boundaries.py",
    ),
    Fault(
        "claim 42 without gradients",
        f"{TOPICS}/operators/claims_layers.py",
        "    return same_gradients and close(state.output, other.output)\n",
        "    return close(state.output, other.output)\n",
        "tests/topics/test_judges_at_boundaries.py",
    ),
)
