//! The geometry of PCA in the plane: a point, its projection on the first axis, and the residual.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::{Lab, filters};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet, Stroke, StrokeKind};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "projection",
    source: CHAPTER,
    summary: "Fig 2.2: a point of a noisy line, its projection on the axis that is learned, and its residual, with centring and without",
    run,
};

/// Number of points, standard deviation of the noise in each coordinate, and the angle of the line in degrees.
const N_POINTS: usize = 200;
const NOISE: f64 = 0.15;
const LINE_DEGREES: f64 = 30.0;
/// Mean of the points that are not centred.
const MEAN_OFF_CENTRE: [f64; 2] = [-1.0, 2.0];

/// The result of PCA on points.
struct LearnedProjection {
    axis: [f64; 2],
    /// Offset that is subtracted before the projection: the mean, or zero.
    origin: [f64; 2],
}

impl LearnedProjection {
    fn of(lab: &Lab<'_>, x: &Matrix<f64>, center: bool) -> Result<Self> {
        let model = lab.fit("pca", json!({"n_components": 1, "center": center}), x)?;
        let axis = filters(&model);
        let mean = model.tensor("mean").map(|t| t.f64s()).unwrap_or_else(|| vec![0.0; 2]);
        let origin = if center { [mean[0], mean[1]] } else { [0.0; 2] };
        Ok(Self { axis: [axis[(0, 0)], axis[(0, 1)]], origin })
    }

    /// The projection of a point.
    fn projected(&self, x: [f64; 2]) -> [f64; 2] {
        let code: f64 = (0..2).map(|j| (x[j] - self.origin[j]) * self.axis[j]).sum();
        [0, 1].map(|j| self.origin[j] + code * self.axis[j])
    }

    fn degrees(&self) -> f64 {
        (self.axis[1] / self.axis[0]).atan().to_degrees()
    }

    fn panel(&self, x: &Matrix<f64>, shown: usize) -> Content {
        let point = [x[(shown, 0)], x[(shown, 1)]];
        let on_axis = self.projected(point);
        let along = |t: f64| (self.origin[0] + t * self.axis[0], self.origin[1] + t * self.axis[1]);
        let pair = |p: [f64; 2]| (p[0], p[1]);
        let stroke = |name: &str, from, to, kind| Stroke { name: name.into(), from, to, kind };
        Content::Plane {
            points: (0..x.rows()).map(|i| (x[(i, 0)], x[(i, 1)])).collect(),
            strokes: vec![
                stroke("the subspace", along(-3.5), along(3.5), StrokeKind::Line),
                stroke("the axis u", along(0.0), along(1.0), StrokeKind::Arrow),
                stroke("residual of the point", pair(on_axis), pair(point), StrokeKind::Arrow),
                stroke("a point x", pair(point), pair(point), StrokeKind::Dot),
                stroke("its projection u uᵀ x", pair(on_axis), pair(on_axis), StrokeKind::Dot),
            ],
        }
    }
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let draws = Stream::new(2, 0);
    let (sin, cos) = LINE_DEGREES.to_radians().sin_cos();
    let normal = |i: usize, j: usize| draws.normal((3 * i + j) as u64);
    let x = Matrix::from_fn(N_POINTS, 2, |i, j| [cos, sin][j] * normal(i, 0) + NOISE * normal(i, 1 + j));
    let moved = Matrix::from_fn(N_POINTS, 2, |i, j| x[(i, j)] + MEAN_OFF_CENTRE[j]);
    lab.note(format!(
        "Data: {N_POINTS} points x = u z + e, u at {LINE_DEGREES} degrees, z of variance 1, e of standard deviation {NOISE}."
    ))?;
    // The point with the largest residual is drawn.
    let mut sheet = Sheet::new("A point, its projection and its residual", 3);
    let cases = [
        ("not centred", &x, false),
        ("centred", &x, true),
        ("translated, not centred", &moved, false),
        ("translated, centred", &moved, true),
    ];
    let mut found = Vec::new();
    for (name, x, center) in cases {
        let learned = LearnedProjection::of(lab, x, center)?;
        let degrees = learned.degrees();
        closed_form(lab, name, x, &learned)?;
        right_angles(lab, name, x, &learned)?;
        sheet.add(
            format!("{name}: the axis is at {degrees:.1} degrees"),
            learned.panel(x, farthest(x, &learned)),
        );
        found.push(degrees);
    }
    sheet.columns = 2;
    lab.figure("projection", &sheet)?;
    for (name, degrees) in ["not centred", "centred"].iter().zip(&found) {
        // The angle of N_POINTS points has the standard error sqrt(v w / N_POINTS) / (v - w), here 0.6 degrees (v and w the two variances).
        let (v, w) = (1.0 + NOISE * NOISE, NOISE * NOISE);
        let error = ((v * w / N_POINTS as f64).sqrt() / (v - w)).to_degrees();
        let holds = (degrees - LINE_DEGREES).abs() <= 3.0 * error;
        let quantity = format!("{name}: angle of the axis, degrees");
        lab.check(quantity, *degrees, "30", "within three standard errors, 1.8 degrees", holds)?;
    }
    let same = (found[3] - found[1]).abs();
    lab.check("translated, centred: change of the angle, degrees", same, "0", "at most 1e-9", same <= 1e-9)?;
    let off = (found[2] - LINE_DEGREES).abs();
    lab.check(
        "translated, not centred: error of the angle, degrees",
        off,
        "",
        "at least 30 degrees",
        off >= 30.0,
    )
}

/// The point farthest from the axis, among those that are well separated from the centre.
fn farthest(x: &Matrix<f64>, learned: &LearnedProjection) -> usize {
    let squared_distance = |i: usize| {
        let point = [x[(i, 0)], x[(i, 1)]];
        let on_axis = learned.projected(point);
        let far = (0..2).map(|j| (on_axis[j] - learned.origin[j]).powi(2)).sum::<f64>() > 1.0;
        if far { (0..2).map(|j| (point[j] - on_axis[j]).powi(2)).sum::<f64>() } else { 0.0 }
    };
    (0..x.rows()).max_by(|a, b| squared_distance(*a).total_cmp(&squared_distance(*b))).unwrap_or(0)
}

/// Compares the axis with the closed form in the plane: `tan 2t = 2 s₁₂ / (s₁₁ - s₂₂)`.
fn closed_form(lab: &mut Lab<'_>, name: &str, x: &Matrix<f64>, learned: &LearnedProjection) -> Result<()> {
    let moment = |a: usize, b: usize| {
        (0..x.rows()).map(|i| (x[(i, a)] - learned.origin[a]) * (x[(i, b)] - learned.origin[b])).sum::<f64>()
    };
    let turn = 0.5 * (2.0 * moment(0, 1)).atan2(moment(0, 0) - moment(1, 1));
    let off = (turn.cos() * learned.axis[1] - turn.sin() * learned.axis[0]).abs();
    let quantity = format!("{name}: sine of the angle between the axis and that of the closed form");
    lab.check(quantity, off, "0", "at most 1e-12", off <= 1e-12)
}

/// Residuals are orthogonal to the axis: the squares of projection and residual sum to that of the point.
fn right_angles(lab: &mut Lab<'_>, name: &str, x: &Matrix<f64>, learned: &LearnedProjection) -> Result<()> {
    let worst = (0..x.rows()).map(|i| {
        let point = [x[(i, 0)], x[(i, 1)]];
        let on_axis = learned.projected(point);
        (0..2).map(|j| (point[j] - on_axis[j]) * learned.axis[j]).sum::<f64>().abs()
    });
    let worst = worst.fold(0.0, f64::max);
    let quantity = format!("{name}: largest inner product of a residual with the axis");
    lab.check(quantity, worst, "0", "at most 1e-12", worst <= 1e-12)
}
