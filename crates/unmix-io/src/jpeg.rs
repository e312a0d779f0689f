//! Whether a JPEG file is complete: the decoder fills the missing part of a truncated file with grey.

/// Follows the file's segments to the end-of-image marker.
pub(crate) fn is_whole(file: &[u8]) -> bool {
    let (mut at, mut in_scan) = (2, false);
    while let Some([mark, code]) = file.get(at..).and_then(|rest| rest.first_chunk::<2>()) {
        match (mark, code) {
            (0xff, 0xd9) => return true,
            // In a scan a byte 0xff is followed by a zero; restart markers have no payload.
            (0xff, 0x00 | 0xd0..=0xd8) => at += 2,
            (0xff, 0xff) => at += 1,
            (0xff, code) => {
                in_scan = *code == 0xda;
                let length = file.get(at + 2..).and_then(|rest| rest.first_chunk::<2>());
                at += 2 + length.map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
            }
            _ if in_scan => at += 1,
            _ => return false,
        }
    }
    false
}
