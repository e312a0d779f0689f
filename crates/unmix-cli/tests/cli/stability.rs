//! `fit --stability`: what halves of the rows find again, in the terminal, in the file and on the page.

use crate::bench::Bench;
use serde_json::Value;
use unmix::datasets::{Law, independent};

#[test]
fn a_tie_is_named_in_the_table_in_the_file_and_on_the_page() {
    let b = Bench::new();
    let data = independent(2000, &[Law::Gaussian; 4], &[30.0, 8.0, 1.0, 1.0], 4).unwrap();
    let lines: Vec<String> = (0..data.x.rows())
        .map(|i| data.x.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        .collect();
    b.write("d.csv", lines.join("\n"));
    let fitted = b.ok("fit pca d.csv --no-header --stability 3 -o m.safetensors");
    assert!(fitted.out.contains("resolved as a group with 3"), "{}", fitted.out);
    let shown: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    let found = &shown["report"]["stability"];
    assert_eq!(found["verdict"][0], "resolved");
    assert!(found["halves"][0].as_f64().unwrap() > 0.99 && found["restarts"].is_null());
    b.ok("report m.safetensors -o m.html");
    let page = std::fs::read_to_string(b.path("m.html")).unwrap();
    assert!(page.contains("How far to believe it") && page.contains("resolved as a group with 2"));
    // Without the question there is no answer, and no section.
    b.ok("fit pca d.csv --no-header -o plain.safetensors");
    b.ok("report plain.safetensors -o plain.html");
    assert!(!std::fs::read_to_string(b.path("plain.html")).unwrap().contains("How far to believe it"));
}
