//! Runs of small integers as Parquet stores them: a number repeated, or numbers packed into a few bits each, alternately.

/// The position of a reader of such runs. It holds no bytes, so that it can be kept between two calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    /// Bits of a number, at most 32.
    width: usize,
    /// The byte at which the next run begins.
    next: usize,
    now: Run,
}

#[derive(Clone, Copy, Debug)]
enum Run {
    Repeated {
        value: u32,
        left: usize,
    },
    /// The bit at which the next number begins.
    Packed {
        bit: usize,
        left: usize,
    },
}

impl Runs {
    /// Before the first run, at byte `start`; `None` where numbers would not fit.
    pub(super) fn new(width: u8, start: usize) -> Option<Self> {
        let now = Run::Repeated { value: 0, left: 0 };
        (width <= 32).then_some(Self { width: width.into(), next: start, now })
    }

    /// Fills `out` with the next numbers of `data`; `None` where it ends too early or is corrupt.
    pub(super) fn take(&mut self, data: &[u8], mut out: &mut [u32]) -> Option<()> {
        while !out.is_empty() {
            let left = match self.now {
                Run::Repeated { left, .. } | Run::Packed { left, .. } => left,
            };
            if left == 0 {
                self.begin(data)?;
                continue;
            }
            let (own, rest) = out.split_at_mut(left.min(out.len()));
            match &mut self.now {
                Run::Repeated { value, left } => {
                    own.fill(*value);
                    *left -= own.len();
                }
                Run::Packed { bit, left } => {
                    unpack(data, *bit, self.width, own)?;
                    *bit += own.len() * self.width;
                    *left -= own.len();
                }
            }
            out = rest;
        }
        Some(())
    }

    /// Whether each of the next `n` numbers is `value`.
    pub(super) fn are_all(&mut self, data: &[u8], value: u32, mut n: usize) -> Option<bool> {
        while n > 0 {
            match &mut self.now {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => self.begin(data)?,
                Run::Repeated { value: own, left } => {
                    if *own != value {
                        return Some(false);
                    }
                    let m = n.min(*left);
                    (*left, n) = (*left - m, n - m);
                }
                Run::Packed { .. } => {
                    let mut some = [0; 64];
                    let Run::Packed { left, .. } = self.now else { return None };
                    let m = n.min(left).min(some.len());
                    self.take(data, &mut some[..m])?;
                    if some[..m].iter().any(|x| *x != value) {
                        return Some(false);
                    }
                    n -= m;
                }
            }
        }
        Some(true)
    }

    /// Reads the head of the next run: its kind and length, seven bits a byte.
    fn begin(&mut self, data: &[u8]) -> Option<()> {
        let (mut head, mut shift) = (0u64, 0);
        loop {
            let byte = *data.get(self.next)?;
            self.next += 1;
            head |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
        let count = usize::try_from(head >> 1).ok()?;
        self.now = if head & 1 == 1 {
            let bit = self.next * 8;
            self.next = self.next.checked_add(count.checked_mul(self.width)?)?;
            Run::Packed { bit, left: count.checked_mul(8)? }
        } else {
            let bytes = data.get(self.next..self.next + self.width.div_ceil(8))?;
            self.next += bytes.len();
            let value = bytes.iter().rev().fold(0, |value, byte| (value << 8) | u32::from(*byte));
            Run::Repeated { value, left: count }
        };
        // Empty runs are skipped; each takes at least one byte, so that the loop ends.
        Some(())
    }
}

/// Numbers of `width` bits from bit `bit` on.
fn unpack(data: &[u8], mut bit: usize, width: usize, mut out: &mut [u32]) -> Option<()> {
    if bit.checked_add(out.len() * width)? > data.len() * 8 {
        return None;
    }
    while !bit.is_multiple_of(8) || out.len() < 8 {
        let Some((first, rest)) = out.split_first_mut() else { return Some(()) };
        *first = one(data, bit, width);
        (bit, out) = (bit + width, rest);
    }
    macro_rules! by_width {
        ($($w:literal)*) => {
            match width {
                $($w => eights::<$w>(&data[bit / 8..], out),)*
                _ => 0,
            }
        };
    }
    let done =
        by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
    // The last ones may be needed where no more bytes follow.
    for (i, x) in out.iter_mut().enumerate().skip(done) {
        *x = one(data, bit + i * width, width);
    }
    Some(())
}

/// Bytes that may be examined for eight numbers.
const WINDOW_BYTES: usize = 36;

/// Eight numbers at a time, whose places within `W` bytes are known when this is compiled; returns how many it has written.
fn eights<const W: usize>(data: &[u8], out: &mut [u32]) -> usize {
    let mask = u32::MAX >> (32 - W);
    let (mut at, mut done) = (0, 0);
    for eight in out.as_chunks_mut::<8>().0 {
        let Some(bytes) = data.get(at..).and_then(|rest| rest.first_chunk::<WINDOW_BYTES>()) else { break };
        let number = |k: usize| {
            let from = k * W / 8;
            let word = bytes[from..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            (word >> (k * W % 8)) as u32 & mask
        };
        // Written out, so that every place is a constant.
        let [a, b, c, d, e, f, g, h] = eight;
        (*a, *b, *c, *d) = (number(0), number(1), number(2), number(3));
        (*e, *f, *g, *h) = (number(4), number(5), number(6), number(7));
        at += W;
        done += 8;
    }
    done
}

/// The number of `width` bits at bit `bit`, all of which are there.
fn one(data: &[u8], bit: usize, width: usize) -> u32 {
    let (from, mut word) = (bit / 8, [0; 8]);
    let there = data.get(from..).unwrap_or_default();
    let n = there.len().min(8);
    word[..n].copy_from_slice(&there[..n]);
    ((u64::from_le_bytes(word) >> (bit % 8)) & ((1 << width) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs numbers bit by bit, as the format defines it: the first number in the lowest bits.
    fn packed(numbers: &[u32], width: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; (numbers.len() * width).div_ceil(8)];
        for (i, x) in numbers.iter().enumerate() {
            for b in 0..width {
                let at = i * width + b;
                bytes[at / 8] |= ((x >> b & 1) as u8) << (at % 8);
            }
        }
        bytes
    }

    fn head(mut x: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while x >= 0x80 {
            bytes.push(x as u8 | 0x80);
            x >>= 7;
        }
        bytes.push(x as u8);
        bytes
    }

    #[test]
    fn runs_of_every_width_are_decoded_in_parts_of_any_length() {
        for width in 0..=32usize {
            let mask = ((1u64 << width) - 1) as u32;
            let numbers: Vec<u32> =
                (0..264u32).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(i % 32) & mask).collect();
            let (mut bytes, mut want) = (vec![7, 7, 7], Vec::new());
            for (run, part) in numbers.chunks(88).enumerate() {
                bytes.extend(head((part.len() / 8) << 1 | 1));
                bytes.extend(packed(part, width));
                want.extend_from_slice(part);
                let value = part[0];
                bytes.extend(head((300 + run) << 1));
                bytes.extend(&value.to_le_bytes()[..width.div_ceil(8)]);
                want.extend(vec![value; 300 + run]);
            }
            for step in [1, 5, 8, 13, 64, 256, want.len()] {
                let mut runs = Runs::new(width as u8, 3).unwrap();
                let mut got = vec![0; want.len()];
                got.chunks_mut(step).for_each(|part| runs.take(&bytes, part).unwrap());
                assert_eq!(got, want, "{width} bits, {step} at a time");
                assert_eq!(runs.take(&bytes, &mut [0]), None, "nothing is left");
            }
            if width > 0 {
                let mut got = vec![0; want.len()];
                let short = &bytes[..bytes.len() - 1];
                assert_eq!(Runs::new(width as u8, 3).unwrap().take(short, &mut got), None, "{width} bits");
            }
        }
    }

    #[test]
    fn equal_numbers_are_distinguished_from_others() {
        let all = |bytes: &[u8], n| Runs::new(1, 0).unwrap().are_all(bytes, 1, n);
        assert_eq!(all(&[200, 1, 1], 100), Some(true), "100 ones");
        assert_eq!(all(&[200, 1, 1], 101), None, "one too few");
        assert_eq!(all(&[200, 1, 0], 100), Some(false));
        assert_eq!(all(&[5, 0xff, 0xff], 16), Some(true));
        assert_eq!(all(&[5, 0xff, 0x0f], 12), Some(true), "what follows is padding");
        assert_eq!(all(&[5, 0xff, 0x0f], 13), Some(false));
        assert_eq!(all(&[0x80; 9], 1), None, "a head that does not end");
        assert_eq!(all(&[1, 0, 0, 4, 1], 2), Some(true), "runs of nothing");
        assert!(Runs::new(33, 0).is_none());
    }
}
