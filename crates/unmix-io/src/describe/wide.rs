//! Contents of very long rows, a panel of columns at a time: seven numbers for each pixel of a photograph would be many times the
//! photograph.

use super::{Cells, Contents, MOST_LISTED_COLUMNS, Totals};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use unmix::data::RandomAccess;
use unmix::internal::num::Block;
use unmix::{Error, Real, Result, Rows, Run};

/// Columns of a panel.
const COLUMNS_PER_PANEL: usize = MOST_LISTED_COLUMNS;
/// Numbers that are read at once.
const NUMBERS_PER_READ: usize = 1 << 20;

/// Statistics of all rows; `None` where rows cannot be read in any order.
pub(super) fn contents<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Option<Totals>> {
    let p = rows.n_features();
    let Some(random) = rows.source().random().filter(|_| rows.sparse().is_none()) else { return Ok(None) };
    let panels = p.div_ceil(COLUMNS_PER_PANEL);
    let next = AtomicUsize::new(0);
    let found = Mutex::new((vec![None; panels], vec![false; random.n_rows() as usize]));
    let work = || -> Result<()> {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= panels {
                return Ok(());
            }
            if run.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let (contents, incomplete) =
                panel(random, i * COLUMNS_PER_PANEL..p.min((i + 1) * COLUMNS_PER_PANEL))?;
            let mut all = Cells::default();
            contents.cells.iter().for_each(|cells| all.merge(cells));
            let constant = contents.cells.iter().filter(|cells| cells.is_constant()).count();
            let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
            found.0[i] = Some((all, constant));
            incomplete.into_iter().for_each(|row| found.1[row] = true);
        }
    };
    run.observer.event(unmix::Event::Stage("describing"));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..run.threads.min(panels)).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = others.into_iter().map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
        others.fold(own, Result::and)
    })?;
    let (parts, incomplete) = found.into_inner().unwrap_or_else(|e| e.into_inner());
    let (mut cells, mut constant) = (Cells::default(), 0);
    for (own, n) in parts.into_iter().flatten() {
        cells.merge(&own);
        constant += n;
    }
    let incomplete_rows = incomplete.iter().filter(|row| **row).count() as u64;
    Ok(Some(Totals { n_rows: random.n_rows(), incomplete_rows, constant, cells }))
}

/// Statistics of some columns of all rows, and the rows that are not complete there.
fn panel<T: Real>(
    random: &dyn RandomAccess<T>,
    columns: std::ops::Range<usize>,
) -> Result<(Contents, Vec<usize>)> {
    let (n, width) = (random.n_rows(), columns.len());
    let (mut contents, mut incomplete) = (Contents::empty(width), Vec::new());
    let (mut data, mut raw) = (Vec::new(), Vec::new());
    let step = (NUMBERS_PER_READ / width).max(1) as u64;
    for first in (0..n).step_by(step as usize) {
        let rows = first..n.min(first + step);
        data.resize((rows.end - rows.start) as usize * width, T::default());
        random.read(rows, columns.clone(), &mut data, &mut raw)?;
        let block = Block { first_row: first, data: &data, n_features: width, weights: None };
        contents.gather_incomplete(block, |i| incomplete.push(first as usize + i));
    }
    Ok((contents, incomplete))
}
