//! `fit --stability`: which components are reproduced in halves of the rows; in the terminal, in the model file and on the page.

use crate::folder::Folder;
use serde_json::Value;
use unmix::datasets::{Distribution, independent};

#[test]
fn equal_variances_are_a_group_in_the_table_in_the_file_and_on_the_page() {
    let b = Folder::new();
    let data = independent(2000, &[Distribution::Gaussian; 4], &[30.0, 8.0, 1.0, 1.0], 4).unwrap();
    let lines: Vec<String> = (0..data.x.rows())
        .map(|i| data.x.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        .collect();
    b.write("d.csv", lines.join("\n"));
    // A single split into halves has no variance: intervals are wide, and the message names the number of splits that narrows them.
    let one = b.ok("fit pca d.csv --no-header --stability 1 -o m.safetensors").out;
    assert!(
        one.contains("undecided: the interval crosses 0.9") && one.contains("20 splits narrow them"),
        "{one}"
    );
    assert!(one.contains("0.000 to 1.000"), "{one}");
    b.ok("report m.safetensors -o m.html");
    let page = std::fs::read_to_string(b.path("m.html")).unwrap();
    assert!(page.contains("class=\"mark open\"") && page.contains("class=\"verdict open\""));
    assert!(page.contains("Here intervals are wide with 1 split; 20 splits"));
    let fitted = b.ok("fit pca d.csv --no-header -o m.safetensors --stability");
    assert!(
        fitted.out.contains("resolved as a group with 3 (agreement of the subspace 0.9"),
        "{}",
        fitted.out
    );
    assert!(!fitted.out.contains("splits narrow them"));
    let shown: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    let found = &shown["report"]["stability"];
    assert_eq!(found["verdict"][0], "resolved");
    assert!(found["halves"][0].as_f64().unwrap() > 0.99 && found["restarts"].is_null());
    assert_eq!(found["splits"], 20);
    b.ok("report m.safetensors -o m.html");
    let page = std::fs::read_to_string(b.path("m.html")).unwrap();
    assert!(page.contains("Stability") && page.contains("resolved as a group with 2"));
    assert!(found["bootstrap"] == 20 && page.contains("estimated from 20 resamples of the rows"));
    b.ok("fit pca d.csv --no-header -o bound.safetensors --stability 5 --bootstrap 0");
    b.ok("report bound.safetensors -o bound.html");
    assert!(!std::fs::read_to_string(b.path("bound.html")).unwrap().contains("resamples"));
    // The sampling error from resamples of the rows.
    let with = b.ok("fit pca d.csv --no-header --stability 5 --bootstrap 6 -o b.safetensors").out;
    assert!(with.contains("sampling error of the intervals from 6 resamples of the rows"), "{with}");
    let shown: Value = serde_json::from_str(&b.ok("show b.safetensors --json").out).unwrap();
    assert_eq!(shown["report"]["stability"]["bootstrap"], 6);
    b.ok("report b.safetensors -o b.html");
    let page = std::fs::read_to_string(b.path("b.html")).unwrap();
    assert!(page.contains("its sampling error is estimated from 6 resamples of the rows"));
    assert!(page.contains("--stability 5 --bootstrap 6"));
    assert_eq!(b.run("fit pca d.csv --no-header --bootstrap 6 -o c.safetensors").code, 2);
    // Without --stability the page has no stability section.
    b.ok("fit pca d.csv --no-header -o plain.safetensors");
    b.ok("report plain.safetensors -o plain.html");
    assert!(!std::fs::read_to_string(b.path("plain.html")).unwrap().contains("Stability"));
}

#[test]
fn clusters_of_all_fits_are_in_the_table_in_the_file_and_on_the_page() {
    let b = Folder::new();
    let data = independent(
        1500,
        &[Distribution::Laplace, Distribution::Uniform, Distribution::Exponential],
        &[1.0; 3],
        4,
    )
    .unwrap();
    let lines: Vec<String> = (0..data.x.rows())
        .map(|i| data.x.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        .collect();
    b.write("d.csv", lines.join("\n"));
    let fitted = b.ok("fit ica d.csv --no-header --stability 3 -o m.safetensors");
    assert!(
        fitted.out.contains("component  halves  95 % interval    other seeds  Iq halves   Iq seeds  verdict"),
        "{}",
        fitted.out
    );
    let shown: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    let clusters = &shown["report"]["stability"]["clusters"];
    for (name, n_fits) in [("halves", 6), ("restarts", 4), ("both", 10)] {
        assert!((0..3).all(|j| clusters[name]["quality"][j].as_f64().is_some_and(|q| q > 0.9)), "{clusters}");
        assert!((0..3).all(|j| clusters[name]["fits"][j] == n_fits), "{clusters}");
    }
    b.ok("report m.safetensors -o m.html");
    let page = std::fs::read_to_string(b.path("m.html")).unwrap();
    for part in
        ["Iq, halves", "Iq, other seeds", "estimates and their clusters", "The 30 components of 10 fits"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_report_compares_two_models_and_shows_time_where_the_rate_is_given() {
    let b = Folder::new();
    let data = independent(
        800,
        &[Distribution::Laplace, Distribution::Exponential, Distribution::Uniform],
        &[3.0, 2.0, 1.0],
        4,
    )
    .unwrap();
    let line = |i: usize| data.x.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = (0..800).map(line).collect();
    b.write("d.csv", format!("a,b,c\n{}", lines.join("\n")));
    b.write("e.csv", format!("a,b,c\n{}", lines[..400].join("\n")));
    b.write("places.csv", "label,theta_deg,radius\na,0,1\nb,90,1\nc,-90,1\n");
    b.ok("fit ica d.csv -o a.safetensors");
    b.ok("fit ica e.csv -k 2 -o b.safetensors");
    b.ok("report a.safetensors d.csv --beside b.safetensors --rate 100 --positions places.csv -o a.html");
    let page = std::fs::read_to_string(b.path("a.html")).unwrap();
    for part in [
        "Comparison with another model",
        "Unmatched components of this model",
        "hertz",
        "8 seconds",
        "at the places of the sensors",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The page lists the commands that made it and its model, and no others.
    let invocation =
        "unmix report a.safetensors d.csv --beside b.safetensors --rate 100 --positions places.csv -o a.html";
    assert!(page.contains(invocation) && page.contains("unmix fit ica d.csv -o a.safetensors"));
    assert_eq!(page.matches("unmix fit").count(), 1);
    let missing = b.run("report a.safetensors d.csv --beside none.safetensors -o a.html");
    assert!(missing.code == 1 && missing.err.contains("none.safetensors"), "{}", missing.err);
    assert_eq!(b.run("report a.safetensors d.csv --rate 0 -o a.html").code, 2);
    // Several input files are stacked, as for `fit`.
    b.ok("report a.safetensors d.csv e.csv -o both.html");
    let both = std::fs::read_to_string(b.path("both.html")).unwrap();
    assert!(both.contains("1,200 rows"), "both files are read");
}

#[test]
fn pages_show_complete_commands() {
    let b = Folder::new();
    let line = |i: usize| format!("s{i},{},{},{},{}", i % 3, (i * 7) % 11, (i * i) % 13, 1 + i % 4);
    let lines: Vec<String> = (0..60).map(line).collect();
    b.write("d.csv", format!("id,class,x,y,w\n{}", lines.join("\n")));
    let fitted = b.ok("fit pca d.csv --drop id --keep class --weights-column w -k 2 -o m.safetensors");
    assert!(fitted.out.contains("PCA of 60 x 2 float64, weights sum to 150: "), "{}", fitted.out);
    assert!(b.ok("show m.safetensors").out.contains("60 x 2 float64, weights sum to 150"));
    let shown: Value = serde_json::from_str(&b.ok("show m.safetensors --json").out).unwrap();
    assert_eq!((&shown["report"]["n_rows"], &shown["report"]["n_samples"]), (&60.into(), &150.into()));
    b.ok("report m.safetensors d.csv --color class --title sixty -o m.html");
    let page = std::fs::read_to_string(b.path("m.html")).unwrap();
    assert!(
        page.contains("unmix report m.safetensors d.csv --color class --title sixty -o m.html"),
        "{page}"
    );
    let whole = "unmix fit pca d.csv --drop id --keep class --weights-column w -k 2 -o m.safetensors";
    assert!(page.contains(whole) && page.contains("60 rows (weights sum to 150)"));
    // `unmix demo` writes data, model and page, and the page names that command.
    b.ok("demo -o shown --seed 3");
    let page = std::fs::read_to_string(b.path("shown/report.html")).unwrap();
    assert!(page.contains("unmix demo -o shown --seed 3") && !page.contains("does not record the command"));
}

#[test]
fn too_few_rows_for_halves_are_stated_as_such_with_a_remedy_that_works() {
    let b = Folder::new();
    b.both("r8", 8, 7);
    b.both("two", 2, 3);
    let refused = |command: &str| {
        let run = b.run(&format!("fit {command} -o m.safetensors"));
        assert_eq!(run.code, 1, "{command}: {}", run.err);
        run.err
    };
    let many = refused("pca r8.npy -k 6 --stability 2");
    let words = "a half of r8.npy has 4 rows and 7 columns, so there are at most min(4, 7) = 4 components; choose another value, or \
                 leave --stability out";
    assert!(many.contains(words), "{many}");
    // By default all components of the rows are fitted, which is no remedy here.
    let all = refused("pca r8.npy --stability 2");
    assert!(all.contains("a half of r8.npy has 4 rows") && !all.contains("for all"), "{all}");
    let few = refused("pca two.npy -k 1 --stability");
    let words =
        "pca needs at least 2 rows, but a half of two.npy has 1; give more rows, or leave --stability out";
    assert!(few.contains(words), "{few}");
    let rank = refused("ppca two.npy -k 1 --set noise_floor=1e-8 --stability 2");
    assert!(rank.contains("a half of two.npy") && rank.contains("or leave --stability out"), "{rank}");
    // What the messages name works.
    b.ok("fit pca r8.npy -k 4 --stability 2 -o m.safetensors");
    b.ok("fit pca r8.npy -k 6 -o m.safetensors");
    b.ok("fit pca two.npy -k 1 -o m.safetensors");
}
