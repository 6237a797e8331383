//! Memory between two pages that may not be touched.

/// Some pages, with one that may not be read or written on either side.
pub(crate) struct Guarded {
    start: *mut u8,
    page: usize,
    len: usize,
}

impl Guarded {
    /// `pages` usable pages.
    pub(crate) fn new(pages: usize) -> Self {
        // SAFETY: asks for a number, touches no memory.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page size");
        let len = pages * page;
        // SAFETY: a new private mapping of no file, placed by the system.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len + 2 * page,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(start, libc::MAP_FAILED);
        let start = start.cast::<u8>().wrapping_add(page);
        // SAFETY: these pages were mapped just now and belong to nobody else.
        let done = unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0);
        Guarded { start, page, len }
    }

    /// Usable bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A copy of `data` that ends right before the page behind if `at_end`, else begins right after the one in front.
    pub(crate) fn place(&mut self, data: &[u8], at_end: bool) -> &mut [u8] {
        let at = if at_end { self.len - data.len() } else { 0 };
        // SAFETY: the usable pages are mapped, writable and borrowed through `self` for as long as the slice lives.
        let all = unsafe { std::slice::from_raw_parts_mut(self.start, self.len) };
        let place = &mut all[at..at + data.len()];
        place.copy_from_slice(data);
        place
    }

    /// Shows `each` a copy of `data` that begins right after one forbidden page, and one that ends right before the other.
    pub(crate) fn at_both_ends(&mut self, data: &[u8], mut each: impl FnMut(&[u8])) {
        for at_end in [false, true] {
            each(self.place(data, at_end));
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, which nothing borrows any more.
        unsafe { libc::munmap(self.start.wrapping_sub(self.page).cast(), self.len + 2 * self.page) };
    }
}
