//! Cells of a column as numbers or as text.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use unmix::Real;

/// The type that a column of numbers is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Single,
    Double,
}

/// The number type of a column of this type, if it holds numbers. A column without a type holds missing cells only.
pub(crate) fn number_kind(kind: &DataType) -> Option<Numbers> {
    use DataType::*;
    match kind {
        Float16 | Float32 | Null => Some(Numbers::Single),
        Float64 | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => {
            Some(Numbers::Double)
        }
        Decimal128(..) => Some(Numbers::Double),
        Dictionary(_, values) if !matches!(**values, Dictionary(..)) => number_kind(values),
        _ => None,
    }
}

/// Whether every cell of a column is a number, so that [`place`] writes all of them.
pub(crate) fn are_whole(cells: &ArrayRef) -> bool {
    cells.data_type().is_numeric() && number_kind(cells.data_type()).is_some() && cells.null_count() == 0
}

/// Writes the numbers of a column into every `step`-th place of `out`; missing cells, and all that are not numbers, stay as they
/// are there.
pub(crate) fn place<T: Real>(cells: &ArrayRef, out: &mut [T], step: usize) {
    let out = out.iter_mut().step_by(step);
    macro_rules! each {
        ($t:ty) => {
            each!($t, |x| x as f64)
        };
        ($t:ty, $f:expr) => {
            put(cells.as_primitive::<$t>(), $f, out)
        };
    }
    match cells.data_type() {
        DataType::Int8 => each!(Int8Type),
        DataType::Int16 => each!(Int16Type),
        DataType::Int32 => each!(Int32Type),
        DataType::Int64 => each!(Int64Type),
        DataType::UInt8 => each!(UInt8Type),
        DataType::UInt16 => each!(UInt16Type),
        DataType::UInt32 => each!(UInt32Type),
        DataType::UInt64 => each!(UInt64Type),
        DataType::Float16 => each!(Float16Type, |x: half::f16| x.to_f64()),
        DataType::Float32 => each!(Float32Type),
        DataType::Float64 => each!(Float64Type),
        // Both are exact up to 15 digits, so that the quotient is the double nearest to what is written.
        DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi(i32::from(*scale).abs());
            let down = *scale >= 0;
            each!(Decimal128Type, |x: i128| if down { x as f64 / unit } else { x as f64 * unit })
        }
        DataType::Boolean => out.zip(cells.as_boolean()).for_each(|(out, x)| {
            if let Some(x) = x {
                *out = T::from_f64(f64::from(u8::from(x)));
            }
        }),
        DataType::Dictionary(..) => {
            let words = cells.as_any_dictionary();
            if words.values().is_empty() {
                return;
            }
            let mut values = vec![T::from_f64(f64::NAN); words.values().len()];
            place(words.values(), &mut values, 1);
            let keys = words.normalized_keys();
            out.zip(keys)
                .enumerate()
                .filter(|(i, _)| words.keys().is_valid(*i))
                .for_each(|(_, (out, k))| *out = values[k]);
        }
        _ => {}
    }
}

fn put<'o, P: ArrowPrimitiveType, T: Real>(
    cells: &PrimitiveArray<P>,
    number: impl Fn(P::Native) -> f64,
    out: impl Iterator<Item = &'o mut T>,
) {
    if cells.null_count() == 0 {
        out.zip(cells.values()).for_each(|(out, &x)| *out = T::from_f64(number(x)));
        return;
    }
    for (out, x) in out.zip(cells.iter()) {
        if let Some(x) = x {
            *out = T::from_f64(number(x));
        }
    }
}

/// [`as_text`] of cells that are stored as numbers of words.
fn words_of_dictionary(cells: &ArrayRef) -> Option<Vec<String>> {
    let dictionary = cells.as_any_dictionary();
    let known = as_text(dictionary.values())?;
    if known.is_empty() {
        return Some(vec![String::new(); cells.len()]);
    }
    let keys = dictionary.normalized_keys();
    let text = |(i, k): (usize, usize)| {
        if dictionary.keys().is_valid(i) { known[k].clone() } else { String::new() }
    };
    Some(keys.into_iter().enumerate().map(text).collect())
}

/// Cells as text, missing ones empty; `None` for types that have none.
pub(crate) fn as_text(cells: &ArrayRef) -> Option<Vec<String>> {
    macro_rules! shown {
        ($($t:ty)*) => {
            match cells.data_type() {
                $(kind if *kind == <$t>::DATA_TYPE => {
                    return Some(cells.as_primitive::<$t>().iter().map(|x| x.map_or_else(String::new, |x| x.to_string())).collect());
                })*
                _ => {}
            }
        };
    }
    // Times of a time zone are stored in UTC.
    let utc = if matches!(cells.data_type(), DataType::Timestamp(_, Some(_))) { "Z" } else { "" };
    macro_rules! times {
        ($t:ty) => {{
            let times = cells.as_primitive::<$t>();
            let text = |i| times.value_as_datetime(i).map(|t| format!("{t}{utc}"));
            (0..times.len())
                .map(|i| if times.is_valid(i) { text(i).unwrap_or_default() } else { String::new() })
                .collect()
        }};
    }
    fn words<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Vec<String> {
        values.map(|x| x.unwrap_or_default().to_string()).collect()
    }
    shown!(Int8Type Int16Type Int32Type Int64Type UInt8Type UInt16Type UInt32Type UInt64Type Float16Type Float32Type Float64Type);
    Some(match cells.data_type() {
        DataType::Utf8 => words(cells.as_string::<i32>().iter()),
        DataType::LargeUtf8 => words(cells.as_string::<i64>().iter()),
        DataType::Utf8View => words(cells.as_string_view().iter()),
        DataType::Null => vec![String::new(); cells.len()],
        DataType::Boolean => {
            cells.as_boolean().iter().map(|x| x.map_or_else(String::new, |x| x.to_string())).collect()
        }
        DataType::Decimal128(..) => {
            let numbers = cells.as_primitive::<Decimal128Type>();
            let text = |i| if numbers.is_valid(i) { numbers.value_as_string(i) } else { String::new() };
            (0..numbers.len()).map(text).collect()
        }
        DataType::Date32 => cells
            .as_primitive::<Date32Type>()
            .iter()
            .map(|x| x.and_then(Date32Type::to_naive_date_opt).map_or_else(String::new, |d| d.to_string()))
            .collect(),
        DataType::Timestamp(TimeUnit::Second, _) => times!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => times!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => times!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => times!(TimestampNanosecondType),
        DataType::Dictionary(..) => return words_of_dictionary(cells),
        _ => return None,
    })
}
