//! A share of the variance: a quantile of the spectrum, not an estimate of a dimension.

/// The fewest components whose cumulative share of `total` is strictly greater than `share`.
pub fn by_share(values: &[f64], total: f64, share: f64) -> usize {
    let mut sum = 0.0;
    for (i, v) in values.iter().enumerate() {
        sum += v / total;
        if sum > share {
            return i + 1;
        }
    }
    values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_met_exactly_is_not_exceeded() {
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.5), 2);
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.49), 1);
    }
}
