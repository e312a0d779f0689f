//! The eigengap: the largest relative difference of successive variances.

/// Maximum number of components: far down a long spectrum there is always some large ratio of successive variances.
const MOST_COMPONENTS: usize = 20;

/// The number of components before the largest ratio of successive variances; the first of several.
///
/// `values` are descending and above rounding errors. The result is 1 for one variance, 0 for none.
pub fn gap(values: &[f64]) -> usize {
    // Differences of logarithms, so that no ratio overflows.
    largest(values, |a, b| a.ln() - b.ln())
}

/// As [`gap`], with differences in place of ratios: differences depend on the large variances, ratios on the small ones.
pub(crate) fn gap_difference(values: &[f64]) -> usize {
    largest(values, |a, b| a - b)
}

/// The number of components before the largest `distance` of successive variances, relative to the first.
fn largest(values: &[f64], distance: impl Fn(f64, f64) -> f64) -> usize {
    let first = values.first().copied().unwrap_or(0.0);
    let r = values.iter().take_while(|&&v| v > f64::EPSILON * first).count();
    let gaps = values[..r].windows(2).take(MOST_COMPONENTS).map(|w| distance(w[0] / first, w[1] / first));
    gaps.zip(1..).fold((f64::NEG_INFINITY, r.min(1)), |best, (g, k)| if g > best.0 { (g, k) } else { best }).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_a_ratio_in_any_units() {
        let values = [100.0, 50.0, 40.0, 1.0, 0.9, 0.1];
        for unit in [1.0, 1e-300, 1e300] {
            let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
            assert_eq!((gap(&scaled), gap_difference(&scaled)), (3, 1), "{unit}");
        }
    }

    #[test]
    fn zeros_and_ties_are_no_gap() {
        assert_eq!(gap(&[3.0, 2.9, 0.0, 0.0]), 1, "the decrease to rounding errors is not a gap");
        assert_eq!(gap(&[2.0, 2.0, 2.0]), 1);
        assert_eq!((gap(&[]), gap(&[0.0]), gap(&[5.0])), (0, 0, 1));
        let mut far = vec![1.0; 40];
        (30..40).for_each(|i| far[i] = 0.1);
        assert_eq!(gap(&far), 1, "component 30 is beyond the maximum");
    }
}
