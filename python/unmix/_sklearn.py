"""The base class and the decorators from scikit-learn, with the annotations that they lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest
    from typing_extensions import Self

    from . import _unmix

    _F = TypeVar("_F", bound=Callable[..., Any])

    class Base:
        """For type checkers: with a base without annotations they would accept every name as an attribute."""

        n_features_in_: int
        feature_names_in_: NDArray[Any]
        verbose: int

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]: ...
        def get_metadata_routing(self) -> MetadataRequest: ...
        def set_fit_request(self, **params: Any) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_clone__(self) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
        def __sklearn_is_fitted__(self) -> bool: ...
        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...
        def __repr__(self, N_CHAR_MAX: int = 700) -> str: ...

        # Of one part of `Estimator`, for the others.
        _method: str
        _model: _unmix.Model

        def _rows(self, X: Any, reset: bool = False, min_samples: int | None = None) -> Any: ...
        def _codes(self, X: Any) -> Any: ...
        def _run_arguments(self) -> tuple[int, int, int]: ...
        def _starts_from_model(self) -> bool: ...
        @classmethod
        def _own_starts(cls) -> Sequence[str]: ...

    #: The base of the other parts of `Estimator`, which have none when the program runs.
    Part = Base

    class InvalidParameterError(ValueError, TypeError):
        """The error about a parameter outside its domain."""

    class StrOptions:
        """Allowed values that are strings."""

        def __init__(self, options: set[str]) -> None: ...

    def _fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[_F], _F]: ...
    def available_if(check: Callable[[Any], bool]) -> Callable[[_F], _F]: ...

else:
    from sklearn.base import _fit_context as _fit_context
    from sklearn.utils._param_validation import InvalidParameterError as InvalidParameterError
    from sklearn.utils._param_validation import StrOptions as StrOptions
    from sklearn.utils.metaestimators import available_if as available_if

    Part = object

    class Base(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
        """The class itself."""
