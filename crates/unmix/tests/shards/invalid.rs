//! Jobs and results that do not belong to a fit: each is refused in one sentence.

use super::distributed::bytes_but_run;
use crate::made::{cast, falling};
use std::sync::Mutex;
use unmix::data::{Features, Sparse};
use unmix::stats::{Packer, Unpacker};
use unmix::{AnyRows, Real, Rows, Run, shards};

/// The first job of a fit of `n` rows of `p` columns.
fn first_job<T: Real>(n: usize, p: usize) -> Vec<u8> {
    let kept: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let keep = |job: &[u8]| {
        *kept.lock().unwrap() = Some(job.to_vec());
        Ok(Vec::new())
    };
    let mut rows = Rows::<T>::remote(n as u64, p, &keep);
    unmix::Pca::default().fit(&mut rows, &Run::default()).unwrap_err();
    let job = kept.lock().unwrap().take();
    job.unwrap()
}

/// The error message of a fit when `change` replaces the answers to its first job.
fn refused(x: &[f64], p: usize, change: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + Sync) -> String {
    let everywhere = |job: &[u8]| Ok(change(job));
    let mut rows = Rows::<f64>::remote((x.len() / p) as u64, p, &everywhere);
    let error = unmix::Pca::default().fit(&mut rows, &Run::default()).unwrap_err().to_string();
    assert!(!error.contains('\n') && !error.ends_with('.'), "{error}");
    error
}

#[test]
fn invalid_answers_are_refused() {
    let p = 3;
    let size = shards::shard_rows(p) as usize;
    let x = falling(3 * size + 10, p, 1);
    let of = |job: &[u8], from: usize, until: usize| {
        let rows = AnyRows::from(Rows::from_slice(&x[from * p..until * p], p).unwrap());
        shards::gather(job, &rows, from as u64, &Run::default()).unwrap()
    };
    let n = x.len() / p;
    let message = refused(&x, p, |job| vec![of(job, 0, size), of(job, 2 * size, n)]);
    assert!(message.contains(&format!("rows {size} to {} are in no result", 2 * size - 1)), "{message}");
    let message = refused(&x, p, |job| vec![of(job, 0, 2 * size), of(job, size, n)]);
    assert!(message.contains(&format!("rows {size} to {} are in two results", 2 * size - 1)), "{message}");
    let message = refused(&x, p, |job| vec![of(job, 0, 2 * size)]);
    assert!(message.contains("are in no result"), "{message}");
    let message = refused(&x, p, |job| {
        let answer = of(job, 0, n);
        vec![answer[..answer.len() - 8].to_vec()]
    });
    assert!(message.contains("gather the shard again"), "{message}");
    let message = refused(&x, p, |_| vec![b"something else".to_vec()]);
    assert!(message.contains("neither an unmix job"), "{message}");
    let message = refused(&x, p, |job| {
        let mut answer = of(job, 0, n);
        answer[VERSION] = 9;
        vec![answer]
    });
    assert!(message.contains("another version of unmix"), "{message}");
    // An answer to a job of another data type.
    let job = first_job::<f32>(n, p);
    let single: Vec<f32> = cast(&x);
    let narrow = AnyRows::from(Rows::from_slice(&single, p).unwrap());
    let other = shards::gather(&job, &narrow, 0, &Run::default()).unwrap();
    let message = refused(&x, p, |_| vec![other.clone()]);
    assert!(message.contains("float32") && message.contains("float64"), "{message}");
    // Rows whose type, columns or position differ from those of the job.
    let error = |rows: &AnyRows<'_>, first_row: u64| {
        shards::gather(&job, rows, first_row, &Run::default()).unwrap_err().to_string()
    };
    let double = AnyRows::from(Rows::from_slice(&x, p).unwrap());
    assert!(error(&double, 0).contains("the fit is of float32"));
    let wide = AnyRows::from(Rows::from_slice(&single[..400], 4).unwrap());
    assert!(error(&wide, 0).contains("they have 4 columns, but the fit is of 3"));
    assert!(error(&narrow, 7).contains("are not whole shards"));
    let entries = Sparse::from_csr(&[0usize, 1], &[0u32], &[1.0f32][..], p).unwrap();
    let sparse = AnyRows::F32(Rows::new(entries, Features::default(), "sparse rows"));
    let message = error(&sparse, 0);
    assert!(message.contains("they are sparse, but the fit is of dense rows; give dense rows"), "{message}");
    assert!(shards::gather(&job[..job.len() - 1], &narrow, 0, &Run::default()).is_err());
}

/// Position of the version in jobs and results: after the name of the format, which is preceded by its length.
const VERSION: usize = 8 + 12;

/// The same job or result of another kind of sum.
fn of_kind(bytes: &[u8], kind: &str) -> Vec<u8> {
    let at = VERSION + 8;
    let own = Unpacker::new(&bytes[at..]).text().unwrap();
    let mut name = Packer::default();
    name.text(kind);
    [&bytes[..at], &name.into_bytes()[..], &bytes[at + 8 + own.len()..]].concat()
}

/// Nodes of a result: first shard, height, packed sum.
type Nodes = Vec<(u64, u64, Vec<u8>)>;

/// The nodes of a result, and its bytes before its first row.
fn parts_of(result: &[u8]) -> (Nodes, &[u8]) {
    let mut from = Unpacker::new(result);
    let (_magic, _version) = (from.text().unwrap(), from.count().unwrap());
    let (kind, dtype, _width) = (from.text().unwrap(), from.text().unwrap(), from.count().unwrap());
    let (_first_row, _n_rows) = (from.count().unwrap(), from.count().unwrap());
    let count = from.count().unwrap();
    let mut node = || (from.count().unwrap(), from.count().unwrap(), from.bytes().unwrap().to_vec());
    let nodes = (0..count).map(|_| node()).collect();
    from.end().unwrap();
    (nodes, &result[..VERSION + 8 + 8 + kind.len() + 8 + dtype.len() + 8])
}

/// One result for all rows of `x`, from one for each shard, with its nodes changed.
fn with_nodes(job: &[u8], x: &[f64], p: usize, change: impl Fn(&mut Nodes)) -> Vec<u8> {
    let (n, size) = (x.len() / p, shards::shard_rows(p) as usize);
    let shard = |first: usize| {
        let until = (first + size).min(n);
        let rows = AnyRows::from(Rows::from_slice(&x[first * p..until * p], p).unwrap());
        shards::gather(job, &rows, first as u64, &Run::default()).unwrap()
    };
    let results: Vec<Vec<u8>> = (0..n).step_by(size).map(shard).collect();
    let mut nodes: Nodes = results.iter().flat_map(|result| parts_of(result).0).collect();
    change(&mut nodes);
    let mut out = Packer::default();
    [0, n as u64, nodes.len() as u64].into_iter().for_each(|x| out.count(x));
    for (first, height, part) in &nodes {
        out.count(*first);
        out.count(*height);
        out.bytes(part);
    }
    [parts_of(&results[0]).1, &out.into_bytes()[..]].concat()
}

/// What the error of a fit of four shards reports of a result, for the first job, whose nodes were changed.
fn found(x: &[f64], p: usize, change: impl Fn(&mut Nodes) + Send + Sync) -> String {
    let text = refused(x, p, |job| {
        vec![with_nodes(job, x, p, |nodes| {
            assert!(nodes.iter().map(|node| (node.0, node.1)).eq((0..4).map(|shard| (shard, 0))));
            change(nodes);
        })]
    });
    let before = format!("the sum 'weights' over {} rows is not possible: ", x.len() / p);
    let after = "; every worker must return one result, for all the rows that it holds";
    let found = text.strip_prefix(&before).and_then(|text| text.strip_suffix(after));
    found.unwrap_or_else(|| panic!("{text}")).to_string()
}

#[test]
fn nodes_of_one_result_cover_its_rows_once() {
    let p = 3;
    let n = 3 * shards::shard_rows(p) as usize + 10;
    let x = falling(n, p, 1);
    // Without a change the fit has the bytes of one process.
    let everywhere = |job: &[u8]| Ok(vec![with_nodes(job, &x, p, |_| ())]);
    let mut rows = Rows::<f64>::remote(n as u64, p, &everywhere);
    let there = unmix::Pca::default().fit(&mut rows, &Run::default()).unwrap();
    let here = unmix::Pca::default().fit(&mut Rows::from_slice(&x, p).unwrap(), &Run::default()).unwrap();
    assert_eq!(bytes_but_run(&there), bytes_but_run(&here));
    // A shard in two nodes.
    let text = found(&x, p, |nodes| nodes[2].0 = 1);
    assert_eq!(text, "a result has a node at shard 1 instead of 2");
    let text = found(&x, p, |nodes| nodes.insert(1, nodes[0].clone()));
    assert_eq!(text, "a result has a node at shard 0 instead of 1");
    let text = found(&x, p, |nodes| nodes[0].1 = 1);
    assert_eq!(text, "a result has a node at shard 1 instead of 2");
    // Shards in no node: the first, one between others, the last.
    let text = found(&x, p, |nodes| drop(nodes.remove(0)));
    assert_eq!(text, "a result has a node at shard 1 instead of 0");
    let text = found(&x, p, |nodes| drop(nodes.remove(1)));
    assert_eq!(text, "a result has a node at shard 2 instead of 1");
    let text = found(&x, p, |nodes| drop(nodes.pop()));
    assert_eq!(text, "the nodes of a result end at shard 3, its rows at shard 4");
    // Nodes that no tree has, or that reach beyond the rows.
    let text = found(&x, p, |nodes| nodes[3].1 = 1);
    assert_eq!(text, "a result has a node of height 1 at shard 3");
    let text = found(&x, p, |nodes| nodes[0].1 = 64);
    assert_eq!(text, "a result has a node of height 64 at shard 0");
    let text = found(&x, p, |nodes| {
        nodes.truncate(2);
        (nodes[0].1, nodes[1].0, nodes[1].1) = (63, 1 << 63, 63);
    });
    assert_eq!(text, format!("the nodes of a result end at shard {}, its rows at shard 4", u64::MAX));
}

#[test]
fn results_and_jobs_of_another_kind_width_or_version_are_refused() {
    let p = 3;
    let n = shards::shard_rows(p) as usize + 10;
    let x = falling(n, p, 1);
    let rows = AnyRows::from(Rows::from_slice(&x, p).unwrap());
    let of = |job: &[u8]| shards::gather(job, &rows, 0, &Run::default()).unwrap();
    let every = "every worker must return one result, for all the rows that it holds";
    assert_eq!(
        refused(&x, p, |job| vec![of_kind(&of(job), "moments")]),
        format!(
            "the sum 'weights' over {n} rows is not possible: a result of the sum 'moments' in float64, not 'weights' in \
             float64; {every}"
        )
    );
    // The result of a job over as many rows with a column more.
    let wide = falling(n, p + 1, 1);
    let wide = AnyRows::from(Rows::from_slice(&wide, p + 1).unwrap());
    let other = shards::gather(&first_job::<f64>(n, p + 1), &wide, 0, &Run::default()).unwrap();
    assert_eq!(
        refused(&x, p, |_| vec![other.clone()]),
        format!(
            "the sum 'weights' over {n} rows is not possible: a result over rows of 4 columns, not of 3; {every}"
        )
    );
    let error = |job: &[u8]| shards::gather(job, &rows, 0, &Run::default()).unwrap_err().to_string();
    let job = first_job::<f64>(n, p);
    assert_eq!(
        error(&of_kind(&job, "medians")),
        "the sum 'medians' over shards is not possible: the worker cannot compute it; use the same version of unmix \
         everywhere, and register the gathers of custom methods on every worker"
    );
    let mut old = job.clone();
    old[VERSION] += 1;
    assert_eq!(
        error(&old),
        "the job cannot be read: it was made by another version of unmix; use the same version of unmix everywhere"
    );
    assert_eq!(
        error(&of(&job)),
        "the packed sums cannot be read: they are corrupt or of another kind; gather the shard again"
    );
    assert_eq!(
        error(b"something else"),
        "the job cannot be read: it is neither an unmix job nor the result of one; use the same version of unmix \
         everywhere"
    );
}

#[test]
fn workers_without_rows_may_be_anywhere() {
    let p = 3;
    let n = shards::shard_rows(p) as usize + 10;
    let x = falling(n, p, 1);
    let everywhere = |job: &[u8]| {
        let of = |from: usize, until: usize| {
            let rows = AnyRows::from(Rows::from_slice(&x[from * p..until * p], p)?);
            shards::gather(job, &rows, from as u64, &Run::default())
        };
        Ok(vec![of(0, 0)?, of(n, n)?, of(0, n)?])
    };
    let mut rows = Rows::<f64>::remote(n as u64, p, &everywhere);
    let there = unmix::Pca::default().fit(&mut rows, &Run::default()).unwrap();
    let here = unmix::Pca::default().fit(&mut Rows::from_slice(&x, p).unwrap(), &Run::default()).unwrap();
    assert_eq!(bytes_but_run(&there), bytes_but_run(&here));
}
