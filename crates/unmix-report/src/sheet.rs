//! A figure of its own: panels with captions on a grid, as one SVG file.

mod drawings;
mod stroke;

pub use stroke::{Stroke, StrokeKind};

use crate::svg::pt;
use maud::{PreEscaped, html};
use unmix::{Matrix, Result};

/// Panels under a title.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Above the panels.
    pub title: String,
    /// Panels beside each other.
    pub columns: usize,
    /// In reading order.
    pub panels: Vec<Panel>,
}

/// One drawing and what it shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Panel {
    /// Caption above the drawing; long ones are wrapped at spaces.
    pub caption: String,
    /// The drawing.
    pub content: Content,
}

/// The content of a panel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Content {
    /// Rows of a matrix as pictures of `shape`, so many beside each other; each symmetric about 0 on a scale of its own.
    Pictures {
        /// `count x n_features`.
        vectors: Matrix<f64>,
        /// (height, width) or (height, width, 3).
        shape: Vec<usize>,
        /// Pictures beside each other.
        columns: usize,
    },
    /// The same for photographs: grey ones from black, the smallest value of each, to white, the largest.
    Photographs {
        /// `count x n_features`.
        vectors: Matrix<f64>,
        /// (height, width) or (height, width, 3).
        shape: Vec<usize>,
        /// Pictures beside each other.
        columns: usize,
    },
    /// Rows of a matrix as curves one below the other, each on a scale of its own.
    Courses(Matrix<f64>),
    /// Points, on axes of equal scale.
    Points(Vec<(f64, f64)>),
    /// Points on axes of equal scale, pale, with named strokes over them and a legend of these.
    Plane {
        /// The cloud.
        points: Vec<(f64, f64)>,
        /// In the order in which they are drawn.
        strokes: Vec<Stroke>,
    },
    /// Named groups of points, each of a colour, on axes of equal scale.
    Groups(Vec<(String, Vec<(f64, f64)>)>),
    /// Named lines over common axes.
    Lines {
        /// Name and points of each.
        lines: Vec<(String, Vec<(f64, f64)>)>,
        /// Names of the two axes.
        names: (String, String),
        /// Whether y counts powers of ten.
        log_y: bool,
        /// Ranges of x with a grey ground.
        shaded: Vec<(f64, f64)>,
    },
    /// Named rows of dots one below the other, each on a scale of its own that includes 0.
    Strips {
        /// Name and numbers of each, all of equally many.
        strips: Vec<(String, Vec<f64>)>,
        /// The class of every dot of a row, by which it is coloured.
        classes: Vec<usize>,
        /// Whether a dot is large.
        large: Vec<bool>,
    },
}

impl Sheet {
    /// An empty sheet with room for `columns` panels beside each other.
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self { title: title.into(), columns: columns.max(1), panels: Vec::new() }
    }

    /// Adds a panel.
    pub fn add(&mut self, caption: impl Into<String>, content: Content) {
        self.panels.push(Panel { caption: caption.into(), content });
    }

    /// The sheet as an SVG document.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`](unmix::Error::Unsupported) where the shape of pictures is not that of a picture.
    pub fn svg(&self) -> Result<String> {
        let columns = self.columns.min(self.panels.len()).max(1);
        let drawn = self.panels.iter().map(|p| p.content.draw()).collect::<Result<Vec<_>>>()?;
        let captions: Vec<Vec<String>> = self.panels.iter().map(|p| lines(&p.caption, WIDTH / 6.6)).collect();
        let width = GAP + columns as f64 * (WIDTH + GAP);
        let title = lines(&self.title, (width - 2.0 * GAP) / 10.0);
        let mut body = Vec::new();
        let mut top = TITLE + TITLE_LINE * (title.len() as f64 - 1.0);
        for (row, panels) in drawn.chunks(columns).enumerate() {
            let captions = &captions[row * columns..][..panels.len()];
            let head = LINE * captions.iter().map(Vec::len).max().unwrap_or(1) as f64 + 6.0;
            for (i, ((markup, _), caption)) in panels.iter().zip(captions).enumerate() {
                let left = GAP + i as f64 * (WIDTH + GAP);
                body.push(html! {
                    @for (l, line) in caption.iter().enumerate() {
                        text.caption x=(pt(left)) y=(pt(top + LINE * (l as f64 + 1.0) - 3.0)) { (line) }
                    }
                    g transform=(format!("translate({} {})", pt(left), pt(top + head))) { (markup) }
                });
            }
            top += head + panels.iter().map(|p| p.1).fold(0.0, f64::max) + GAP;
        }
        let document = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(pt(width)) height=(pt(top)) viewBox=(format!("0 0 {} {}", pt(width), pt(top)))
                role="img" aria-label=(self.title) {
                style { (PreEscaped(STYLE)) }
                rect.paper width="100%" height="100%" {}
                @for (l, line) in title.iter().enumerate() {
                    text.title x=(pt(GAP)) y=(pt(30.0 + TITLE_LINE * l as f64)) { (line) }
                }
                @for part in &body { (part) }
            }
        };
        Ok(document.into_string())
    }
}

/// Width of a panel, between panels, height of a line of captions, what the title takes, and each further line of it.
const WIDTH: f64 = 300.0;
const GAP: f64 = 22.0;
const LINE: f64 = 16.0;
const TITLE: f64 = 46.0;
const TITLE_LINE: f64 = 24.0;

const STYLE: &str = "svg{font-family:system-ui,sans-serif}.paper{fill:#fff}.ground{fill:#f0eeea}text{fill:#5d6674;font-size:11px}\
.title{fill:#1d2430;font-size:19px;font-weight:600}.caption{fill:#1d2430;font-size:13px}path{fill:none}\
.grid{stroke:#e4e2dd}.axis,.tick{stroke:#8b939f}.line{stroke:#2f6f8f;stroke-width:1.4;stroke-linejoin:round}\
.points{stroke:#2f6f8f;stroke-width:3;stroke-linecap:round;stroke-opacity:.55}.pale{stroke:#8b939f;stroke-opacity:.4}image{image-rendering:pixelated}";

/// Text in lines of at most so many characters; longer words are not broken.
fn lines(text: &str, most: f64) -> Vec<String> {
    let most = most as usize;
    let mut out = vec![String::new()];
    for word in text.split_whitespace() {
        let last = out.len() - 1;
        if !out[last].is_empty() && out[last].chars().count() + 1 + word.chars().count() > most {
            out.push(word.into());
        } else {
            let gap = if out[last].is_empty() { "" } else { " " };
            out[last] = format!("{}{gap}{word}", out[last]);
        }
    }
    out
}

#[cfg(test)]
mod tests;
