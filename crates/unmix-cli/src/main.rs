//! The `unmix` program: everything is in the library, which the Python package calls too.

fn main() {
    std::process::exit(unmix_cli::run(std::env::args_os()));
}
