/// A set of PIDs that is asked for every transport packet.
struct PIDSet: Equatable, Sendable {
    /// The number of PIDs (ISO/IEC 13818-1 §2.4.3.3).
    private static let size = 1 << 13

    /// One bit for each PID.
    private var words = [UInt64](repeating: 0, count: size / 64)

    init(_ pids: some Sequence<UInt16>) { for pid in pids { insert(pid) } }

    mutating func insert(_ pid: UInt16) {
        let index = Int(pid) & (Self.size - 1)
        words[index >> 6] |= 1 << UInt64(index & 63)
    }

    @inline(__always)
    func contains(_ pid: UInt16) -> Bool {
        let index = Int(pid) & (Self.size - 1)
        return words[index >> 6] >> UInt64(index & 63) & 1 == 1
    }
}
