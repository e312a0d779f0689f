//! What holds for every page.

/// Every tag is closed by a tag of the same name, in order; every attribute is quoted; `<` is always escaped.
pub(crate) fn well_formed(html: &str) {
    const VOID: [&str; 4] = ["meta", "link", "img", "input"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a page begins with its type");
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        let name = tag.split([' ', '\n']).next().unwrap();
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}> is not a tag");
        let attributes = &tag[name.len()..];
        assert_eq!(attributes.matches('"').count() % 2, 0, "<{tag}>");
        if name == "style" {
            rest = &rest[rest.find("</style>").unwrap()..];
        }
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

/// Attribute names and values of a tag: text between quotes is a value, and the text before it its name.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = tag.split('"').collect();
    let name = |piece: &'_ str| piece.trim_end_matches('=').len();
    pieces.chunks_exact(2).map(|p| (p[0][..name(p[0])].rsplit(' ').next().unwrap(), p[1])).collect()
}

/// The page has no URL but `data:`, and no script: it loads nothing from a network.
pub(crate) fn fetches_nothing(html: &str) {
    for tag in html.split('<').skip(1).map(|t| t.split('>').next().unwrap()) {
        assert!(!tag.starts_with("script") && !tag.starts_with("iframe"), "<{tag}>");
        for (name, value) in attributes(tag) {
            assert!(!name.starts_with("on"), "<{tag}> runs something");
            if ["src", "href", "srcset", "action", "data", "poster", "xlink:href"].contains(&name) {
                assert!(value.starts_with("data:"), "<{tag}> loads something");
            }
            assert!(name != "style" || !value.contains("url("), "<{tag}>");
        }
    }
    let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
    assert!(html.contains("default-src 'none'"));
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
}

/// Figures have titles; tables have headers; no number is NaN or infinite.
pub(crate) fn described(html: &str) {
    for svg in html.split("<svg").skip(1) {
        let tag = svg.split('>').next().unwrap();
        assert!(
            tag.contains(r#"role="img""#)
                && tag.contains("aria-label=\"")
                && !tag.contains("aria-label=\"\""),
            "{tag}"
        );
    }
    for img in html.split("<img").skip(1) {
        let tag = img.split('>').next().unwrap();
        assert!(tag.contains("alt=\"") && !tag.contains("alt=\"\""));
    }
    assert_eq!(html.matches("<table").count(), html.matches("<thead>").count());
    // Attributes with embedded images are left out: their base64 text may contain any word.
    let text: Vec<&str> = html.split('"').filter(|piece| !piece.starts_with("data:")).collect();
    for broken in ["NaN", "inf ", "infinity"] {
        assert!(!text.iter().any(|piece| piece.contains(broken)), "'{broken}' on the page");
    }
}
