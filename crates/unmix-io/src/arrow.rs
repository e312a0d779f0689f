//! Arrow's own files (`.arrow`, `.feather`, `.ipc`) and streams (`.arrows`): batches of rows one after the other.

use crate::columns::{self, Batches, Columnar};
use crate::format::{ARROW, FEATHER_1, begins_as_arrow};
use crate::guard::guarded;
use crate::stored::FromStart;
use crate::{Input, Options, declared_lengths};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use unmix::data::Bytes;
use unmix::{Error, Result, Run};

pub(crate) fn open(bytes: Bytes<'static>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let path = bytes.path().to_path_buf();
    let mut start = [0; 8];
    let n = bytes.len().min(8) as usize;
    bytes.read_at(0, &mut start[..n])?;
    if start.starts_with(FEATHER_1) {
        let remedy = "write it again with pyarrow.feather.write_feather, version 2";
        return Err(Error::format(&path, "it is a Feather file of version 1, which is obsolete", remedy));
    }
    if !begins_as_arrow(&start) {
        return Err(Error::format(
            &path,
            "it does not start with the signature of an Arrow file",
            options.other_format(),
        ));
    }
    let stream = !start.starts_with(ARROW);
    guarded(&path, || declared_lengths::check(&bytes, stream))?;
    let bytes = Arc::new(bytes);
    let mut file = File { stream, bytes, schema: Arc::new(Schema::empty()), n_rows: 0 };
    file.schema = guarded(&path, || Ok(file.reader(None)?.1))?;
    // The number of rows is in the batches alone.
    let first: &[usize] = if file.schema.fields().is_empty() { &[] } else { &[0] };
    let mut n_rows = 0;
    for batch in file.batches(first)? {
        n_rows += batch?.num_rows() as u64;
        crate::progress(run, n_rows)?;
    }
    file.n_rows = n_rows;
    columns::open(Arc::new(file), options, run)
}

struct File {
    bytes: Arc<Bytes<'static>>,
    stream: bool,
    schema: SchemaRef,
    n_rows: u64,
}

type Reader<'a> = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send + 'a>;

impl File {
    fn reader(&self, columns: Option<Vec<usize>>) -> Result<(Reader<'_>, SchemaRef)> {
        let from = BufReader::with_capacity(1 << 16, FromStart::new(self.bytes.clone()));
        let wrong = |e: ArrowError| wrong(e, self.bytes.path());
        if self.stream {
            let reader = StreamReader::try_new(from, columns).map_err(wrong)?;
            let schema = reader.schema();
            return Ok((Box::new(reader), schema));
        }
        let reader = FileReader::try_new(from, columns).map_err(wrong)?;
        let schema = reader.schema();
        Ok((Box::new(reader), schema))
    }
}

impl Columnar for File {
    fn path(&self) -> &Path {
        self.bytes.path()
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn pandas(&self) -> Option<&str> {
        self.schema.metadata().get("pandas").map(String::as_str)
    }

    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn batches(&self, columns: &[usize]) -> Result<Batches<'_>> {
        let path = self.path();
        let mut reader = guarded(path, || Ok(self.reader(Some(columns.to_vec()))?.0))?;
        let next =
            move || guarded(path, || reader.next().transpose().map_err(|e| wrong(e, path))).transpose();
        Ok(Box::new(std::iter::from_fn(next)))
    }
}

fn wrong(e: ArrowError, path: &Path) -> Error {
    let text = e.to_string().trim_end_matches('.').to_lowercase();
    Error::format(
        path,
        format!("it is not a valid Arrow file ({text})"),
        "it may be truncated; copy or write it again",
    )
}
