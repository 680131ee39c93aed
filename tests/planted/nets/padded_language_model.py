"""A language model over padded sentences: embeddings, one gated mixing of the past, a tied head.

The padding is word 0. Its embedding gets no gradient, which MindSpore's `padding_idx` does not see to:
it only sets the initial value. No prediction of the padding counts.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("tokens",)


def inputs():
    return {"tokens": np.array([[0, 4, 2, 7, 1, 0], [3, 8, 2, 5, 6, 0]], np.int32)}


def torch_net():
    class LanguageModel(nn.Module):
        def __init__(self, words=9, dim=6, length=8):
            super().__init__()
            self.embedding = nn.Embedding(words, dim, padding_idx=0)
            self.positions = nn.Embedding(length, dim)
            self.norm1 = nn.LayerNorm(dim)
            self.gate = nn.Linear(dim, dim)
            self.value = nn.Linear(dim, dim)
            self.norm2 = nn.LayerNorm(dim)
            self.fc1 = nn.Linear(dim, 10)
            self.gelu = nn.GELU(approximate="tanh")
            self.fc2 = nn.Linear(10, dim)
            self.scale = dim**0.5
            self.head = nn.Linear(dim, words, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens):
            t = tokens.shape[1]
            x = self.embedding(tokens) * self.scale + self.positions(torch.arange(t))
            h = self.norm1(x)
            past = torch.cumsum(torch.sigmoid(self.gate(h)) * self.value(h), dim=1)
            counts = torch.arange(1, t + 1).float().reshape(1, t, 1)
            x = x + past / counts
            x = x + self.fc2(self.gelu(self.fc1(self.norm2(x))))
            logits = self.head(x)
            before = logits[:, :-1].reshape(-1, logits.shape[-1])
            after = tokens[:, 1:].reshape(-1).long()
            loss = F.cross_entropy(before, after, ignore_index=0)
            return loss, logits

    return LanguageModel()
