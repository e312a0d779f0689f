//! Resources of this machine.

/// Bytes of memory available without swapping, as reported by the system: what the machine has free, and what
/// the control group and the limit of addresses (`ulimit -v`) leave to this process.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let limits = [cgroup_limit(), address_space()];
    Some(limits.into_iter().flatten().fold(kib * 1024, u64::min))
}

/// Memory left by the control group of this process and by its parents.
fn cgroup_limit() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    // "0::/path" in the second version, "4:memory:/path" in the first.
    let path = |start: fn(&str) -> bool| {
        let line = groups.lines().find(|l| start(l.split_once(':').map_or("", |(_, rest)| rest)))?;
        line.rsplit(':').next().map(|p| p.trim_start_matches('/').to_string())
    };
    let second = path(|rest| rest.starts_with(':')).unwrap_or_default();
    let first = path(|rest| rest.split(':').next().is_some_and(|c| c.split(',').any(|c| c == "memory")));
    let v2 = available_in("/sys/fs/cgroup", &second, ["memory.max", "memory.current", "inactive_file"]);
    let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
    let v1 = first.and_then(|path| available_in("/sys/fs/cgroup/memory", &path, names));
    [v2, v1].into_iter().flatten().min()
}

/// Minimum, over the group at `path` under `root` and its parents, of the limit less the memory in use. Cached files do not count as used:
/// the system releases them on demand.
fn available_in(root: &str, path: &str, [limit, used, cached]: [&str; 3]) -> Option<u64> {
    let root = std::path::Path::new(root);
    let number = |file: std::path::PathBuf| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let left = |group: &std::path::Path| -> Option<u64> {
        let statistics = std::fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let cached = statistics.lines().find_map(|l| l.strip_prefix(cached)?.trim().parse::<u64>().ok());
        let held = number(group.join(used))?.saturating_sub(cached.unwrap_or(0));
        Some(number(group.join(limit))?.saturating_sub(held))
    };
    let groups = root.join(path);
    groups.ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

/// Memory left by the limit of the address space.
fn address_space() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: writes to the two numbers passed by reference.
        let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
        if !known || limit.rlim_cur == libc::RLIM_INFINITY {
            return None;
        }
        let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = sizes.split_whitespace().next()?.parse().ok()?;
        // SAFETY: returns a number only.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Some(limit.rlim_cur.saturating_sub(pages.saturating_mul(u64::try_from(page).ok()?)))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// `n` zeros. For large `n`, huge pages are requested from the system: a page fault costs about the same for every page size, so
/// that fewer pages cost less.
pub fn zeros<T: Clone + Default>(n: usize) -> Vec<T> {
    let all = vec![T::default(); n];
    in_large_pages(all.as_ptr().cast(), n * std::mem::size_of::<T>());
    all
}

/// Capacity for `n` numbers, allocated as by [`zeros`].
pub(crate) fn room<T>(n: usize) -> Vec<T> {
    let none = Vec::<T>::with_capacity(n);
    in_large_pages(none.as_ptr().cast(), n * std::mem::size_of::<T>());
    none
}

/// Requests huge pages for the part of a new allocation that they can cover; without effect where they are
/// not available.
fn in_large_pages(start: *const u8, bytes: usize) {
    // As numpy does, from 4 MiB on; such allocations consist of separate pages, not yet touched if they are
    // zeroed by the system.
    const LEAST_BYTES: usize = 1 << 22;
    const PAGE_BYTES: usize = 1 << 12;
    if bytes < LEAST_BYTES {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        let first = (start as usize).next_multiple_of(PAGE_BYTES);
        let length = (start as usize + bytes - first) / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: whole pages inside an allocation of ours; the advice changes no content.
        unsafe { libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, PAGE_BYTES);
}

/// An error if `bytes` are more than the system reports as free, or more than it can reserve. `what` is the subject of the message, as in
/// "a 5 x 5 matrix".
///
/// To be called before allocating anything that grows with the square of the number of columns, or with the
/// number of components times columns: a failed allocation aborts the process.
pub(crate) fn check_memory(what: &str, bytes: u64, remedy: &str) -> crate::Result<()> {
    // The query takes as long as a small fit, and is not worth it for small sizes.
    const ALWAYS_THERE: u64 = 16 << 20;
    if bytes < ALWAYS_THERE {
        return Ok(());
    }
    let have = available_memory();
    // Reserved and freed: none of its pages is touched.
    let reserved =
        || Vec::<u8>::new().try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX)).is_ok();
    if have.is_none_or(|have| bytes <= have) && reserved() {
        return Ok(());
    }
    Err(crate::Error::Memory {
        what: what.into(),
        need_bytes: bytes,
        // Free, but not contiguous or not available to this process.
        have_bytes: have.unwrap_or(0).min(bytes),
        remedy: remedy.into(),
    })
}

/// [`check_memory`] for `count` matrices of `p x p` numbers in double precision, which `method` needs.
pub(crate) fn check_square(method: &str, p: usize, count: u64) -> crate::Result<()> {
    let p = p as u64;
    check_memory(
        &format!("{method} of {p} columns, with matrices of {p} x {p} numbers,"),
        p.saturating_mul(p).saturating_mul(8 * count),
        "choose fewer columns, or reduce the dimension first, as by PCA; if rows are channels, transpose",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_memory_than_available_is_refused_before_allocation() {
        let huge = check_square("ica", 200_000, 6).unwrap_err();
        assert!(
            matches!(huge, crate::Error::Memory { need_bytes, .. } if need_bytes == 8 * 6 * 40_000_000_000u64),
            "{huge}"
        );
        let message = huge.to_string();
        assert!(
            message.contains("would need 1920000000000 bytes (1831054 MiB) of memory, more than the "),
            "{message}"
        );
        assert!(check_memory("more than there are addresses", u64::MAX, "ask for less").is_err());
        assert!(check_square("ica", 100, 6).is_ok() && check_memory("a little", 32 << 20, "none").is_ok());
        assert!(available_memory().is_none_or(|have| have > 0));
    }

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
