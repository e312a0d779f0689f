"""scikit-learn's estimator checks, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import unmix


@parametrize_with_checks(
    [getattr(unmix, method["class"])() for method in unmix.methods()]
)
def test_estimator(estimator, check):
    check(estimator)
