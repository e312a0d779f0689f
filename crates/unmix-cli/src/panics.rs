//! Panics are bugs: they are reported in one sentence, without a stack trace.

use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// Records the first panic of any thread during its lifetime, instead of printing a stack trace; with `RUST_BACKTRACE` set the
/// trace is printed, too.
pub(crate) struct PanicRecorder {
    previous: Option<Arc<Hook>>,
}

impl PanicRecorder {
    pub(crate) fn new() -> Self {
        *FIRST.lock().unwrap_or_else(|e| e.into_inner()) = None;
        let previous = Arc::new(std::panic::take_hook());
        let trace = std::env::var_os("RUST_BACKTRACE").is_some_and(|v| v != "0");
        let inner = previous.clone();
        std::panic::set_hook(Box::new(move |info| {
            // A corrupt file, which the reader reports as an error.
            if unmix_io::panic_is_caught() {
                return;
            }
            let payload = info.payload();
            let what = payload
                .downcast_ref::<&str>()
                .copied()
                .or(payload.downcast_ref::<String>().map(String::as_str));
            let what = what.unwrap_or("no reason given");
            let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
            FIRST.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(format!("{what}{place}"));
            if trace {
                inner(info);
            }
        }));
        Self { previous: Some(previous) }
    }

    /// The message for the user.
    pub(crate) fn sentence(&self) -> String {
        let what = FIRST
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .take()
            .unwrap_or_else(|| "no reason given".into());
        format!("this is a bug in unmix ({what}); please report it with the command that you typed")
    }
}

impl Drop for PanicRecorder {
    fn drop(&mut self) {
        // Changing the hook in a panicking thread would abort the process.
        if std::thread::panicking() {
            return;
        }
        drop(std::panic::take_hook());
        // The hook of this program is removed, and with it the other reference, unless another hook was installed since.
        if let Some(previous) = self.previous.take().and_then(Arc::into_inner) {
            std::panic::set_hook(previous);
        }
    }
}
