"""scikit-learn's estimator checks, without exceptions."""

import inspect

import numpy as np
from sklearn.utils._test_common import instance_generator
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmix


def atoms(n_features):
    return dict(dictionary=np.random.RandomState(0).normal(size=(5, n_features)))


#: Columns of the rows of checks, where these are not 3: a dictionary has as many, as scikit-learn gives its own coder.
WIDE = {
    name: settings["dictionary"].shape[1]
    for cls, checks in instance_generator.PER_ESTIMATOR_CHECK_PARAMS.items()
    if cls.__name__ == "SparseCoder"
    for name, settings in checks.items()
}
for cls in (unmix.SparseCoder, unmix.LISTA):
    instance_generator.PER_ESTIMATOR_CHECK_PARAMS[cls] = {name: atoms(p) for name, p in WIDE.items()}


#: Fits at the defaults take long: the widths of the layers are made for many rows.
SMALL = {unmix.StackedRFN: dict(n_components=(4, 3), max_iter=30)}


def made(cls):
    required = [p for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
    return cls(**(atoms(3) if required else SMALL.get(cls, {})))


@parametrize_with_checks([made(getattr(unmix, method["class"])) for method in unmix.methods()])
def test_estimator(estimator, check):
    check(estimator)
