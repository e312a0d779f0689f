use super::*;
use crate::datasets::{Distribution, independent};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows that can be read so many times before there is no memory for another piece of them.
struct ShortOfMemory<'a> {
    data: &'a [f64],
    p: usize,
    reads: AtomicU64,
    most: u64,
}

impl RandomAccess<f64> for ShortOfMemory<'_> {
    fn n_rows(&self) -> u64 {
        (self.data.len() / self.p) as u64
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [f64], _: &mut Vec<u8>) -> Result<()> {
        if self.reads.fetch_add(1, Ordering::Relaxed) >= self.most {
            let (what, remedy) = ("a piece of the rows".into(), "give fewer rows".into());
            return Err(Error::Memory { what, need_bytes: 1 << 50, have_bytes: 1 << 30, remedy });
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(columns.len())) {
            let first = row as usize * self.p;
            out.copy_from_slice(&self.data[first + columns.start..first + columns.end]);
        }
        Ok(())
    }
}

#[test]
fn too_little_memory_for_a_resample_is_an_error_with_a_remedy() {
    let distributions = [Distribution::Laplace, Distribution::Uniform].repeat(2);
    let x = independent(100, &distributions, &[9.0, 4.0, 1.0, 1.0], 1).unwrap().x;
    let rows = || Rows::from_slice(x.as_slice(), 4).unwrap();
    let settings = serde_json::json!({"n_components": 2}).as_object().cloned().unwrap();
    let run = Run { threads: 1, ..Run::default() };
    let model = crate::fit("pca", &settings, &mut AnyRows::from(rows()), &run).unwrap();
    let tried = |bootstrap: Option<usize>, most: u64| {
        let source = ShortOfMemory { data: x.as_slice(), p: 4, reads: AtomicU64::new(0), most };
        let found = of_source(&model, &rows(), &source, Trials { splits: 3, restarts: 1, bootstrap }, &run);
        (found, source.reads.into_inner())
    };
    let (whole, reads) = tried(Some(0), u64::MAX);
    assert_eq!(whole.unwrap().bootstrap, 0);
    assert_eq!(tried(None, u64::MAX).0.unwrap().bootstrap, 20);
    // Rows are read for the last time before the resamples, then for the first of these.
    for bootstrap in [Some(2), None] {
        let refused = tried(bootstrap, reads).0.unwrap_err();
        assert!(matches!(refused, Error::Memory { need_bytes, .. } if need_bytes == 1 << 50), "{refused:?}");
        let said = refused.to_string();
        let begins = "in a fit to half of a resample of the rows, a piece of the rows would need";
        assert!(
            said.starts_with(begins) && said.ends_with("give fewer rows, or choose bootstrap=0"),
            "{said}"
        );
    }
    let first = tried(Some(2), 0).0.unwrap_err().to_string();
    assert!(first.starts_with("a piece of the rows") && !first.contains("bootstrap"), "{first}");
}

#[test]
fn errors_of_fits_to_halves_are_about_halves_and_can_be_avoided() {
    let x = independent(8, &[Distribution::Laplace; 7], &[1.0; 7], 1).unwrap().x;
    let rows = |n: usize| Rows::from_slice(&x.as_slice()[..7 * n], 7).unwrap();
    let refused = |n: usize, settings: serde_json::Value| {
        let settings = settings.as_object().cloned().unwrap();
        let run = Run { threads: 1, ..Run::default() };
        let model = crate::fit("pca", &settings, &mut AnyRows::from(rows(n)), &run).unwrap();
        let trials = Trials { splits: 2, restarts: 0, bootstrap: None };
        stability(&model, &AnyRows::from(rows(n)), trials, &run).unwrap_err().to_string()
    };
    // Also where the number is that of a fit without a given one.
    for (settings, k) in [(serde_json::json!({"n_components": 6}), 6), (serde_json::json!({}), 7)] {
        assert_eq!(
            refused(8, settings),
            format!(
                "n_components={k} is not possible: a half of the array has 4 rows and 7 columns, so there are at most min(4, 7) = 4 \
                 components; choose another value, or leave stability out"
            )
        );
    }
    assert_eq!(
        refused(2, serde_json::json!({"n_components": 1})),
        "pca needs at least 2 rows, but a half of the array has 1; give more rows, or leave stability out"
    );
    // The number that the message names is possible.
    let run = Run { threads: 1, ..Run::default() };
    let settings = serde_json::json!({"n_components": 4}).as_object().cloned().unwrap();
    let model = crate::fit("pca", &settings, &mut AnyRows::from(rows(8)), &run).unwrap();
    stability(&model, &AnyRows::from(rows(8)), Trials { splits: 2, restarts: 0, bootstrap: None }, &run)
        .unwrap();
    // Rows of which one half is constant: all rows vary in one of them alone.
    let mut constant = vec![1.0; 16];
    constant[6] = 2.0;
    let rows = || AnyRows::from(Rows::from_slice(&constant, 2).unwrap());
    let settings = serde_json::json!({"n_components": 1}).as_object().cloned().unwrap();
    let model = crate::fit("pca", &settings, &mut rows(), &run).unwrap();
    let refused = stability(&model, &rows(), Trials { splits: 2, restarts: 0, bootstrap: None }, &run);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "pca of a half of the array is not possible: all 2 columns are constant over its 4 rows; give more rows, or leave stability out"
    );
}
