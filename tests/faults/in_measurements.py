"""Faults in the programs that studies and claims measure with, and in what judges them."""

from tests.faults.fault import Fault

TOPICS = "explorer/topics"

IN_MEASUREMENTS = (
    Fault(
        "the life of MindSpore's scaler without unscaling",
        f"{TOPICS}/loss_scale/in_mindspore.py",
        "        gradients = scaler.unscale(gradients)\n",
        "",
        "tests/topics/test_life_of_scalers.py",
    ),
    Fault(
        "MindSpore's scaler never skips a step",
        f"{TOPICS}/loss_scale/in_mindspore.py",
        "        if finite:  # the scaler leaves it to the user to skip the step\n",
        "        if True:\n",
        "tests/topics/test_loss_scale.py",
    ),
    Fault(
        "the guide's loss is scaled after its gradient",
        f"{TOPICS}/loss_scale/in_mindspore.py",
        "        return scaler.scale(loss), logits\n",
        "        return loss, logits\n",
        "tests/topics/test_loss_scale.py",
    ),
    Fault(
        "data parallel ranks that stand alone",
        f"{TOPICS}/data_parallel/in_mindspore.py",
        "ms.ParallelMode.DATA_PARALLEL",
        "ms.ParallelMode.STAND_ALONE",
        "tests/topics/test_data_parallel.py",
    ),
    Fault(
        "every MindSpore rank has the first one's sample",
        f"{TOPICS}/data_parallel/in_mindspore.py",
        "np.array([SAMPLES[rank]], np.float32)",
        "np.array([SAMPLES[0]], np.float32)",
        "tests/topics/test_data_parallel.py",
    ),
    Fault(
        "the mean is the sum",
        f"{TOPICS}/data_parallel/in_mindspore.py",
        "    mean = reduced(net, local, mean=True)\n",
        "    mean = reduced(net, local, mean=False)\n",
        "tests/topics/test_data_parallel.py",
    ),
    Fault(
        "PyTorch's ranks train the bare net",
        f"{TOPICS}/data_parallel/in_torch.py",
        "    mean = step(DistributedDataParallel(net), net, rank)\n",
        "    mean = step(net, net, rank)\n",
        "tests/topics/test_data_parallel.py",
    ),
    Fault(
        "steps that run nothing",
        f"{TOPICS}/training/in_mindspore_dispatches.py",
        "            run(*batch)\n",
        "            pass\n",
        "tests/topics/test_training.py",
    ),
    Fault(
        "gradients pile up from step to step",
        f"{TOPICS}/training/in_torch_routes.py",
        "        optimizer.zero_grad()\n",
        "",
        "tests/topics/test_training.py",
    ),
    Fault(
        "the update adds the gradient",
        f"{TOPICS}/training/in_torch_routes.py",
        "                weight -= RATE * grads[name]\n",
        "                weight += RATE * grads[name]\n",
        "tests/topics/test_training.py",
    ),
    Fault(
        "zeroing without effect",
        f"{TOPICS}/tape_life/in_torch_repeats.py",
        "    optimizer.zero_grad(set_to_none=False)\n",
        "",
        "tests/topics/test_tape_life.py",
    ),
    Fault(
        "a second backward on a new tape",
        f"{TOPICS}/tape_life/in_torch_repeats.py",
        "        second = backward_again(output)\n        figures[way]",
        "        second = backward_again(first_output(net))\n        figures[way]",
        "tests/topics/test_tape_life.py",
    ),
    Fault(
        "what is cut off is not cut off",
        f"{TOPICS}/tape_life/in_mindspore_gradients.py",
        "    return (ops.stop_gradient(x * x) * x).sum()\n",
        "    return (x * x * x).sum()\n",
        "tests/topics/test_tape_life.py",
    ),
    Fault(
        "the loop is asked one length over and over",
        f"{TOPICS}/stages/in_mindspore.py",
        "        values = numbers(gradient(x, w, ms.Tensor(length, ms.int32)))\n",
        "        values = numbers(gradient(x, w, ms.Tensor(3, ms.int32)))\n",
        "tests/topics/test_stages.py",
    ),
    Fault(
        "inputs and their negatives are the same",
        f"{TOPICS}/stages/in_mindspore.py",
        "        inputs = signed(net, sign)\n",
        "        inputs = signed(net, 1)\n",
        "tests/topics/test_stages.py",
    ),
    Fault(
        "a schedule that nobody steps",
        f"{TOPICS}/schedules/in_torch.py",
        "            if is_stepped:\n                scheduler.step()\n",
        "            if is_stepped:\n                pass\n",
        "tests/topics/test_schedules.py",
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
        "tests/topics/test_schedules.py",
    ),
    Fault(
        "batch norm is always in training",
        f"{TOPICS}/operators/in_torch_layers.py",
        '    layer = _batch_norm(track_running_stats=track).train(mode == "training")\n',
        "    layer = _batch_norm(track_running_stats=track).train()\n",
        "tests/topics/test_operators_claims.py",
    ),
    Fault(
        "the gradient of dropout without its forward",
        f"{TOPICS}/operators/in_torch_layers.py",
        "    (gradient,) = torch.autograd.grad(output.sum(), ones)\n",
        "    (gradient,) = torch.autograd.grad((ones * 2).sum(), ones)\n",
        "tests/topics/test_operators.py",
    ),
    Fault(
        "batch norm stays in training when it is told not to",
        f"{TOPICS}/networks/in_torch.py",
        "    norm = nn.BatchNorm1d(2, momentum=0.1).train(training)\n",
        "    norm = nn.BatchNorm1d(2, momentum=0.1)\n",
        "tests/topics/test_networks.py",
    ),
    Fault(
        "a closed form's reference in float32",
        f"{TOPICS}/higher_order/in_torch.py",
        "    net = build(request.net, torch.float64)\n    call = net.call\n",
        "    net = build(request.net)\n    call = net.call\n",
        "tests/topics/test_higher_order.py",
    ),
    Fault(
        "second derivatives of the first alone",
        f"{TOPICS}/higher_order/in_torch.py",
        "        second = gradient_of(first)\n",
        "        second = first\n",
        "tests/topics/test_higher_order.py",
    ),
)

IN_THE_CORE = (
    Fault(
        "float32 tolerance ten times as wide",
        "explorer/compare/tolerances.py",
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
        "explorer/compare/tolerances.py",
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
        '    return same_gradients and close(state["output"], other["output"])\n',
        '    return close(state["output"], other["output"])\n',
        "tests/topics/test_judges_at_boundaries.py",
    ),
)
