//! The same rows give the same bits with every method, for any number of threads and however the rows are stored.

use super::{Case, every_case};
use crate::made::{Known, bits, cast, digest, falling, fit_any, on_threads, settings};
use crate::same_bits::everywhere;
use unmix::data::Plan;
use unmix::{Model, Rows};

impl Case {
    /// Rows for several shards, where the case has more rows than columns.
    fn rows_of_shards<T: Known>(&self) -> Vec<T> {
        let n = match self.n > self.p && self.p < 100 {
            true => 2 * Plan::for_sources(self.p, self.p).shard_rows + 300,
            false => self.n,
        };
        cast(&falling(n, self.p, 7))
    }

    fn on<T: Known>(&self, rows: Rows<'_, T>, threads: usize) -> Model {
        let given = settings(self.given.clone());
        let model = fit_any(self.method.key, &given, &mut T::any(rows), &on_threads(threads));
        model.unwrap_or_else(|e| panic!("{self}: {e}"))
    }
}

fn check<T: Known>(case: &Case, every: usize) {
    let x = case.rows_of_shards::<T>();
    let one = case.on(Rows::from_slice(&x, case.p).unwrap(), 1);
    let want = digest(&one);
    let codes = one.encode_to_vec(&Rows::from_slice(&x, case.p).unwrap(), &on_threads(1)).unwrap();
    let mut turn = 0;
    everywhere(&x, case.p, |storage, rows| {
        turn += 1;
        if turn % every != 0 {
            return;
        }
        let threads = [2, 3, 7][turn % 3];
        // Codes are computed before the fit, which would read a stream into memory.
        let found = one.encode_to_vec(&rows, &on_threads(threads)).unwrap();
        assert!(found == codes, "{case}, {storage}, {threads} threads: codes differ");
        let model = case.on(rows, threads);
        assert!(
            digest(&model) == want,
            "{case}, {storage}, {threads} threads:\n{}\n{}",
            bits(&one),
            bits(&model)
        );
    });
    // The code of a row does not depend on the rows encoded with it.
    let k = one.n_codes();
    for i in (0..x.len() / case.p).step_by(x.len() / case.p / 5 + 1) {
        let alone = Rows::from_slice(&x[i * case.p..(i + 1) * case.p], case.p).unwrap();
        let code = one.encode_to_vec(&alone, &on_threads(1)).unwrap();
        assert!(code == codes[i * k..(i + 1) * k], "{case}: the code of row {i} alone differs");
    }
}

#[test]
fn every_path_gives_the_same_bits_from_everywhere() {
    for case in every_case() {
        // Strided arrays, files in both memory orders, and streams.
        check::<f64>(&case, 2);
    }
}

#[test]
fn every_path_gives_the_same_bits_in_single_precision() {
    for case in every_case() {
        check::<f32>(&case, 4);
    }
}

#[test]
fn every_model_is_restored_from_its_file() {
    for case in every_case() {
        let model = case.fit(&case.data::<f64>());
        let back = Model::from_bytes(&model.to_bytes().unwrap(), "the model".as_ref()).unwrap();
        assert_eq!(bits(&back), bits(&model), "{case}");
        let x = case.data::<f64>();
        let rows = || Rows::from_slice(&x, case.p).unwrap();
        let codes = |model: &Model| model.encode_to_vec(&rows(), &on_threads(2)).unwrap();
        assert_eq!(codes(&back), codes(&model), "{case}");
    }
}

#[test]
fn methods_take_remote_rows_and_missing_cells_as_declared() {
    for case in every_case() {
        if !case.method.accepts.stream {
            // Methods that need several passes read streams into memory; rows held by remote workers are refused.
            let nobody = |_: &[u8]| Ok(Vec::new());
            let mut rows = unmix::AnyRows::F64(Rows::remote(3000, case.p, &nobody));
            let message = fit_any(case.method.key, &settings(case.given.clone()), &mut rows, &on_threads(1));
            let message = message.map(|_| ()).unwrap_err().to_string();
            assert!(message.contains("load the rows on this machine"), "{case}: {message}");
        }
        // `groups` and `prior` cannot be combined with missing cells.
        let alone = ["groups", "prior"].iter().all(|name| case.given.get(*name).is_none());
        let missing = case.method.accepts.missing && alone;
        let mut x = case.data::<f64>();
        x[case.p + 1] = f64::NAN;
        assert_eq!(case.try_fit(&x).is_ok(), missing, "{case}");
    }
}
