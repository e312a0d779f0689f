//! The names of LAPACK that petal-decomposition calls, for an OpenBLAS whose own begin with `scipy_`.

use std::ffi::c_void;

/// All arguments are pointers, but for the lengths of those that are characters, which Fortran takes after all others and
/// petal leaves out.
macro_rules! named {
    ($($own:ident $theirs:ident ($($a:ident)*) ($($length:ident)*);)*) => {$(
        unsafe extern "C" {
            fn $theirs($($a: *mut c_void,)* $($length: usize),*);
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $own($($a: *mut c_void),*) {
            $(let $length = 1;)*
            // SAFETY: the arguments are those of the same function of LAPACK, as its caller gives them; a length is that of one character.
            unsafe { $theirs($($a,)* $($length),*) }
        }
    )*};
}

named! {
    sgelqf_ scipy_sgelqf_ (m n a lda tau work lwork info) ();
    sgesdd_ scipy_sgesdd_ (jobz m n a lda s u ldu vt ldvt work lwork iwork info) (x);
    sgesvd_ scipy_sgesvd_ (jobu jobvt m n a lda s u ldu vt ldvt work lwork info) (x y);
    sorglq_ scipy_sorglq_ (m n k a lda tau work lwork info) ();
    ssyev_ scipy_ssyev_ (jobz uplo n a lda w work lwork info) (x y);
    dgelqf_ scipy_dgelqf_ (m n a lda tau work lwork info) ();
    dgesdd_ scipy_dgesdd_ (jobz m n a lda s u ldu vt ldvt work lwork iwork info) (x);
    dgesvd_ scipy_dgesvd_ (jobu jobvt m n a lda s u ldu vt ldvt work lwork info) (x y);
    dorglq_ scipy_dorglq_ (m n k a lda tau work lwork info) ();
    dsyev_ scipy_dsyev_ (jobz uplo n a lda w work lwork info) (x y);
}
