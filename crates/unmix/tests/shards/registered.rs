//! A gather of a custom method, registered at run time, on three worker processes.

use super::distributed::Distributed;
use crate::made::{cast, falling};
use unmix::data::{Block, Workspace};
use unmix::stats::{Gather, GatherMoments, Packer, Partial, Unpacker};
use unmix::{AnyRows, Real, Result, Rows, Run, shards};

/// Number of rows, and the sum of their first numbers above a threshold.
#[derive(Debug, PartialEq)]
struct Above {
    n: u64,
    sum: f64,
}

/// Gathers [`Above`]; values of the parameter are different gathers of one kind.
struct GatherAbove<const WHICH: u8> {
    threshold: f64,
}

impl<T: Real, const WHICH: u8> Gather<T> for GatherAbove<WHICH> {
    type Part = Above;
    const KIND: &'static str = "numbers above a threshold";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, _: usize) -> Above {
        Above { n: 0, sum: 0.0 }
    }

    fn add(&self, part: &mut Above, block: Block<'_, T>, _: &mut Workspace<T>) {
        part.n += block.n_rows() as u64;
        let first = block.rows().map(|row| row[0].to_f64());
        part.sum += first.filter(|x| *x > self.threshold).sum::<f64>();
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.threshold);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { threshold: from.number()? })
    }
}

impl Partial for Above {
    fn merge(&mut self, right: Self) {
        self.n += right.n;
        self.sum += right.sum;
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.n);
        out.number(self.sum);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { n: from.count()?, sum: from.number()? })
    }

    fn bytes(&self) -> usize {
        16
    }
}

/// Registers the gather for rows of double precision in this process, as every worker does.
pub(super) fn register() {
    shards::register::<f64, GatherAbove<0>>().unwrap();
}

#[test]
fn workers_compute_the_sums_of_registered_gathers() {
    let p = 3;
    let n = 4 * shards::shard_rows(p) as usize + 777;
    let x = falling(n, p, 1);
    let gather = GatherAbove::<0> { threshold: 0.5 };
    let here = Rows::from_slice(&x, p).unwrap().sweep(&Run::default(), "above", &gather).unwrap();
    let distributed = Distributed::new(&x, p, &[1, 3]);
    let everywhere = |job: &[u8]| distributed.gather_all(job);
    let rows = Rows::<f64>::remote(n as u64, p, &everywhere);
    let there = rows.sweep(&Run::default(), "above", &gather).unwrap();
    assert_eq!((there.n, there.sum.to_bits()), (n as u64, here.sum.to_bits()));
    assert!(there.sum > 0.0);
}

#[test]
fn kinds_are_registered_once_for_each_type_of_rows() {
    register();
    // Again without effect.
    register();
    let error = |result: Result<()>| result.unwrap_err().to_string();
    assert_eq!(
        error(shards::register::<f64, GatherAbove<1>>()),
        "kind='numbers above a threshold' is not possible: another registered gather has this kind; choose another kind"
    );
    assert_eq!(
        error(shards::register::<f64, GatherMoments>()),
        "kind='moments' is not possible: a gather of this library has this kind; choose another kind"
    );
    // It is not registered for rows of single precision.
    let x: Vec<f32> = cast(&falling(50, 3, 1));
    let everywhere = |job: &[u8]| {
        let rows = AnyRows::from(Rows::from_slice(&x, 3)?);
        Ok(vec![shards::gather(job, &rows, 0, &Run::default())?])
    };
    let rows = Rows::<f32>::remote(50, 3, &everywhere);
    let found = rows.sweep(&Run::default(), "above", &GatherAbove::<0> { threshold: 0.5 });
    assert_eq!(
        found.unwrap_err().to_string(),
        "the sum 'numbers above a threshold' over shards is not possible: the worker cannot compute it; use the same version \
         of unmix everywhere, and register the gathers of custom methods on every worker"
    );
}
