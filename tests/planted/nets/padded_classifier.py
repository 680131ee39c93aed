"""A convolutional classifier with "same" padding, batch norm and both kinds of pooling.

The padding of a convolution with a stride is on the right and at the bottom alone where the size is
even: MindSpore's `pad_mode="same"` does it, PyTorch must be given it.
"""

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)
TRAIN = True
SEED = 101
INPUTS = {"image": (3, 3, 10, 10), "label": "np.array([1, 3, 0], np.int32)"}


def torch_net():
    class Classifier(nn.Module):
        def __init__(self, channels=4, classes=5):
            super().__init__()
            self.conv1 = nn.Conv2d(3, channels, 3, stride=2)
            self.bn1 = nn.BatchNorm2d(channels, eps=1e-3, momentum=0.1)
            self.avg = nn.AvgPool2d(3, stride=1, padding=1)
            self.conv2 = nn.Conv2d(channels, 6, 3, padding=2, dilation=2)
            self.bn2 = nn.BatchNorm2d(6, eps=1e-5, momentum=0.1)
            self.max = nn.MaxPool2d(2, stride=2, ceil_mode=True)
            self.fc = nn.Linear(6 * 3 * 3, classes)

        def forward(self, image, label):
            padded = F.pad(image, (0, 1, 0, 1))
            x = F.leaky_relu(self.bn1(self.conv1(padded)), 0.1)
            x = self.avg(x)
            x = F.elu(self.bn2(self.conv2(x)))
            x = self.max(x)
            x = x.flatten(1)
            logits = self.fc(x)
            loss = F.cross_entropy(logits, label.long(), label_smoothing=0.1)
            return loss, logits

    return Classifier()
