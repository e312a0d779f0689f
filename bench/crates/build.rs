//! The location of OpenBLAS, which petal-decomposition needs: the folder of the library in Python's wheel `scipy-openblas32`.

fn main() {
    println!("cargo:rerun-if-env-changed=OPENBLAS");
    let folder = std::env::var("OPENBLAS")
        .expect("OPENBLAS names the folder of libscipy_openblas; bench/run.py sets it");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=dylib=scipy_openblas");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
}
