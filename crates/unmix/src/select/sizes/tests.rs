use super::*;
use crate::datasets::low_rank_plus_noise;

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
    let request = SizeRequest { settings: &Map::new(), rules: &[SizeRule::Bic], most: Some(5) };
    table_of(method, &mut rows, &request, &fit, &Run::default())
}

#[test]
fn a_number_that_does_not_fit_in_memory_ends_the_table() {
    let (whole, cut) = (table_up_to(99).unwrap(), table_up_to(3).unwrap());
    let first = method_least();
    assert_eq!(cut.lines[..], whole.lines[..3 - first]);
    let warnings = cut.warnings.join(" ");
    assert!(warnings.contains("the table ends before 3 components, which do not fit in memory"), "{warnings}");
    assert!(warnings.contains("a table of factors"), "{warnings}");
    assert!(matches!(table_up_to(0), Err(Error::Memory { .. })), "without a line there is no table");
}

fn method_least() -> usize {
    crate::method::find("ppca").map_or(0, Method::least_components)
}
