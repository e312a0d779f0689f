//! Enumerations whose values are words in settings, each of them written once.

/// Declares an enumeration with the words that denote its values: in settings, in files and in messages.
///
/// ```text
/// choices! {
///     /// The algorithm.
///     #[derive(Default)]
///     pub enum Algorithm {
///         /// Newton's method.
///         #[default]
///         Newton = "newton",
///         /// Expectation-maximisation.
///         Em = "em",
///     }
/// }
/// ```
///
/// The words are `Algorithm::NAMES`, as for the kind of a setting (`Kind::Words(Algorithm::NAMES)`). That of a value is
/// `Algorithm::Em.name()`, as for a setting that allows some of them only; the inverse is `Algorithm::named("em")`.
macro_rules! choices {
    ($(#[$about:meta])* pub enum $type:ident { $($(#[$of:meta])* $choice:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[non_exhaustive]
        pub enum $type { $($(#[$of])* #[serde(rename = $name)] $choice,)+ }

        impl $type {
            /// The words that denote its values, in their order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The word that denotes it, as in settings.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$choice => $name),+ }
            }

            /// The value that a word denotes.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$choice),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use choices;

choices! {
    /// The string `"auto"`.
    pub enum Automatic {
        /// The string `"auto"`.
        Auto = "auto",
    }
}
