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

/// `n` zeros. Where they are many, the system is asked for large pages: handing out a page costs about a microsecond, whatever its
/// size, so that in small ones (4 KiB) 32 MiB cost 8 ms before anything is computed.
pub fn zeros<T: Clone + Default>(n: usize) -> Vec<T> {
    let all = vec![T::default(); n];
    in_large_pages(all.as_ptr().cast(), n * std::mem::size_of::<T>());
    all
}

/// Room for `n` numbers, as [`zeros`] has it.
pub(crate) fn room<T>(n: usize) -> Vec<T> {
    let none = Vec::<T>::with_capacity(n);
    in_large_pages(none.as_ptr().cast(), n * std::mem::size_of::<T>());
    none
}

/// Asks for large pages in the part of a fresh allocation that they can cover; nothing is lost where there are none.
fn in_large_pages(start: *const u8, bytes: usize) {
    // As numpy does, from 4 MiB on; such allocations have pages of their own, untouched while they are zeros of the system.
    const MANY: usize = 1 << 22;
    const PAGE: usize = 1 << 12;
    if bytes < MANY {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        let first = (start as usize).next_multiple_of(PAGE);
        let length = (start as usize + bytes - first) / PAGE * PAGE;
        // SAFETY: whole pages inside an allocation of ours; the advice changes no content.
        unsafe { libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, PAGE);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_zeros_and_room_is_empty_on_both_sides_of_large_pages() {
        for n in [0, 1, 1000, (1 << 19) - 1, 1 << 19, (1 << 20) + 12_345] {
            assert!(zeros::<f64>(n).len() == n && zeros::<f64>(n).iter().all(|&x| x == 0.0), "{n}");
            let mut room = room::<f32>(n);
            assert!(room.is_empty() && room.capacity() >= n);
            room.resize(n, 2.0);
            assert!(room.iter().all(|&x| x == 2.0));
        }
    }
}
