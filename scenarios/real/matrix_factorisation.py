"""Matrix factorisation with biases.

Modelled on Koren et al., "Matrix factorization techniques for recommender systems" (2009): a rating is
a mean, plus what is typical of user and film, plus the product of a vector of each; the penalty
counts the vectors used, not the whole tables.

Watch what repeats: a user who stands twice in the batch gets both gradients in one row, and all other
rows exactly zero. The global mean is a constant, no weight.
"""

import numpy as np

OUTPUTS = ("loss", "rating")
CONSTANTS = ("user", "film", "stars")


def inputs():
    return {
        "user": np.array([0, 2, 2, 3], np.int32),
        "film": np.array([1, 0, 4, 1], np.int32),
        "stars": np.array([4, 5, 2, 3], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class MatrixFactorization(nn.Cell):
        def __init__(self, users=4, films=5, factors=3, mean=3.4, penalty=0.02):
            super().__init__()
            self.user_factors = nn.Embedding(users, factors)
            self.film_factors = nn.Embedding(films, factors)
            self.user_bias = nn.Embedding(users, 1)
            self.film_bias = nn.Embedding(films, 1)
            self.mean = mean
            self.penalty = penalty

        def construct(self, user, film, stars):
            p, q = self.user_factors(user), self.film_factors(film)
            biases = self.user_bias(user).squeeze(1) + self.film_bias(film).squeeze(1)
            rating = self.mean + biases + (p * q).sum(1)
            error = ops.square(stars.astype(ms.float32) - rating).mean()
            norms = p.square().sum() + q.square().sum()
            return error + self.penalty * norms, rating

    return MatrixFactorization()


def torch_net():
    from torch import nn

    class MatrixFactorization(nn.Module):
        def __init__(self, users=4, films=5, factors=3, mean=3.4, penalty=0.02):
            super().__init__()
            self.user_factors = nn.Embedding(users, factors)
            self.film_factors = nn.Embedding(films, factors)
            self.user_bias = nn.Embedding(users, 1)
            self.film_bias = nn.Embedding(films, 1)
            self.mean = mean
            self.penalty = penalty

        def forward(self, user, film, stars):
            p, q = self.user_factors(user), self.film_factors(film)
            biases = self.user_bias(user).squeeze(1) + self.film_bias(film).squeeze(1)
            rating = self.mean + biases + (p * q).sum(dim=1)
            error = (stars.float() - rating).pow(2).mean()
            norms = p.pow(2).sum() + q.pow(2).sum()
            return error + self.penalty * norms, rating

    return MatrixFactorization()


def jax_net():
    def net(params, user, film, stars, mean=3.4, penalty=0.02):
        p, q = params["user_factors.weight"][user], params["film_factors.weight"][film]
        biases = params["user_bias.weight"][user] + params["film_bias.weight"][film]
        rating = mean + biases.squeeze(1) + (p * q).sum(1)
        error = ((stars - rating) ** 2).mean()
        norms = (p**2).sum() + (q**2).sum()
        return error + penalty * norms, rating

    return net
