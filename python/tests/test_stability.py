"""What halves of the rows and other seeds find again."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import unmix
from unmix import PCA, datasets


def test_tied_variances_are_a_group():
    data = datasets.independent(3000, ["gaussian"] * 5, [20, 6, 1, 1, 1])
    model = PCA(random_state=0).fit(data.X)
    found = unmix.stability(model, data.X, cuts=4, restarts=1)
    assert found.verdict[:2] == ["resolved"] * 2
    assert found.verdict[3] == "resolved as a group with 2, 4"
    assert found.halves[:2].min() > 0.99 > 0.9 > found.halves[2:].mean()
    assert (found.interval[:, 0] <= found.halves).all() and (found.halves <= found.interval[:, 1]).all()
    assert found.restarts is None and len(found) == 5
    assert "resolved as a group with 2, 4" in repr(found)
    again = unmix.stability(model, data.X, cuts=4, restarts=1)
    assert_array_equal(found.halves, again.halves)


def test_what_cannot_be_tried_is_refused():
    X = np.random.RandomState(0).randn(40, 3)
    model = PCA().fit(X)
    with pytest.raises(ValueError, match="cuts=0 is not possible"):
        unmix.stability(model, X, cuts=0)
    with pytest.raises(ValueError, match="columns|features"):
        unmix.stability(model, X[:, :2])
