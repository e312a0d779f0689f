//! The declaration of a method's settings: struct, list of entries and defaults in one.

use super::Setting;
use serde::de::DeserializeOwned;

/// Declares the settings of a method. From every entry it makes a field of the struct, its default in `Default`, and an entry of the list:
/// a name, a sentence or a default is written nowhere else.
///
/// ```text
/// settings! {
///     /// Settings of [the method](super).
///     #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
///     #[serde(default, deny_unknown_fields)]
///     pub struct Name {
///         /// The atoms, as rows.
///         pub tensor dictionary: Option<Matrix<f64>> = required, Kind::table(Axis::Components, Axis::Features);
///         /// The algorithm: 'newton', or 'em' for expectation-maximisation.
///         pub algorithm: Algorithm = "newton", Kind::Words(Algorithm::NAMES);
///         /// Convergence tolerance; null for 1e-6 in double precision, 1e-4 in single.
///         pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-6"), only(ITERATED);
///         /// That of the other method.
///         pub max_iter: u64, as in other_method::SETTINGS;
///         /// Accepted for compatibility with scikit-learn.
///         python svd_method = "randomized", Kind::Words(&["lapack", "randomized"]), only(NEVER), also_accepts(&["\"lapack\""]);
///     }
///     pub(super) const SETTINGS;
/// }
/// ```
///
/// An entry ends with a semicolon. The doc comment is the sentence of the entry ([`Setting::doc`]), its lines joined by a space, and the
/// documentation of the field. It is followed by
///
/// * `pub NAME: TYPE = DEFAULT, KIND, MODIFIER(...), ...;` for a setting. The default is JSON; a [`Kind`](super::Kind) is the set of allowed
///   values; the modifiers, if any, are the methods of [`Setting`] that return a changed entry.
/// * `pub tensor NAME: TYPE = DEFAULT, ...;` for a table that is given in addition to the settings as JSON. It may be `= required`, or `= null`; the field
///   is an `Option`, `None` by default.
/// * `pub NAME: TYPE, as in LIST, MODIFIER(...), ...;` for the entry of this name of another list, which has kind, default and sentence. A doc
///   comment is here the documentation of the field alone.
/// * `python NAME = DEFAULT, KIND, MODIFIER(...), ...;` for an argument that exists in Python only, without a field. With `only(NEVER)` it is
///   accepted for compatibility, and other values than its default and those of `also_accepts` give a warning.
macro_rules! settings {
    // Entries are read one at a time: `{fields} {defaults} {entries of the list}` are those made so far. First, a setting.
    (@read $items:tt { $($fields:tt)* } { $($defaults:tt)* } { $($listed:tt)* }
        $(#[doc = $doc:literal])+
        pub $name:ident: $type:ty = $default:expr, $kind:expr $(, $modifier:ident($($argument:tt)*))*;
        $($rest:tt)*
    ) => {
        $crate::model::settings! { @read $items
            { $($fields)* $(#[doc = $doc])+ pub $name: $type, }
            { $($defaults)* $name: $crate::model::default_of(stringify!($name), stringify!($default)), }
            {
                $($listed)*
                $crate::model::Setting::new(stringify!($name), $kind, stringify!($default), concat!($($doc),+).trim_ascii())
                    $(.$modifier($($argument)*))*,
            }
            $($rest)*
        }
    };
    // An entry of another list.
    (@read $items:tt { $($fields:tt)* } { $($defaults:tt)* } { $($listed:tt)* }
        $(#[doc = $doc:expr])*
        pub $name:ident: $type:ty, as in $list:path $(, $modifier:ident($($argument:tt)*))*;
        $($rest:tt)*
    ) => {
        $crate::model::settings! { @read $items
            { $($fields)* $(#[doc = $doc])* pub $name: $type, }
            {
                $($defaults)*
                $name: $crate::model::default_of(stringify!($name), $crate::model::entry($list, stringify!($name)).default),
            }
            { $($listed)* $crate::model::entry($list, stringify!($name)) $(.$modifier($($argument)*))*, }
            $($rest)*
        }
    };
    // A table: its default is `None` in the struct, whatever it is in the list.
    (@read $items:tt $fields:tt $defaults:tt $listed:tt
        $(#[doc = $doc:literal])+ pub tensor $name:ident: $type:ty = required, $($rest:tt)*
    ) => {
        $crate::model::settings! { @tensor "", $items $fields $defaults $listed $(#[doc = $doc])+ $name: $type, $($rest)* }
    };
    (@read $items:tt $fields:tt $defaults:tt $listed:tt
        $(#[doc = $doc:literal])+ pub tensor $name:ident: $type:ty = null, $($rest:tt)*
    ) => {
        $crate::model::settings! { @tensor "null", $items $fields $defaults $listed $(#[doc = $doc])+ $name: $type, $($rest)* }
    };
    (@tensor $default:literal, $items:tt { $($fields:tt)* } { $($defaults:tt)* } { $($listed:tt)* }
        $(#[doc = $doc:literal])+
        $name:ident: $type:ty, $kind:expr $(, $modifier:ident($($argument:tt)*))*;
        $($rest:tt)*
    ) => {
        $crate::model::settings! { @read $items
            { $($fields)* $(#[doc = $doc])+ #[serde(skip)] pub $name: $type, }
            { $($defaults)* $name: None, }
            {
                $($listed)*
                $crate::model::Setting::new(stringify!($name), $kind, $default, concat!($($doc),+).trim_ascii()).tensor()
                    $(.$modifier($($argument)*))*,
            }
            $($rest)*
        }
    };
    // An argument in Python only.
    (@read $items:tt $fields:tt $defaults:tt { $($listed:tt)* }
        $(#[doc = $doc:literal])+
        python $name:ident = $default:expr, $kind:expr $(, $modifier:ident($($argument:tt)*))*;
        $($rest:tt)*
    ) => {
        $crate::model::settings! { @read $items $fields $defaults
            {
                $($listed)*
                $crate::model::Setting::new(stringify!($name), $kind, stringify!($default), concat!($($doc),+).trim_ascii())
                    .python_only()$(.$modifier($($argument)*))*,
            }
            $($rest)*
        }
    };
    // No entry is left.
    (@read { $(#[$about:meta])* $struct:ident $visibility:vis $list:ident } { $($fields:tt)* } { $($defaults:tt)* } { $($listed:tt)* }) => {
        $(#[$about])*
        pub struct $struct { $($fields)* }

        impl Default for $struct {
            fn default() -> Self {
                // The defaults are read from JSON once, not in every fit.
                static DEFAULT: std::sync::LazyLock<$struct> = std::sync::LazyLock::new(|| $struct { $($defaults)* });
                DEFAULT.clone()
            }
        }

        $visibility const $list: &[$crate::model::Setting] = &[$($listed)*];
    };
    // An entry of no known form.
    (@read $items:tt $fields:tt $defaults:tt $listed:tt $(#[$about:meta])* $first:tt $second:tt $($rest:tt)*) => {
        compile_error!(concat!(
            "the setting that begins with `", stringify!($first $second), "` is not a doc comment followed by `pub name: Type = default, kind;` or ",
            "by another of the forms that the documentation of `settings!` lists"
        ));
    };
    // The declaration.
    ($(#[$about:meta])* pub struct $struct:ident { $($entries:tt)+ } $visibility:vis const $list:ident;) => {
        $crate::model::settings! { @read { $(#[$about])* $struct $visibility $list } {} {} {} $($entries)+ }
    };
    ($($other:tt)*) => {
        compile_error!("settings! takes `pub struct Name { entries }` and `const SETTINGS;`");
    };
}
pub(crate) use settings;

/// The default of a field, from that of its entry.
///
/// # Panics
///
/// If the type of the field has no such value, an error of the declaration: a struct cannot be made then, nor any fit of the method.
pub(crate) fn default_of<V: DeserializeOwned>(name: &str, json: &str) -> V {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{name} cannot have its default {json}: {e}"))
}

/// The entry of a list with this name. In a constant, a name that is not in the list is an error of compilation.
pub(crate) const fn entry(list: &[Setting], name: &str) -> Setting {
    let mut i = 0;
    while i < list.len() {
        if is_same(list[i].name.as_bytes(), name.as_bytes()) {
            return list[i];
        }
        i += 1;
    }
    panic!("the other list has no setting of this name")
}

/// Equality, which constants cannot ask of `str` itself.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
