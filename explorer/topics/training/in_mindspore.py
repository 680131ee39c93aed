"""MindSpore's ways to take a training step, each as the guide writes it, and how it carries them out."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops, train

from explorer.engines.mindspore.dispatch import MsDispatchMode
from explorer.engines.mindspore.ir import IRNode, read
from explorer.engines.mindspore.versions import require
from explorer.model.measurement import Ask, Found
from explorer.scenario.layouts import RENAMES
from explorer.text.messages import without_node
from explorer.topics.attempts import attempt, processor_seconds, raised
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.inputs import OWN_MOMENTUM, RATE, STEPS, batches, start


class ConvNet(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution, batch norm, relu and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        # By default PyTorch's Conv2d does not pad and has a bias; MindSpore's pads and has none
        # (2.10.0).
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8, 1)

    def construct(self, x: Any) -> Any:
        """The net's output, of shape ``(batch, 1)``."""
        return self.fc(self.flatten(self.relu(self.norm(self.conv(x)))))


class GradOperationStep(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A training step written by hand, with GradOperation(get_by_list=True), as TrainOneStepCell is."""

    def __init__(self, network: Any, optimizer: Any) -> None:
        # Without a prefix the parameters keep the names that the optimizer knows.
        super().__init__(auto_prefix=False)
        self.network = network
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x: Any, y: Any) -> Any:
        """The loss before the update."""
        loss = self.network(x, y)
        grads = self.grad(self.network, self.weights)(x, y)
        # The returned loss depends on the update, which keeps it in the graph.
        return ops.depend(loss, self.optimizer(grads))


def fresh_net(style: str, device: str) -> ConvNet:
    """The net at the common start, in training, in graph or tape style."""
    set_style(style, device)
    net = ConvNet()
    net.set_train()  # a Cell is in inference until it is told (2.10.0)
    values = start()
    for parameter in net.get_parameters():
        parameter.set_data(ms.Tensor(values[torch_name(parameter)]))
    return net


def torch_name(parameter: Any) -> str:
    """PyTorch's name of one of the net's parameters."""
    layer, _, name = parameter.name.rpartition(".")
    return f"{layer}.{RENAMES.get(name, name)}"


def state(net: ConvNet) -> dict[str, Any]:
    """The numbers of weights and running statistics by PyTorch's names, as they are now."""
    return {torch_name(parameter): numbers(parameter) for parameter in net.get_parameters()}


def tensors() -> list[tuple[Any, Any]]:
    """The batches of STEPS steps."""
    return [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches()]


def trained(net: ConvNet, step: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """The loss and the state after every step."""
    losses, states = [], []
    for x, y in tensors():
        losses.append(numbers(step(x, y)))
        states.append(state(net))
    return {"losses": losses, "states": states}


# The routes


def model(ask: Ask) -> Found:
    """Model.train over a data set; a callback keeps what each step left."""
    net = fresh_net(ask.options["style"], ask.device)
    keeper = StateKeeper(net)
    data = ms.dataset.GeneratorDataset(batches(), ["x", "y"], shuffle=False, num_parallel_workers=1)
    driver = train.Model(net, nn.MSELoss(), sgd(net))
    # With data sinking, several steps would run between two calls of the callback.
    driver.train(1, data, callbacks=[keeper], dataset_sink_mode=False)
    return Found({"losses": keeper.losses, "states": keeper.states})


class StateKeeper(train.Callback):  # type: ignore[misc]  # mindspore ships no types
    """Keeps the loss and the state after every step."""

    def __init__(self, net: ConvNet) -> None:
        super().__init__()
        self.net = net
        self.losses: list[float] = []
        self.states: list[dict[str, Any]] = []

    def on_train_step_end(self, run_context: Any) -> None:
        """Called by Model after the optimizer."""
        self.losses.append(numbers(run_context.original_args().net_outputs))
        self.states.append(state(self.net))


def step_cell(ask: Ask) -> Found:
    """nn.TrainOneStepCell around nn.WithLossCell."""
    net = fresh_net(ask.options["style"], ask.device)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), sgd(net))
    step.set_train()
    return Found(trained(net, step))


def grad_operation(ask: Ask) -> Found:
    """A Cell that calls net, GradOperation(get_by_list=True) and optimizer.

    set_grad() says that a gradient will follow.
    """
    net = fresh_net(ask.options["style"], ask.device)
    network = nn.WithLossCell(net, nn.MSELoss())
    if ask.options.get("set_grad", True):
        network.set_grad()
    step = GradOperationStep(network, sgd(net))
    step.set_train()
    return Found(trained(net, step))


def functional(ask: Ask) -> Found:
    """value_and_grad of a function, then optimizer(grads); under ms.jit where it is asked for."""
    net = fresh_net(ask.options["style"], ask.device)
    step = functional_step(net).step
    return Found(trained(net, ms.jit(step) if ask.options.get("jit") else step))


class FunctionalStep(NamedTuple):
    """A step written with ms.value_and_grad, and the three callables that it consists of."""

    forward: Callable[[Any, Any], Any]
    gradients_of: Callable[[Any, Any], Any]
    optimizer: Callable[[Any], Any]
    step: Callable[[Any, Any], Any]


def functional_step(net: ConvNet) -> FunctionalStep:
    """The functional step of a net.

    ``forward`` gives the loss of a batch, ``gradients_of`` loss and gradients, ``step`` the loss
    before the update.
    """
    loss_of, optimizer = nn.MSELoss(), sgd(net)

    def forward(x: Any, y: Any) -> Any:
        """The loss of a batch."""
        return loss_of(net(x), y)

    # optimizer(grads) pairs gradients and parameters by their order, which must be its own.
    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        """The loss before the update."""
        loss, grads = gradients_of(x, y)
        optimizer(grads)
        return loss

    return FunctionalStep(forward, gradients_of, optimizer, step)


def scaled_step(ask: Ask) -> Found:
    """nn.TrainOneStepWithLossScaleCell, once in each style: the loss, or what MindSpore says."""

    def loss(style: str) -> Any:
        """The loss that the step returns in one style."""
        net = fresh_net(style, ask.device)
        step = nn.TrainOneStepWithLossScaleCell(
            nn.WithLossCell(net, nn.MSELoss()), sgd(net), nn.FixedLossScaleUpdateCell(1024.0)
        )
        step.set_train()
        return numbers(step(*tensors()[0]))

    figures = {}
    for style in ("graph", "tape"):
        figure = attempt(loss, style)
        if raised(figure):
            figure = {**figure, "message": without_node(figure["message"])}
        figures[style] = figure
    return Found(figures)


def sgd(net: ConvNet) -> Any:
    """The optimizer that all routes use."""
    return nn.SGD(net.trainable_params(), RATE)


# The step that the guide writes with a GradWrap: as printed, and as meant


def guide_step(ask: Ask) -> Found:
    """What some steps leave of the net: as printed, after set_grad(), as meant."""
    ways = {"as printed": step_as_printed, "set_grad()": with_set_grad, "as meant": step_as_meant}
    figures = {}
    for name, step_of in ways.items():
        net = fresh_net(ask.options["style"], ask.device)
        optimizer = nn.SGD(net.trainable_params(), RATE)
        figures[name] = trained(net, step_of(net, nn.MSELoss(), optimizer))
    return Found(figures)


class GradWrap(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The gradients of a net's parameters."""

    def __init__(self, network: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ms.ParameterTuple(
            filter(lambda x: x.requires_grad, network.get_parameters())
        )

    def construct(self, x: Any, label: Any) -> Any:
        """One gradient a parameter."""
        weights = self.weights
        return ops.GradOperation(get_by_list=True)(self.network, weights)(x, label)


def step_as_printed(net: Any, loss: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """The lines of the guide, the last four of them as a function of a batch.

    By the guide's indentation they belong to construct, behind its return, and would never run.
    """
    loss_net = nn.WithLossCell(net, loss)
    train_network = GradWrap(loss_net)

    def step(image: Any, label: Any) -> Any:
        output = net(image)
        loss_output = loss(output, label)
        grads = train_network(image, label)
        optimizer(grads)
        return loss_output

    return step


def with_set_grad(net: Any, loss: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """The same, with set_grad() wherever it can be called."""
    loss_net = nn.WithLossCell(net, loss)
    train_network = GradWrap(loss_net)
    for cell in (net, loss_net, train_network):
        cell.set_grad()

    def step(image: Any, label: Any) -> Any:
        output = net(image)
        loss_output = loss(output, label)
        grads = train_network(image, label)
        optimizer(grads)
        return loss_output

    return step


def step_as_meant(net: Any, loss: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """Loss and gradients from one forward."""
    loss_net = nn.WithLossCell(net, loss)
    train_network = ms.value_and_grad(loss_net, None, optimizer.parameters)

    def step(image: Any, label: Any) -> Any:
        loss_output, grads = train_network(image, label)
        optimizer(grads)
        return loss_output

    return step


# How a step is carried out

PLUMBING = {"UpdateState", "Depend", "Load", "TupleGetItem", "MakeTuple", "Return"}
"""Nodes that order and bundle others, and run no kernel (2.10.0)."""

WAYS = {"tape": ("tape", False), "graph": ("graph", False), "ms.jit": ("tape", True)}
"""The styles in which a step's graphs are read, and whether the step is decorated with ms.jit."""


class OperatorRecorder(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Records the names of the operators that are dispatched."""

    def __init__(self) -> None:
        super().__init__()
        require("MsDispatchMode")  # others see nothing of backward
        self.operators: list[str] = []

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(func.name)
        # Names in small letters are Python helpers without a kernel (2.10.0).
        if name[:1].isupper():
            self.operators.append(name)
        return func(*args, **(kwargs or {}))


def dispatched(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The operators that a call dispatches."""
    recorder = OperatorRecorder()
    with recorder:
        function(*arguments)
    return recorder.operators


def dispatches(ask: Ask) -> Found:
    """The operators that forward, backward and update dispatch in tape style.

    Beside them, those of the same step under ms.jit.
    """
    forward, gradients_of, optimizer, step = functional_step(fresh_net("tape", ask.device))
    batch = tensors()[0]
    _, gradients = gradients_of(*batch)
    jitted = ms.jit(step)
    jitted(*batch)  # compiling dispatches too

    # value_and_grad dispatches the forward first: what follows it is the backward.
    ahead, both = dispatched(forward, *batch), dispatched(gradients_of, *batch)
    return Found(
        {
            "forward": ahead,
            "backward": both[len(ahead) :],
            "update": dispatched(optimizer, gradients),
            "ms.jit": dispatched(jitted, *batch),
        }
    )


def graphs(ask: Ask) -> Found:
    """The graphs that the compiler hands to the kernels for two steps, with what is in each.

    They are read from the files that the compiler's passes write.
    """
    folder = Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"])
    figures = {}
    for name, (style, is_jitted) in WAYS.items():
        step = functional_step(fresh_net(style, ask.device)).step
        # What an earlier way left would be counted again.
        for path in folder.rglob("*.ir"):
            path.unlink()
        run = ms.jit(step) if is_jitted else step
        # Two steps: if the second was compiled again, its graphs would be here too.
        for batch in tensors()[:2]:
            run(*batch)
        # Tape style executes asynchronously: some of the step may be still to come.
        ms.runtime.synchronize()
        # After the pass "validate" a graph is as it goes to the backend; files are numbered in
        # their order.
        files = sorted(folder.rglob("*validate_[0-9]*.ir"), key=_number)
        figures[name] = [_node_counts(path) for path in files]
    return Found(figures)


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _node_counts(path: Path) -> dict[str, int]:
    """How many nodes of a compiler's file belong to forward, backward, update and plumbing."""
    counts = dict.fromkeys(("forward", "backward", "update", "plumbing"), 0)
    for subgraph in read(path).subgraphs:
        for node in subgraph.nodes:
            counts[_part(node)] += 1
    return counts


def _part(node: IRNode) -> str:
    if node.op in PLUMBING:
        return "plumbing"
    # The compiler puts the nodes of the backward into a scope of this name (2.10.0). Those of the
    # update have no scope of their own, but lines of the optimizers' source.
    if "Gradients" in (node.scope or ""):
        return "backward"
    is_of_optimizer = any("/nn/optim/" in str(source) for source in node.sources)
    return "update" if is_of_optimizer else "forward"


def speed(ask: Ask) -> Found:
    """The least processor time of repeated steps in tape style, with and without ms.jit.

    The two ways take turns after a first call of each.
    """
    by_itself = functional_step(fresh_net("tape", ask.device)).step
    jitted = ms.jit(functional_step(fresh_net("tape", ask.device)).step)
    batch = tensors()[0]
    # Reading the loss waits for the step, which executes asynchronously.
    calls = {
        "by itself": lambda: by_itself(*batch).asnumpy(),
        "ms.jit": lambda: jitted(*batch).asnumpy(),
    }
    repeats = ask.options["repeats"]
    return Found({"repeats": repeats}, timings=processor_seconds(calls, repeats))


# A step whose optimizer keeps a state


def steps(ask: Ask) -> Found:
    """The losses of five steps with momentum, and what they leave, by themselves and under ms.jit."""
    style = ask.options["style"]
    return Found(
        {
            "by itself": attempt(_trained_with_momentum, style, ask.device, False),
            "ms.jit": attempt(_trained_with_momentum, style, ask.device, True),
        }
    )


def _trained_with_momentum(style: str, device: str, is_jitted: bool) -> dict[str, Any]:
    """The loss before each update, and the weight and the optimizer's state after the last.

    In tape style, beside them, how many operators the last step dispatched one by one: none where
    it is one graph. In graph style the dispatch cannot be observed (2.10.0).
    """
    set_style(style, device)
    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
    optimizer = nn.Momentum([weight], RATE, OWN_MOMENTUM)

    def loss_of(x: Any) -> Any:
        """How far the weighted inputs are from 1."""
        return ((weight * x - 1.0) ** 2).sum()

    gradients_of = ms.value_and_grad(loss_of, None, optimizer.parameters)

    def step(x: Any) -> Any:
        """The loss before the update; the function's state is the weight and the optimizer's."""
        loss, gradients = gradients_of(x)
        optimizer(gradients)
        return loss

    run = ms.jit(step) if is_jitted else step
    x = ms.Tensor([0.5, 1.5])
    losses = []
    for _ in range(STEPS):
        recorder = OperatorRecorder()
        with recorder:
            loss = run(x)
        losses.append(numbers(loss))
    figures = {
        "losses": losses,
        "weight": numbers(weight),
        "moments": numbers(list(optimizer.moments)),
        "steps counted": numbers(optimizer.global_step),
    }
    if style == "tape":
        figures["dispatched"] = len(recorder.operators)
    return figures


# The guide's net: the parameters that its filter chooses, and what its step takes


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution and batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
        self.bn = nn.BatchNorm2d(64)

    def construct(self, x: Any) -> Any:
        """A picture of 64 channels."""
        return self.bn(self.conv(x))


def filters(ask: Ask) -> Found:
    """What the optimizer holds that the guide gives all but the convolution's parameters."""
    set_style("tape", ask.device)
    return Found({"as printed": attempt(printed_filter), "as meant": attempt(meant_filter)})


def printed_filter() -> list[str]:
    """The filter over all parameters."""
    net = Net()
    all_params = net.get_parameters()
    non_conv_params = list(filter(lambda x: "conv" not in x.name, all_params))
    optim_sgd = nn.SGD(params=non_conv_params)
    return [parameter.name for parameter in optim_sgd.parameters]


def meant_filter() -> list[str]:
    """The filter over trainable parameters: running statistics are not among them."""
    net = Net()
    non_conv_params = list(filter(lambda x: "conv" not in x.name, net.trainable_params()))
    optim_sgd = nn.SGD(params=non_conv_params)
    return [parameter.name for parameter in optim_sgd.parameters]


def shapes(ask: Ask) -> Found:
    """The shape of the net's output in a step with the label of each listing."""
    set_style("tape", ask.device)
    return Found(
        {
            "as printed": attempt(printed_step),
            "with PyTorch's label": attempt(step, Net(), (1, 64, 62, 30)),
            "padded as in PyTorch": attempt(padded_alike),
        }
    )


def printed_step() -> list[int]:
    """The net and the label of the guide's listing for MindSpore."""
    return step(Net(), (1, 64, 64, 32))


def padded_alike() -> list[int]:
    """A net whose convolution pads as PyTorch's does, with PyTorch's label."""
    net = Net()
    net.conv = nn.Conv2d(3, 64, 3, pad_mode="valid")
    return step(net, (1, 64, 62, 30))


def step(net: Net, label_shape: tuple[int, ...]) -> list[int]:
    """The shape of the output of a net that has taken a step."""
    loss = nn.MSELoss()
    optimizer = nn.SGD(params=net.trainable_params(), learning_rate=0.01)
    loss_net = nn.WithLossCell(net, loss)
    train_net = nn.TrainOneStepCell(loss_net, optimizer)
    image = ms.Tensor(np.random.rand(1, 3, 64, 32), ms.float32)
    label = ms.Tensor(np.random.rand(*label_shape), ms.float32)
    train_net.set_train()
    train_net(image, label)
    return list(net(image).shape)
