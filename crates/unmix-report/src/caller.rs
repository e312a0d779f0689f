//! References of a page to other results: the command that computes them, or the call in Python.

use unmix::Caller;

/// What returns or writes the modules of a model with their members.
pub(crate) fn modules(caller: Caller) -> &'static str {
    match caller {
        Caller::Python => "unmix.biclusters(model, X)",
        _ => "unmix biclusters MODEL INPUT -o modules.csv",
    }
}

/// The option of a fit that sets its seed.
pub(crate) fn seed(caller: Caller, seed: u64) -> String {
    match caller {
        Caller::Python => format!("random_state={seed}"),
        _ => format!("--seed {seed}"),
    }
}

/// What makes a page of a model with rows; `model` and `input` are their files on the command line.
pub(crate) fn report(caller: Caller, model: &str, input: &str) -> String {
    match caller {
        Caller::Python => "unmix.report(model, X, path=\"report.html\")".into(),
        _ => format!("unmix report {model} {input} -o report.html"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_is_given_calls_and_the_command_line_commands() {
        let all =
            |caller| [modules(caller).to_string(), seed(caller, 2), report(caller, "m.safetensors", "x.csv")];
        let python =
            ["unmix.biclusters(model, X)", "random_state=2", "unmix.report(model, X, path=\"report.html\")"];
        assert_eq!(all(Caller::Python), python);
        let shell = [
            "unmix biclusters MODEL INPUT -o modules.csv",
            "--seed 2",
            "unmix report m.safetensors x.csv -o report.html",
        ];
        assert_eq!(all(Caller::Shell), shell);
        assert_eq!(all(Caller::Rust), shell);
    }
}
