"""A detection head: focal loss of the classes, smooth L1 of the boxes, and one less their overlap."""

import numpy as np

OUTPUTS = ("loss", "scores")
CONSTANTS = ("anchors", "boxes", "label")


def inputs():
    random = np.random.default_rng(112)
    low = random.uniform(0.0, 0.4, size=(5, 2))
    size = random.uniform(0.3, 0.6, size=(5, 2))
    anchors = np.concatenate((low, low + size), axis=1)
    moved = anchors + random.uniform(-0.1, 0.1, size=(5, 4))
    label = np.zeros((5, 3), np.float32)
    label[np.arange(5), [0, 2, 1, 1, 0]] = 1.0
    return {
        "features": random.normal(size=(5, 6)).astype(np.float32),
        "anchors": anchors.astype(np.float32),
        "boxes": moved.astype(np.float32),
        "label": label,
    }


def torch_net():
    class Detector(nn.Module):
        def __init__(self, features=6, hidden=8, classes=3):
            super().__init__()
            self.trunk = nn.Linear(features, hidden)
            self.classify = nn.Linear(hidden, classes)
            self.regress = nn.Linear(hidden, 4)

        def overlap(self, a, b):
            low = torch.max(a[:, :2], b[:, :2])
            high = torch.min(a[:, 2:], b[:, 2:])
            sides = (high - low).clamp(min=0.0)
            inner = sides[:, 0] * sides[:, 1]
            area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
            area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
            return inner / (area_a + area_b - inner + 1e-6)

        def focal(self, scores, label):
            p = torch.sigmoid(scores)
            cross = F.binary_cross_entropy(p, label, reduction="none")
            right = p * label + (1.0 - p) * (1.0 - label)
            alpha = 0.25 * label + 0.75 * (1.0 - label)
            return (alpha * (1.0 - right) ** 2.0 * cross).sum()

        def forward(self, features, anchors, boxes, label):
            hidden = F.relu6(self.trunk(features))
            scores = self.classify(hidden)
            predicted = anchors + 0.1 * torch.tanh(self.regress(hidden))
            classes = self.focal(scores, label) / boxes.shape[0]
            place = F.smooth_l1_loss(predicted, boxes, beta=0.05)
            iou = (1.0 - self.overlap(predicted, boxes)).mean()
            loss = classes + 5.0 * place + 2.0 * iou
            return loss, scores

    return Detector()
