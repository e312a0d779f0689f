"""Parameters of the estimators: names, types, ranges and defaults.

Written from the registry of methods by `cargo xtask gen`, as are the sections on parameters in the docstrings of the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions

from ._options import RUN_OPTIONS, START, ShareName
from ._record import FitIndices
from ._report import Report

if TYPE_CHECKING:
    from ._base import Estimator
    from ._options import Iteration
    from ._read import Files

NeuralPCAVariant = Literal[
    "svd", "autoencoder", "oja", "wsla-inverse", "wsla", "wsla-unit", "weighted-unit-loss", "gha", "gha-encoder", "gha-subspace",
    "gha-reconstruction", "nested-dropout", "weighted-variance", "variance-nested-dropout",
]

SigmaPCAVariant = Literal[
    "conventional", "trained-sigma-full", "trained-sigma", "trained-latent-linear", "trained-latent-symmetric",
    "trained-latent-asymmetric", "trained-latent-coupled", "ema-tanh", "ema-scaled-tanh", "ema-unit-slope", "ema-hard-tanh",
    "ema-adaptive-tanh", "ema-constant-tanh", "ema-latent-coupled", "ema-trained-a", "ema-deflation", "ema-nested-dropout",
    "ema-linear-reconstruction", "rica", "logcosh", "skew-symmetric", "no-diagonal", "no-diagonal-sigma", "ema-triangular",
]


class PCAParameters:
    """Parameters and fitted attributes of :class:`PCA`."""

    n_components: int | float | str | Literal["minka", "mle", "bic", "gavish-donoho", "gap", "gap-difference", "parallel", "cv"] | None
    copy: bool
    whiten: bool | Literal["zca"]
    svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "deflation"]
    tol: float
    iterated_power: int | Literal["auto"]
    n_oversamples: int
    power_iteration_normalizer: Literal["auto", "QR", "LU", "none"]
    random_state: int | np.random.RandomState | None
    center: bool
    standardize: bool
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    explained_variance_std_error_: NDArray[Any]
    singular_values_: NDArray[Any]
    scale_: NDArray[Any]
    mean_: NDArray[Any]
    noise_variance_: float
    mixing_: NDArray[Any]
    rotation_: NDArray[Any]
    noise_scale_: NDArray[Any]
    second_rotation_: NDArray[Any]
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            ShareName(),
            StrOptions({"minka", "mle", "bic", "gavish-donoho", "gap", "gap-difference", "parallel", "cv"}),
            None,
        ],
        "copy": ["boolean"],
        "whiten": ["boolean", StrOptions({"zca"})],
        "svd_solver": [StrOptions({"auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "deflation"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "n_oversamples": [Interval(Integral, 0, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "center": ["boolean"],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | float | str | Literal["minka", "mle", "bic", "gavish-donoho", "gap", "gap-difference", "parallel", "cv"] | None = None,
        *,
        copy: bool = True,
        whiten: bool | Literal["zca"] = False,
        svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "deflation"] = "auto",
        tol: float = 0.0,
        iterated_power: int | Literal["auto"] = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: Literal["auto", "QR", "LU", "none"] = "auto",
        random_state: int | np.random.RandomState | None = None,
        center: bool = True,
        standardize: bool = False,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            copy=copy,
            whiten=whiten,
            svd_solver=svd_solver,
            tol=tol,
            iterated_power=iterated_power,
            n_oversamples=n_oversamples,
            power_iteration_normalizer=power_iteration_normalizer,
            random_state=random_state,
            center=center,
            standardize=standardize,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class PPCAParameters:
    """Parameters and fitted attributes of :class:`PPCA`."""

    n_components: int | Literal["aic", "bic", "cells"] | None
    algorithm: Literal["auto", "closed-form", "em"]
    noise_floor: float
    tol: float
    max_iter: int
    standardize: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    explained_variance_std_error_: NDArray[Any]
    scale_: NDArray[Any]
    latent_scale_: NDArray[Any]
    noise_variance_: float
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    rotation_: NDArray[Any]
    noise_scale_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 0, None, closed="left"), StrOptions({"aic", "bic", "cells"}), None],
        "algorithm": [StrOptions({"auto", "closed-form", "em"})],
        "noise_floor": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | Literal["aic", "bic", "cells"] | None = None,
        *,
        algorithm: Literal["auto", "closed-form", "em"] = "auto",
        noise_floor: float = 0.0,
        tol: float = 1e-08,
        max_iter: int = 1000,
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            algorithm=algorithm,
            noise_floor=noise_floor,
            tol=tol,
            max_iter=max_iter,
            standardize=standardize,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class LinearEigenGANParameters:
    """Parameters and fitted attributes of :class:`LinearEigenGAN`."""

    n_components: int | Literal["aic", "bic", "cells"] | None
    groups: ArrayLike | Literal["bic"] | None
    noise_floor: float
    tol: float
    max_iter: int
    standardize: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    latent_scale_: NDArray[Any]
    blocks_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    explained_variance_std_error_: NDArray[Any]
    scale_: NDArray[Any]
    noise_variance_: float
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    rotation_: NDArray[Any]
    noise_scale_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 0, None, closed="left"), StrOptions({"aic", "bic", "cells"}), None],
        "groups": ["array-like", StrOptions({"bic"}), None],
        "noise_floor": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | Literal["aic", "bic", "cells"] | None = None,
        *,
        groups: ArrayLike | Literal["bic"] | None = None,
        noise_floor: float = 0.0,
        tol: float = 1e-08,
        max_iter: int = 1000,
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            groups=groups,
            noise_floor=noise_floor,
            tol=tol,
            max_iter=max_iter,
            standardize=standardize,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class NeuralPCAParameters:
    """Parameters and fitted attributes of :class:`NeuralPCA`."""

    n_components: int | None
    variant: NeuralPCAVariant | int
    solver: Literal["auto", "sgd", "adam"]
    init: Literal["random", "pca"] | Estimator | str | PathLike[str] | None
    whiten: bool
    center: bool
    max_iter: int
    tol: float
    learning_rate: float
    batch_size: int
    max_epochs: int
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    verbose: int
    components_: NDArray[Any]
    weights_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    scale_: NDArray[Any]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    rotation_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [Interval(Integral, 1, 14, closed="both"), StrOptions(set(get_args(NeuralPCAVariant)))],
        "solver": [StrOptions({"auto", "sgd", "adam"})],
        "init": [StrOptions({"random", "pca"}), *START],
        "whiten": ["boolean"],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        variant: NeuralPCAVariant | int = "gha",
        *,
        solver: Literal["auto", "sgd", "adam"] = "auto",
        init: Literal["random", "pca"] | Estimator | str | PathLike[str] | None = "random",
        whiten: bool = False,
        center: bool = True,
        max_iter: int = 20000,
        tol: float = 1e-8,
        learning_rate: float = 0.01,
        batch_size: int = 128,
        max_epochs: int = 20,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            variant=variant,
            solver=solver,
            init=init,
            whiten=whiten,
            center=center,
            max_iter=max_iter,
            tol=tol,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            verbose=verbose,
        )


class SigmaPCAParameters:
    """Parameters and fitted attributes of :class:`SigmaPCA`."""

    n_components: int | None
    variant: SigmaPCAVariant | int | None
    a: float | ArrayLike | Literal["auto"]
    h: Literal["tanh", "hard", "steep", "sign"] | None
    deriv: Literal["true", "one"] | None
    sigma: Literal["batch", "ema", "train", "one"] | None
    constraint: Literal["orthonormal", "native"]
    beta: float | None
    beta_scale: Literal["variance", "absolute"] | None
    sigma_l2: float | None
    order: Literal["variance", "found"]
    solver: Literal["auto", "gpm", "sgd", "adam"]
    learning_rate: float | None
    batch_size: int | None
    max_epochs: int | None
    max_iter: int
    tol: float | None
    tangent: bool
    center: bool
    standardize: bool
    whiten: bool
    reconstruct: Literal["linear", "nonlinear"]
    halves: bool | None
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    resolved_: NDArray[Any]
    separation_: NDArray[Any]
    seeking_: NDArray[Any]
    a_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    scale_: NDArray[Any]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    rotation_: NDArray[Any]
    noise_scale_: NDArray[Any]
    trained_scale_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions(set(get_args(SigmaPCAVariant))), Interval(Integral, 1, 24, closed="both"), None],
        "a": [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"auto"})],
        "h": [StrOptions({"tanh", "hard", "steep", "sign"}), None],
        "deriv": [StrOptions({"true", "one"}), None],
        "sigma": [StrOptions({"batch", "ema", "train", "one"}), None],
        "constraint": [StrOptions({"orthonormal", "native"})],
        "beta": [Interval(Real, 0, None, closed="left"), None],
        "beta_scale": [StrOptions({"variance", "absolute"}), None],
        "sigma_l2": [Interval(Real, 0, None, closed="left"), None],
        "order": [StrOptions({"variance", "found"})],
        "solver": [StrOptions({"auto", "gpm", "sgd", "adam"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "batch_size": [Interval(Integral, 2, None, closed="left"), None],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "tangent": ["boolean"],
        "center": ["boolean"],
        "standardize": ["boolean"],
        "whiten": ["boolean"],
        "reconstruct": [StrOptions({"linear", "nonlinear"})],
        "halves": ["boolean", None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        variant: SigmaPCAVariant | int | None = None,
        *,
        a: float | ArrayLike | Literal["auto"] = "auto",
        h: Literal["tanh", "hard", "steep", "sign"] | None = None,
        deriv: Literal["true", "one"] | None = None,
        sigma: Literal["batch", "ema", "train", "one"] | None = None,
        constraint: Literal["orthonormal", "native"] = "orthonormal",
        beta: float | None = None,
        beta_scale: Literal["variance", "absolute"] | None = None,
        sigma_l2: float | None = None,
        order: Literal["variance", "found"] = "variance",
        solver: Literal["auto", "gpm", "sgd", "adam"] = "auto",
        learning_rate: float | None = None,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        max_iter: int = 3000,
        tol: float | None = None,
        tangent: bool = True,
        center: bool = True,
        standardize: bool = False,
        whiten: bool = False,
        reconstruct: Literal["linear", "nonlinear"] = "linear",
        halves: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            variant=variant,
            a=a,
            h=h,
            deriv=deriv,
            sigma=sigma,
            constraint=constraint,
            beta=beta,
            beta_scale=beta_scale,
            sigma_l2=sigma_l2,
            order=order,
            solver=solver,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            max_iter=max_iter,
            tol=tol,
            tangent=tangent,
            center=center,
            standardize=standardize,
            whiten=whiten,
            reconstruct=reconstruct,
            halves=halves,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class ICAParameters:
    """Parameters and fitted attributes of :class:`ICA`."""

    n_components: int | float | str | None
    algorithm: Literal["picard", "fastica", "infomax", "easi", "sigma-pca"]
    fun: Literal["logcosh", "exp", "cube", "skew", "tanh", "adaptive"]
    ortho: bool
    extended: bool | None
    orthogonalization: Literal["symmetric", "deflation"]
    first_layer: Literal["pca", "sigma-pca"]
    whiten: Literal["unit-variance"] | Literal[False]
    max_iter: int
    tol: float | None
    n_init: int
    w_init: ArrayLike | None | str | PathLike[str] | Files
    subsample: int | None
    center: bool
    standardize: bool
    order: Literal["variance", "kurtosis", "found"]
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    mixing_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    component_variance_: NDArray[Any]
    mean_: NDArray[Any]
    rotation_: NDArray[Any]
    scale_: NDArray[Any]
    second_rotation_: NDArray[Any]
    noise_scale_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    stream_: NDArray[Any]
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            ShareName(),
            None,
        ],
        "algorithm": [StrOptions({"picard", "fastica", "infomax", "easi", "sigma-pca"})],
        "fun": [StrOptions({"logcosh", "exp", "cube", "skew", "tanh", "adaptive"})],
        "ortho": ["boolean"],
        "extended": ["boolean", None],
        "orthogonalization": [StrOptions({"symmetric", "deflation"})],
        "first_layer": [StrOptions({"pca", "sigma-pca"})],
        "whiten": [StrOptions({"unit-variance"}), Options(bool, {False})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "w_init": ["array-like", None, str, PathLike],
        "subsample": [Interval(Integral, 0, None, closed="left"), None],
        "center": ["boolean"],
        "standardize": ["boolean"],
        "order": [StrOptions({"variance", "kurtosis", "found"})],
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        algorithm: Literal["picard", "fastica", "infomax", "easi", "sigma-pca"] = "picard",
        fun: Literal["logcosh", "exp", "cube", "skew", "tanh", "adaptive"] = "logcosh",
        ortho: bool = True,
        extended: bool | None = None,
        orthogonalization: Literal["symmetric", "deflation"] = "symmetric",
        first_layer: Literal["pca", "sigma-pca"] = "pca",
        whiten: Literal["unit-variance"] | Literal[False] = "unit-variance",
        max_iter: int = 500,
        tol: float | None = None,
        n_init: int = 1,
        w_init: ArrayLike | None | str | PathLike[str] | Files = None,
        subsample: int | None = None,
        center: bool = True,
        standardize: bool = False,
        order: Literal["variance", "kurtosis", "found"] = "variance",
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            algorithm=algorithm,
            fun=fun,
            ortho=ortho,
            extended=extended,
            orthogonalization=orthogonalization,
            first_layer=first_layer,
            whiten=whiten,
            max_iter=max_iter,
            tol=tol,
            n_init=n_init,
            w_init=w_init,
            subsample=subsample,
            center=center,
            standardize=standardize,
            order=order,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class FastICAParameters:
    """Parameters and fitted attributes of :class:`FastICA`."""

    n_components: int | float | str | None
    algorithm: Literal["parallel", "deflation"]
    whiten: Literal["unit-variance", "arbitrary-variance"] | Literal[False]
    fun: Literal["logcosh", "exp", "cube", "skew"] | Callable[..., Any]
    fun_args: dict[str, Any] | None
    max_iter: int
    tol: float
    w_init: ArrayLike | None | str | PathLike[str] | Files
    whiten_solver: Literal["svd", "eigh"]
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    mixing_: NDArray[Any]
    mean_: NDArray[Any]
    whitening_: NDArray[Any]
    rotation_: NDArray[Any]
    scale_: NDArray[Any]
    second_rotation_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    component_variance_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            ShareName(),
            None,
        ],
        "algorithm": [StrOptions({"parallel", "deflation"})],
        "whiten": [StrOptions({"unit-variance", "arbitrary-variance"}), Options(bool, {False})],
        "fun": [StrOptions({"logcosh", "exp", "cube", "skew"}), callable],
        "fun_args": [dict, None],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "w_init": ["array-like", None, str, PathLike],
        "whiten_solver": [StrOptions({"svd", "eigh"})],
    }
    _fun_args_alpha = Interval(Real, 1, 2, closed="both")

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        algorithm: Literal["parallel", "deflation"] = "parallel",
        whiten: Literal["unit-variance", "arbitrary-variance"] | Literal[False] = "unit-variance",
        fun: Literal["logcosh", "exp", "cube", "skew"] | Callable[..., Any] = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 0.0001,
        w_init: ArrayLike | None | str | PathLike[str] | Files = None,
        whiten_solver: Literal["svd", "eigh"] = "svd",
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            algorithm=algorithm,
            whiten=whiten,
            fun=fun,
            fun_args=fun_args,
            max_iter=max_iter,
            tol=tol,
            w_init=w_init,
            whiten_solver=whiten_solver,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class RICAParameters:
    """Parameters and fitted attributes of :class:`RICA`."""

    n_components: int | None
    beta: float | Literal["auto"]
    contrast: Literal["logcosh", "smooth-l1"]
    whiten: bool
    unit_norm: bool | Literal["auto"]
    max_iter: int
    tol: float | None
    batch_size: int | None
    max_epochs: int
    w_init: ArrayLike | None | str | PathLike[str] | Files
    center: bool
    standardize: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    mixing_: NDArray[Any]
    component_variance_: NDArray[Any]
    coherence_: float
    mean_: NDArray[Any]
    rotation_: NDArray[Any]
    scale_: NDArray[Any]
    second_rotation_: NDArray[Any]
    data_scale_: float
    noise_scale_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "beta": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "contrast": [StrOptions({"logcosh", "smooth-l1"})],
        "whiten": ["boolean"],
        "unit_norm": ["boolean", StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "w_init": ["array-like", None, str, PathLike],
        "center": ["boolean"],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        beta: float | Literal["auto"] = "auto",
        contrast: Literal["logcosh", "smooth-l1"] = "logcosh",
        whiten: bool = True,
        unit_norm: bool | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float | None = None,
        batch_size: int | None = None,
        max_epochs: int = 10,
        w_init: ArrayLike | None | str | PathLike[str] | Files = None,
        center: bool = True,
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            beta=beta,
            contrast=contrast,
            whiten=whiten,
            unit_norm=unit_norm,
            max_iter=max_iter,
            tol=tol,
            batch_size=batch_size,
            max_epochs=max_epochs,
            w_init=w_init,
            center=center,
            standardize=standardize,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class FactorAnalysisParameters:
    """Parameters and fitted attributes of :class:`FactorAnalysis`."""

    n_components: int | Literal["aic", "bic", "cells", "parallel"] | None
    tol: float
    copy: bool
    max_iter: int
    noise_variance_init: ArrayLike | None
    svd_method: Literal["lapack", "randomized"]
    iterated_power: int
    random_state: int | np.random.RandomState | None
    rotation: Literal["varimax", "quartimax", "equamax", "promax", "oblimin", "geomin"] | None
    rotation_normalize: bool
    algorithm: Literal["newton", "em"]
    prior: Literal["none", "laplace-loadings", "laplace", "jeffreys"]
    l1: float
    noise_floor: float | Literal["auto"]
    scores: Literal["regression", "bartlett"]
    standardize: bool
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    noise_variance_: NDArray[Any]
    communalities_: NDArray[Any]
    component_variance_: NDArray[Any]
    factor_correlation_: NDArray[Any]
    heywood_: NDArray[Any]
    fit_: FitIndices
    loglike_: list[float]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    noise_scale_: NDArray[Any]
    rotation_: NDArray[Any]
    scale_: NDArray[Any]
    factor_variance_: NDArray[Any]
    second_rotation_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 0, None, closed="left"), StrOptions({"aic", "bic", "cells", "parallel"}), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "copy": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "noise_variance_init": ["array-like", None],
        "svd_method": [StrOptions({"lapack", "randomized"})],
        "iterated_power": [Interval(Integral, 0, None, closed="left")],
        "rotation": [StrOptions({"varimax", "quartimax", "equamax", "promax", "oblimin", "geomin"}), None],
        "rotation_normalize": ["boolean"],
        "algorithm": [StrOptions({"newton", "em"})],
        "prior": [StrOptions({"none", "laplace-loadings", "laplace", "jeffreys"})],
        "l1": [Interval(Real, 0, None, closed="left")],
        "noise_floor": [Interval(RealNotInt, 0, 1, closed="neither"), StrOptions({"auto"})],
        "scores": [StrOptions({"regression", "bartlett"})],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | Literal["aic", "bic", "cells", "parallel"] | None = None,
        *,
        tol: float = 0.01,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: ArrayLike | None = None,
        svd_method: Literal["lapack", "randomized"] = "randomized",
        iterated_power: int = 3,
        random_state: int | np.random.RandomState | None = None,
        rotation: Literal["varimax", "quartimax", "equamax", "promax", "oblimin", "geomin"] | None = None,
        rotation_normalize: bool = False,
        algorithm: Literal["newton", "em"] = "newton",
        prior: Literal["none", "laplace-loadings", "laplace", "jeffreys"] = "none",
        l1: float = 0.01,
        noise_floor: float | Literal["auto"] = "auto",
        scores: Literal["regression", "bartlett"] = "regression",
        standardize: bool = False,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            tol=tol,
            copy=copy,
            max_iter=max_iter,
            noise_variance_init=noise_variance_init,
            svd_method=svd_method,
            iterated_power=iterated_power,
            random_state=random_state,
            rotation=rotation,
            rotation_normalize=rotation_normalize,
            algorithm=algorithm,
            prior=prior,
            l1=l1,
            noise_floor=noise_floor,
            scores=scores,
            standardize=standardize,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class MatrixCompletionParameters:
    """Parameters and fitted attributes of :class:`MatrixCompletion`."""

    n_components: int | None
    algorithm: Literal["als", "soft-impute", "ppca-em"]
    alpha: float | Literal["auto"]
    offsets: bool
    tol: float
    max_iter: int
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    component_variance_: NDArray[Any]
    row_codes_: NDArray[Any]
    row_offsets_: NDArray[Any]
    row_offset_scale_: float
    mean_: NDArray[Any]
    noise_variance_: float
    row_errors_: NDArray[Any]
    column_errors_: NDArray[Any]
    unseen_row_errors_: NDArray[Any]
    row_prior_: NDArray[Any]
    path_: NDArray[Any]
    mixing_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 0, None, closed="left"), None],
        "algorithm": [StrOptions({"als", "soft-impute", "ppca-em"})],
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "offsets": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: Literal["als", "soft-impute", "ppca-em"] = "als",
        alpha: float | Literal["auto"] = "auto",
        offsets: bool = True,
        tol: float = 0.001,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            algorithm=algorithm,
            alpha=alpha,
            offsets=offsets,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class RobustPCAParameters:
    """Parameters and fitted attributes of :class:`RobustPCA`."""

    alpha: float | None
    noise: float | Literal["auto"]
    tol: float
    max_iter: int
    center: bool
    standardize: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    singular_values_: NDArray[Any]
    noise_std_: float
    spread_: NDArray[Any]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    low_rank_: NDArray[Any]
    sparse_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "noise": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "center": ["boolean"],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: float | None = None,
        noise: float | Literal["auto"] = "auto",
        tol: float = 1e-07,
        max_iter: int = 500,
        center: bool = False,
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            alpha=alpha,
            noise=noise,
            tol=tol,
            max_iter=max_iter,
            center=center,
            standardize=standardize,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class SparseCoderParameters:
    """Parameters and fitted attributes of :class:`SparseCoder`."""

    dictionary: ArrayLike | Estimator | str | PathLike[str] | Files
    algorithm: Literal["cd", "fista", "ista", "lars", "omp"]
    alpha: float | Literal["auto", "cv"]
    n_nonzero_coefs: int | None
    max_squared_error: float | None
    positive_code: bool
    debias: bool
    center: bool
    max_iter: int
    tol: float | None
    sparse_output: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    alpha_: float
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "dictionary": ["array-like", *START],
        "algorithm": [StrOptions({"cd", "fista", "ista", "lars", "omp"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto", "cv"})],
        "n_nonzero_coefs": [Interval(Integral, 1, None, closed="left"), None],
        "max_squared_error": [Interval(Real, 0, None, closed="left"), None],
        "positive_code": ["boolean"],
        "debias": ["boolean"],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "sparse_output": ["boolean"],
    }

    def __init__(
        self,
        dictionary: ArrayLike | Estimator | str | PathLike[str] | Files,
        *,
        algorithm: Literal["cd", "fista", "ista", "lars", "omp"] = "cd",
        alpha: float | Literal["auto", "cv"] = "auto",
        n_nonzero_coefs: int | None = None,
        max_squared_error: float | None = None,
        positive_code: bool = False,
        debias: bool = False,
        center: bool = False,
        max_iter: int = 1000,
        tol: float | None = None,
        sparse_output: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            dictionary=dictionary,
            algorithm=algorithm,
            alpha=alpha,
            n_nonzero_coefs=n_nonzero_coefs,
            max_squared_error=max_squared_error,
            positive_code=positive_code,
            debias=debias,
            center=center,
            max_iter=max_iter,
            tol=tol,
            sparse_output=sparse_output,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class LISTAParameters:
    """Parameters and fitted attributes of :class:`LISTA`."""

    dictionary: ArrayLike | Estimator | str | PathLike[str] | Files
    alpha: float | Literal["auto"]
    cell: Literal["lista", "gregor-lecun", "cp", "alista", "step"]
    n_layers: int
    tied: bool
    support_selection: float
    monotone: bool
    refine: int
    positive_code: bool
    learning_rate: float | Literal["auto"]
    batch_size: int
    max_epochs: int
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    alpha_: float
    layer_weights_: NDArray[Any]
    recurrent_weights_: NDArray[Any]
    layer_steps_: NDArray[Any]
    thresholds_: NDArray[Any]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "dictionary": ["array-like", *START],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "cell": [StrOptions({"lista", "gregor-lecun", "cp", "alista", "step"})],
        "n_layers": [Interval(Integral, 1, 1000, closed="both")],
        "tied": ["boolean"],
        "support_selection": [Interval(Real, 0, 10, closed="both")],
        "monotone": ["boolean"],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "positive_code": ["boolean"],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        dictionary: ArrayLike | Estimator | str | PathLike[str] | Files,
        *,
        alpha: float | Literal["auto"] = "auto",
        cell: Literal["lista", "gregor-lecun", "cp", "alista", "step"] = "lista",
        n_layers: int = 16,
        tied: bool = False,
        support_selection: float = 0.0,
        monotone: bool = True,
        refine: int = 0,
        positive_code: bool = False,
        learning_rate: float | Literal["auto"] = "auto",
        batch_size: int = 256,
        max_epochs: int = 50,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            dictionary=dictionary,
            alpha=alpha,
            cell=cell,
            n_layers=n_layers,
            tied=tied,
            support_selection=support_selection,
            monotone=monotone,
            refine=refine,
            positive_code=positive_code,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class DictionaryLearningParameters:
    """Parameters and fitted attributes of :class:`DictionaryLearning`."""

    n_components: int | None
    algorithm: Literal["online", "alternating", "palm", "ipalm", "layerwise", "ksvd"]
    alpha: float | Literal["auto"]
    n_nonzero_coefs: int | None
    init: Literal["data", "k-means++", "dct", "random"] | Estimator | str | PathLike[str] | None
    dict_init: ArrayLike | None | Estimator | str | PathLike[str] | Files
    atom_norm: Literal["ball", "sphere"]
    dead_unit: Literal["residual", "data", "keep"]
    positive_code: bool
    positive_dict: bool
    batch_size: int
    max_epochs: int
    forgetting: float
    code_steps: int
    atom_steps: int
    warm_start_codes: bool
    max_iter: int
    tol: float | None
    coder: Literal["cd", "fista", "ista", "lars", "omp"]
    center: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    verbose: int
    components_: NDArray[Any]
    usage_: NDArray[Any]
    alpha_: float
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    stream_: NDArray[Any]
    stream_atoms_: NDArray[Any]
    stream_codes_: NDArray[Any]
    stream_rows_: NDArray[Any]
    stream_waiting_: NDArray[Any]
    stream_worst_: NDArray[Any]
    layers_: NDArray[Any]
    layer_steps_: NDArray[Any]
    n_components_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "algorithm": [StrOptions({"online", "alternating", "palm", "ipalm", "layerwise", "ksvd"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "n_nonzero_coefs": [Interval(Integral, 1, None, closed="left"), None],
        "init": [StrOptions({"data", "k-means++", "dct", "random"}), *START],
        "dict_init": ["array-like", None, *START],
        "atom_norm": [StrOptions({"ball", "sphere"})],
        "dead_unit": [StrOptions({"residual", "data", "keep"})],
        "positive_code": ["boolean"],
        "positive_dict": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "forgetting": [Interval(Real, 0, None, closed="left")],
        "code_steps": [Interval(Integral, 1, None, closed="left")],
        "atom_steps": [Interval(Integral, 1, None, closed="left")],
        "warm_start_codes": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "coder": [StrOptions({"cd", "fista", "ista", "lars", "omp"})],
        "center": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: Literal["online", "alternating", "palm", "ipalm", "layerwise", "ksvd"] = "online",
        alpha: float | Literal["auto"] = "auto",
        n_nonzero_coefs: int | None = None,
        init: Literal["data", "k-means++", "dct", "random"] | Estimator | str | PathLike[str] | None = "data",
        dict_init: ArrayLike | None | Estimator | str | PathLike[str] | Files = None,
        atom_norm: Literal["ball", "sphere"] = "ball",
        dead_unit: Literal["residual", "data", "keep"] = "residual",
        positive_code: bool = False,
        positive_dict: bool = False,
        batch_size: int = 256,
        max_epochs: int = 5,
        forgetting: float = 5.0,
        code_steps: int = 10,
        atom_steps: int = 10,
        warm_start_codes: bool = True,
        max_iter: int = 1000,
        tol: float | None = None,
        coder: Literal["cd", "fista", "ista", "lars", "omp"] = "cd",
        center: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            algorithm=algorithm,
            alpha=alpha,
            n_nonzero_coefs=n_nonzero_coefs,
            init=init,
            dict_init=dict_init,
            atom_norm=atom_norm,
            dead_unit=dead_unit,
            positive_code=positive_code,
            positive_dict=positive_dict,
            batch_size=batch_size,
            max_epochs=max_epochs,
            forgetting=forgetting,
            code_steps=code_steps,
            atom_steps=atom_steps,
            warm_start_codes=warm_start_codes,
            max_iter=max_iter,
            tol=tol,
            coder=coder,
            center=center,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            verbose=verbose,
        )


class SubspaceClusteringParameters:
    """Parameters and fitted attributes of :class:`SubspaceClustering`."""

    n_clusters: int | None
    n_components: int | ArrayLike | None
    algorithm: Literal["ssc+k-subspaces", "ssc", "k-subspaces", "shape", "ppca-mixture"]
    alpha: float
    n_init: int
    tol: float
    max_iter: int
    center: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    labels_: NDArray[Any]
    dimensions_: NDArray[Any]
    subspaces_: list[NDArray[Any]]
    bases_: NDArray[Any]
    mean_: NDArray[Any]
    weights_: NDArray[Any]
    means_: NDArray[Any]
    variances_: NDArray[Any]
    noise_variance_: NDArray[Any]
    n_clusters_: int
    n_iter_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "algorithm": [StrOptions({"ssc+k-subspaces", "ssc", "k-subspaces", "shape", "ppca-mixture"})],
        "alpha": [Interval(Real, 1, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "center": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        n_components: int | ArrayLike | None = None,
        *,
        algorithm: Literal["ssc+k-subspaces", "ssc", "k-subspaces", "shape", "ppca-mixture"] = "ssc+k-subspaces",
        alpha: float = 20.0,
        n_init: int = 10,
        tol: float = 1e-08,
        max_iter: int = 300,
        center: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_clusters=n_clusters,
            n_components=n_components,
            algorithm=algorithm,
            alpha=alpha,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            center=center,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class CompleteDictionaryParameters:
    """Parameters and fitted attributes of :class:`CompleteDictionary`."""

    n_components: int | None
    algorithm: Literal["msp", "l1", "deflation"]
    power: int
    precondition: bool
    polish: bool
    refine: bool | Literal["auto"]
    batch_size: int | None
    n_init: int
    center: bool
    max_iter: int
    tol: float | None
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    usage_: NDArray[Any]
    kurtosis_: NDArray[Any]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    rotation_: NDArray[Any]
    scale_: NDArray[Any]
    second_rotation_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "algorithm": [StrOptions({"msp", "l1", "deflation"})],
        "power": [Interval(Integral, 3, 4, closed="both")],
        "precondition": ["boolean"],
        "polish": ["boolean"],
        "refine": ["boolean", StrOptions({"auto"})],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: Literal["msp", "l1", "deflation"] = "msp",
        power: int = 4,
        precondition: bool = True,
        polish: bool = True,
        refine: bool | Literal["auto"] = "auto",
        batch_size: int | None = None,
        n_init: int = 1,
        center: bool = False,
        max_iter: int = 300,
        tol: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            algorithm=algorithm,
            power=power,
            precondition=precondition,
            polish=polish,
            refine=refine,
            batch_size=batch_size,
            n_init=n_init,
            center=center,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class RFNParameters:
    """Parameters and fitted attributes of :class:`RFN`."""

    n_components: int
    e_step: Literal["plain", "cascade", "coordinate"]
    normalize: Literal["rms", "std", "none"]
    learning_rate: float | Literal["auto"]
    max_iter: int
    tol: float | None
    init: Literal["random", "ica"] | Estimator | str | PathLike[str] | None
    n_init: int
    center: bool | Literal["median"]
    psi_min: float
    psi_min_unit: Literal["variance", "mean", "absolute"]
    noise: Literal["diagonal", "full"]
    m_step: Literal["newton", "inverse-psi", "gradient"]
    prior_mean: float
    prior_cov: float
    l1: float
    l2: float
    w_max: float | None
    dropout: float
    dropout_place: Literal["after", "before"]
    input_noise: float
    input_noise_kind: Literal["mask", "salt-pepper", "gaussian"]
    accept: Literal["mean", "kl"]
    dead_unit: Literal["auto", "zero", "onehot"]
    batch_size: int | None
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    verbose: int
    components_: NDArray[Any]
    noise_variance_: NDArray[Any]
    noise_covariance_: NDArray[Any]
    mean_: NDArray[Any]
    encoder_weight_: NDArray[Any]
    encoder_bias_: NDArray[Any]
    encoder_offset_: NDArray[Any]
    code_moments_: NDArray[Any]
    code_scale_: NDArray[Any]
    prior_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "e_step": [StrOptions({"plain", "cascade", "coordinate"})],
        "normalize": [StrOptions({"rms", "std", "none"})],
        "learning_rate": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "init": [StrOptions({"random", "ica"}), *START],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "center": ["boolean", StrOptions({"median"})],
        "psi_min": [Interval(Real, 0, None, closed="neither")],
        "psi_min_unit": [StrOptions({"variance", "mean", "absolute"})],
        "noise": [StrOptions({"diagonal", "full"})],
        "m_step": [StrOptions({"newton", "inverse-psi", "gradient"})],
        "prior_mean": [Interval(Real, None, None, closed="neither")],
        "prior_cov": [Interval(Real, 0, None, closed="neither")],
        "l1": [Interval(Real, 0, None, closed="left")],
        "l2": [Interval(Real, 0, 1, closed="both")],
        "w_max": [Interval(Real, 0, None, closed="neither"), None],
        "dropout": [Interval(Real, 0, 0.99, closed="both")],
        "dropout_place": [StrOptions({"after", "before"})],
        "input_noise": [Interval(Real, 0, 0.99, closed="both")],
        "input_noise_kind": [StrOptions({"mask", "salt-pepper", "gaussian"})],
        "accept": [StrOptions({"mean", "kl"})],
        "dead_unit": [StrOptions({"auto", "zero", "onehot"})],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int = 50,
        *,
        e_step: Literal["plain", "cascade", "coordinate"] = "plain",
        normalize: Literal["rms", "std", "none"] = "rms",
        learning_rate: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float | None = None,
        init: Literal["random", "ica"] | Estimator | str | PathLike[str] | None = "random",
        n_init: int = 1,
        center: bool | Literal["median"] = True,
        psi_min: float = 0.01,
        psi_min_unit: Literal["variance", "mean", "absolute"] = "variance",
        noise: Literal["diagonal", "full"] = "diagonal",
        m_step: Literal["newton", "inverse-psi", "gradient"] = "newton",
        prior_mean: float = 0.0,
        prior_cov: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        w_max: float | None = None,
        dropout: float = 0.0,
        dropout_place: Literal["after", "before"] = "after",
        input_noise: float = 0.0,
        input_noise_kind: Literal["mask", "salt-pepper", "gaussian"] = "mask",
        accept: Literal["mean", "kl"] = "mean",
        dead_unit: Literal["auto", "zero", "onehot"] = "auto",
        batch_size: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            e_step=e_step,
            normalize=normalize,
            learning_rate=learning_rate,
            max_iter=max_iter,
            tol=tol,
            init=init,
            n_init=n_init,
            center=center,
            psi_min=psi_min,
            psi_min_unit=psi_min_unit,
            noise=noise,
            m_step=m_step,
            prior_mean=prior_mean,
            prior_cov=prior_cov,
            l1=l1,
            l2=l2,
            w_max=w_max,
            dropout=dropout,
            dropout_place=dropout_place,
            input_noise=input_noise,
            input_noise_kind=input_noise_kind,
            accept=accept,
            dead_unit=dead_unit,
            batch_size=batch_size,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            verbose=verbose,
        )


class StackedRFNParameters:
    """Parameters and fitted attributes of :class:`StackedRFN`."""

    n_components: int | ArrayLike
    e_step: Literal["plain", "cascade", "coordinate"] | ArrayLike
    normalize: Literal["rms", "std", "none"] | ArrayLike
    learning_rate: float | Literal["auto"] | ArrayLike
    max_iter: int | ArrayLike
    tol: float | None | ArrayLike
    init: Literal["random", "ica"] | ArrayLike | Estimator | str | PathLike[str] | None
    n_init: int | ArrayLike
    center: bool | Literal["median"] | ArrayLike
    psi_min: float | ArrayLike
    psi_min_unit: Literal["variance", "mean", "absolute"] | ArrayLike
    noise: Literal["diagonal", "full"] | ArrayLike
    m_step: Literal["newton", "inverse-psi", "gradient"] | ArrayLike
    prior_mean: float | ArrayLike
    prior_cov: float | ArrayLike
    l1: float | ArrayLike
    l2: float | ArrayLike
    w_max: float | None | ArrayLike
    dropout: float | ArrayLike
    dropout_place: Literal["after", "before"] | ArrayLike
    input_noise: float | ArrayLike
    input_noise_kind: Literal["mask", "salt-pepper", "gaussian"] | ArrayLike
    accept: Literal["mean", "kl"] | ArrayLike
    dead_unit: Literal["auto", "zero", "onehot"] | ArrayLike
    batch_size: int | None | ArrayLike
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    verbose: int
    components_: NDArray[Any]
    mean_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "e_step": [StrOptions({"plain", "cascade", "coordinate"}), "array-like"],
        "normalize": [StrOptions({"rms", "std", "none"}), "array-like"],
        "learning_rate": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "tol": [Interval(Real, 0, None, closed="left"), None, "array-like"],
        "init": [StrOptions({"random", "ica"}), "array-like", *START],
        "n_init": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "center": ["boolean", StrOptions({"median"}), "array-like"],
        "psi_min": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "psi_min_unit": [StrOptions({"variance", "mean", "absolute"}), "array-like"],
        "noise": [StrOptions({"diagonal", "full"}), "array-like"],
        "m_step": [StrOptions({"newton", "inverse-psi", "gradient"}), "array-like"],
        "prior_mean": [Interval(Real, None, None, closed="neither"), "array-like"],
        "prior_cov": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "l1": [Interval(Real, 0, None, closed="left"), "array-like"],
        "l2": [Interval(Real, 0, 1, closed="both"), "array-like"],
        "w_max": [Interval(Real, 0, None, closed="neither"), None, "array-like"],
        "dropout": [Interval(Real, 0, 0.99, closed="both"), "array-like"],
        "dropout_place": [StrOptions({"after", "before"}), "array-like"],
        "input_noise": [Interval(Real, 0, 0.99, closed="both"), "array-like"],
        "input_noise_kind": [StrOptions({"mask", "salt-pepper", "gaussian"}), "array-like"],
        "accept": [StrOptions({"mean", "kl"}), "array-like"],
        "dead_unit": [StrOptions({"auto", "zero", "onehot"}), "array-like"],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None, "array-like"],
    }

    def __init__(
        self,
        n_components: int | ArrayLike = (512, 256),
        *,
        e_step: Literal["plain", "cascade", "coordinate"] | ArrayLike = "plain",
        normalize: Literal["rms", "std", "none"] | ArrayLike = "rms",
        learning_rate: float | Literal["auto"] | ArrayLike = "auto",
        max_iter: int | ArrayLike = 1000,
        tol: float | None | ArrayLike = None,
        init: Literal["random", "ica"] | ArrayLike | Estimator | str | PathLike[str] | None = "random",
        n_init: int | ArrayLike = 1,
        center: bool | Literal["median"] | ArrayLike = True,
        psi_min: float | ArrayLike = 0.01,
        psi_min_unit: Literal["variance", "mean", "absolute"] | ArrayLike = "variance",
        noise: Literal["diagonal", "full"] | ArrayLike = "diagonal",
        m_step: Literal["newton", "inverse-psi", "gradient"] | ArrayLike = "newton",
        prior_mean: float | ArrayLike = 0.0,
        prior_cov: float | ArrayLike = 1.0,
        l1: float | ArrayLike = 0.0,
        l2: float | ArrayLike = 0.0,
        w_max: float | None | ArrayLike = None,
        dropout: float | ArrayLike = 0.0,
        dropout_place: Literal["after", "before"] | ArrayLike = "after",
        input_noise: float | ArrayLike = 0.0,
        input_noise_kind: Literal["mask", "salt-pepper", "gaussian"] | ArrayLike = "mask",
        accept: Literal["mean", "kl"] | ArrayLike = "mean",
        dead_unit: Literal["auto", "zero", "onehot"] | ArrayLike = "auto",
        batch_size: int | None | ArrayLike = None,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            e_step=e_step,
            normalize=normalize,
            learning_rate=learning_rate,
            max_iter=max_iter,
            tol=tol,
            init=init,
            n_init=n_init,
            center=center,
            psi_min=psi_min,
            psi_min_unit=psi_min_unit,
            noise=noise,
            m_step=m_step,
            prior_mean=prior_mean,
            prior_cov=prior_cov,
            l1=l1,
            l2=l2,
            w_max=w_max,
            dropout=dropout,
            dropout_place=dropout_place,
            input_noise=input_noise,
            input_noise_kind=input_noise_kind,
            accept=accept,
            dead_unit=dead_unit,
            batch_size=batch_size,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            verbose=verbose,
        )


class SparseAutoencoderParameters:
    """Parameters and fitted attributes of :class:`SparseAutoencoder`."""

    n_components: int | None
    activation: Literal["relu", "topk", "batch-topk", "jumprelu", "gated"]
    l0: int | Literal["auto"]
    alpha: float | None
    init: Literal["random", "data"] | Estimator | str | PathLike[str] | None
    dict_init: ArrayLike | None | Estimator | str | PathLike[str] | Files
    normalize: bool
    dead_unit: Literal["auto", "auxk", "resample", "keep"]
    learning_rate: float | Literal["auto"]
    batch_size: int
    max_epochs: int
    sparse_output: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    verbose: int
    components_: NDArray[Any]
    encoder_weight_: NDArray[Any]
    encoder_bias_: NDArray[Any]
    mean_: NDArray[Any]
    threshold_: NDArray[Any]
    gate_bias_: NDArray[Any]
    magnitude_bias_: NDArray[Any]
    magnitude_log_scale_: NDArray[Any]
    density_: NDArray[Any]
    stream_: NDArray[Any]
    mixing_: NDArray[Any]
    n_components_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_samples_: int
    n_iter_: int
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "activation": [StrOptions({"relu", "topk", "batch-topk", "jumprelu", "gated"})],
        "l0": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "init": [StrOptions({"random", "data"}), *START],
        "dict_init": ["array-like", None, *START],
        "normalize": ["boolean"],
        "dead_unit": [StrOptions({"auto", "auxk", "resample", "keep"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "sparse_output": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        activation: Literal["relu", "topk", "batch-topk", "jumprelu", "gated"] = "topk",
        l0: int | Literal["auto"] = "auto",
        alpha: float | None = None,
        init: Literal["random", "data"] | Estimator | str | PathLike[str] | None = "random",
        dict_init: ArrayLike | None | Estimator | str | PathLike[str] | Files = None,
        normalize: bool = True,
        dead_unit: Literal["auto", "auxk", "resample", "keep"] = "auto",
        learning_rate: float | Literal["auto"] = "auto",
        batch_size: int = 256,
        max_epochs: int = 20,
        sparse_output: bool = False,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            activation=activation,
            l0=l0,
            alpha=alpha,
            init=init,
            dict_init=dict_init,
            normalize=normalize,
            dead_unit=dead_unit,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            sparse_output=sparse_output,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            verbose=verbose,
        )


class DenoisingAutoencoderParameters:
    """Parameters and fitted attributes of :class:`DenoisingAutoencoder`."""

    n_components: int
    corruption: float
    noise: Literal["mask", "gaussian"]
    tied: bool
    solver: Literal["adam", "sgd", "plain-sgd"]
    learning_rate: float
    batch_size: int
    max_epochs: int
    standardize: bool
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    encoder_weight_: NDArray[Any]
    encoder_bias_: NDArray[Any]
    mean_: NDArray[Any]
    density_: NDArray[Any]
    mixing_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "corruption": [Interval(Real, 0, 1, closed="left")],
        "noise": [StrOptions({"mask", "gaussian"})],
        "tied": ["boolean"],
        "solver": [StrOptions({"adam", "sgd", "plain-sgd"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 50,
        *,
        corruption: float = 0.2,
        noise: Literal["mask", "gaussian"] = "mask",
        tied: bool = False,
        solver: Literal["adam", "sgd", "plain-sgd"] = "adam",
        learning_rate: float = 0.001,
        batch_size: int = 100,
        max_epochs: int = 100,
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            corruption=corruption,
            noise=noise,
            tied=tied,
            solver=solver,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            standardize=standardize,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )


class GaussianRBMParameters:
    """Parameters and fitted attributes of :class:`GaussianRBM`."""

    n_components: int
    learning_rate: float
    batch_size: int
    max_epochs: int
    n_steps: int
    random_state: int | np.random.RandomState | None
    max_seconds: float | None
    callback: Callable[[Iteration], Any] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float
    resume: bool
    init: Estimator | str | PathLike[str] | None
    verbose: int
    components_: NDArray[Any]
    encoder_weight_: NDArray[Any]
    encoder_bias_: NDArray[Any]
    mean_: NDArray[Any]
    mixing_: NDArray[Any]
    n_iter_: int
    n_components_: int
    n_samples_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: Report

    _parameter_constraints: dict[str, list[Any]] = {
        **RUN_OPTIONS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 50,
        *,
        learning_rate: float = 0.01,
        batch_size: int = 10,
        max_epochs: int = 100,
        n_steps: int = 1,
        random_state: int | np.random.RandomState | None = None,
        max_seconds: float | None = None,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
        init: Estimator | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        vars(self).update(
            n_components=n_components,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            n_steps=n_steps,
            random_state=random_state,
            max_seconds=max_seconds,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            init=init,
            verbose=verbose,
        )
