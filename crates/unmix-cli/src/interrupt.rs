//! Ctrl-C: the first requests a stop, the second ends the program immediately.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static PRESSED: AtomicU32 = AtomicU32::new(0);
static LISTENING: Once = Once::new();
/// Number of outputs that are being written. While it is positive, the first Ctrl-C waits for the work to stop, so that it removes
/// its temporary files.
static WRITING: AtomicU32 = AtomicU32::new(0);

/// Installs the handler, once per process, and clears earlier interrupts.
pub(crate) fn listen() {
    PRESSED.store(0, Ordering::Relaxed);
    // A process that has its own handler keeps it.
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            PRESSED.fetch_add(1, Ordering::Relaxed);
        });
    });
}

/// Number of interrupts.
pub(crate) fn pressed() -> u32 {
    PRESSED.load(Ordering::Relaxed)
}

/// Whether an output is being written.
pub(crate) fn writing() -> bool {
    WRITING.load(Ordering::Relaxed) > 0
}

/// Counts an output as being written for its lifetime.
pub(crate) struct WritingGuard;

impl WritingGuard {
    pub(crate) fn new() -> Self {
        WRITING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for WritingGuard {
    fn drop(&mut self) {
        WRITING.fetch_sub(1, Ordering::Relaxed);
    }
}
