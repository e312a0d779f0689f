use super::*;
use crate::datasets::low_rank_plus_noise;
use crate::run::Observer;
use std::sync::atomic::{AtomicBool, Ordering};

/// The table of fits that run out of memory from `k` components on.
fn table_up_to(k: u64) -> Result<Sizes> {
    let made = low_rank_plus_noise(80, 6, 2, 3.0, 1);
    let mut rows = Rows::from_slice(made.x.as_slice(), 6)?;
    let method = crate::method::find("ppca")?;
    let fit = |settings: &Map<String, Value>, rows: &mut Rows<'_, f64>, run: &Run<'_>| {
        if settings["n_components"].as_u64() >= Some(k) {
            let what = "a table of factors".into();
            return Err(Error::Memory {
                what,
                need_bytes: 1 << 50,
                have_bytes: 1 << 30,
                remedy: "choose fewer".into(),
            });
        }
        (method.spec)(settings)?.fit_f64(rows, run)
    };
    let settings = Map::new();
    let request = SizeRequest::new(&settings, &[SizeRule::Bic], Some(5));
    table_of(method, &mut rows, &request, &fit, &Run::default())
}

/// The table of fits of which that with `k` components is running when a time limit is reached.
fn table_until(k: usize, ends_early: bool) -> Sizes {
    let made = low_rank_plus_noise(80, 6, 2, 3.0, 1);
    let mut rows = Rows::from_slice(made.x.as_slice(), 6).unwrap();
    let method = crate::method::find("ppca").unwrap();
    let late = Late::default();
    let fit = |settings: &Map<String, Value>, rows: &mut Rows<'_, f64>, run: &Run<'_>| {
        if settings["n_components"].as_u64() >= Some(k as u64) {
            late.0.store(true, Ordering::Relaxed);
        }
        (method.spec)(settings)?.fit_f64(rows, run)
    };
    let settings = Map::new();
    let request = SizeRequest { settings: &settings, rules: &[SizeRule::Bic], most: Some(5), ends_early };
    table_of(method, &mut rows, &request, &fit, &Run { observer: &late, ..Run::default() }).unwrap()
}

/// An observer that ends a run like a time limit.
#[derive(Default)]
struct Late(AtomicBool);

impl Observer for Late {
    fn ends_early(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn fits_that_end_early_end_the_table() {
    let (first, whole) = (method_least(), table_until(99, true));
    let cut = table_until(3, true);
    assert_eq!(cut.lines[..], whole.lines[..3 - first]);
    assert!(
        cut.warnings.join(" ").contains("the table ends before 3 components: the fits ended early"),
        "{:?}",
        cut.warnings
    );
    let least = table_until(0, true);
    assert_eq!(least.lines.iter().map(|line| line.k).collect::<Vec<_>>(), [first]);
    assert!(least.warnings.join(" ").contains("may not have converged"), "{:?}", least.warnings);
    // Within a fit a number of components is needed.
    assert_eq!(table_until(3, false).lines.len(), whole.lines.len());
}

#[test]
fn a_number_that_does_not_fit_in_memory_ends_the_table() {
    let (whole, cut) = (table_up_to(99).unwrap(), table_up_to(3).unwrap());
    let first = method_least();
    assert_eq!(cut.lines[..], whole.lines[..3 - first]);
    let warnings = cut.warnings.join(" ");
    assert!(
        warnings.contains("the table ends before 3 components, which do not fit in memory"),
        "{warnings}"
    );
    assert!(warnings.contains("a table of factors"), "{warnings}");
    assert!(matches!(table_up_to(0), Err(Error::Memory { .. })), "without a line there is no table");
}

fn method_least() -> usize {
    crate::method::find("ppca").map_or(0, Method::least_components)
}
