//! Decimal numbers as people and programs write them, read to the nearest double.
//!
//! Eight digits at a time become an integer `m` of at most 19 digits, and the number is `m 10^-k`. With `r` the first 128 bits of
//! `5^-k`, cut off, `m r` is less than `m` units of its last place below the truth, so its first 64 bits are those of the truth unless the
//! 64 bits behind them are all ones; and what is cut off is never nothing, so a half in what is rounded away is more than a half. That
//! rounds every such number to the nearest double with two products. The idea of cutting off and looking whether it matters is that of
//! Lemire, Number parsing at a gigabyte per second, 2021. Everything else is left to the library.

/// The most digits behind the point for which `5^k` is known here.
const MOST: usize = 55;

/// `5^-k` for `k` from 0 on: its first 128 bits, cut off, and the power of two that the first of them is worth, less 127.
const FIFTHS: [(u128, i32); MOST + 1] = fifths();

const fn fifths() -> [(u128, i32); MOST + 1] {
    let mut all = [(0, 0); MOST + 1];
    let (mut k, mut five) = (1, 1u128);
    while k <= MOST {
        five *= 5;
        let bits = 128 - five.leading_zeros();
        // Long division of 2^(127 + bits) by 5^k, bit by bit.
        let (mut rest, mut quotient, mut i) = (1u128 << (bits - 1), 0u128, 0);
        while i < 128 {
            let carry = rest >> 127 == 1;
            rest <<= 1;
            quotient <<= 1;
            if carry || rest >= five {
                rest = rest.wrapping_sub(five);
                quotient |= 1;
            }
            i += 1;
        }
        all[k] = (quotient, -127 - bits as i32);
        k += 1;
    }
    all
}

/// Powers of ten that are doubles.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

const TENS_OF_FEW: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number at byte `at` of `text` and the byte behind it; `None` where this is no number of the usual kind, or where fewer than
/// eight bytes follow it.
#[inline]
pub(super) fn number(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let sign = *text.get(at)?;
    let start = at + usize::from(sign == b'-' || sign == b'+');
    let (mut m, mut end) = digits(text, start, 0)?;
    let (mut count, mut behind) = (end - start, 0);
    if text.get(end) == Some(&b'.') {
        let point = end + 1;
        (m, end) = digits(text, point, m)?;
        behind = end - point;
        count += behind;
    }
    // Nineteen digits are less than 2^64.
    if count == 0 || count > 19 {
        return None;
    }
    let mut power = -(behind as i32);
    if text.get(end).is_some_and(|e| e | 0x20 == b'e') {
        let (own, after) = exponent(text, end + 1)?;
        (power, end) = (power + own, after);
    }
    let x = nearest(m, power)?;
    Some((if sign == b'-' { -x } else { x }, end))
}

/// The digits at byte `at` behind those of `m`, and the byte behind them. More than nineteen digits overflow.
#[inline]
fn digits(text: &[u8], mut at: usize, mut m: u64) -> Option<(u64, usize)> {
    loop {
        let word = u64::from_le_bytes(*text.get(at..)?.first_chunk()?) ^ 0x3030_3030_3030_3030;
        // A byte above nine gets its highest bit; what it carries reaches bytes behind it only.
        let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
        let n = others.trailing_zeros() / 8;
        // Zeros in front of the digits, so that there are eight of them; twice a half, as eight bytes at once are too far.
        let eight = (word << (4 * (8 - n))) << (4 * (8 - n));
        let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8);
        const LOW: u64 = 0x0000_00ff_0000_00ff;
        let first = (pairs & LOW).wrapping_mul(100 + (1_000_000 << 32));
        let second = ((pairs >> 16) & LOW).wrapping_mul(1 + (10_000 << 32));
        let value = first.wrapping_add(second) >> 32;
        m = m.wrapping_mul(TENS_OF_FEW[n as usize]).wrapping_add(value);
        at += n as usize;
        if n < 8 {
            return Some((m, at));
        }
    }
}

/// The exponent at byte `at`, of three digits at most, and the byte behind it.
fn exponent(text: &[u8], at: usize) -> Option<(i32, usize)> {
    let sign = *text.get(at)?;
    let start = at + usize::from(sign == b'-' || sign == b'+');
    let (value, end) = digits(text, start, 0)?;
    if !(1..=3).contains(&(end - start)) {
        return None;
    }
    Some((if sign == b'-' { -(value as i32) } else { value as i32 }, end))
}

/// The double nearest to `m 10^power`, where it is found quickly.
#[inline]
fn nearest(m: u64, power: i32) -> Option<f64> {
    if power == 0 || m == 0 {
        return Some(m as f64);
    }
    if power > 0 {
        return if m < 1 << 53 { Some(m as f64 * TENS.get(power as usize)?) } else { None };
    }
    let k = power.unsigned_abs() as usize;
    let (fifth, unit) = *FIFTHS.get(k)?;
    let zeros = m.leading_zeros();
    let m64 = u128::from(m << zeros);
    // 192 bits: 128 of them from the high half, and of the low half what carries.
    let low = (m64 * u128::from(fifth as u64)) >> 64;
    let high = m64 * (fifth >> 64) + low;
    let (top, next) = ((high >> 64) as u64, high as u64);
    if next == u64::MAX {
        // The truth may be a double, or half way between two.
        return if m < 1 << 53 { Some(m as f64 / TENS.get(k)?) } else { None };
    }
    // The product has 191 or 192 bits: one more than 53 of them, then the nearest.
    let cut = 9 + (top >> 63) as i32;
    let rounded = ((top >> cut) + 1) >> 1;
    let exponent = cut + 1 + 128 + unit - zeros as i32 - k as i32;
    // `rounded` is at least 2^52, and the bit above it carries into the exponent.
    Some(f64::from_bits((((exponent + 1022 + 52) as u64) << 52) + rounded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is behind the numbers of these tests.
    const BEHIND: &str = ",\n\n\n\n\n\n\n\n\n";

    fn check(text: &str) -> bool {
        let padded = format!("{text}{BEHIND}");
        let Some((x, end)) = number(padded.as_bytes(), 0) else { return false };
        assert_eq!(end, text.len(), "{text}");
        let want: f64 = text.parse().unwrap();
        assert_eq!(x.to_bits(), want.to_bits(), "{text}: {x:e} is not {want:e}");
        true
    }

    #[test]
    fn usual_numbers_are_read_here_to_the_bit() {
        for text in [
            "0",
            "-0",
            "+0",
            "-0.0",
            "00012",
            "1",
            "-1",
            "+3",
            "5.",
            ".5",
            "-.25",
            "0.1",
            "0.5",
            "12.50",
            "30.00",
            "123456789",
            "9999999999999999999",
            "9007199254740993",
            "-0.5975311888767603",
            "0.04565554609748975",
            "793.973154",
            "1e5",
            "1E-5",
            "1.5e+22",
            "1e0",
            "2.5e-30",
            "1.234567890123456789e+00",
            "-9.87654321098765432e-17",
            "0.000000000000000001",
            "1e-55",
            "3.0e-3",
        ] {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_others() {
        for text in [
            "",
            "-",
            "+",
            ".",
            "e5",
            "-e5",
            "1e",
            "1e+",
            "1e1234",
            "inf",
            "nan",
            "NA",
            "\"1\"",
            " 1",
            "--1",
            "+-1",
            "12345678901234567890",
            "18446744073709551615",
            "9007199254740993.0",
            "0.00000000000000000001",
            "1e-400",
            "1e23",
            "1e-56",
            "12345678901234567e3",
        ] {
            assert_eq!(number(format!("{text}{BEHIND}").as_bytes(), 0), None, "{text}");
        }
        assert_eq!(number(b"1.5,2.5,", 4), None, "too few bytes behind it");
        assert_eq!(
            number(b"1.5x567890123", 0).map(|(_, end)| end),
            Some(3),
            "the caller looks at what follows"
        );
    }

    #[test]
    fn halves_and_their_neighbours_are_rounded_to_even() {
        // Doubles and the middles between two of them, which are short in base ten where the exponent is small, and numbers
        // one unit of the last digit above and below.
        let mut seen = 0;
        for i in 0..4000u64 {
            let odd = ((1 << 53) + i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 53)) | 1;
            for halvings in 1..=3u32 {
                let m = (odd >> 20) as u128 * 5u128.pow(halvings) + u128::from(i % 3) - 1;
                let text = format!(
                    "{}.{:0width$}",
                    m / 10u128.pow(halvings),
                    m % 10u128.pow(halvings),
                    width = halvings as usize
                );
                seen += u32::from(check(&text));
            }
            for shift in 0..3u128 {
                let text = format!("{}.{}", odd + (shift as u64) - 1, i % 10);
                seen += u32::from(check(&text));
            }
        }
        // Of the second kind, one in five has a last digit that five divides: it may be such a middle.
        assert_eq!(seen, 12_000 + 12_000 * 4 / 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn digits_of_every_number_and_length_are_those_of_the_library(
            m in any::<u64>(),
            few in 0u32..=19,
            point in 0usize..=19,
            power in -40i32..=25,
            with_power in any::<bool>(),
            sign in prop::sample::select(vec!["", "-", "+"]),
        ) {
            let m = m % 10u64.pow(few);
            let digits = format!("{m:0few$}", few = few.max(1) as usize);
            let point = point.min(digits.len());
            let text = format!("{sign}{}.{}", &digits[..point], &digits[point..]);
            let text = if with_power { format!("{text}e{power}") } else { text };
            let read = check(&text);
            prop_assert!(read || with_power || m.is_multiple_of(5), "{}", text);
        }

        #[test]
        fn shortest_and_seventeen_digits_give_the_double_back(bits in any::<u64>(), exponent in -30i32..30) {
            let x = f64::from_bits((bits & !(0x7ff << 52)) | ((1023 + exponent) as u64) << 52);
            check(&format!("{x}"));
            check(&format!("{x:.16e}"));
            check(&format!("{x:.18e}"));
        }
    }
}
