import Glibc
import Synchronization

/// Makes the C library return free memory to the system.
///
/// By default the library keeps freed blocks of up to 32 MiB once it has seen blocks of that size, in several arenas. A
/// channel that had one large segment would then keep its memory.
package enum HeapSettings {
    /// Blocks from this size on are mapped individually, and returned when they are freed.
    ///
    /// The buffers of a usual segment, 6 s at 10 Mbit/s, are smaller and are reused for the next segment. Mapping them
    /// anew would cost a page fault for each 4 KiB, and more kernel time than the rest of the process takes.
    private static let mappedBytes: Int32 = 8 << 20
    /// Free memory at the end of an arena beyond this size is returned. The rest suffices for the buffers of some
    /// segments.
    private static let trimmedBytes: Int32 = 16 << 20
    /// Each arena keeps free memory. By default there are eight for each core.
    private static let arenas: Int32 = 2

    /// M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_ARENA_MAX of malloc.h, which the Glibc module does not have.
    private static let (mapThreshold, trimThreshold, arenaLimit): (Int32, Int32, Int32) = (-3, -1, -8)

    private typealias SetOption = @convention(c) (_ option: Int32, _ value: Int32) -> Int32
    private typealias Trim = @convention(c) (_ kept: Int) -> Int32

    /// Does nothing with a C library without these options.
    package static func apply() {
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let setOption = unsafe unsafeBitCast(symbol, to: SetOption.self)
        _ = setOption(mapThreshold, mappedBytes)
        _ = setOption(trimThreshold, trimmedBytes)
        _ = setOption(arenaLimit, arenas)
    }

    private static let isTrimDue = Atomic(false)

    /// Returns free memory half a minute later. Called when a channel begins, because reading its spool, or its first
    /// segments, which arrive at once, leave free memory that is not needed again.
    static func trimSoon() {
        guard !isTrimDue.exchange(true, ordering: .relaxed) else { return }
        Task {
            try? await Task.sleep(for: .seconds(30))
            isTrimDue.store(false, ordering: .relaxed)
            trim()
        }
    }

    /// Returns all free memory, also between blocks in use. Called when a channel has ended.
    static func trim() {
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    }
}
