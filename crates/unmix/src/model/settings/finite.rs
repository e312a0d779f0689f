//! Search of a specification for numbers that are not finite, before settings are converted to JSON, which cannot represent them.

use serde::ser::{self, Serialize, Serializer};

/// The first field with a number that is not finite, and that number.
pub(super) fn not_finite(spec: &impl Serialize) -> Option<(&'static str, f64)> {
    spec.serialize(Finder { field: "" }).err().and_then(|NotFinite(found)| found)
}

/// Stops at the first number that is not finite, by returning it as an error.
#[derive(Debug)]
struct NotFinite(Option<(&'static str, f64)>);

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number that is not finite")
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        NotFinite(None)
    }
}

/// Visits every number of a value, and records the field of the outermost struct that contains it.
#[derive(Clone, Copy)]
struct Finder {
    field: &'static str,
}

impl Finder {
    fn visit<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }
}

/// Values without floating-point numbers.
macro_rules! passed {
    ($($name:ident($($type:ty),*);)*) => {
        $(fn $name(self, $(_: $type),*) -> Result<(), NotFinite> { Ok(()) })*
    };
}

/// Compound values: all their elements are visited.
macro_rules! compound {
    ($($trait:ident $method:ident($($key:ident)?);)*) => {
        $(impl ser::$trait for Finder {
            type Ok = ();
            type Error = NotFinite;
            fn $method<T: Serialize + ?Sized>(&mut self, $($key: &'static str,)? value: &T) -> Result<(), NotFinite> {
                $(if self.field.is_empty() { return Finder { field: $key }.visit(value) })?
                self.visit(value)
            }
            fn end(self) -> Result<(), NotFinite> { Ok(()) }
        })*
    };
}

compound! {
    SerializeSeq serialize_element();
    SerializeTuple serialize_element();
    SerializeTupleStruct serialize_field();
    SerializeTupleVariant serialize_field();
    SerializeStruct serialize_field(key);
    SerializeStructVariant serialize_field(key);
}

impl ser::SerializeMap for Finder {
    type Ok = ();
    type Error = NotFinite;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), NotFinite> {
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        self.visit(value)
    }
    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}

impl Serializer for Finder {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    passed! {
        serialize_bool(bool); serialize_i8(i8); serialize_i16(i16); serialize_i32(i32); serialize_i64(i64);
        serialize_u8(u8); serialize_u16(u16); serialize_u32(u32); serialize_u64(u64);
        serialize_char(char); serialize_str(&str); serialize_bytes(&[u8]);
        serialize_none(); serialize_unit(); serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_f32(self, x: f32) -> Result<(), NotFinite> {
        self.serialize_f64(x.into())
    }

    fn serialize_f64(self, x: f64) -> Result<(), NotFinite> {
        if x.is_finite() { Ok(()) } else { Err(NotFinite(Some((self.field, x)))) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        self.visit(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        self.visit(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        self.visit(value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }
}
