"""Every kind of page rendered in headless Chromium: on a desktop, on a phone, and in dark mode.

The browser is the system's own (``chromium``, ``chromium-browser`` or ``google-chrome``); without one these tests are skipped.
Screenshots are kept under ``target/screenshots``.
"""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import unmix
from test_open import short
from unmix import ICA, PCA, PPCA, RICA, FastICA, NeuralPCA, SigmaPCA, SparseAutoencoder, datasets

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: cargo xtask test all")

BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the PATH")

SCREENSHOTS = Path(__file__).parents[2] / "target" / "screenshots"
#: All commands run in one process, since starting the interpreter takes longer than they do.
PROGRAM = "import sys; from unmix._unmix import run_cli; sys.exit(any(run_cli(['unmix', *line.split()]) for line in sys.stdin))"

#: Width and height of the window, and its preferred colour scheme.
VIEWS = {"desktop": (1280, 900, "light"), "phone": (390, 844, "light"), "dark": (1280, 900, "dark")}


def patches(n=400):
    """Colour patches of 8 x 8 pixels with values from 0 to 1, nearly grey with a brown tint."""
    draw = np.random.RandomState(0)
    waves = np.array([[np.cos(np.pi * (y * i + x * j) / 8) for y in range(8) for x in range(8)] for i in range(3) for j in range(3)])
    grey = draw.laplace(size=(n, 9)) @ waves * 0.02
    tint = draw.normal(size=(n, 1, 3)) * 0.02
    return np.clip(np.array([0.47, 0.41, 0.37]) + grey[:, :, None] + tint, 0, 1).reshape(n, 8, 8, 3)


def recording(n=3000):
    """Four sources mixed into six channels, 100 rows per second."""
    t = np.arange(n) / 100
    draw = np.random.RandomState(1)
    blinks = np.zeros(n)
    blinks[::370] = 6
    sources = np.c_[np.sin(2 * np.pi * 10 * t), np.sign(np.sin(2 * np.pi * 1.3 * t)), np.convolve(blinks, np.hanning(30), "same"), draw.laplace(size=n)]
    return sources @ draw.normal(size=(4, 6)) + 0.01 * draw.normal(size=(n, 6))


def table():
    """A small table with column names, one of them long, and a date for each row."""
    pandas = pytest.importorskip("pandas")
    draw = np.random.RandomState(2)
    names = ["weight", "height", "age", "income before taxes, thousands", "visits"]
    rows = pandas.DataFrame(draw.normal(size=(200, 2)) @ draw.normal(size=(2, 5)) + draw.normal(size=(200, 5)) * 0.3, columns=names)
    dates = pandas.Series(pandas.date_range("2021-01-01", periods=200).strftime("%Y-%m-%d"), name="date of the visit")
    return rows * [10, 8, 5, 900, 2], dates


def pandas_frame(rows):
    """Rows with names of columns, one of them long."""
    return pytest.importorskip("pandas").DataFrame(rows, columns=["weight", "height", "age at the first visit, years", "visits"])


def made(folder):
    """Names and paths of pages of every method and every kind of data."""

    def page(name, model, X=None, **options):
        path = folder / f"{name}.html"
        unmix.report(model, X, path=path, **options)
        return name, path

    def file(name, rows):
        """Saves rows to a file, which keeps the shape of a row."""
        np.save(folder / name, rows)
        return folder / name

    pictures = datasets.patterns(400, 12, 4, noise=0.2)
    images = file("images.npy", pictures.X.reshape(-1, 12, 12))
    groups = [f"group {g}" for g in pictures.labels]
    yield page("pca-pictures", PCA(10).fit(images), images, color=groups)
    yield page("pca-many", PCA(100).fit(images), images)
    yield page("pca-alone", PCA(4).fit(images))
    yield page("neural-pca", NeuralPCA(4, max_epochs=3, random_state=0).fit(images), images)
    sigma = SigmaPCA(4, random_state=0).fit(images)
    yield page("sigma-pca-pictures", sigma, images, beside=PCA(5).fit(images))
    colour = file("colour.npy", patches())
    yield page("pca-colour", PCA(12).fit(colour), colour)
    yield page("rica-colour", RICA(12, max_iter=60, random_state=0).fit(colour), colour)

    codes = file("codes.npy", datasets.sparse_codes(600, 64, 300, share=0.02, seed=0).X.reshape(-1, 8, 8))
    sae = SparseAutoencoder(300, l0=5, max_epochs=2, random_state=0).fit(codes)
    yield page("sae-units", sae, codes, color=[f"word{i % 50}" for i in range(600)])
    draw = np.random.RandomState(3)
    gaps = draw.normal(size=(800, 3)) @ draw.normal(size=(3, 24)) + draw.normal(size=(800, 24)) * 0.3
    gaps[draw.rand(800, 24) < 0.1] = np.nan
    yield page("ppca-gaps", PPCA(3, random_state=0).fit(gaps), gaps)

    waves = datasets.patterns(300, 8, 3, noise=0.1).X
    yield page("pca-curves", PCA(5).fit(waves), waves, color=waves[:, 0])
    yield page("rica-curves", RICA(8, max_iter=60, random_state=0).fit(waves), waves)

    rows, dates = table()
    yield page("pca-bars", PCA(3, standardize=True).fit(rows), rows, color=dates)
    yield page("pca-all", PCA().fit(rows), rows, color=np.arange(200) % 3)
    yield page("pca-one", PCA(1).fit(rows), rows)
    yield page("pca-weighted", PCA(2).fit(rows, sample_weight=np.random.RandomState(0).uniform(5, 15, 200)), rows)
    yield page("ica-bars", ICA(random_state=0).fit(rows), rows)

    X = recording()
    angle = np.arange(6) * np.pi / 3
    places = np.c_[np.sin(angle), np.cos(angle)]
    ica = ICA(4, random_state=0).fit(X)
    yield page("ica-time", ica, X, rate=100, positions=places)
    yield page("ica-rows", ica, X, beside=ICA(3, random_state=0).fit(X))
    yield page("fastica-time", FastICA(4, random_state=0).fit(X), X, rate=100)
    yield page("sigma-pca-time", SigmaPCA(4, random_state=0).fit(X), X, rate=100)
    yield page("ica-unfinished", ICA(4, max_iter=1, tol=1e-12, random_state=0).fit(X), X)

    # Every class, for the sections that only its method has: factors, subspaces, modules, layers.
    named = pandas_frame(draw.laplace(size=(300, 2)) @ draw.normal(size=(2, 4)) + 0.3 * draw.normal(size=(300, 4)))
    for method in unmix.methods():
        cls = getattr(unmix, method["class"])
        yield page(f"class-{method['key']}", cls(**short(cls)).set_params(random_state=0).fit(named), named)

    # Pages that the program writes: stability, the demo, published experiments.
    file("recording.npy", X)
    commands = """\
        fit ica recording.npy -k 4 --stability 2 -o model.safetensors
        report model.safetensors recording.npy --rate 100 -o stability.html
        demo -o demo
        reproduce shapes transforms --quick --quiet -o reproduce"""
    subprocess.run([sys.executable, "-c", PROGRAM], input=commands, cwd=folder, check=True, capture_output=True, text=True)
    yield "stability", folder / "stability.html"
    yield "demo", folder / "demo" / "report.html"
    yield "reproduce", folder / "reproduce" / "index.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(made(tmp_path_factory.mktemp("pages")))


@pytest.fixture(scope="module")
def views():
    """The windows by name; `defects` opens a page, saves a screenshot and returns a list of defects."""
    # The sandbox needs privileges that root in a container lacks.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=root)
        yield {view: Window(browser, view) for view in VIEWS}
        browser.close()


#: Text outside its figure, and elements wider than the window without a scrollable container.
OUTSIDE = """() => {
  const wide = document.documentElement.clientWidth, out = [];
  const scrolls = e => e.closest('.scroll') !== null;
  for (const e of document.querySelectorAll('body *')) {
    const box = e.getBoundingClientRect();
    if (box.width && !scrolls(e) && (box.right > wide + 1 || box.left < -1)) out.push(`<${e.tagName}> ${Math.round(box.left)} to ${Math.round(box.right)} of ${wide}`);
  }
  for (const text of document.querySelectorAll('figure svg text')) {
    const box = text.getBoundingClientRect(), card = text.closest('figure').getBoundingClientRect();
    if (box.width && (box.left < card.left - 1 || box.right > card.right + 1 || box.bottom > card.bottom + 1)) out.push(`'${text.textContent}' leaves its figure`);
  }
  return out;
}"""

#: Overlapping labels in a figure.
OVERLAPPING = """() => {
  const out = [];
  for (const svg of document.querySelectorAll('figure svg')) {
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]).filter(([, b]) => b.width);
    texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
      const across = Math.min(p.right, q.right) - Math.max(p.left, q.left), down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (across > 2 && down > 4) out.push(`'${a}' and '${b}' in: ${svg.getAttribute('aria-label')}`);
    }));
  }
  return out;
}"""


class Window:
    """A browser window that records console messages, errors and network requests of a page."""

    def __init__(self, browser, view):
        self.view = view
        self.width, height, self.scheme = VIEWS[view]
        self.page = browser.new_context(viewport={"width": self.width, "height": height}, color_scheme=self.scheme).new_page()
        self.wrong, self.allowed = [], ""
        self.page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", self.requested)

    def requested(self, request):
        if not request.url.startswith(("data:", self.allowed)):
            self.wrong.append(f"request: {request.url}")

    def defects(self, name, path):
        """Opens a page, saves a screenshot, and returns a list of defects."""
        self.wrong = []
        # Pages of published experiments load figures from files beside them; all other pages are self-contained.
        self.allowed = path.parent.as_uri() if name == "reproduce" else path.as_uri()
        page = self.page
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(folded => (folded.open = true))")
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > self.width:
            self.wrong.append(f"{wide} pixels wide in a window of {self.width}")
        self.wrong += page.evaluate(OUTSIDE) + page.evaluate(OVERLAPPING)
        shown = page.evaluate("getComputedStyle(document.body).backgroundColor")
        red, green, blue, *alpha = (float(part) for part in shown[shown.index("(") + 1 : -1].split(","))
        # A transparent page background is white.
        shade = 3 * 255 if alpha == [0] else red + green + blue
        if (shade < 3 * 128) != (self.scheme == "dark"):
            self.wrong.append(f"background {shown} in the {self.scheme} scheme")
        page.screenshot(path=SCREENSHOTS / f"{name}-{self.view}.png", full_page=True)
        return self.wrong


@pytest.mark.parametrize("view", VIEWS)
def test_pages_have_no_defects_and_send_no_requests(views, pages, view):
    wrong = {name: found for name, path in pages.items() if (found := views[view].defects(name, path))}
    assert not wrong, "\n".join(f"{name}: {'; '.join(found[:6])}" for name, found in wrong.items())


def test_sections_of_many_units_and_maps_of_missing_cells_are_not_tall(views, pages):
    height = "name => Math.round(document.querySelector(name).getBoundingClientRect().height)"
    page = views["desktop"].page
    page.goto(pages["sae-units"].as_uri())
    assert page.evaluate(height, "#components") < 900 and page.evaluate(height, "#units") < 2000
    page.goto(pages["ppca-gaps"].as_uri())
    assert 100 < page.evaluate(height, "#gaps img") <= 400


def test_defects_of_a_page_are_detected(views, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<body style='background:#fff'><script>console.log('heard')</script><img src='https://example.org/x.png'><div style='width:2000px'>wide</div>"
        "<figure style='width:90px'><svg width=90 height=40 style='overflow:visible'><text x=80 y=20>runs out</text><text x=82 y=20>covers</text></svg></figure>"
    )
    expected = ["console: heard", "request: https://example.org/x.png", "pixels wide", "'runs out' leaves its figure", "'runs out' and 'covers'"]
    wrong = "; ".join(views["desktop"].defects("bad", path))
    assert all(part in wrong for part in expected), wrong
    assert "background" in "; ".join(views["dark"].defects("bad", path))
    for kept in SCREENSHOTS.glob("bad-*.png"):
        kept.unlink()
