//! Orders of indices by numbers.

/// Indices of `keys` by ascending key, equal ones in their order.
pub(crate) fn ascending(keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    order
}

/// Indices of `keys` by descending key, equal ones in their order.
pub(crate) fn descending(keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]));
    order
}
