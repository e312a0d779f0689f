"""Networks of one hidden layer, trained on mini-batches: unmix, and loops in PyTorch of the same steps."""

import warnings

import numpy as np

from . import engine
from .pytorch import _torch

#: Settings of rows of the tasks "dae", "rbm" and "sae", by their names in unmix.
DAE = {"corruption": 0.2, "learning_rate": 1e-3, "batch_size": 128, "max_epochs": 3}
RBM = {"learning_rate": 0.01, "batch_size": 128, "max_epochs": 3}
SAE = {"l0": 32, "learning_rate": 1e-3, "batch_size": 1024, "max_epochs": 3}

#: Rows whose reconstruction is checked.
CHECKED = 20_000


def _ours(job, model):
    X = job.X

    def work():
        with warnings.catch_warnings():
            # Few epochs are part of the task.
            warnings.simplefilter("ignore")
            return model.fit(X)

    return work, lambda fitted: {"rebuilt": fitted.inverse_transform(fitted.transform(X[:CHECKED]))}


@engine("dae", "unmix", needs="unmix")
def dae(job):
    import unmix

    return _ours(job, unmix.DenoisingAutoencoder(job.k, random_state=0, **DAE))


@engine("rbm", "unmix", needs="unmix")
def rbm(job):
    import unmix

    return _ours(job, unmix.GaussianRBM(job.k, random_state=0, **RBM))


@engine("sae", "unmix", needs="unmix")
def sae(job):
    import unmix

    return _ours(job, unmix.SparseAutoencoder(job.k, random_state=0, **SAE))


def _standardised(torch, X):
    X = torch.from_numpy(X)
    mean, deviation = X.mean(dim=0), X.std(dim=0)
    return (X - mean) / deviation, mean, deviation


def _batches(torch, n, size, epochs):
    for _ in range(epochs):
        order = torch.randperm(n)
        for at in range(0, n, size):
            yield order[at : at + size]


@engine("dae", "PyTorch Adam", needs="torch")
def dae_loop(job):
    """Automatic differentiation and torch's fused Adam."""
    torch = _torch(job)
    X, k = job.X, job.k

    def work():
        torch.manual_seed(0)
        rows, mean, deviation = _standardised(torch, X)
        n, p = rows.shape
        bound = np.sqrt(6 / (p + k))
        W = torch.empty(p, k).uniform_(-bound, bound)
        parts = [W.requires_grad_(True), torch.zeros(k, requires_grad=True), W.detach().T.contiguous().requires_grad_(True), torch.zeros(p, requires_grad=True)]
        optimiser = torch.optim.Adam(parts, lr=DAE["learning_rate"], eps=1e-7, fused=True)
        W, b, V, c = parts
        for batch in _batches(torch, n, DAE["batch_size"], DAE["max_epochs"]):
            x = rows[batch]
            noisy = x * (torch.rand_like(x) >= DAE["corruption"])
            with torch.enable_grad():
                loss = (torch.addmm(c, torch.relu(torch.addmm(b, noisy, W)), V) - x).square().sum() / len(x)
                loss.backward()
            optimiser.step()
            optimiser.zero_grad()
        return [part.detach() for part in parts], mean, deviation

    def extract(result):
        (W, b, V, c), mean, deviation = result
        x = (torch.from_numpy(X[:CHECKED]) - mean) / deviation
        return {"rebuilt": ((torch.relu(x @ W + b) @ V + c) * deviation + mean).numpy()}

    return work, extract


@engine("rbm", "PyTorch loop", needs="torch")
def rbm_loop(job):
    """Contrastive divergence of one step, written out: there is no loss to differentiate."""
    torch = _torch(job)
    X, k, rate = job.X, job.k, RBM["learning_rate"]

    def work():
        torch.manual_seed(0)
        rows, mean, deviation = _standardised(torch, X)
        n, p = rows.shape
        W, b, c = 0.01 * torch.randn(p, k), torch.zeros(k), torch.zeros(p)
        for batch in _batches(torch, n, RBM["batch_size"], RBM["max_epochs"]):
            v = rows[batch]
            first = torch.sigmoid(torch.addmm(b, v, W))
            hidden = (torch.rand_like(first) < first).to(v.dtype)
            again = torch.addmm(c, hidden, W.T) + torch.randn_like(v)
            second = torch.sigmoid(torch.addmm(b, again, W))
            step = rate / len(v)
            W.addmm_(v.T, first, alpha=step).addmm_(again.T, second, alpha=-step)
            b.add_((first - second).sum(dim=0), alpha=step)
            c.add_((v - again).sum(dim=0), alpha=step)
        return W, b, c, mean, deviation

    def extract(result):
        W, b, c, mean, deviation = result
        x = (torch.from_numpy(X[:CHECKED]) - mean) / deviation
        return {"rebuilt": ((torch.sigmoid(x @ W + b) @ W.T + c) * deviation + mean).numpy()}

    return work, extract


@engine("sae", "PyTorch Adam", needs="torch")
def sae_loop(job):
    """Dense codes, automatic differentiation, torch's fused Adam; atoms of length 1, the gradient along them removed."""
    torch = _torch(job)
    X, k, l0, epochs, size = job.X, job.k, SAE["l0"], SAE["max_epochs"], SAE["batch_size"]

    def work():
        torch.manual_seed(0)
        rows = torch.from_numpy(X)
        n, p = rows.shape
        mean = rows.mean(dim=0)
        scale = np.sqrt(p) / float((rows - mean).norm(dim=1).mean())
        rows = (rows - mean) * scale
        V = torch.nn.functional.normalize(torch.randn(k, p), dim=1)
        parts = [V.T.contiguous().requires_grad_(True), torch.zeros(k, requires_grad=True), V.requires_grad_(True), torch.zeros(p, requires_grad=True)]
        W, b, V, c = parts
        optimiser = torch.optim.Adam(parts, lr=SAE["learning_rate"], eps=1e-7, fused=True)
        total = epochs * -(-n // size)
        share = lambda t: min(1.0, (t + 1) / (0.05 * total), (total - t) / (0.2 * total))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, share)
        for batch in _batches(torch, n, size, epochs):
            x = rows[batch]
            with torch.enable_grad():
                values, units = torch.relu(torch.addmm(b, x - c, W)).topk(l0, dim=1)
                codes = torch.zeros(len(x), k).scatter(1, units, values)
                loss = 0.5 * (torch.addmm(c, codes, V) - x).square().sum() / len(x)
                loss.backward()
            V.grad -= V * (V * V.grad).sum(dim=1, keepdim=True)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            V /= V.norm(dim=1, keepdim=True)
        return [part.detach() for part in parts], mean, scale

    def extract(result):
        (W, b, V, c), mean, scale = result
        x = (torch.from_numpy(X[:CHECKED]) - mean) * scale
        values, units = torch.relu((x - c) @ W + b).topk(l0, dim=1)
        codes = torch.zeros(len(x), k).scatter(1, units, values)
        return {"rebuilt": ((codes @ V + c) / scale + mean).numpy()}

    return work, extract
