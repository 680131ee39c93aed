"""Operators of MindSpore, PyTorch and JAX in families of the same kind of work."""

import re
from functools import lru_cache

# Names of MindSpore 2.10's primitives, of PyTorch 2.13's ATen operators and tape nodes, of JAX 0.6.2's
# primitives.
FAMILIES: dict[str, str] = {
    "matmul": (
        "mm addmm bmm baddbmm batchmatmul dense linear matmulext einsum dot mv addmv addbmm "
        "dotgeneral"
    ),
    "conv": (
        "conv1d conv2d conv3d convolution conv1dext conv2dext conv3dext convolutionoverrideable "
        "mkldnnconvolution cudnnconvolution convgeneraldilated"
    ),
    "convgrad": (
        "conv2dbackpropinput conv2dbackpropfilter conv3dbackpropinput conv3dbackpropfilter "
        "conv2dtranspose"
    ),
    "relu": "reluv2 relu6 clampmin",
    "relugrad": "thresholdbackward relugradv2 relu6grad",
    "add": (
        "biasadd adds addext addscalar addtensor tensoradd addn accumulate accumulategrad "
        "inplaceaddext addany"
    ),
    # The gradient of a bias is the sum of what comes in, as PyTorch computes it.
    "sum": "reducesum biasaddgrad sumext sumtosize",
    "mean": "reducemean meanext",
    "max": "reducemax amax argmaxwithvalue",
    "sub": "subs subext rsub subtensor",
    "mul": "muls mulscalar multensor",
    "div": "realdiv divs truediv divide divmod",
    "pow": "powtensorscalar powscalar pows square integerpow",
    "sigmoid": "logistic",
    "where": "selectn",
    "prod": "reduceprod",
    "flip": "rev",
    "batchnorm": (
        "nativebatchnorm nativebatchnormlegit nativebatchnormlegitfunctional "
        "nativebatchnormlegitnotraining batchnormext batchnormwithupdate batchnormimplindex "
        "cudnnbatchnorm fusedbatchnorm"
    ),
    "layernorm": "nativelayernorm layernormext layernormv3",
    "groupnorm": "nativegroupnorm groupnormext",
    "clamp": "clampscalar clamptensor clip",
    "softmax": "softmaxext",
    "logsoftmax": "logsoftmaxext",
    "softmaxgrad": "softmaxbackwarddata",
    "logsoftmaxgrad": "logsoftmaxbackwarddata",
    "crossentropy": (
        "nllloss nlllossforward nllloss2dforward nlllossnd crossentropyloss "
        "softmaxcrossentropywithlogits sparsesoftmaxcrossentropywithlogits"
    ),
    "mseloss": "mselossext",
    "gelu": "geluext",
    "dropout": "nativedropout dropoutext dropoutdomask dropoutdomaskext fuseddropout bernoulli",
    "maxpool": (
        "maxpool2d maxpool2dwithindices maxpoolwithargmax maxpoolwithargmaxv2 maxpoolwithmask "
        "maxpoolwithindices reducewindowmax"
    ),
    "maxpoolgrad": "selectandscatteradd",
    "avgpool": "avgpool1d avgpool2d avgpool3d adaptiveavgpool2d reducewindowsum",
    "embedding": "gather indexselect gatherd takealongaxis",
    "slice": "stridedslice sliceext select selectview selectextview narrow narrowview dynamicslice",
    "copyslices": (
        "tensorscatterupdate selectscatter slicescatter diagonalscatter asstridedscatter indexput"
    ),
    "concat": "cat concatd stack concatenate",
    "reshape": (
        "view unsafeview viewcopy flatten squeeze unsqueeze expanddims reshapeext contiguous "
        "unflatten expanddimsview flattenext reshapeview viewas squeezecopy unsqueezecopy"
    ),
    "transpose": (
        "permute t numpyt mt swapaxes movedim transposeext transposeview transposeextview "
        "permutecopy tcopy"
    ),
    "cast": "tocopy to castext todtype convertelementtype",
    "identity": (
        "clone cloneext detach alias copy depend load stopgradient liftfresh liftfreshcopy "
        "aliascopy detachcopy optimizationbarrier"
    ),
    "expand": "broadcastto expandas tile repeat expandcopy broadcasttoview expanddim broadcastindim",
    "tuple": "maketuple tuplegetitem getitem updatestate makelist listgetitem",
    "fill": (
        "zeroslike oneslike zeros ones full fulllike fillv2 scalartensor zeroslikeext "
        "oneslikeext zero newzeros newones newfull newemptystrided emptylike empty scalartotensor "
        "onesext zerosext iota"
    ),
}
"""Family to its other members, by their squashed names.

A squashed name is in lower case, without underscores, namespace, overload or version.
"""

ALONE = (
    "abs acos addcdiv addcmul addmul asin atan bcewithlogitsloss binarycrossentropy "
    "binarycrossentropywithlogits ceil celu constantpadnd cos cosh cumsum dotproduct elu "
    "erf erfc exp expm1 floor frobeniusnorm hardsigmoid hardswish hardtanh huberloss kldiv "
    "kldivloss l2normalize leakyrelu lerp linalgvectornorm log log1p logit logsigmoid "
    "maskedfill maskedfillscalar maximum minimum mish neg norm outer pad padv3 prelu "
    "prelukernel reciprocal reversev2 round rsqrt selu sgn sign silu sin sinh "
    "smoothl1loss softplus softsign sqrt std tan tanh threshold var"
)

"""Operators that compute new numbers, and are in no family with others, by their squashed names."""

MASKING = frozenset({"where", "maskedfill", "maskedfillscalar"})
"""Families of ops that put a number in the place of elements."""

BOOKKEEPING = frozenset({"reshape", "transpose", "cast", "identity", "expand", "tuple", "fill"})
"""Families that make no new numbers."""

_FAMILY = {
    member: family for family, members in FAMILIES.items() for member in (family, *members.split())
}

_ALONE = frozenset(ALONE.split())

# aten.addmm.default, prims::convert_element_type, PrimFunc_ReLU, _operator.getitem
_NAMESPACES = re.compile(
    r"^(?:torch\.)?(?:ops\.)?(?:aten|prims|prim|primfunc|_operator|operator)(?:\.|::|_)",
    re.IGNORECASE,
)

# MindSpore has ReluGrad and Conv2DBackward, PyTorch threshold_backward and AddmmBackward0.
_GRAD = re.compile(r"^(?:grad(?=.)|pyboost)?(.+?)(?:backwardext|backward|gradext|grad|bprop)$")


@lru_cache(maxsize=4096)
def family(op: str) -> str:
    """The family of an operator, named as an IR, a tape or a dispatcher names it.

    Where the table has none, it is the operator's own squashed name.

    >>> family("aten.addmm.default"), family("AddmmBackward0"), family("BiasAddGrad")
    ('matmul', 'matmulgrad', 'sum')
    """
    name = squashed(op)
    if name in _FAMILY:
        return _FAMILY[name]
    grad = _GRAD.match(name)
    if not grad:
        return name
    base = _FAMILY.get(grad[1], grad[1])
    # The backward of a reshape is a reshape: it makes no new numbers either.
    return base if base in BOOKKEEPING else f"{base}grad"


def is_known(op: str) -> bool:
    """Whether an operator, or what it is the backward of, is one of these tables.

    >>> is_known("aten.gelu_backward.default"), is_known("aten.from_file.default")
    (True, False)
    """
    name = squashed(op)
    grad = _GRAD.match(name)
    bases = {name, grad[1]} if grad else {name}
    return not bases.isdisjoint(_FAMILY) or not bases.isdisjoint(_ALONE)


def squashed(op: str) -> str:
    """The bare name of an operator.

    >>> squashed("AddmmBackward0"), squashed("aten.mul_.Tensor"), squashed("ReLU6")
    ('addmmbackward', 'mul', 'relu6')
    """
    plain = _NAMESPACES.sub("", op)
    if plain != op:
        plain = plain.split(".")[0]  # what follows names the overload: default, Tensor_Scalar
    letters = re.sub(r"[^a-z0-9]", "", plain.rsplit("/", 1)[-1].lower())
    return re.sub(r"(?<=backward)\d+$", "", letters)
