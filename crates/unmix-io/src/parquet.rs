//! `.parquet` files: row groups one after the other, and of them only the columns requested. Pages whose writer has stored a
//! checksum are compared with it.

use crate::columns::{self, Batches, Columnar};
use crate::guard::guarded;
use crate::pages::{BufferPool, Chunk, Stored};
use crate::stored::FromStart;
use crate::{Input, Options};
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::SchemaDescriptor;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use unmix::data::Bytes;
use unmix::{Error, Result, Run};

pub(crate) fn open(bytes: Bytes<'static>, options: &Options, run: &Run<'_>) -> Result<Input> {
    columns::open(Arc::new(File::open(bytes)?), options, run)
}

fn leaves(schema: &SchemaDescriptor, n_columns: usize) -> Vec<Option<usize>> {
    let (mut leaves, mut seen) = (vec![None; n_columns], vec![false; n_columns]);
    for leaf in 0..schema.num_columns() {
        let root = schema.get_column_root_idx(leaf);
        if let (Some(own), Some(seen)) = (leaves.get_mut(root), seen.get_mut(root)) {
            *own = Some(leaf).filter(|_| !*seen);
            *seen = true;
        }
    }
    leaves
}

/// The schema of a file with the durations of the one that pandas, polars and others store in addition. Where that one is missing or corrupt, the
/// file's own.
fn with_durations(metadata: &ArrowReaderMetadata, path: &Path) -> Arc<Schema> {
    let own = metadata.schema();
    let stored = guarded(path, || {
        let parsed = metadata.metadata().clone();
        ArrowReaderMetadata::try_new(parsed, ArrowReaderOptions::new()).map_err(|e| wrong(e, path))
    });
    let Some(stored) = stored.ok().filter(|stored| stored.schema().fields().len() == own.fields().len())
    else {
        return own.clone();
    };
    let fields =
        own.fields().iter().zip(stored.schema().fields()).map(|(own, stored)| match stored.data_type() {
            DataType::Duration(_) => stored.clone(),
            _ => own.clone(),
        });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

pub(crate) struct File {
    shared: Shared,
    metadata: ArrowReaderMetadata,
    /// The columns, with durations as such, which the file itself stores as integers of any unit.
    schema: Arc<Schema>,
    n_rows: u64,
    /// For each column the one leaf of the file's tree that it is; `None` for lists and groups.
    leaves: Vec<Option<usize>>,
}

impl Columnar for File {
    fn path(&self) -> &Path {
        self.shared.0.path()
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn pandas(&self) -> Option<&str> {
        let pairs = self.metadata.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == "pandas")?.value.as_deref()
    }

    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn batches(&self, columns: &[usize]) -> Result<Batches<'_>> {
        self.read(columns, None)
    }

    fn parts(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups();
        groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    fn part(&self, part: usize, columns: &[usize]) -> Result<Batches<'_>> {
        self.read(columns, Some(part))
    }

    fn chunk(&self, part: usize, column: usize, pool: &BufferPool) -> Option<Chunk> {
        let stored = match self.schema().field(column).data_type() {
            DataType::Float64 => Stored::Double,
            DataType::Float32 => Stored::Single,
            DataType::Int64 => Stored::Long,
            DataType::Int32 => Stored::Int,
            _ => return None,
        };
        let leaf = self.leaves.get(column).copied().flatten()?;
        let meta = self.metadata.metadata().row_groups().get(part)?.columns().get(leaf)?;
        Chunk::new(&self.shared.0, meta, stored, pool)
    }
}

impl File {
    /// Reads what is at the end of a file: its columns, and where their pages are.
    pub(crate) fn open(bytes: Bytes<'static>) -> Result<Self> {
        let path = bytes.path().to_path_buf();
        let shared = Shared(Arc::new(bytes));
        // The schema that pandas and others store in addition to the file's own is not needed, and may be corrupt.
        let how = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata =
            guarded(&path, || ArrowReaderMetadata::load(&shared, how).map_err(|e| wrong(e, &path)))?;
        let n_rows = metadata.metadata().file_metadata().num_rows();
        let n_rows = u64::try_from(n_rows).map_err(|_| {
            Error::format(&path, format!("it declares {n_rows} rows"), "it is corrupt; write it again")
        })?;
        let leaves = leaves(metadata.parquet_schema(), metadata.schema().fields().len());
        let schema = with_durations(&metadata, &path);
        Ok(Self { shared, metadata, schema, n_rows, leaves })
    }

    /// The columns of all row groups, or of one.
    fn read(&self, columns: &[usize], group: Option<usize>) -> Result<Batches<'_>> {
        let path = self.path();
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        // Few rows at a time, so that the allocator reuses the memory of a column and all of it fits the second-level cache.
        let rows = ((1 << 16) / columns.len().max(1)).clamp(64, 1 << 13);
        let mut reader = guarded(path, || {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                self.shared.clone(),
                self.metadata.clone(),
            )
            .with_projection(mask)
            .with_batch_size(rows);
            let builder = match group {
                None => builder,
                Some(group) => builder.with_row_groups(vec![group]),
            };
            builder.build().map_err(|e| wrong(e, path))
        })?;
        let columns = columns.to_vec();
        let next = move || {
            let corrupt = |e| {
                let page = guarded(path, || Ok(self.changed_page(&columns, group))).ok().flatten();
                let found = page.unwrap_or_else(|| format!("its columns are corrupt ({e})"));
                Error::format(path, found, "copy or write it again")
            };
            guarded(path, || reader.next().transpose().map_err(corrupt)).transpose()
        };
        Ok(Box::new(std::iter::from_fn(next)))
    }
}

impl File {
    /// The first page whose bytes are not those that were written, by the checksum that is before them, in the columns of all row
    /// groups or of one.
    fn changed_page(&self, columns: &[usize], group: Option<usize>) -> Option<String> {
        let (schema, groups) = (self.metadata.parquet_schema(), self.metadata.metadata().row_groups());
        for (number, meta) in
            groups.iter().enumerate().filter(|(number, _)| group.is_none_or(|g| g == *number))
        {
            for (leaf, chunk) in meta.columns().iter().enumerate() {
                let column = schema.get_column_root_idx(leaf);
                if !columns.contains(&column) {
                    continue;
                }
                // The checksum is of the page as it is stored, which is not to be decompressed here.
                let raw =
                    chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build().ok()?;
                let rows = usize::try_from(meta.num_rows()).ok()?;
                let mut pages =
                    SerializedPageReader::new(Arc::new(self.shared.clone()), &raw, rows, None).ok()?;
                for page in 0.. {
                    match pages.get_next_page() {
                        Ok(Some(_)) => {}
                        Err(e) if e.to_string().contains("CRC") => {
                            let name = self.schema().field(column).name();
                            return Some(format!(
                                "page {page} of row group {number}, column {column} ('{name}'), is corrupt: its checksum differs"
                            ));
                        }
                        _ => break,
                    }
                }
            }
        }
        None
    }
}

fn wrong(e: ParquetError, path: &Path) -> Error {
    match e {
        ParquetError::EOF(_) => {
            Error::format(path, "it ends too early", "it is truncated; copy or write it again")
        }
        ParquetError::NYI(e) => Error::format(
            path,
            format!("it uses an unsupported feature ({e})"),
            "write it again with other settings",
        ),
        e => {
            let text = e.to_string();
            let text = text.trim_start_matches("Parquet error: ").trim_end_matches('.').to_lowercase();
            Error::format(path, format!("it is not a valid Parquet file ({text})"), "copy or write it again")
        }
    }
}

/// The bytes, for many readers.
#[derive(Clone)]
struct Shared(Arc<Bytes<'static>>);

impl Length for Shared {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Shared {
    type T = BufReader<FromStart<Arc<Bytes<'static>>>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let mut from = FromStart::new(self.0.clone());
        from.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.0.len()) {
            return Err(ParquetError::EOF(format!("byte {start} and {length} more")));
        }
        let mut out = vec![0; length];
        self.0.read_at(start, &mut out).map_err(|e| ParquetError::External(Box::new(e)))?;
        Ok(out.into())
    }
}
