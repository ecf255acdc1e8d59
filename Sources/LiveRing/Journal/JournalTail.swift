/// A journal that another process extends or replaces, of which each byte is read once.
struct JournalTail: Sendable {
    enum News: Sendable {
        case unchanged
        /// The bytes after those that were used.
        case appended([UInt8])
        /// The file was replaced, or is not there.
        case replaced
    }

    /// The number of bytes by which a file is recognized: the system may give a new file the number of a removed one.
    private static let knownByteCount = 64

    let path: String
    private var version: FileVersion
    /// The place after the bytes that were used.
    private var end: Int
    /// The bytes before that place.
    private var known: ArraySlice<UInt8>
    /// The number of all bytes that were read.
    private(set) var byteCount = 0

    /// Continues after the first `end` bytes of a file, which were read from `version`.
    /// - Returns: nil if the file was replaced meanwhile.
    init?(of path: String, after end: Int, _ version: FileVersion) {
        (self.path, self.version, self.end) = (path, version, end)
        guard let file = try? FileDescriptor(path), let identity = try? file.identity(), identity == version.identity,
            let known = try? file.bytes(in: max(0, end - Self.knownByteCount)..<end)
        else { return nil }
        self.known = known[...]
        byteCount = known.count
    }

    /// Reads what was appended since the last call, and what was not used then.
    mutating func read() -> News {
        guard let current = FileVersion(at: path) else { return .replaced }
        if current == version { return .unchanged }
        guard let file = try? FileDescriptor(path), let version = try? file.version(),
            version.identity == self.version.identity, let size = try? file.byteCount(), size >= end,
            let bytes = try? file.bytes(in: end - known.count..<size), bytes.starts(with: known)
        else { return .replaced }
        byteCount += bytes.count
        self.version = version
        return .appended(Array(bytes[known.count...]))
    }

    /// Records that the first bytes of those that were read last are used.
    mutating func use(_ bytes: some Collection<UInt8>) {
        end += bytes.count
        known = (known + bytes.suffix(Self.knownByteCount)).suffix(Self.knownByteCount)
    }
}
