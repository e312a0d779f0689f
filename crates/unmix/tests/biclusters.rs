//! Modules of rectified factor networks: planted ones are found, ranked first, and declared with few false ones.

mod large;
mod null;
mod rare;

use unmix::Rows;
use unmix::biclusters::{
    Biclusters, Module, Refits, biclusters, of_model, of_models, permuted_rows, signed_biclusters,
};
use unmix::data::RawArray;
use unmix::datasets::{PlantedBiclusters, RareModules, rare_modules};
use unmix::method::rfn::Init;
use unmix::{AnyRows, Error, Ica, Matrix, Model, Pca, Rfn, Run};

fn rows_of(x: &Matrix<f64>) -> Rows<'_, f64> {
    Rows::new(
        RawArray::borrowed(x.as_slice(), x.cols()).unwrap(),
        unmix::Features::default(),
        "planted modules",
    )
}

fn settings() -> Rfn {
    Rfn { n_components: 50, psi_min: 0.3, max_iter: 200, ..Rfn::default() }
}

fn planted(shift: f64, seed: u64) -> PlantedBiclusters {
    rare_modules(&RareModules { shift, ..RareModules::default() }, seed).unwrap()
}

fn fitted(made: &PlantedBiclusters, run: &Run<'_>) -> Model {
    settings().fit(&mut rows_of(&made.x), run).unwrap()
}

fn found(made: &PlantedBiclusters, refits: Refits, run: &Run<'_>) -> Biclusters {
    let model = fitted(made, &Run { seed: run.seed, threads: run.threads, ..Run::default() });
    biclusters(&model, &AnyRows::from(rows_of(&made.x)), refits, run).unwrap()
}

fn members(of: &[bool]) -> Vec<u32> {
    (0..of.len() as u32).filter(|i| of[*i as usize]).collect()
}

/// Share of the planted rows and of the planted columns that a module has, on average; and the planted module for which it is largest.
fn overlap(module: &Module, made: &PlantedBiclusters) -> (f64, usize) {
    let share = |own: &[u32], of: &[bool]| {
        let truth = members(of);
        own.iter().filter(|i| truth.contains(i)).count() as f64 / truth.len() as f64
    };
    let each = made.rows.iter().zip(&made.columns).enumerate();
    each.map(|(i, (rows, columns))| (0.5 * (share(&module.rows, rows) + share(&module.columns, columns)), i))
        .fold((0.0, 0), |best, at| if at.0 > best.0 { at } else { best })
}

fn distinct(modules: &[Module], made: &PlantedBiclusters) -> usize {
    let mut hits: Vec<usize> =
        modules.iter().map(|m| overlap(m, made)).filter(|(share, _)| *share >= 0.7).map(|(_, i)| i).collect();
    hits.sort_unstable();
    hits.dedup();
    hits.len()
}

#[test]
fn planted_modules_are_found_first_and_declared() {
    let made = planted(5.0, 0);
    let found = found(&made, Refits { starts: 4, permutations: 3 }, &Run::default());
    let first = &found.modules[..10];
    assert_eq!(
        distinct(first, &made),
        5,
        "{:?}",
        first.iter().map(|m| overlap(m, &made)).collect::<Vec<_>>()
    );
    let declared: Vec<&Module> = found.modules.iter().filter(|m| m.q_value.unwrap() <= 0.1).collect();
    assert!(declared.len() >= 4, "{}", declared.len());
    let wrong = declared.iter().filter(|m| overlap(m, &made).0 < 0.4).count();
    assert!(wrong * 20 <= 3 * declared.len(), "{wrong} of {}", declared.len());
    // The first module has negative loadings, few rows and few columns, and at least half of the starts have it.
    let best = &found.modules[0];
    assert!(best.rare && best.small && best.positive.iter().all(|up| !up), "{best:?}");
    assert!(best.stability.unwrap() >= 0.5 && best.halves.unwrap() <= 1.0);
    assert!((0.0..0.5).contains(&found.chance.unwrap()));
    assert!(found.modules.windows(2).all(|m| m[0].evidence >= m[1].evidence));
    assert!(found.modules.windows(2).all(|m| m[0].q_value <= m[1].q_value));
    // None is below what three permutations support.
    let declared = declared.len() as f64;
    assert!(found.modules.iter().all(|m| m.q_value.unwrap() * declared >= found.least_q().unwrap() - 1e-12));
}

#[test]
fn units_of_one_model_are_described_by_the_formulas() {
    let made = planted(5.0, 1);
    let model = fitted(&made, &Run::default());
    let rows = AnyRows::from(rows_of(&made.x));
    let found = of_model(&model, &rows, &Run::default()).unwrap();
    let (n, p, k) = (300, 800, 50);
    let codes = model.encode_to_vec(&rows_of(&made.x), &Run::default()).unwrap();
    let mixing = model.code().mixing().unwrap();
    let psi = model.tensor("noise_variance").unwrap().f64s();
    // Columns are standardised: relative loadings are loadings.
    let root = |j: usize| ((0..n).map(|i| codes[i * k + j].powi(2)).sum::<f64>() / n as f64).sqrt();
    let w: Vec<Vec<f64>> = (0..k).map(|j| (0..p).map(|c| mixing[(c, j)] * root(j)).collect()).collect();
    let bar = 2.0 * (w.iter().flatten().map(|x| x * x).sum::<f64>() / (p * k) as f64).sqrt();
    assert!(found.modules.len() >= 10, "{}", found.modules.len());
    for module in &found.modules {
        let (fit, j) = module.units[0];
        assert_eq!(fit, 0);
        let power = |e: i32| (0..n).map(|i| codes[i * k + j].powi(e)).sum::<f64>();
        let level = (power(4) / power(2)).sqrt() / 2.0;
        let rows: Vec<u32> = (0..n as u32).filter(|i| codes[*i as usize * k + j] > level).collect();
        let columns: Vec<u32> = (0..p as u32).filter(|c| w[j][*c as usize].abs() > bar).collect();
        assert_eq!((&module.rows, &module.columns), (&rows, &columns));
        let (w2, w4) = w[j].iter().fold((0.0, 0.0), |(a, b), x| (a + x * x, b + x.powi(4)));
        let concentration = (p as f64 * w4 / (w2 * w2)).ln() + (n as f64 * power(4) / power(2).powi(2)).ln();
        assert!((module.concentration - concentration).abs() < 1e-9 * concentration.abs());
        let signal: f64 = (0..p).map(|c| w[j][c].powi(2) / psi[c]).sum();
        assert!((module.information.unwrap() - 0.5 * signal.ln_1p()).abs() < 1e-9);
        assert!(module.stability.is_none() && module.q_value.is_none() && module.halves.is_none());
    }
}

#[test]
fn models_are_pooled_as_refits_are() {
    let made = planted(5.0, 3);
    let pooled = found(&made, Refits { starts: 3, permutations: 0 }, &Run::default());
    let fits = [(Init::Ica, 0), (Init::Random, 1), (Init::Random, 2)].map(|(init, seed)| {
        let run = Run { seed, ..Run::default() };
        Rfn { init, ..settings() }.fit(&mut rows_of(&made.x), &run).unwrap()
    });
    let own = of_models(&fits, &AnyRows::from(rows_of(&made.x)), &Run::default()).unwrap();
    assert_eq!((own.starts, own.permutations, own.modules.len()), (3, 0, pooled.modules.len()));
    for (a, b) in own.modules.iter().zip(&pooled.modules) {
        assert_eq!((&a.rows, &a.columns, &a.units), (&b.rows, &b.columns, &b.units));
        assert_eq!((a.concentration, a.stability, &a.codes), (b.concentration, b.stability, &b.codes));
        assert!(a.q_value.is_none() && a.halves.is_none());
    }
}

#[test]
fn components_whose_codes_may_be_negative_are_two_units_each() {
    let made = planted(5.0, 0);
    let rows = AnyRows::from(rows_of(&made.x));
    let ica = Ica { n_components: 50.into(), ..Ica::default() };
    let ica = ica.fit(&mut rows_of(&made.x), &Run::default()).unwrap();
    let codes = ica.encode_to_vec(&rows_of(&made.x), &Run::default()).unwrap();
    let both = of_models(&[ica], &rows, &Run::default()).unwrap();
    assert_eq!(distinct(&both.modules, &made), 5);
    for m in &both.modules {
        let (component, sign) =
            if m.units[0].1 < 50 { (m.units[0].1, 1.0) } else { (m.units[0].1 - 50, -1.0) };
        let own = codes.iter().skip(component).step_by(50).map(|y| (sign * y).max(0.0) as f32);
        assert!(own.eq(m.codes.iter().copied()));
    }
    // Halves find axes of PCA again, whatever their signs, and more so than axes of rows with permuted columns.
    let pca = Pca { n_components: 8.into(), ..Pca::default() };
    let pca = pca.fit(&mut rows_of(&made.x), &Run::default()).unwrap();
    let refits = Refits { starts: 1, permutations: 1 };
    let mean = |found: &Biclusters| {
        found.modules.iter().filter_map(|m| m.halves).sum::<f64>() / found.modules.len() as f64
    };
    let real = signed_biclusters(&pca, &rows, refits, &Run::default()).unwrap();
    let numbers = permuted_rows(&rows_of(&made.x), 0, 0).unwrap();
    let mixed = AnyRows::from(Rows::from_slice(&numbers, 800).unwrap());
    let null = signed_biclusters(&pca, &mixed, refits, &Run::default()).unwrap();
    assert!(mean(&real) > mean(&null) + 0.1, "{} {}", mean(&real), mean(&null));
    let column = |x: &[f64]| {
        let mut column: Vec<f64> = x.iter().skip(17).step_by(800).copied().collect();
        column.sort_by(f64::total_cmp);
        column
    };
    assert_eq!(column(&numbers), column(made.x.as_slice()));
    assert_ne!(numbers, made.x.as_slice());
}

#[test]
fn threads_do_not_change_modules() {
    let made = planted(4.0, 2);
    let refits = Refits { starts: 3, permutations: 1 };
    let one = found(&made, refits, &Run { threads: 1, ..Run::default() });
    let two = found(&made, refits, &Run { threads: 2, ..Run::default() });
    assert_eq!(one, two);
}

#[test]
fn models_rows_and_settings_without_modules_are_refused() {
    let made = planted(4.0, 0);
    let rows = AnyRows::from(rows_of(&made.x));
    let pca =
        Pca { n_components: 3.into(), ..Pca::default() }.fit(&mut rows_of(&made.x), &Run::default()).unwrap();
    let e = of_model(&pca, &rows, &Run::default()).unwrap_err();
    let words = "finding modules by a model of pca is not possible: its codes may be negative";
    assert!(matches!(e, Error::Unsupported { .. }) && e.to_string().starts_with(words), "{e}");
    let model = Rfn { n_components: 5, max_iter: 5, ..Rfn::default() }
        .fit(&mut rows_of(&made.x), &Run::default())
        .unwrap();
    let none = Refits { starts: 0, permutations: 0 };
    let e = biclusters(&model, &rows, none, &Run::default()).unwrap_err();
    assert!(matches!(&e, Error::Setting { name, .. } if name == "starts"), "{e}");
    let weighted = AnyRows::from(rows_of(&made.x).weighted(vec![2.0; 300]).unwrap());
    let e = of_model(&model, &weighted, &Run::default()).unwrap_err();
    assert!(matches!(e, Error::Unsupported { .. }) && e.to_string().contains("weights"), "{e}");
}

/// Modules have no weights: those of the fit are not used, which a warning states.
#[test]
fn weights_of_the_fit_are_left_out_with_a_warning() {
    let made = planted(4.0, 0);
    let n = made.x.rows();
    let small = Rfn { n_components: 5, max_iter: 5, ..Rfn::default() };
    let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    let model = small.fit(&mut rows_of(&made.x).weighted(weights).unwrap(), &Run::default()).unwrap();
    let rows = AnyRows::from(rows_of(&made.x));
    let alone = of_model(&model, &rows, &Run::default()).unwrap();
    let said = alone.weights_left_out().unwrap();
    assert!(said.starts_with("the model was fitted to rows with weights"), "{said}");
    assert_eq!(alone.to_json()["warnings"][0], said);
    let refits = Refits { starts: 1, permutations: 1 };
    let pooled = unmix::biclusters::biclusters(&model, &rows, refits, &Run::default()).unwrap();
    assert!(pooled.without_weights);
    let plain = small.fit(&mut rows_of(&made.x), &Run::default()).unwrap();
    assert_eq!(of_model(&plain, &rows, &Run::default()).unwrap().weights_left_out(), None);
}

#[test]
fn modules_that_are_all_at_the_level_of_chance_are_stated() {
    let made = planted(4.0, 0);
    let small = Rfn { n_components: 5, max_iter: 5, ..Rfn::default() };
    let model = small.fit(&mut rows_of(&made.x), &Run::default()).unwrap();
    let mut found = of_model(&model, &AnyRows::from(rows_of(&made.x)), &Run::default()).unwrap();
    assert!(!found.modules.is_empty());
    assert_eq!(found.none_above_chance(), None);
    found.modules.iter_mut().for_each(|module| module.q_value = Some(1.0));
    found.permutations = 10;
    let said = found.none_above_chance().unwrap();
    assert!(said.starts_with("no module is above chance: every q-value is 1; "), "{said}");
    assert_eq!(found.to_json()["warnings"][0], said);
    // A few copies cannot show it.
    found.permutations = 2;
    assert_eq!(found.none_above_chance(), None);
    (found.permutations, found.modules[0].q_value) = (10, Some(0.5));
    assert_eq!(found.none_above_chance(), None);
}

#[test]
fn fits_that_end_early_give_no_q_values_and_are_stated() {
    let made = planted(2.0, 1);
    let rows = AnyRows::from(rows_of(&made.x));
    let small = Rfn { n_components: 5, max_iter: 5, ..Rfn::default() };
    let model = small.fit(&mut rows_of(&made.x), &Run::default()).unwrap();
    let of = |max_seconds: Option<f64>| {
        let run = Run { max_seconds, ..Run::default() };
        biclusters(&model, &rows, Refits { starts: 2, permutations: 2 }, &run).unwrap()
    };
    let (whole, late) = (of(None), of(Some(0.0)));
    assert_eq!((whole.incomplete, whole.permutations, whole.warning()), (false, 2, None));
    assert!(whole.modules.iter().all(|m| m.q_value.is_some() && m.halves.is_some()));
    assert_eq!((late.incomplete, late.permutations, late.chance), (true, 0, None));
    assert!(late.modules.iter().all(|m| m.q_value.is_none() && m.halves.is_none() && m.stability.is_some()));
    let said = late.warning().unwrap();
    assert!(said.contains("ended early") && said.contains("there are no q-values"), "{said}");
    assert_eq!(late.to_json()["warnings"][0], said.as_str());
}
