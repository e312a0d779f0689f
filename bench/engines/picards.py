"""python-picard: samples as columns."""

from . import engine


def _picard(ortho):
    def make(job):
        import numpy as np
        from harness.data import rotation
        from picard import picard

        X, W = job.X, rotation(job.k)

        def work():
            # Its tolerance is the largest entry of the gradient; it works in double precision.
            K, turn, _ = picard(X.T, ortho=ortho, extended=True, whiten=True, tol=1e-4, max_iter=500, w_init=W, random_state=0)
            return turn @ K

        return work, lambda found: {"unmixing": np.asarray(found), "free": not ortho}

    return make


engine("ica", "picard orthogonal", needs="picard")(_picard(True))
engine("ica", "picard free", needs="picard")(_picard(False))
