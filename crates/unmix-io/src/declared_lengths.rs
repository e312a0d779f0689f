//! Checks the lengths that an Arrow file declares against its size: its reader allocates what a file
//! declares, and a process that allocates more memory than is available is killed.

use arrow_ipc::{Message, RecordBatch, root_as_footer, root_as_message};
use unmix::data::Bytes;
use unmix::{Error, Result, available_memory};

/// Checks the lengths in a file (`stream`: in a stream).
pub(crate) fn check(bytes: &Bytes<'static>, stream: bool) -> Result<()> {
    let file = DeclaredLengths { bytes, most: available_memory().unwrap_or(1 << 32) };
    if stream { file.messages() } else { file.footer() }
}

struct DeclaredLengths<'a> {
    bytes: &'a Bytes<'static>,
    /// The longest column that there is room for.
    most: u64,
}

impl DeclaredLengths<'_> {
    fn wrong(&self, found: String) -> Error {
        Error::format(self.bytes.path(), found, "it is truncated or corrupt; copy or write it again")
    }

    fn too_short(&self, length: u64, at: u64) -> Error {
        let have = self.bytes.len();
        self.wrong(format!("it declares {length} bytes from byte {at} on, but has {have} in all"))
            .with(|details| (details.byte, details.need, details.got) = (Some(at), Some(length), Some(have)))
    }

    /// Bytes from `at` on.
    fn part(&self, at: u64, length: u64) -> Result<Vec<u8>> {
        if at.checked_add(length).is_none_or(|end| end > self.bytes.len()) {
            return Err(self.too_short(length, at));
        }
        let mut out = vec![0; length as usize];
        self.bytes.read_at(at, &mut out)?;
        Ok(out)
    }

    /// The batches that the end of a file lists.
    fn footer(&self) -> Result<()> {
        let end = self.bytes.len().checked_sub(10).ok_or_else(|| self.wrong("it has no footer".into()))?;
        let tail = self.part(end, 10)?;
        let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        if !tail.ends_with(b"ARROW1") || length > end {
            return Err(self.wrong("it does not end with the signature of an Arrow file".into()));
        }
        let footer = self.part(end - length, length)?;
        let footer = root_as_footer(&footer).map_err(|_| self.wrong("its footer is corrupt".into()))?;
        for block in footer.recordBatches().iter().flatten().chain(footer.dictionaries().iter().flatten()) {
            let lengths = (block.offset(), i64::from(block.metaDataLength()), block.bodyLength());
            let (Ok(at), Ok(head), Ok(body)) =
                (lengths.0.try_into(), lengths.1.try_into(), lengths.2.try_into())
            else {
                return Err(self.wrong("its footer holds negative lengths".into()));
            };
            let message = self.part(at, head)?;
            // A continuation marker and a length come first; in older files the length alone.
            let message =
                message.get(if message.starts_with(&[0xff; 4]) { 8 } else { 4 }..).unwrap_or_default();
            let body_at = u64::saturating_add(at, head);
            self.message(message, body_at, Some(body))?;
        }
        Ok(())
    }

    /// The messages of a stream, one after the other.
    fn messages(&self) -> Result<()> {
        let mut at = 0;
        while at + 8 <= self.bytes.len() {
            let start = self.part(at, 8)?;
            let marked = start.starts_with(&[0xff; 4]);
            let (length, skip) = if marked { (&start[4..], 8) } else { (&start[..4], 4) };
            let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
            if length == 0 {
                return Ok(());
            }
            let message = self.part(at + skip, length)?;
            at += skip + length;
            at += self.message(&message, at, None)?;
        }
        Ok(())
    }

    /// Checks a message whose body begins at byte `at`, and returns how long that is.
    fn message(&self, message: &[u8], at: u64, listed: Option<u64>) -> Result<u64> {
        let message: Message<'_> =
            root_as_message(message).map_err(|_| self.wrong("one of its messages is corrupt".into()))?;
        let length = message.bodyLength();
        let length = u64::try_from(length).map_err(|_| self.wrong(format!("it declares {length} bytes")))?;
        for length in [Some(length), listed].into_iter().flatten() {
            if at.checked_add(length).is_none_or(|end| end > self.bytes.len()) {
                return Err(self.too_short(length, at));
            }
        }
        if let Some(batch) = message.header_as_record_batch() {
            self.batch(batch, at)?;
        }
        if let Some(batch) = message.header_as_dictionary_batch().and_then(|d| d.data()) {
            self.batch(batch, at)?;
        }
        Ok(length)
    }

    /// Compressed buffers begin with their length once decompressed; -1 for those that are not.
    fn batch(&self, batch: RecordBatch<'_>, at: u64) -> Result<()> {
        if batch.compression().is_none() {
            return Ok(());
        }
        for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() >= 8) {
            let start = u64::try_from(buffer.offset()).ok().and_then(|offset| at.checked_add(offset));
            let start = start.ok_or_else(|| self.wrong("one of its columns lies outside the file".into()))?;
            let length = self.part(start, 8)?;
            let length = length.first_chunk::<8>().map_or(0, |length| i64::from_le_bytes(*length));
            if length < -1 || length > i64::try_from(self.most).unwrap_or(i64::MAX) {
                return Err(self.wrong(format!("one of its columns declares {length} bytes")));
            }
        }
        Ok(())
    }
}
