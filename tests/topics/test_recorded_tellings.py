"""What studies tell of the recorded figures: findings, rows of tables, lines of charts.

What is recorded is what a run gives (tests/report), and what independent programs find
(tests/independent): here it is seen to come out in the right words, places and numbers. Answers that
no recorded figure is an example of are made up in the test_*_told.py.
"""

from functools import cache

import pytest

from explorer.model.study import Cell
from explorer.topics import study_topic
from explorer.topics.evidence import Evidence
from explorer.topics.studies import Telling
from tests.support.tellings import chart_of, check_telling, lines_of, telling_text
from tests.support.topics import looked_at, recorded_study

NO_KERNEL = "RuntimeError: Kernel select failed: Unsupported op"
REQUIRES_NO_GRAD = "RuntimeError: element 0 of tensors does not require grad"


@cache
def recorded_telling(name: str) -> Telling:
    """All that a study makes of what is recorded."""
    return telling_text(study_topic(name), Evidence(recorded_study(name), looked_at(name)))


FINDINGS: dict[str, tuple[str, ...]] = {
    "data-parallel": (
        "Each rank gets [[43, 86, 129]] from [[2, 4, 6]] and [[84, 168, 252]], which is the mean"
        " (DistributedGradReducer, mccl); summed it is [[86, 172, 258]], so a learning rate tuned for"
        " one is 2 times off",
        "different weights, which still differ after one step: set one seed on every rank"
        " (DistributedGradReducer",
        "which agree after one step: one rank's start was sent to the others (DistributedDataParallel",
        "With value_and_grad, GradOperation each rank steps along its own gradient, without a message,"
        " and their weights drift apart (MindSpore: [[2, 4, 6]] and [[84, 168, 252]])",
        "With TrainOneStepCell, Model.train, value_and_grad and DistributedGradReducer each rank steps"
        " along the mean of the gradients (MindSpore: [[43, 86, 129]] and [[43, 86, 129]])",
    ),
    "devices": (
        "No devices were compared: the CPU is the only device here",
        "8 of 8 ways to ask for a gradient get one (MindSpore graph, MindSpore tape, PyTorch tape,",
        "MindSpore can use cpu here, and finds none of the other kinds it knows: Ascend, GPU.",
        "`.to` took both to meta.",
        "to move a single tensor it offers Tensor.move_to, Tensor.to.",
    ),
    "higher-order": (
        f"of 15 nested gradients 9 refused, from order 2 on ({REQUIRES_NO_GRAD}",
        "all 15 nested gradients up to order 5 are right in MindSpore graph, MindSpore tape, PyTorch"
        " graph (exactly those of float64, confirmed by central differences).",
        "shrinks from 4 to 0 operators in MindSpore graph (orders 1 to 5: 4, 1, 0, 0, 0); grows from"
        " 17 to 20 operators in MindSpore tape (orders 1 to 5: 17, 20, 20, 20, 20); grows from 17 to"
        " 20 operators in PyTorch tape (orders 1 to 2: 17, 20)",
        "(at most a relative 4e-15 from the closed form)",
        "grows from 9 to 274 operators in MindSpore tape, PyTorch tape (orders 1 to 5: 9,",
        "7 wrong without a message (cube of sum, cube of mean, norm, matrix product, concatenation,"
        " broadcast, attention); that of cube of sum is [0, 0, 0, 0] where the first changes by"
        " [115.2, 115.2, 115.2, 115.2]; 6 refused (softmax,",
        "of 47 Jacobians, products and Hessians 2 wrong without a message (Hessian, jacfwd of grad,"
        " with a matrix product · Hessian, jacrev of grad, with a matrix product); 1 refused",
        "torch.func: all 47 Jacobians, products and Hessians right.",
    ),
    "loss-scale": (
        "In float16, 15.6 % of the gradients underflow to 0 at a loss scale of 2^0, and 34 % overflow"
        " at 2^24. The best scale is 2^16: 0 % underflow, 0 % overflow, and the mean relative error is"
        " 0.00023 (both frameworks)",
        "In bfloat16, no gradient is lost at any loss scale (both frameworks; mean relative error"
        " 0.0018)",
        "it is 0.0006557; dividing it by 65536 again gives 1e-08 in float32, and in float16 0 (MindS",
        "the loss 1024 and the gradient [[2048, 4096, 6144]], all finite; unscaled they are 1 and"
        " [[2, 4, 6]] (both frameworks)",
        "GradScaler: of 24 steps, 5 overflow. It skips 5 of them, and divides its scale by 2 after 5."
        " The scale grows 5 times, 5 of them after 3 finite steps in a row.",
        "the same scale at 24 of 24 steps",
        "falls from 8 to 1 within 7 steps and then stays there; with a growth at every step, it rises"
        " from 4.254e+37 to 1.701e+38",
        "from 8 to 0.0625 in 7 steps and goes on falling",
        "refuses 7 of 14 pairs of tensors (PyTorch): ValueError: Attempting to unscale FP16",
        "at most 1.2e-07 at scale 3, 1.2e-07 at scale 1000, 0 at scale 1024 (both frameworks)",
    ),
    "operators": (
        "At 18 of 53 kinks the engines give different values or gradients; at 35 all agree.",
        "MindSpore's graph and tape agree at all 53.",
        "PyTorch's graph and tape differ at 1 of 53 (if x.sum() > 0: log(x), else zeros, at 0).",
        "One relu has several gradients, in every engine: 0 as relu at 0, 0.5 as relu written max",
        "MindSpore and PyTorch [NaN, 1]; with a second where inside the log: MindSpore and PyTorch",
        "relu6 at 0 and 6: the gradient is [0, 1] (MindSpore); [0, 0] (PyTorch).",
        f"cummax with two greatest: the gradient is none, {NO_KERNEL} [InplaceScatterAdd] on CPU (M",
        "none, Unsupported: Data-dependent branching (PyTorch graph); none, RuntimeError: element 0",
        "relu of NaN: the gradient is 0 (MindSpore); 1 (PyTorch); the value is 0 (MindSpore), NaN (P",
        "with no name for the number, keeps: MindSpore 30.4%, PyTorch 69.7%, TensorFlow (Keras) 69.8%",
        "takes keep_prob and p: p=0.3 keeps 70.7% and keep_prob=0.7 keeps 70.7%, from one seed",
        "MindSpore: the mean of 400 dropouts is 0.950 to 1.057 of what went in; setting the seed again,"
        " a layer that exists does not repeat its mask, and a new one repeats that of the first",
        "a layer that exists repeats its mask",
        "Dropout's backward has its forward's mask and scale in MindSpore and PyTorch.",
        "The 4 states of batch norm in PyTorch do 3 different things: batch statistics, running ones"
        " moved; batch statistics, running ones none; running statistics, running ones kept.",
        "by default: MindSpore 0.9, PyTorch 0.9, TensorFlow (Keras) 0.99 (PyTorch's momentum is 1 m",
        "MindSpore and PyTorch unbiased, TensorFlow (Keras) biased",
        "raises TypeError: MindSpore ops.transpose(x, 0, 3), PyTorch torch.transpose(x, (3, 2, 1, 0)),"
        " TensorFlow (Keras) ops.transpose(x, 0, 3); gives [4, 2, 3, 1]: MindSpore x.transpose(0, 3)",
        "same: MindSpore and TensorFlow (Keras) [[4, 5], [7, 8]], PyTorch graph raises Unsupported, Py",
        "MindSpore, PyTorch and TensorFlow (Keras) [[0, 2], [6, 8]]",
        "(right, bottom) in 11 cases and before (left, top) in 0; refuses 46 of 69 settings (ValueError:",
        "MindSpore and PyTorch use: size 3, kernel 2, stride 2: 1 before, 0 after; size 5, kernel 2",
        "Default that differs: a convolution has a bias: MindSpore no, PyTorch yes, TensorFlow (Keras)",
        "(sqrt k = 0.1250): MindSpore within [-0.1249, 0.1248], U(-sqrt k, sqrt k), PyTorch",
        "up to 4.7e-04 apart; when nothing is said, MindSpore nn.GELU() is the tanh one; PyTorch",
        "With equal settings 37 of 37 second derivatives agree with PyTorch tape's; there are none of"
        " max pool, same (MindSpore)",
        "the same outputs at every call in inference, 2e-07 from PyTorch tape, and different ones in"
        " training (MindSpore)",
    ),
    "schedules": (
        "21 of 22 pairs of schedules give the same rates",
        "(greatest difference 1.7e-07 of the greatest rate)",
        "The rates of cosine part at step 11: cosine_decay_lr 0.01, CosineDecayLR 0.01 (MindSpore);"
        " CosineAnnealingLR(T_max=10, eta_min=0.01) 0.0122 (PyTorch).",
        "(LambdaLR) for: inverse; inverse in stairs; cosine, then flat;",
        "PyTorch scheduler LinearLR(start_factor=0, total_iters=5) is refused: ValueError: Starting",
        "7 × MindSpore function, 6 × MindSpore Cell, 13 × MindSpore experimental scheduler, 2 × Min",
        "Schedulers that only PyTorch has: ChainedScheduler, OneCycleLR, SWALR.",
        "Schedulers that only MindSpore has: none.",
        "deprecated: 7 of 7 × MindSpore function, 5 of 6 × MindSpore Cell, 0 of 13",
        "nn.SGD with a list: the rate moves at every update (0.1, 0.09, 0.081, 0.0729, 0.06561).",
        "nn.SGD with a list that is too short: RuntimeError: For 'Gather'",
        "PyTorch, SGD, never stepped: the rate stays (0.1, 0.1, 0.1, 0.1, 0.1).",
        "gives [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01].",
    ),
    "stages": (
        "of dense_mse, written as 4 calls, ends with 10 operators, 5 of the forward and 5 of the"
        " backward, beside 7 nodes of bookkeeping, and runs as 10 kernels.",
        "Of 375 passes and steps of the compiler 13 change an operator; the program is largest after"
        " “opt_a, round 1: renormalize”, with 133 nodes in 36 graphs, and ends with 17 in 1.",
        "5 operators of the forward, 4 of the backward and 2 of the update, and runs as 11 kernels; the"
        " gradient with respect to the input and the weights alone has 10 operators, 0 of an update.",
        "dense_mse leaves the same nodes for the negated inputs (7 and 7) on MindSpore's tape",
        "same graph of branch_on_value for the negated inputs (18 and 18 operators), and 0 of 2 calls",
        "branch_on_value leaves other nodes for the negated inputs (4 and 3) on PyTorch's tape and M",
        "MindSpore's tape of a loop grows from 2 to 17 nodes when its length, a value, goes from 1 to 16",
        "MindSpore's graph of a loop stays at 9 nodes",
        "of that loop cannot be captured: Unsupported: Data-dependent branching.",
    ),
    "tape-life": (
        "keeps for its backward: 164 bytes, 8 tensors (PyTorch tape); 164 bytes, 6 tensors (PyTorch"
        " graph); 280 bytes, 11 tensors (MindSpore graph); 292 bytes, 19 tensors (MindSpore tape).",
        "no output is held: nothing (PyTorch tape, MindSpore tape, PyTorch graph, MindSpore graph)",
        "PyTorch's tape frees 8 of 8 saved tensors in the backward, with retain_graph=True 0; 7 of 7",
        "frees 18 of 19 saved tensors when the gradient function returns; as long as the loss is held,"
        " 38 of 38 nodes and 1 tensor stay, without it 0 tensors.",
        "by itself: 0 nodes and 0 saved tensors; inside a gradient: 38 nodes and 19 saved tensors;",
        "graph a second time (plain); runs (retain_graph, create_graph).",
        "where nothing was saved (x + 1) that second backward runs, and .grad is [2, 2, 2]; where only"
        " one part needs what is gone it raises, and the other part's .grad is [2, 2, 2] by then.",
        "hooks are called in the order “tensor”, “module, before its backward”, “leaf, before accum",
        ".grad is [2, 4, 6] after one backward and [4, 8, 12] after two; gradients that are returned"
        " are [2, 4, 6] every time (MindSpore tape, PyTorch graph, MindSpore graph)",
        "a wrong gradient without a message in MindSpore graph ([2, 3.718, 8.389] for [1, 2.718,"
        " 7.389]); an error in PyTorch tape, PyTorch graph (RuntimeError: one of the variables needed"
        " for gradient computation has been modified by an inplace operation); the right gradient in"
        " MindSpore tape.",
        "[2, 4, 6] (PyTorch tape, MindSpore tape); [1, 2, 3] (PyTorch graph, MindSpore graph).",
        "moves the weight's gradient by up to 1.5 (PyTorch tape, MindSpore tape, MindSpore graph).",
    ),
    "training": (
        "13 of 14 ways to take a step leave the weights of PyTorch's zero_grad, backward, step after"
        " each of 5 steps (greatest difference 4.5e-08).",
        "no set_grad() parts by 0.093, most of all in norm.running_var.",
        "torch.func.grad with the running statistics left in the module is refused: RuntimeError:",
        "AdamW: nn AdamWeightDecay parts from torch.optim.AdamW by 0.8.",
        "Lamb is refused: Kernel select failed: Unsupported op [Lamb] on CPU.",
        "PyTorch alone: LBFGS, Muon, SparseAdam; MindSpore alone: AdaSumByDeltaWeightWrapCell, Ada",
        "(graph style) leaves of one weight: small operators, as printed: [1, 1.729, 2.458]; ApplyMom",
        "ApplyMomentum, as printed: AttributeError: The 'PrintedFused' object has no attribute 'mom",
        "spares norm.gamma, norm.beta in nn SGD, nn Momentum, nn Adam.",
        "spares nothing in experimental SGD, experimental Adam, experimental AdamW, torch SGD,",
        "Optimizers that decay by default: experimental AdamW, torch AdamW.",
        "nn refuses: grad_centralization, rows of 16; momentum; anything; that it takes without effect:"
        " grad_centralization, rows of 2.",
        "torch refuses: none; that it takes without effect: grad_centralization, rows of 16; grad_c",
        "add_param_group of experimental.SGD, experimental.Adam: RuntimeError: The tuples in HyperMap",
        "add_param_group of torch.SGD, torch.Adam: both weights move.",
        "(default 1.0) and clip_grad_norm_ (default None) are at most 4.8e-07 apart.",
        "are 3.3 off the whole batch's where the loss is a mean, and 0.24 once divided by 4; where it is"
        " a sum, 2 (PyTorch, batch norm in training).",
        f"does not run here ({NO_KERNEL} [NPUGetFloatStatusV2] on CPU), in graph and tape style",
        "A step on PyTorch's tape dispatches 39 operators (forward 10, backward 21, update 8).",
        "MindSpore compiles 2 graphs (graph): forward + backward in 41 nodes; update in 28 nodes.",
        "compiles 1 graph (ms.jit): forward + backward + update in 53 nodes.",
        "inductor, breaks a step 4 times and makes 2 graphs of it.",
    ),
}
"""What findings say, by study."""

NUMBERS_OF_FINDINGS = {
    "data-parallel": 6,
    "devices": 6,
    "higher-order": 12,
    "loss-scale": 14,
    "operators": 55,
    "schedules": 17,
    "stages": 12,
    "tape-life": 13,
    "training": 34,
}
"""How many findings there are: what is no difference is no finding."""


@pytest.mark.parametrize("name", FINDINGS)
def test_findings_say_what_was_measured(name: str) -> None:
    findings = recorded_telling(name).findings
    said = "\n".join(findings)
    assert [text for text in FINDINGS[name] if text not in said] == []
    assert len(findings) == NUMBERS_OF_FINDINGS[name]
    check_telling(recorded_telling(name))


ROWS = {
    "data-parallel": """
    mindspore: what each way | GradOperation | tape | [[2, 4, 6]] | [[84, 168, 252]] | its own gradient
    mindspore: what each way | Model.train | graph | [[43, 86, 129]] | [[43, 86, 129]] | the mean
    mindspore: Dist | reduced with sum | [[86, 172, 258]] | [[86, 172, 258]] | True
    torch: Dist | gradient of the rank's own sample | [[2, 4, 6]] | [[84, 168, 252]] | False
    """,
    "devices": """
    What reads | torch | result detached | [3.0]
    The same cases | PyTorch, tape | cpu | 8 | 8 | None
    """,
    "higher-order": """
    Derivatives of the | x | 3 | 0.48582 | 0.48582 | 0.48582 | 0.48582 | 0.48582 | 0.48582
    Derivatives of p | y | 2 | 0 | 0 | 0 | RuntimeError: element 0 of tensors does not requir… | 0
    Operators of the gradient of p | 3 | 20 | 1 | 0 | 20 | RuntimeError: element 0 of tensor… | 26
    Second derivatives | cube of sum | float64 | agrees | wrong: [0, 0, 0, 0] where the… | agrees | agrees
    Jacobians | Hessian, by element | AttributeErr… | AttributeError: module 'mindspore' has no att… | right
    """,
    "loss-scale": """
    What a loss | float16 | both frameworks | 2^20 | 0 | 0.145 | 0.145
    A gradient of 1e-8 | float16 | PyTorch | 0 | 0.0006557 | ValueError: Attempting to unscale FP1… | 1e-08
    The guide's net | both frameworks | 1024 | [[2048, 4096, 6144]] | 1 | [[2, 4, 6]] | True
    A dynamic scaler | 6 | 1 | 6.55e+04 | True | False | 6.55e+04 | True | False
    A dynamic scaler | 7 | 1 | 3.28e+04 | False | True | 3.28e+04 | False | True
    How far a scale | GradScaler | overflow | [8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625]
    Are all gradients | -inf, float16 | False | False | ValueError: Attempting…
    The error of | both frameworks | greatest relative error at scale 1024 | 0
    The error of | PyTorch | unscale_ twice before update | RuntimeError: unscale_() has already…
    """,
    "operators": """
    Kinks where | x ** 0.0 at 0 | x**0.0 | NaN | NaN | 0 | 0 | 0 | 0 | MindSpore
    Kinks where | relu6 at 0 an… | ops.relu6(x) | [0, 1] | [0, 1] | [0, 0] | [0, 0] | [0, 1] | [1, 0] | nobody
    Corners | relu written maximum(x, 0), at 0 | 0 | 1 | 0.5 | 0.5 | 0.5 | 0.5 | yes
    Ties | cummax with t… | [1, 0, 0] | [3, 2, 0] | raises Runti… | raises Runti… | [1, 2, 0] | [1, 2, 0] | NO
    Dropout: the share | 0.3 alone | 0.304, 3.333 | 0.697, 1.429 | 0.698, 1.429
    Dropout: the share | p=1 | ValueError: For 'Dropout', the 'p'… | 0.000, 0 | -
    Dropout: expectation | MindSpore | 400 | 0.95 | 1.06 | False | True
    Batch norm: every | PyTorch | track_running_stats=False, training | batch | none | none | 2.11 | True
    Batch norm: running | momentum 0.0 | [0.5445, 0.3192] | [0.5445, 0.3192] | [0.5445, 0.3192] | [0.5, -1]
    Batch norm: running | momentum default | [0.5044,… | [0.5004, -0.… | [0.5044, -0.8681] | [0.5044, -0.8681]
    Transposing | MindSpore | x.transpose(0, 3) | [4, 2, 3, 1] | [0, 4, 8, 12]
    Transposing | MindSpore | ops.transpose(x, 0, 3) | TypeError: transpose()… | -
    Max pooling | same | [[4, 5], [7, 8]] | [[4, 5], [7, 8]] | raises U… | raises TypeError | [[4, 5], [7, 8]]
    Convolution: where | PyTorch | "same" | 69 | 12 | 11 | 0 | 46
    Convolution: where | MindSpore | padding=1 | 6 | 3 | 0 | 3 | 0
    Convolution: zeros that "same" | size 5, kernel 4, stride 2 | [1, 2] | raises ValueError | [1, 2]
    Output size | size 5, kernel 3, stride 3 | 1 | [1, 1, 1] | [1, 1, 1] | [1, 1, 1]
    Defaults | batch norm's epsilon | 1e-05 | 1e-05 | 0.001
    Defaults | layer norm's epsilon | 1e-07 | 1e-05 | 0.001
    Defaults | a convolution has a bias | no | yes | yes
    Defaults | dropout without an argument keeps | 0.51 | 0.49 | raises TypeError
    Default initial | dense weight | TensorFlow (Ker… | 61440 | 0.125 | -0.231 | 0.231 | 0.134 | 0 | 0.371 | 0
    GELU | MindSpore | ops.gelu | exact | -0.08523
    GELU | MindSpore | nn.GELU() | tanh | -0.0861
    Cross entropy | PyTorch | nn.CrossEntropyLoss() | 2.648 | [[-0.1072, 0.01956, 0.08765], [0.02356, …
    Gradients with | max pool, same | second | RuntimeError… | RuntimeError: MaxPoolGradGrad… | 0 | 0
    One net | MindSpore tape | True | 1.51e-07 | False | 0.794
    """,
    "schedules": """
    Schedules and | cosine | cosine_decay_lr, Co… | CosineAnnealingLR | CosineAnnealingLR | 0.878 | 11 | parts
    Schedules and | inverse | inverse_dec… | LambdaLR | LambdaLR | 3… | None | same, by a function of your own
    Schedules and | warm-up from 0 by LinearLR | - | LinearLR | LinearLR | None | None | refused: MindSpore…
    Schedules and | chained | - | - | ChainedScheduler | None | None | PyTorch alone
    Who moves | PyTorch | SGD, stepped by hand: get_last_lr() afte… | 0.09 | 0.081 | 0.0729 | 0.0656 | 0.059
    Who moves | MindSpore | nn.SGD with a list that… | RuntimeError: For 'Gather'… | None | None | None | None
    Every schedule | MindSpore function | cosine_decay_lr | CosineAnnealingLR, LambdaLR | yes
    Every schedule | MindSpore Cell | CosineDecayLR | CosineAnnealingLR, LambdaLR | no
    Every schedule | PyTorch scheduler | CosineAnnealingLR | CosineAnnealingLR | no
    Schedulers of one name | CyclicLR | max_momentum | has none | 0.9
    """,
    "stages": """
    The gradient | opt_a, round 1: meta_fg… | 7 | 18 | 98 | 21 | 29 TupleGetI… | 1 J | the derivative written…
    A whole | auto_monad | 9 | 0 | 2 | 126 | 56 | 16 UpdateState, 11… | 1 StopGradient | effects put in order
    What depends | a branch on a value | PyTorch's joint graph | Unsuppor… | Unsupported: Data-dependent… | -
    What depends | a branch on a value | MindSpore's tape | 3 Mul, 1 SumExt | 1 Exp, 1 Mul, 1 SumExt | no
    What depends | a branch on a value | MindSpore's graph | 10 forwa… | 10 forward, 8 backward, 5 grap… | yes
    A loop | PyTorch's tape | 2 | 3 | 5 | 9 | 17 | 5
    A loop | PyTorch's joint graph | Unsupported | Unsupported | Unsupported | Unsupported | Unsupported | 17
    """,
    "tape-life": """
    The same questions | what the forward records | 7 nodes | 38 nodes | 1 node for the whole compi… | 0 nodes
    The same questions | an extra output | every output… | every output:… | - | every output: moved by 1.5…
    The same questions | kept at the end of the backward | 0 tensors | 0 tensors | 0 tensors | 0 tensors
    The same questions | asked for the gradient twice | RuntimeErr… | the same… | the joint… | the same…
    The same questions | x³ with x² cut off | plain: [0, 3, 12]; no_grad: [0, 1, 4]… | … | … | …
    The same questions | a hook that doubles | right, [0, 4, 8] | … | right, [0, 4, 8] | right, [0, 4, 8]
    What is alive | MindSpore, tape | after the call, the loss kept | 38 | 1 | 4 | 0
    A second backward | create_graph | ran | [2, 4, 6] | [4, 8, 12] | True
    What a forward | MindSpore, tape: a forward inside a gradient | 38 | 19 | None
    What a forward | MindSpore, graph:… | None | None | TypeError: Only support jit_class instance…
    """,
    "training": """
    Every way | PyTorch | zero_grad, backward, step | 0 | 0 | 0 | 0 | 0 | same
    Every way | MindSpore | GradOperat… | 0.0527 | 0.0805 | 0.0836 | 0.0839 | 0.0927 | parts: norm.running_var
    Any two routes | 3: 2 of PyTorch | 4… | 0.0927 | 0 | 2… | 2…
    Update rules | momentum, fused | Momentum | - | SGD | 1… | None | same
    Weight decay | nn SGD | 1 | 0.99 | 1 | 1 | ''
    Weight decay | torch AdamW | 0.999 | 0.99 | 0.99 | 0.99 | ''
    Parameter groups | momentum | KeyError: "F… | [0.71, 2.13] beside [0.8,… | [0.71, 2.13] beside [0.8, 2.4]
    Parameter groups | grad_centralization, rows of 2 | [0.8, 2.… | [0.8, 2.… | [0.8, 2.4] beside [0.8, 2.4]:…
    Parameter groups | add_param_group, SGD | AttributeError: The 'SG… | RuntimeError… | [0.9] beside [0.5]
    What an SGD | get_lr | yes | no | no
    Clipping | by norm, default | [[0.23076923… | default: None | None
    Clipping | by norm 20.0 | [[3.0, 4.0], [12.0]] | [[3.0, 4.0], [12.0]] | 0
    Four micro-batches | batch norm in inference | PyTorch | sum | 1… | 3.38
    What one step | MindSpore, tape | operators of update | 0 | none
    What one step | MindSpore, graph | nodes of graph 1 of 2 | 41 | 10 forward, 12 backward, 19 plumbing
    What one step | torch.compile, aot_eager | graphs | 2 | breaks: …
    """,
}
"""Rows of tables, by study: how the table's title begins, and the cells; "…" stands for a rest."""


def in_a_line(cell: Cell) -> str:
    """A cell as a row of ROWS has it: numbers with three digits."""
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell) or "''"


def is_as_written(cell: Cell, text: str) -> bool:
    """Whether a cell is what a row of ROWS has in its place."""
    if text.endswith("…"):
        return in_a_line(cell).startswith(text.removesuffix("…"))
    return in_a_line(cell) == text


@pytest.mark.parametrize("name", ROWS)
def test_tables_have_the_rows(name: str) -> None:
    for line in ROWS[name].strip().splitlines():
        title, *texts = line.strip().split(" | ")
        tables = recorded_telling(name).tables
        (table,) = (table for table in tables if table.title.startswith(title))
        assert len(table.columns) == len(texts), line
        found = [row for row in table.rows if all(map(is_as_written, row, texts))]
        assert len(found) == 1, (line, [row for row in table.rows if row[0] == texts[0]])


POINTS = """
    data-parallel | data-parallel-gradients | PyTorch | rank 1, local | 84
    data-parallel | data-parallel-gradients | PyTorch | mean | 43
    data-parallel | data-parallel-gradients | PyTorch | sum | 86
    higher-order | second_derivatives | right | MindSpore, tape | 12
    higher-order | second_derivatives | right | torch.func | 24
    higher-order | second_derivatives | wrong without a message | MindSpore, tape | 7
    higher-order | second_derivatives | wrong without a message | torch.func | 0
    higher-order | second_derivatives | refused | MindSpore, tape | 6
    higher-order | second_derivatives | refused | torch.func | 1
    higher-order | transformations | right | MindSpore, graph | 39
    higher-order | transformations | wrong without a message | MindSpore, tape | 5
    higher-order | nodes_wave | MindSpore, tape and PyTorch, tape | 3 | 56
    higher-order | nodes_wave | MindSpore, tape and PyTorch, tape | 5 | 274
    loss-scale | shares | underflow, float16, both frameworks | 1 | 0.156
    loss-scale | shares | overflow, float16, both frameworks | 1.04858e+06 | 0.145
    loss-scale | life | GradScaler | 0 | 2.62e+05
    loss-scale | life | GradScaler | 3 | 3.28e+04
    loss-scale | floor | DynamicLossScaler | 7 | 1
    loss-scale | floor | GradScaler | 7 | 0.0625
    operators | kinks | slope left | relu6 at 6 | 1
    operators | kinks | slope right | relu6 at 6 | 0
    operators | kinks | MindSpore | leaky relu at 0 | 0.55
    operators | kinks | PyTorch | leaky relu at 0 | 0.1
    operators | momentum | MindSpore | 0 | 0.319
    operators | momentum | PyTorch | 0 | -1
    operators | initial_values | MindSpore | -1.5 | 0
    operators | initial_values | TensorFlow (Keras) | -1.5 | 0.227
    schedules | schedules-mindspore | exponential | 1 | 0.09
    schedules | schedules-parting | cosine_decay_lr, CosineDecayLR (MindSpore) | 1 | 0.0978
    schedules | schedules-used | update 5 | MindSpore, experimental SGD, never stepped | 0.1
    stages | gradient-passes | bookkeeping | 2 type_inference | 78
    stages | gradient-passes | bookkeeping | 4 switch_simplify | 89
    stages | training-passes | update | 1 bootstrap | 0
    stages | training-passes | update | 2 type_inference | 2
    stages | loop-length | PyTorch's tape | 8 | 9
    stages | loop-length | MindSpore's graph | 8 | 9
    training | training-routes | MindSpore: GradOperation step, tape, no set_grad() | 5 | 0.0927
"""
"""Points of charts, a line each: the study, the chart, the series, the place on its axis, the height."""


@pytest.mark.parametrize("point", POINTS.strip().splitlines())
def test_a_chart_has_the_point(point: str) -> None:
    study, name, series, place, height = point.strip().split(" | ")
    heights = lines_of(chart_of(recorded_telling(study), name))[series]
    by_place = {at if isinstance(at, str) else f"{at:g}": value for at, value in heights.items()}
    assert in_a_line(by_place[place]) == height


CHARTS = {
    "tape-life": {"bytes-alive", "bytes-kept"},
    "training": {"training-routes", "training-updates", "training-times"},
}


@pytest.mark.parametrize("name", CHARTS)
def test_each_chart_is_drawn(name: str) -> None:
    assert {chart.name for chart in recorded_telling(name).charts} == CHARTS[name]
