//! A model as the start of another fit.

use super::Model;
use crate::run::Start;

impl Start for Model {
    fn method(&self) -> &str {
        self.method().key
    }

    fn parameter(&self, name: &str) -> Option<(Vec<usize>, Vec<f64>)> {
        self.tensor(name).map(|tensor| (tensor.shape().to_vec(), tensor.f64s()))
    }

    fn feature_names(&self) -> Option<&[String]> {
        self.features().names.as_deref()
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for (name, tensor) in &self.tensors {
            hasher.update(name.as_bytes());
            tensor.f64s().iter().for_each(|x| hasher.update(&x.to_le_bytes()));
        }
        hasher.finalize()
    }
}
