import Glibc

/// How the C library gives memory back to the system.
///
/// By default it keeps freed blocks of up to 32 MiB once it has seen some, in several arenas. Then a channel that had one
/// large segment keeps its memory.
enum HeapSettings {
    /// Blocks from this size on are mapped by themselves, and given back when they are freed.
    private static let mappedBytes: Int32 = 1 << 20
    /// Free memory at the end of an arena beyond this is given back.
    private static let trimmedBytes: Int32 = 4 << 20

    /// M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of malloc.h, which the Glibc module does not have.
    private static let (mapThreshold, trimThreshold): (Int32, Int32) = (-3, -1)

    private typealias SetOption = @convention(c) (_ option: Int32, _ value: Int32) -> Int32

    /// Does nothing with a C library that has no such options.
    static func apply() {
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let setOption = unsafe unsafeBitCast(symbol, to: SetOption.self)
        _ = setOption(mapThreshold, mappedBytes)
        _ = setOption(trimThreshold, trimmedBytes)
    }
}
