"""Classes with factors, sparse or non-negative codes on every input: a message of what is wrong, or finite numbers of the right shape; a fit
that did not converge gives a warning."""

import re

import numpy as np
import pytest
from test_torture_classes import OUTCOMES, fitted
from torture_inputs import INPUTS, MAY_REFUSE, make

import unmix
from unmix import LISTA, PPCA, RFN, CompleteDictionary, DenoisingAutoencoder, DictionaryLearning, FactorAnalysis, GaussianRBM
from unmix import LinearEigenGAN, MatrixCompletion, RobustPCA, SparseAutoencoder, SparseCoder, StackedRFN, SubspaceClustering


def atoms(p):
    """Five atoms of norm 1."""
    atoms = np.random.default_rng(1).normal(size=(5, p))
    return atoms / np.linalg.norm(atoms, axis=1, keepdims=True)


#: A model of rows of p numbers, for each class and each path of its solver.
MODELS = {
    "PPCA": lambda p: PPCA(1),
    "PPCA, number by BIC": lambda p: PPCA(),
    "PPCA em": lambda p: PPCA(1, algorithm="em", max_iter=50),
    "LinearEigenGAN": lambda p: LinearEigenGAN(1),
    "LinearEigenGAN groups": lambda p: LinearEigenGAN(groups="bic"),
    "FactorAnalysis": lambda p: FactorAnalysis(1),
    "FactorAnalysis promax": lambda p: FactorAnalysis(2, rotation="promax"),
    "FactorAnalysis em": lambda p: FactorAnalysis(1, algorithm="em", max_iter=50),
    "FactorAnalysis prior": lambda p: FactorAnalysis(2, prior="laplace", max_iter=50),
    "MatrixCompletion": lambda p: MatrixCompletion(2, max_iter=30),
    "MatrixCompletion ridge": lambda p: MatrixCompletion(2, alpha=0.1, max_iter=30),
    "MatrixCompletion soft-impute": lambda p: MatrixCompletion(2, algorithm="soft-impute", max_iter=30),
    "RobustPCA": lambda p: RobustPCA(max_iter=100),
    "RobustPCA exact": lambda p: RobustPCA(noise=0.0, center=True, max_iter=100),
    "SparseCoder": lambda p: SparseCoder(atoms(p)),
    "SparseCoder omp": lambda p: SparseCoder(atoms(p), algorithm="omp", n_nonzero_coefs=2),
    "SparseCoder lars": lambda p: SparseCoder(atoms(p), algorithm="lars"),
    "LISTA": lambda p: LISTA(atoms(p), n_layers=3, max_epochs=2),
    "DictionaryLearning": lambda p: DictionaryLearning(4, max_epochs=2),
    "DictionaryLearning alternating": lambda p: DictionaryLearning(4, algorithm="alternating", max_iter=10),
    "DictionaryLearning palm": lambda p: DictionaryLearning(4, algorithm="palm", max_iter=10),
    "DictionaryLearning ksvd": lambda p: DictionaryLearning(4, algorithm="ksvd", n_nonzero_coefs=2, max_iter=10),
    "CompleteDictionary": lambda p: CompleteDictionary(max_iter=50),
    "CompleteDictionary l1": lambda p: CompleteDictionary(algorithm="l1", max_iter=50),
    "SubspaceClustering": lambda p: SubspaceClustering(2, n_components=1, algorithm="k-subspaces"),
    "SubspaceClustering ssc": lambda p: SubspaceClustering(2, n_components=1),
    "SubspaceClustering mixture": lambda p: SubspaceClustering(2, n_components=1, algorithm="ppca-mixture", max_iter=30),
    "RFN": lambda p: RFN(4, max_iter=20),
    "RFN cascade": lambda p: RFN(4, e_step="cascade", max_iter=10),
    "RFN coordinate": lambda p: RFN(4, e_step="coordinate", max_iter=10),
    "StackedRFN": lambda p: StackedRFN((4, 2), max_iter=10),
    "SparseAutoencoder": lambda p: SparseAutoencoder(6, l0=2, max_epochs=2),
    "SparseAutoencoder relu": lambda p: SparseAutoencoder(6, activation="relu", l0=2, max_epochs=2),
    "DenoisingAutoencoder": lambda p: DenoisingAutoencoder(4, max_epochs=2),
    "GaussianRBM": lambda p: GaussianRBM(4, max_epochs=2),
}
#: Classes whose codes cannot be decoded, or not to all of the row.
WITHOUT_DECODER = ("SubspaceClustering",)


#: Inputs that classes with a noise or with a number of components of their own may refuse, besides `MAY_REFUSE`, and why.
REFUSED = {
    # Data of exact rank, or nearly: the noise would be 0.
    ("PPCA", "LinearEigenGAN"): (
        r"residual variance of X.* would be 0",
        {"columns in units of their own", "condition 1e8", "condition 1e15", "duplicated", "nearly constant column", "outlier 1e12"}
        | {"outlier 1e100", "rank 1", "rank 2", "single, outlier", "sum of others", "tiny column", "two rows"},
    ),
    ("PPCA ", "PPCA, ", "LinearEigenGAN ", "FactorAnalysis promax", "MatrixCompletion"): ("column", {"one column"}),
    ("DictionaryLearning",): ("at most as many atoms as rows", {"two rows", "two rows, the same"}),
}


def refusal(kind, data):
    """Words that must be in the message if a model of this kind refuses an input; None if it must fit."""
    words = [MAY_REFUSE[data]] if data in MAY_REFUSE else []
    words += [reason for kinds, (reason, inputs) in REFUSED.items() if f"{kind} ".startswith(kinds) and data in inputs]
    return "|".join(words) or None


def finite(*arrays):
    return all(np.isfinite(np.asarray(array, dtype=float)).all() for array in arrays)


# RFN names the rows that it did not encode to its tolerance.
@pytest.mark.filterwarnings("ignore:.* not encoded to a violation of optimality")
@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("kind", MODELS)
def test_a_fit_is_finite_or_refused_with_a_message(kind, data):
    X = make(data)
    model, warned = fitted(MODELS[kind](X.shape[1]), X)
    if isinstance(model, str):
        assert re.search(refusal(kind, data) or "(no error)", model), model
        assert 20 < len(model) < 700 and "NaN" not in model, model
        return
    assert model.report_.outcome in OUTCOMES
    assert warned == (model.report_.outcome not in ("converged", "completed")), model.report_.outcome
    codes = model.transform(X)
    assert codes.shape[0] == len(X) and codes.ndim == 2
    assert finite(codes)
    tensors = {name: tensor for name, tensor in model._model.tensors.items() if name not in ("missing", "rotation")}
    assert all(finite(tensor) for tensor in tensors.values()), [name for name, tensor in tensors.items() if not finite(tensor)]
    if not kind.startswith(WITHOUT_DECODER):
        back = model.inverse_transform(codes)
        assert back.shape == X.shape and finite(back)


def test_every_class_is_tortured():
    import test_torture_classes

    tortured = {type(make(4)).__name__ for make in MODELS.values()}
    tortured |= {type(make()).__name__ for make in test_torture_classes.MODELS.values()}
    assert tortured == {method["class"] for method in unmix.methods()}
