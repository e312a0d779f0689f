use super::*;
use unmix::data::{Features, Source, Stream};
use unmix::{Pca, datasets};

/// Rows that can be read only once, forward, and whose number is unknown.
struct OneWayRows<'a>(&'a [f64], usize);
struct OneWayStream<'a>(&'a [f64], usize);

impl Source<f64> for OneWayRows<'_> {
    fn n_features(&self) -> usize {
        self.1
    }
    fn n_rows(&self) -> Option<u64> {
        None
    }
    fn stream(&self) -> Result<Box<dyn Stream<f64> + '_>> {
        Ok(Box::new(OneWayStream(self.0, self.1)))
    }
}

impl Stream<f64> for OneWayStream<'_> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<f64>) -> Result<usize> {
        // Fewer than requested: a reader may return any number of rows.
        let n = max_rows.min(77).min(self.0.len() / self.1);
        let (now, later) = self.0.split_at(n * self.1);
        out.extend_from_slice(now);
        self.0 = later;
        Ok(n)
    }
}

#[test]
fn a_stream_and_an_array_give_the_same_sample_at_a_fixed_stride() {
    let data = datasets::patterns(12_000, 4, 2, 0.1, 0);
    let mut rows = Rows::from_slice(data.x.as_slice(), 16).unwrap();
    let run = Run::default();
    let model = Pca { n_components: 2.into(), ..Default::default() }.fit(&mut rows, &run).unwrap();
    let a = Sample::of(&model, None, &[], &rows, &run).unwrap();
    let tape = Rows::new(OneWayRows(data.x.as_slice(), 16), Features::default(), "a tape");
    let b = Sample::of(&model, None, &[], &tape, &run).unwrap();
    assert_eq!((a.n_rows, a.index.len(), a.index[1]), (12_000, 4000, 3));
    assert_eq!((&a.index, &a.codes, a.kept, b.n_rows), (&b.index, &b.codes, b.kept, 12_000));
    assert_eq!(
        a.examples.iter().map(|e| e.index).collect::<Vec<_>>(),
        (0..8).map(|i| i * 1500).collect::<Vec<_>>()
    );
    let codes = model.encode_to_vec(&rows, &run).unwrap();
    assert_eq!(a.codes.row(1234), &codes[2 * 3 * 1234..2 * 3 * 1234 + 2]);
    // Two strong patterns under little noise: nearly everything is kept, of each row and of all.
    assert!(a.kept.is_some_and(|kept| kept > 0.9 && kept < 1.0) && a.examples.iter().all(|e| e.error < 0.6));
}

#[test]
fn strides_share_no_factor_with_common_periods() {
    let found: Vec<u64> = [0, 1, 2, 3, 4, 8, 12, 24, 1000].into_iter().map(stride).collect();
    assert_eq!(found, [1, 1, 3, 3, 5, 11, 13, 29, 1009]);
}

#[test]
fn errors_name_the_row_of_the_input() {
    let mut x = datasets::patterns(12_000, 4, 2, 0.1, 0).x;
    let run = Run::default();
    let model = Pca::default().fit(&mut Rows::from_slice(x.as_slice(), 16).unwrap(), &run).unwrap();
    x.as_mut_slice()[6000 * 16 + 5] = f64::NAN;
    let error = Sample::of(&model, None, &[], &Rows::from_slice(x.as_slice(), 16).unwrap(), &run)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("row 6000, column 5 is NaN"), "{error}");
    let narrow = Sample::of(&model, None, &[], &Rows::from_slice(&[1.0, 2.0], 2).unwrap(), &run)
        .err()
        .unwrap()
        .to_string();
    assert!(narrow.contains("16 columns are needed, but 2 were given"), "{narrow}");
}
