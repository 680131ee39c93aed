"""An inverted residual block with squeeze and excitation, as MobileNetV3 has it."""

OUTPUTS = ("loss", "features")
CONSTANTS = ("target",)
TRAIN = True
SEED = 102
INPUTS = {"image": (2, 4, 6, 6), "target": (2, 4)}


def torch_net():
    class SqueezeExcite(nn.Module):
        def __init__(self, channels, reduced):
            super().__init__()
            self.reduce = nn.Conv2d(channels, reduced, 1)
            self.expand = nn.Conv2d(reduced, channels, 1)

        def forward(self, x):
            pooled = x.mean((2, 3), keepdim=True)
            gate = self.expand(F.relu(self.reduce(pooled)))
            return x * F.hardsigmoid(gate)

    class InvertedResidual(nn.Module):
        def __init__(self, channels=4, hidden=8):
            super().__init__()
            self.widen = nn.Conv2d(channels, hidden, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(hidden, eps=1e-3, momentum=0.01)
            self.depthwise = nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False)
            self.bn2 = nn.BatchNorm2d(hidden, eps=1e-3, momentum=0.01)
            self.se = SqueezeExcite(hidden, 4)
            self.project = nn.Conv2d(hidden, channels, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)

        def forward(self, x):
            h = F.hardswish(self.bn1(self.widen(x)))
            h = F.hardswish(self.bn2(self.depthwise(h)))
            h = self.bn3(self.project(self.se(h)))
            return x + h

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = InvertedResidual()
            self.pool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
            self.head = nn.Linear(4, 4)

        def forward(self, image, target):
            features = self.block(image)
            pooled = self.pool(features).mean((2, 3))
            out = torch.tanh(self.head(pooled))
            return F.huber_loss(out, target, delta=0.5), features

    return Net()
