//! Ctrl-C: the first requests a stop, the second ends the program immediately. A fit may take one before these to end its iterations
//! and keep their result.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static PRESSED: AtomicU32 = AtomicU32::new(0);
/// Whether the first Ctrl-C ends iterations with their current result.
static KEEPS: AtomicBool = AtomicBool::new(false);
static LISTENING: Once = Once::new();
/// Number of outputs that are being written. While it is positive, the first Ctrl-C waits for the work to stop, so that it removes
/// its temporary files.
static WRITING: AtomicU32 = AtomicU32::new(0);

/// Installs the handler, once per process, and clears earlier interrupts.
pub(crate) fn listen() {
    PRESSED.store(0, Ordering::Relaxed);
    KEEPS.store(false, Ordering::Relaxed);
    // A process that has its own handler keeps it.
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            PRESSED.fetch_add(1, Ordering::Relaxed);
        });
    });
}

/// The first Ctrl-C from now on ends iterations with their current result.
pub(crate) fn keep_result() {
    KEEPS.store(true, Ordering::Relaxed);
}

/// Whether iterations should end with their current result.
pub(crate) fn ends_early() -> bool {
    KEEPS.load(Ordering::Relaxed) && PRESSED.load(Ordering::Relaxed) > 0
}

/// Number of interrupts that request a stop.
pub(crate) fn pressed() -> u32 {
    PRESSED.load(Ordering::Relaxed).saturating_sub(KEEPS.load(Ordering::Relaxed).into())
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
