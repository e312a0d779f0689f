"""JAX on the processor, compiled."""

import os

import numpy as np

from . import engine


def _jax(job):
    # Read when JAX starts; the number of threads can only be limited through the process itself.
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job.threads])
    import jax

    return jax


@engine("sigma", "JAX compiled", needs="jax")
def sigma(job):
    """All steps in one compiled loop; batches are taken from the array inside the loop."""
    from harness.answers import SIGMA

    jax = _jax(job)
    jnp, lax = jax.numpy, jax.lax
    a, rate, size, epochs = (SIGMA[name] for name in ("a", "learning_rate", "batch_size", "max_epochs"))
    X = jnp.asarray(job.X)
    n, p = X.shape
    steps = epochs * (n // size)

    @jax.jit
    def train(X, order):
        X = X - X.mean(axis=0)
        X = X / jnp.sqrt(jnp.mean(jnp.square(X)))
        _, vectors = jnp.linalg.eigh(X.T @ X / n)
        W = vectors[:, ::-1][:, : job.k]

        def step(state, given):
            W, v, first, second = state
            which, t = given
            x = X[which]
            y = x @ W
            y = y - y.mean(axis=0)
            now = jnp.mean(jnp.square(y), axis=0)
            v = jnp.where(t == 0, now, v + 0.01 * (now - v))
            s = jnp.sqrt(v + 1e-3 * v.mean())
            h = jnp.tanh(y / (a * s))
            e = ((a * s * h) @ (W.T @ W) - y) * (1 - h * h)
            e = e - e.mean(axis=0)
            G = x.T @ e / size
            G = 2 * (G - W * jnp.sum(W * G, axis=0))
            first, second = 0.9 * first + 0.1 * G, 0.999 * second + 0.001 * G * G
            left = rate * (1 - t / steps)
            m, u = first / (1 - 0.9 ** (t + 1)), second / (1 - 0.999 ** (t + 1))
            W = W - left * m / (jnp.sqrt(u) + 1e-7)
            return (W / jnp.linalg.norm(W, axis=0), v, first, second), None

        zero = jnp.zeros_like(W)
        (W, *_), _ = lax.scan(step, (W, jnp.ones(job.k), zero, zero), (order, jnp.arange(steps, dtype=jnp.float32)))
        return W

    def work():
        generator = np.random.default_rng(0)
        order = np.concatenate([generator.permutation(n)[: n // size * size] for _ in range(epochs)])
        return np.asarray(train(X, jnp.asarray(order.reshape(-1, size), dtype=jnp.int32)).T)

    return work, lambda W: {"components": W}


@engine("sae", "JAX compiled", needs="jax")
def sae(job):
    """The steps of the PyTorch loop, all in one compiled loop; the code of a row keeps the units from its 32nd largest on."""
    from .networks import CHECKED, SAE

    jax = _jax(job)
    jnp, lax = jax.numpy, jax.lax
    rate, size, epochs, l0 = (SAE[name] for name in ("learning_rate", "batch_size", "max_epochs", "l0"))
    X, k = job.X, job.k
    n, p = X.shape
    steps = epochs * (n // size)

    def keep(codes):
        codes = jnp.maximum(codes, 0)
        least = lax.top_k(lax.stop_gradient(codes), min(l0, k))[0][:, -1:]
        return jnp.where(codes >= least, codes, 0)

    def loss(parts, x):
        W, b, V, c = parts
        return 0.5 * jnp.sum(jnp.square(keep((x - c) @ W + b) @ V + c - x)) / size

    @jax.jit
    def train(X, order, V):
        mean = X.mean(axis=0)
        scale = jnp.sqrt(p) / jnp.linalg.norm(X - mean, axis=1).mean()
        X = (X - mean) * scale
        V = V / jnp.linalg.norm(V, axis=1, keepdims=True)

        def step(state, given):
            parts, first, second = state
            which, t = given
            W, b, V, c = jax.grad(loss)(parts, X[which])
            gradient = (W, b, V - parts[2] * jnp.sum(parts[2] * V, axis=1, keepdims=True), c)
            now = rate * jnp.minimum(1.0, jnp.minimum((t + 1) / (0.05 * steps), (steps - t) / (0.2 * steps)))
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
            second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)

            def moved(part, m, v):
                return part - now * (m / (1 - 0.9 ** (t + 1))) / (jnp.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-7)

            W, b, V, c = jax.tree.map(moved, parts, first, second)
            return ((W, b, V / jnp.linalg.norm(V, axis=1, keepdims=True), c), first, second), None

        parts = (V.T, jnp.zeros(k, jnp.float32), V, jnp.zeros(p, jnp.float32))
        zero = jax.tree.map(jnp.zeros_like, parts)
        (parts, *_), _ = lax.scan(step, (parts, zero, zero), (order, jnp.arange(steps, dtype=jnp.float32)))
        return parts, mean, scale

    def work():
        generator = np.random.default_rng(0)
        order = np.concatenate([generator.permutation(n)[: n // size * size] for _ in range(epochs)])
        start = generator.standard_normal((k, p), dtype=np.float32)
        return jax.block_until_ready(train(X, jnp.asarray(order.reshape(-1, size), dtype=jnp.int32), start))

    def extract(result):
        (W, b, V, c), mean, scale = result
        x = (X[:CHECKED] - mean) * scale
        return {"rebuilt": np.asarray((keep((x - c) @ W + b) @ V + c) / scale + mean)}

    return work, extract
