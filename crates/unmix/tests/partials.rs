//! Properties of all mergeable statistics: merging an empty one changes no bit, merging is associative up to rounding, packing and
//! unpacking is the identity to the bit, and corrupt bytes are an error.

mod codes;
mod ordered;
mod statistics;

use crate::made::{apart, cast, falling};
use crate::naive;
use proptest::prelude::*;
use statistics::Statistic;
use std::collections::BTreeSet;
use std::path::Path;
use unmix::biclusters::ModuleMeans;
use unmix::data::{Plan, Workspace};
use unmix::internal::autoencoder::Evaluation;
use unmix::internal::gaps::{CellLists, ExpectedMoments, FactorSums, ObservedCells};
use unmix::internal::neural::native::NativeSums;
use unmix::internal::neural::separation::PassSums;
use unmix::internal::num::{Block, Matrix};
use unmix::internal::rectified::CodeSums;
use unmix::internal::rectified::cubes::Cubes;
use unmix::method::sparse_coder::Convergence;
use unmix::select::CellDensities;
use unmix::stats::{
    Checksum, Correlations, DirectionSums, Entries, GatherScatter, GatheredRows, Gram, Lengths, Moments,
    Range, Reweighted, RowWeights, Scatter, ScoreSums, Sketch, SourceSums, Sparsity, Spread, Triangle,
    UnitSums, from_bytes, to_bytes,
};
use unmix::{Real, Rows, Run};

/// Evaluates an expression for every mergeable statistic, whose type it can name.
macro_rules! of_every {
    (|$statistic:ident| $body:expr) => {{
        of_every!(@ $statistic, $body, [
            Moments, Lengths, Scatter, Triangle, Gram, Sketch, Sparsity, SourceSums, UnitSums, DirectionSums, Spread,
            Reweighted, ScoreSums, PassSums, NativeSums, ObservedCells, FactorSums, ExpectedMoments, Cubes, CodeSums,
            Range, Checksum, RowWeights, CellLists, GatheredRows<f64>, Entries<f64>, Correlations, Convergence,
            ModuleMeans, CellDensities, Evaluation,
        ]);
    }};
    (@ $statistic:ident, $body:expr, [$($each:ty),* $(,)?]) => {
        $({
            type $statistic = $each;
            $body;
        })*
    };
}

fn of<P: Statistic, T: Real>(x: &[T], p: usize) -> P {
    of_later(0, x, p)
}

/// The same for rows, the first of which is row `before` of all.
fn of_later<P: Statistic, T: Real>(before: usize, x: &[T], p: usize) -> P {
    let (mut part, mut work) = (P::empty(p), Workspace::default());
    let step = Plan::for_width(p).block_rows;
    for (i, data) in x.chunks(step * p).enumerate() {
        let first_row = (before + i * step) as u64;
        part.gather(Block { first_row, data, n_features: p, weights: None }, &mut work);
    }
    part
}

fn merged<P: Statistic>(parts: impl IntoIterator<Item = P>) -> P {
    parts
        .into_iter()
        .reduce(|mut a, b| {
            a.merge(b);
            a
        })
        .expect("parts")
}

/// Whether the bits are equal: 0 and -0 are equal numbers with different bits.
fn same_bits<P: Statistic>(a: &P, b: &P) -> bool {
    to_bytes(a) == to_bytes(b)
}

fn laws<P: Statistic, T: Real>(x: &[f64], p: usize, cuts: [usize; 2]) {
    let x: Vec<T> = cast(x);
    let n = x.len() / p;
    let (i, j) = (cuts[0].min(cuts[1]).min(n), cuts[0].max(cuts[1]).min(n));
    let part = |from: usize, to: usize| of_later::<P, T>(from, &x[from * p..to * p], p);
    let (a, b, c) = (part(0, i), part(i, j), part(j, n));

    for part in [&a, &b, &c] {
        assert!(same_bits(&merged([P::empty(p), part.clone()]), part), "{}: zero from the left", P::NAME);
        assert!(same_bits(&merged([part.clone(), P::empty(p)]), part), "{}: zero from the right", P::NAME);
        let bytes = to_bytes(part);
        let back: P = from_bytes(&bytes).unwrap();
        assert!(to_bytes(&back) == bytes && back == *part, "{}: bytes and back", P::NAME);
        // The packed form has lengths in addition.
        let held = part.bytes();
        assert!(
            held <= bytes.len() && held + part.extra() >= bytes.len(),
            "{}: {held} of {} bytes",
            P::NAME,
            bytes.len()
        );
    }

    let left = merged([merged([a.clone(), b.clone()]), c.clone()]).values();
    let right = merged([a, merged([b, c])]).values();
    let whole = part(0, n).values();
    // Rounding errors: of the type of the rows for products within a block, of double precision for merging.
    let size = whole.2.iter().fold(1e-300f64, |m, v| m.max(v.abs()));
    let tol = 30.0 * (n as f64).sqrt() * T::DTYPE.eps() * size;
    // The error of a mean is at most n eps times the largest number, since large numbers may cancel.
    let far = x.iter().fold(1.0f64, |m, v| m.max(v.to_f64().abs()));
    for (name, other) in [("(ab)c and a(bc)", &right), ("(ab)c and abc", &whole)] {
        assert_eq!(left.0, other.0, "{}: {name}: counts", P::NAME);
        assert!(apart(&left.1, &other.1) <= 1e-13 * far, "{}: {name}: means", P::NAME);
        let distance = apart(&left.2, &other.2);
        assert!(
            distance <= tol,
            "{}: {name}: second moments are {distance:e} apart, more than {tol:e}",
            P::NAME
        );
    }
}

/// Rows, their number of columns, and two positions at which they are split.
fn some_rows() -> impl Strategy<Value = (Vec<f64>, usize, [usize; 2])> {
    (1usize..7, 1usize..60).prop_flat_map(|(p, n)| {
        let number = prop_oneof![4 => -10.0..10.0f64, 1 => Just(3.0), 1 => -1e4..1e4f64];
        (proptest::collection::vec(number, n * p), Just(p), [0..=n, 0..=n])
    })
}

proptest! {
    #![proptest_config(crate::made::cases(200))]

    #[test]
    fn every_statistic_keeps_the_three_laws((x, p, cuts) in some_rows()) {
        of_every!(|P| laws::<P, f64>(&x, p, cuts));
        of_every!(|P| laws::<P, f32>(&x, p, cuts));
    }

    #[test]
    fn corrupt_bytes_are_an_error_or_a_statistic_that_merges((x, p, _) in some_rows(), at in any::<prop::sample::Index>(), new in any::<u8>()) {
        fn check<P: Statistic>(good: &P, at: &prop::sample::Index, new: u8) {
            let bytes = to_bytes(good);
            for cut in [0, bytes.len() / 2, bytes.len() - 1, at.index(bytes.len())] {
                assert!(from_bytes::<P>(&bytes[..cut]).is_err(), "{}: cut to {cut} of {} bytes", P::NAME, bytes.len());
            }
            let longer = [bytes.clone(), vec![new]].concat();
            assert!(from_bytes::<P>(&longer).is_err(), "{}: a byte too many", P::NAME);
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] = new;
            // A number may have changed, but a shape may not.
            if let Ok(part) = from_bytes::<P>(&changed) {
                let (a, b) = (part.values(), good.values());
                assert_eq!((a.1.len(), a.2.len()), (b.1.len(), b.2.len()), "{}: shape", P::NAME);
                merged([good.clone(), part.clone()]);
                merged([part, good.clone()]);
            }
        }
        of_every!(|P| check(&of::<P, f64>(&x, p), &at, new));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // Arbitrary bytes must not panic, and whatever is accepted must have consistent shapes.
        if let Ok(s) = from_bytes::<Scatter>(&bytes) {
            prop_assert_eq!((s.lower.rows(), s.lower.cols()), (s.mean.len(), s.mean.len()));
        }
        if let Ok(m) = from_bytes::<Moments>(&bytes) {
            prop_assert_eq!(m.mean.len(), m.squares.len());
        }
        if let Ok(t) = from_bytes::<Triangle>(&bytes) {
            prop_assert_eq!(t.r.cols(), t.mean.len());
        }
        if let Ok(g) = from_bytes::<Gram>(&bytes) {
            prop_assert_eq!(g.lower.rows(), g.lower.cols());
        }
    }
}

#[test]
fn every_partial_of_the_library_keeps_the_laws() {
    // `unmix::stats::Entries<f64>` is `Entries` in the source.
    fn name(of: &str) -> &str {
        let path = of.split('<').next().unwrap();
        path.rsplit("::").next().unwrap()
    }
    fn partials(folder: &Path, found: &mut BTreeSet<String>) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                partials(&path, found);
            }
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for line in text.lines().filter(|line| line.starts_with("impl")) {
                let Some((_, of)) = line.split_once(" Partial for ") else { continue };
                found.insert(name(of.trim_end_matches(['{', ' '])).to_string());
            }
        }
    }
    let (mut tested, mut found) = (BTreeSet::new(), BTreeSet::new());
    of_every!(|P| tested.insert(name(std::any::type_name::<P>()).to_string()));
    partials(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert_eq!(tested, found, "the list of this file, and the statistics in the source");
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    use unmix::stats::Packer;
    let packed = |counts: &[u64], lists: &[Vec<f64>], matrix: Option<(usize, usize)>| {
        let mut out = Packer::default();
        counts.iter().for_each(|&c| out.count(c));
        lists.iter().for_each(|l| out.numbers(l));
        matrix.iter().for_each(|&(r, c)| out.matrix(&Matrix::zeros(r, c)));
        out.into_bytes()
    };
    assert!(from_bytes::<Moments>(&packed(&[4], &[vec![0.0; 3], vec![0.0; 2]], None)).is_err());
    assert!(from_bytes::<Scatter>(&packed(&[4], &[vec![0.0; 3]], Some((2, 2)))).is_err());
    assert!(from_bytes::<Scatter>(&packed(&[4], &[vec![0.0; 3]], Some((3, 2)))).is_err());
    assert!(from_bytes::<Gram>(&packed(&[4, 4], &[], Some((3, 2)))).is_err());
    assert!(from_bytes::<Triangle>(&packed(&[4, 0], &[vec![0.0; 3]], Some((2, 2)))).is_err());
    assert!(from_bytes::<Triangle>(&packed(&[4, 0], &[vec![]], Some((0, 0)))).is_err());
    // A declared length beyond any file size must be refused.
    let mut vast = Packer::default();
    vast.count(4);
    vast.count(u64::MAX);
    assert!(from_bytes::<Moments>(&vast.into_bytes()).is_err());
}

#[test]
fn merging_keeps_ten_digits_under_a_mean_of_a_million() {
    let (n, p) = (5000, 4);
    let x: Vec<f64> = falling(n, p, 1).iter().map(|v| v + 1e6).collect();
    let want: Vec<f64> =
        naive::covariance(&x, p).into_iter().enumerate().flat_map(|(i, row)| row[..=i].to_vec()).collect();
    // Five hundred small parts, merged one after the other.
    let parts: Vec<Scatter> = x.chunks(10 * p).map(|c| of(c, p)).collect();
    let found: Vec<f64> = merged(parts).values().2.iter().map(|v| v / (n as f64 - 1.0)).collect();
    assert!(apart(&found, &want) < 1e-10, "{:e}", apart(&found, &want));
    let squares = merged(x.chunks(10 * p).map(|c| of::<Moments, f64>(c, p))).squares;
    let diagonal: Vec<f64> = (0..p).map(|j| want[j * (j + 1) / 2 + j] * (n as f64 - 1.0)).collect();
    assert!(squares.iter().zip(&diagonal).all(|(a, b)| (a / b - 1.0).abs() < 1e-10));
    let square = merged(x.chunks(10 * p).map(|c| of::<Triangle, f64>(c, p))).values().2;
    assert!(square.iter().zip(&want).all(|(a, b)| (a / (n as f64 - 1.0) - b).abs() < 1e-10));
}

#[test]
fn single_precision_rows_with_a_mean_of_a_million_keep_their_covariance() {
    let (n, p) = (4000, 5);
    let x: Vec<f32> = falling(n, p, 1).iter().map(|v| (1e3 * v + 1e6) as f32).collect();
    // The reference uses the rows as they are stored, rounded to 1/16.
    let want = naive::covariance(&crate::made::wide(&x), p);
    let rows = Rows::from_slice(&x, p).unwrap();
    let found = rows.sweep(&Run::default(), "covariance", &GatherScatter::new()).unwrap();
    for i in 0..p {
        for j in 0..=i {
            let value = found.lower[(i, j)] / (n as f64 - 1.0);
            assert!(
                (value - want[i][j]).abs() < 1e-5 * want[0][0].max(want[i][i]),
                "{i}, {j}: {value} not {}",
                want[i][j]
            );
        }
    }
    for (m, want) in found.mean.iter().zip(naive::mean(&crate::made::wide(&x), p)) {
        assert!((m - want).abs() < 1e-8, "mean {m} not {want}");
    }
}
