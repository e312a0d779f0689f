"""scikit-learn's conformance checks, none skipped."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import unmix


@parametrize_with_checks(
    [unmix.PCA(), unmix.NeuralPCA(), unmix.SigmaPCA(), unmix.ICA(), unmix.FastICA(), unmix.RICA()]
)
def test_estimator(estimator, check):
    check(estimator)
