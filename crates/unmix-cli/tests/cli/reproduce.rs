//! `unmix reproduce`: runs the experiments that are named; an unknown key is an error that lists the known ones.

use crate::folder::Folder;

#[test]
fn several_experiments_share_one_page() {
    let b = Folder::new();
    let ran = b.ok("reproduce transforms shapes transforms --quick --quiet -o made");
    let page = String::from_utf8(b.read("made/index.html")).unwrap();
    let at = |key: &str| page.find(&format!("<h2 id=\"{key}\"")).unwrap();
    assert!(at("transforms") < at("shapes"), "in the order typed");
    assert_eq!(page.matches("<h2 ").count(), 2, "a key typed twice runs once");
    assert!(ran.out.contains("transforms") && ran.out.contains("all 13 conditions hold"), "{}", ran.out);
    // Dark where that is preferred, and no wider than a phone: tables scroll, pictures shrink.
    assert!(page.contains("@media(prefers-color-scheme:dark){") && page.contains("img{max-width:100%"));
    assert!(
        page.contains("<table")
            && page.matches("<table").count() == page.matches("<div class=\"scroll\"><table").count()
    );
    assert!(b.path("made/shapes/numbers.csv").is_file() && b.path("made/transforms/numbers.csv").is_file());
}

#[test]
fn an_unknown_key_is_refused_before_anything_is_made() {
    let b = Folder::new();
    let ran = b.run("reproduce shapes singals --quick -o made");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("singals") && ran.err.contains("did you mean 'signals'"), "{}", ran.err);
    assert!(b.files().is_empty(), "{:?}", b.files());
    let ran = b.run("reproduce shapes --list");
    assert_eq!(ran.code, 2, "{}", ran.err);
}
