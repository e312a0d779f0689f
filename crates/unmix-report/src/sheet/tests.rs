use super::*;

#[test]
fn a_sheet_holds_every_kind_of_panel() {
    let mut sheet = Sheet::new("A < B", 2);
    let vectors = Matrix::from_fn(5, 12, |i, j| (i as f64 - 2.0) * (j as f64 - 6.0));
    sheet.add("filters", Content::Pictures { vectors: vectors.clone(), shape: vec![2, 2, 3], columns: 3 });
    sheet.add("signals", Content::Courses(vectors));
    sheet.add("points", Content::Points(vec![(0.0, 1.0), (-2.0, 0.5)]));
    let stroke = |kind, to| Stroke { name: format!("{kind:?}"), from: (-9.0, -9.0), to, kind };
    let strokes = vec![
        stroke(StrokeKind::Line, (9.0, 9.0)),
        stroke(StrokeKind::Arrow, (1.0, 0.0)),
        stroke(StrokeKind::Dot, (1.0, 1.0)),
    ];
    sheet.add(
        "groups",
        Content::Groups(vec![("first".into(), vec![(0.0, 1.0)]), ("second".into(), vec![(1.0, 0.5)])]),
    );
    sheet.add("plane", Content::Plane { points: vec![(0.0, 1.0), (-2.0, 0.5)], strokes });
    let photograph = Matrix::from_fn(1, 4, |_, j| j as f64);
    sheet.add("photograph", Content::Photographs { vectors: photograph, shape: vec![2, 2], columns: 1 });
    let line = vec![(0.0, 1.0), (1.0, 1e-3), (2.0, 0.0)];
    let lines = vec![("one".into(), line.clone()), ("two".into(), line)];
    sheet.add(
        "a caption that is too long to fit in one line and so is broken into two",
        Content::Lines { lines, names: ("x".into(), "y".into()), log_y: true, shaded: vec![(1.5, 9.0)] },
    );
    let strips = vec![("code".into(), vec![0.0, 2.0, 0.5]), ("gene".into(), vec![-1.0, 3.0, 0.0])];
    sheet.add("strips", Content::Strips { strips, classes: vec![0, 1, 1], large: vec![false, true, false] });
    let svg = sheet.svg().unwrap();
    assert!(
        svg.contains("A &lt; B") && svg.contains("data:image/png;base64,") && svg.contains("stroke-width:3")
    );
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a zero on a logarithmic axis is left out");
    assert_eq!(svg.matches("<text class=\"caption\"").count(), 9);
    // Of each strip three dots, in a path each: two classes, and a large one.
    assert_eq!(
        (
            svg.matches("stroke-width:4.4").count(),
            svg.matches("stroke-width:2.4;stroke-linecap:round;stroke-opacity").count()
        ),
        (2, 4)
    );
    // 9 lies outside of the cloud, which reaches to 2: the line ends at its edges, and names of strokes are below it.
    assert!(svg.contains("d=\"M2 298L298 2\"") && svg.contains(">Arrow</text>"), "{svg}");
    assert!(svg.matches("<rect class=\"ground\"").count() == 1, "a ground ends where the drawing ends");
    let long = Sheet::new("a title that is wider than the only panel below it", 1);
    assert_eq!(long.svg().unwrap().matches("<text class=\"title\"").count(), 2);
    sheet.add("none", Content::Pictures { vectors: Matrix::zeros(1, 7), shape: vec![7], columns: 1 });
    assert!(sheet.svg().unwrap_err().to_string().contains("[7] is not the shape of a picture"));
}
