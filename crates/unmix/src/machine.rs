//! What this machine has.

/// Bytes of memory that can be had without swapping, as far as the system says.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let cgroup = || -> Option<u64> {
        let read =
            |f: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{f}")).ok()?.trim().parse::<u64>().ok();
        Some(read("memory.max")?.saturating_sub(read("memory.current")?))
    };
    Some((kib * 1024).min(cgroup().unwrap_or(u64::MAX)))
}

/// An error when `bytes` are more than can be had.
pub(crate) fn check_memory(what: &str, bytes: u64, remedy: &str) -> crate::Result<()> {
    // Asking takes as long as a small fit, and where this much is missing nothing else works either.
    const ALWAYS_THERE: u64 = 16 << 20;
    if bytes < ALWAYS_THERE {
        return Ok(());
    }
    match available_memory() {
        Some(have) if bytes > have => Err(crate::Error::Memory {
            what: what.into(),
            need_mib: bytes >> 20,
            have_mib: have >> 20,
            remedy: remedy.into(),
        }),
        _ => Ok(()),
    }
}
