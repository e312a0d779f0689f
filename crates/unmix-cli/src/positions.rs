//! Where sensors are: a table as it comes with a recording.

use crate::failure::Failure;
use std::path::Path;
use unmix::Error;

/// To the right and to the front, a line for each column of the data.
pub(crate) fn read(path: &Path) -> Result<Vec<(f64, f64)>, Failure> {
    let wrong = |found: String| {
        let remedy = "give a table with columns x and y, or theta_deg and radius, and a line for each column of the data";
        Failure::from(Error::format(path, found, remedy))
    };
    let tabs = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tsv"));
    let file = std::fs::File::open(path).map_err(|e| Error::io("cannot read", path, e))?;
    let mut table = csv::ReaderBuilder::new().delimiter(if tabs { b'\t' } else { b',' }).from_reader(file);
    let head: Vec<String> =
        table.headers().map_err(|e| wrong(e.to_string()))?.iter().map(|h| h.trim().to_lowercase()).collect();
    let of = |names: &[&str]| head.iter().position(|h| names.contains(&h.as_str()));
    let (polar, first, second) =
        match (of(&["x", "x_m"]), of(&["y", "y_m"]), of(&["theta_deg", "theta"]), of(&["radius"])) {
            (Some(x), Some(y), ..) => (false, x, y),
            (_, _, Some(theta), Some(radius)) => (true, theta, radius),
            _ => return Err(wrong(format!("its columns are {}", head.join(", ")))),
        };
    let mut out = Vec::new();
    for (i, record) in table.into_records().enumerate() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        let number = |j: usize| {
            let text = record.get(j).unwrap_or("").trim();
            let value: Option<f64> = text.parse().ok().filter(|v: &f64| v.is_finite());
            value.ok_or_else(|| wrong(format!("'{text}' in line {} is no number", i + 2)))
        };
        let (a, b) = (number(first)?, number(second)?);
        out.push(if polar { (b * a.to_radians().sin(), b * a.to_radians().cos()) } else { (a, b) });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_come() {
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
        assert_eq!(places("x,y,z\n1,2,3\n").unwrap(), [(1.0, 2.0)]);
        let said = |text: &str| match places(text) {
            Err(Failure::Library(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
        let message = said("label,x\na,1\n");
        assert!(message.contains("its columns are label, x") && message.contains("theta_deg"), "{message}");
        let message = said("x,y\n1,north\n");
        assert!(message.contains("'north' in line 2 is no number"), "{message}");
    }
}
