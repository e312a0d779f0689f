"""Networks of one hidden layer, trained on mini-batches: unmix, and loops in PyTorch of the same steps."""

import time
import warnings

import numpy as np

from . import Outside, engine
from .pytorch import _torch

#: Settings of rows of the tasks "dae", "rbm", "sae", "sae relu" and "sae file", by their names in unmix.
DAE = {"corruption": 0.2, "learning_rate": 1e-3, "batch_size": 128, "max_epochs": 3}
RBM = {"learning_rate": 0.01, "batch_size": 128, "max_epochs": 3}
SAE = {"l0": 32, "learning_rate": 1e-3, "batch_size": 1024, "max_epochs": 3}
RELU = {"activation": "relu", "alpha": 0.2, "learning_rate": 1e-3, "batch_size": 1024, "max_epochs": 3}

#: The task "fine-tuning": batches of 100, gradient descent without momentum.
TUNING = {"learning_rate": 0.1, "batch_size": 100, "max_epochs": 3}

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


def _active(codes):
    """The mean number of active units of a row."""
    return float((np.asarray(codes) != 0).sum(axis=1).mean())


@engine("sae relu", "unmix", needs="unmix")
def sae_relu(job):
    import unmix

    work, _ = _ours(job, unmix.SparseAutoencoder(job.k, random_state=0, **RELU))
    X = job.X[:CHECKED]

    def extract(fitted):
        codes = fitted.transform(X)
        return {"rebuilt": fitted.inverse_transform(codes), "active": _active(codes)}

    return work, extract


def _epoch(job, rows):
    """Time of an epoch over ``rows``: the difference between fits of two epochs and of one, without the passes for mean and scale."""
    import unmix

    def timed(epochs):
        settings = {**SAE, "max_epochs": epochs}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            fitted = unmix.SparseAutoencoder(job.k, random_state=0, **settings).fit(rows)
        return fitted, time.perf_counter() - start

    from harness.worker import memory

    first = np.load(job.path, mmap_mode="r")[:CHECKED].astype(np.float32)
    # The first fit of a process also starts threads.
    unmix.SparseAutoencoder(job.k, random_state=0, **{**SAE, "max_epochs": 1}).fit(first[:1024])
    (_, one), (fitted, two) = timed(1), timed(2)
    peak = memory("VmHWM")
    return Outside(times=[two - one], answer={"rebuilt": fitted.inverse_transform(fitted.transform(first))}, peak_kib=peak)


@engine("sae file", "unmix", needs="unmix")
def sae_file(job):
    return _epoch(job, job.path)


@engine("sae file", "unmix memory", needs="unmix")
def sae_memory(job):
    return _epoch(job, job.X.astype(np.float32))


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


def _largest(torch, codes):
    """The codes with all but the ``l0`` largest entries of each row set to 0."""
    values, units = codes.topk(SAE["l0"], dim=1)
    return torch.zeros_like(codes).scatter(1, units, values)


@engine("sae", "PyTorch Adam", needs="torch")
def sae_loop(job):
    torch = _torch(job)
    return _autoencoder(job, torch, SAE, lambda codes: _largest(torch, codes))


@engine("sae relu", "PyTorch Adam", needs="torch")
def sae_relu_loop(job):
    return _autoencoder(job, _torch(job), RELU, lambda codes: codes)


def _autoencoder(job, torch, settings, keep):
    """Dense codes, automatic differentiation, torch's fused Adam; atoms of length 1, the gradient along them removed. ``keep`` chooses among the
    codes of ReLU."""
    X, k, epochs, size, alpha = job.X, job.k, settings["max_epochs"], settings["batch_size"], settings.get("alpha", 0.0)

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
        optimiser = torch.optim.Adam(parts, lr=settings["learning_rate"], eps=1e-7, fused=True)
        total = epochs * -(-n // size)
        share = lambda t: min(1.0, (t + 1) / (0.05 * total), (total - t) / (0.2 * total))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, share)
        for batch in _batches(torch, n, size, epochs):
            x = rows[batch]
            with torch.enable_grad():
                codes = keep(torch.relu(torch.addmm(b, x - c, W)))
                loss = 0.5 * (torch.addmm(c, codes, V) - x).square().sum() / len(x)
                if alpha:
                    loss = loss + alpha * codes.sum() / len(x)
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
        codes = keep(torch.relu((x - c) @ W + b))
        return {"rebuilt": ((codes @ V + c) / scale + mean).numpy(), "active": _active(codes)}

    return work, extract


def labels_of(job):
    """The class of every row, from 0."""
    from harness.data import beside

    return np.load(beside(job.path, ".labels.npy"))


def starting_weights(k, p):
    """Normal weights of variance 2/p of a hidden layer, ``k x p``."""
    return (np.random.default_rng(0).standard_normal((k, p)) * np.sqrt(2 / p)).astype("<f4")


@engine("fine-tuning", "PyTorch loop", needs="torch")
def tuning_loop(job):
    """Automatic differentiation and torch's fused gradient step."""
    torch = _torch(job)
    X, labels = torch.from_numpy(job.X), torch.from_numpy(labels_of(job).astype(np.int64))
    begin, classes = torch.from_numpy(starting_weights(job.k, X.shape[1])).T.contiguous(), int(labels.max()) + 1

    def work():
        torch.manual_seed(0)
        parts = [begin.clone(), torch.zeros(job.k), torch.zeros(job.k, classes), torch.zeros(classes)]
        W, b, V, c = (part.requires_grad_(True) for part in parts)
        optimiser = torch.optim.SGD([W, b, V, c], lr=TUNING["learning_rate"], fused=True)
        total, steps = torch.zeros(()), 0
        for batch in _batches(torch, len(X), TUNING["batch_size"], TUNING["max_epochs"]):
            if steps % (len(X) // TUNING["batch_size"]) == 0:
                total, steps = torch.zeros(()), 0
            with torch.enable_grad():
                hidden = torch.relu(torch.addmm(b, X[batch], W))
                loss = torch.nn.functional.cross_entropy(torch.addmm(c, hidden, V), labels[batch])
                loss.backward()
            total += loss.detach()
            steps += 1
            optimiser.step()
            optimiser.zero_grad()
        return float(total / steps)

    return work, lambda loss: {"loss": np.array(loss)}
