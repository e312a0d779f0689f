"""PyTorch on the processor."""

import numpy as np

from . import engine
from .own_numpy import file_blocks


def _torch(job):
    import torch

    torch.set_num_threads(job.threads)
    torch.set_grad_enabled(False)
    return torch


def _answer(result):
    components, variances = result
    return {"components": components.numpy(), "variances": variances.numpy()}


def _top(torch, C, k):
    values, vectors = torch.linalg.eigh(C)
    return vectors[:, -k:].flip(1).T, values[-k:].flip(0)


@engine("pca", "PyTorch covariance", needs="torch")
def covariance(job):
    torch = _torch(job)
    X = torch.from_numpy(job.X)

    def work():
        n, p = X.shape
        centred = X - X.mean(dim=0)
        if n >= p:
            return _top(torch, (centred.T @ centred).double() / (n - 1), job.k)
        directions, values = _top(torch, centred @ centred.T / (n - 1), job.k)
        return torch.nn.functional.normalize(directions @ centred, dim=1), values

    return work, _answer


@engine("pca", "PyTorch svd", needs="torch")
def svd(job):
    torch = _torch(job)
    X = torch.from_numpy(job.X)

    def work():
        _, s, axes = torch.linalg.svd(X - X.mean(dim=0), full_matrices=False)
        return axes[: job.k], s[: job.k] ** 2 / (len(X) - 1)

    return work, _answer


@engine("pca", "PyTorch pca_lowrank", needs="torch")
def lowrank(job):
    torch = _torch(job)
    X = torch.from_numpy(job.X)

    def work():
        torch.manual_seed(0)
        _, s, axes = torch.pca_lowrank(X, q=job.k + 10, niter=4)
        return axes[:, : job.k].T, s[: job.k] ** 2 / (len(X) - 1)

    return work, _answer


@engine("pca_file", "PyTorch file blocks", needs="torch")
def pca_file(job):
    torch = _torch(job)

    def work():
        n, scatter, total, offset = 0, 0.0, 0.0, None
        for block in map(torch.from_numpy, file_blocks(job.path, 65_536)):
            offset = block.mean(dim=0) if offset is None else offset
            centred = block - offset
            scatter = scatter + (centred.T @ centred).double()
            total = total + centred.sum(dim=0, dtype=torch.float64)
            n += len(block)
        scatter -= torch.outer(total, total) / n
        return _top(torch, scatter / (n - 1), job.k)

    np.load(job.path, mmap_mode="r")  # it is there, and it is an array
    return work, _answer


@engine("ica", "PyTorch loop", needs="torch")
def ica(job):
    """Symmetric FastICA in a few lines of torch: rows are whitened once, then two products and a tanh per step, all rows at a time."""
    from harness.data import rotation

    torch = _torch(job)
    X = torch.from_numpy(job.X)

    def work():
        n, k = X.shape
        centred = X - X.mean(dim=0)
        values, vectors = torch.linalg.eigh((centred.T @ centred).double() / n)
        whitening = (vectors / values.sqrt()).T
        Z = centred @ whitening.T.to(X.dtype)
        W = torch.from_numpy(rotation(job.k))
        for _ in range(200):
            scores = torch.tanh(Z @ W.T.to(X.dtype))
            pull = (scores.T @ Z).double() / n
            slope = 1 - scores.square_().mean(dim=0).double()
            u, _, v = torch.linalg.svd(pull - slope[:, None] * W)
            new = u @ v
            new *= (new * W).sum(dim=1).sign()[:, None]
            moved, W = 0.5 * (new - W).square().sum(dim=1).max(), new
            if moved < 1e-4:
                break
        return W @ whitening

    return work, lambda W: {"unmixing": W.numpy()}


@engine("rica", "PyTorch L-BFGS", needs="torch")
def rica(job):
    """The objective as in its formula, with automatic differentiation; torch's L-BFGS with the same memory as that of unmix."""
    from harness.answers import BETA
    from harness.data import features

    torch = _torch(job)
    X = torch.from_numpy(job.X)
    n, start = len(X), torch.from_numpy(features(job.k, X.shape[1])).to(X.dtype)

    def cost(W):
        W = torch.nn.functional.normalize(W, dim=1)
        codes = X @ W.T
        size = codes.abs()
        sparsity = (size + torch.nn.functional.softplus(-2 * size)).sum() - np.log(2.0) * codes.numel()
        return ((codes @ W - X).square().sum() + BETA * sparsity) / n

    def work():
        W = start.clone().requires_grad_(True)
        search = torch.optim.LBFGS(
            [W], max_iter=100, max_eval=10_000, history_size=20, tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe"
        )

        def closure():
            search.zero_grad()
            with torch.enable_grad():
                value = cost(W)
                value.backward()
            return value

        search.step(closure)
        return W.detach()

    return work, lambda W: {"features": W.numpy()}


@engine("sigma", "PyTorch Adam", needs="torch")
def sigma(job):
    """The loss as published, with constant parts detached, automatic differentiation, and torch's optimiser."""
    from harness.answers import SIGMA

    torch = _torch(job)
    a, rate, size, epochs = (SIGMA[name] for name in ("a", "learning_rate", "batch_size", "max_epochs"))
    n, k = len(job.X), job.k
    steps = epochs * (n // size)

    def work():
        torch.manual_seed(0)
        X = torch.from_numpy(job.X)
        X = X - X.mean(dim=0)
        X = X / X.square().mean().sqrt()
        W = _top(torch, X.T @ X / n, k)[0].T.contiguous().requires_grad_(True)
        optimiser = torch.optim.Adam([W], lr=rate, eps=1e-7)
        decay = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda t: 1 - t / steps)
        v = None
        for _ in range(epochs):
            order = torch.randperm(n)
            for at in range(0, n // size * size, size):
                x = X[order[at : at + size]]
                x = x - x.mean(dim=0)
                with torch.enable_grad():
                    y = x @ W
                    now = y.detach().square().mean(dim=0)
                    v = now if v is None else v + 0.01 * (now - v)
                    s = (v + 1e-3 * v.mean()).sqrt()
                    loss = (x - a * torch.tanh(y / (a * s)) * s @ W.detach().T).square().sum() / size
                    optimiser.zero_grad()
                    loss.backward()
                W.grad -= W * (W * W.grad).sum(dim=0)
                optimiser.step()
                decay.step()
                W /= W.norm(dim=0)
        return W.detach().T

    return work, lambda W: {"components": W.numpy()}
