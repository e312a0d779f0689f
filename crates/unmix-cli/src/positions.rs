//! Sensor positions, from the channel table of a recording.

use crate::failure::Failure;
use crate::side_file;
use std::path::Path;
use unmix::Error;

const REMEDY: &str = "give a table with columns x and y (and z), or theta_deg and radius, and a line for each column of the data";

/// Coordinates to the right and to the front, for each column of the data.
pub(crate) fn read(path: &Path) -> Result<Vec<(f64, f64)>, Failure> {
    let wrong = |found: String| Failure::from(Error::format(path, found, REMEDY));
    let text = side_file::text(path, REMEDY)?;
    let delimiter = side_file::delimiter(&text).unwrap_or(b',');
    unmix_io::check_quotations(path, text.as_bytes(), delimiter)?;
    let mut table = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let head: Vec<String> =
        table.headers().map_err(|e| wrong(e.to_string()))?.iter().map(|h| h.trim().to_lowercase()).collect();
    let column_named = |names: &[&str]| head.iter().position(|h| names.contains(&h.as_str()));
    let (polar, first, second) = match (
        column_named(&["x", "x_m"]),
        column_named(&["y", "y_m"]),
        column_named(&["theta_deg", "theta"]),
        column_named(&["radius"]),
    ) {
        (Some(x), Some(y), ..) => (false, x, y),
        (_, _, Some(theta), Some(radius)) => (true, theta, radius),
        _ => return Err(wrong(format!("its columns are {}", head.join(", ")))),
    };
    let up = if polar { None } else { column_named(&["z", "z_m"]) };
    let (mut out, mut heights) = (Vec::new(), Vec::new());
    for (i, record) in table.into_records().enumerate() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        let number = |j: usize| {
            let text = record.get(j).unwrap_or("").trim();
            let value: Option<f64> = text.parse().ok().filter(|v: &f64| v.is_finite());
            value.ok_or_else(|| wrong(format!("'{text}' in line {} is not a number", i + 2)))
        };
        let (a, b) = (number(first)?, number(second)?);
        out.push(if polar { (b * a.to_radians().sin(), b * a.to_radians().cos()) } else { (a, b) });
        heights.extend(up.map(number).transpose()?);
    }
    Ok(if on_a_sphere(&out, &heights) { unrolled(&out, &heights) } else { out })
}

/// Whether positions in space are at about equal distances from the origin, as sensors on a head are.
fn on_a_sphere(flat: &[(f64, f64)], heights: &[f64]) -> bool {
    let mut distance: Vec<f64> = flat.iter().zip(heights).map(|((x, y), z)| x.hypot(*y).hypot(*z)).collect();
    distance.sort_by(f64::total_cmp);
    let Some(median) = distance.get(distance.len() / 2).copied().filter(|m| *m > 0.0) else { return false };
    distance.iter().all(|d| (0.6..1.6).contains(&(d / median)))
}

/// The azimuthal equidistant projection: the distance from the centre is the arc length from the top of the sphere. In a parallel
/// projection from above, sensors below one another near the rim would coincide.
fn unrolled(flat: &[(f64, f64)], heights: &[f64]) -> Vec<(f64, f64)> {
    let place = |((x, y), z): (&(f64, f64), &f64)| {
        let out = x.hypot(*y);
        let stretch = if out > 0.0 { out.atan2(*z) / out } else { 0.0 };
        (x * stretch, y * stretch)
    };
    flat.iter().zip(heights).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_from_polar_plane_and_spherical_coordinates() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("channels.csv");
        let places = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path)
        };
        // The nose is at 0 degrees, the right ear at 90.
        let polar = places("index,label,theta_deg,radius\n0,FPz,0,0.5\n1,T8,90,0.5\n").unwrap();
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1) < 1e-12;
        assert!(near(polar[0], (0.0, 0.5)) && near(polar[1], (0.5, 0.0)), "{polar:?}");
        assert_eq!(places("x,y\n1,2\n").unwrap(), [(1.0, 2.0)]);
        // On a sphere: the top, the rim, and below the rim; the first two coordinates of the last two coincide.
        let round = places("x,y,z\n0,0,1\n0.8,0,0.6\n0.8,0,-0.6\n0,-1,0\n").unwrap();
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!(near(round[0], (0.0, 0.0)) && near(round[3], (0.0, -quarter)), "{round:?}");
        assert!(round[2].0 > quarter && quarter > round[1].0 && round[1].0 > 0.0, "{round:?}");
        // Not on a sphere around the origin: parallel projection from above.
        assert_eq!(places("x,y,z\n0,0,0\n1,2,30\n5,5,1\n").unwrap()[1], (1.0, 2.0));
        let refused = |text: &str| match places(text) {
            Err(Failure::Library(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
        let message = refused("label,x\na,1\n");
        assert!(message.contains("its columns are label, x") && message.contains("theta_deg"), "{message}");
        let message = refused("x,y\n1,north\n");
        assert!(message.contains("'north' in line 2 is not a number"), "{message}");
    }
}
