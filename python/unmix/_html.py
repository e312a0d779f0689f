"""Output in notebooks: tables as HTML, and pages inline."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from typing import Any

#: Maximum number of rows of a table in a notebook.
_MOST_ROWS = 60


def table(head: Sequence[str], lines: Iterable[Sequence[Any]], caption: str = "", notes: Sequence[str] = ()) -> str:
    """Return an HTML table; text is escaped, and long tables are cut after the first lines."""
    lines = list(lines)
    cells = "".join(f"<th>{html.escape(str(name))}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_brief(cell))}</td>" for cell in line) + "</tr>" for line in lines[:_MOST_ROWS])
    more = [f"{len(lines) - _MOST_ROWS} more"] if len(lines) > _MOST_ROWS else []
    after = "".join(f"<p>{html.escape(note)}</p>" for note in [*more, *notes])
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{after}"


def check_page_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that is not that of a page, so that a typing error does not replace a data file by a page."""
    if not os.fspath(path).lower().endswith((".html", ".htm")) and not os.path.isdir(path):
        raise ValueError(f"a report is an HTML page, but {os.fspath(path)} does not end in .html; choose such a name")


def _brief(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    text = str(cell)
    return text if len(text) <= 120 else text[:117] + "..."


class Page:
    """An HTML page about a model, which a notebook shows inline.

    It is one text without scripts, with all styles and pictures, and needs no network access. Notebooks show it in a frame, so that its
    styles and those of the notebook do not affect each other.

    Parameters
    ----------
    text : str
        The whole page, self-contained.

    See Also
    --------
    unmix.report : The function that returns this object.

    Examples
    --------
    >>> import unmix
    >>> X = unmix.datasets.independent(200, seed=0).X
    >>> page = unmix.report(unmix.PCA(2).fit(X), X)
    >>> page.text.startswith("<!DOCTYPE html>")
    True
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file.

        The file is encoded in UTF-8, and replaces an existing one. It needs no other files, so that it can be sent or archived by itself.

        Parameters
        ----------
        path : path
            HTML file to write, whose name ends in ``.html`` or ``.htm``.

        See Also
        --------
        unmix.report : Writes the page itself if ``path`` is given.

        Examples
        --------
        >>> import os, tempfile, unmix
        >>> X = unmix.datasets.independent(200, seed=0).X
        >>> path = os.path.join(tempfile.mkdtemp(), "page.html")
        >>> unmix.report(unmix.PCA(2).fit(X)).save(path)
        >>> os.path.getsize(path) > 5_000
        True
        """
        check_page_name(path)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.text)

    def _repr_html_(self) -> str:
        # In a frame, styles and scripts of the page and of the notebook are separate.
        frame = 'width="100%" height="700" style="border:1px solid #8884"'
        return f'<iframe {frame} srcdoc="{html.escape(self.text, quote=True)}"></iframe>'

    def __repr__(self) -> str:
        return f"<HTML page of {len(self.text) / 1e6:.1f} MB; .save(path) writes it, notebooks show it>"
