import Channel
import HTTP
import LiveRing
import Support

/// Reads a file that is made for one client: the head from memory, the rest from files of the ring.
///
/// If a file has left the ring, the response ends there, and the client knows that bytes are missing.
actor MadeFileReader {
    private let head: [UInt8]
    /// Counts the head as long as it may be read; nil: the head is not counted.
    private let held: HeldBytes?
    private let snapshot: RingSnapshot
    private let part: @Sendable (_ offset: Int) -> (SpoolFile, Range<Int>)?
    /// The range of the file that is still to be sent.
    private var unsent: Range<Int>

    private init(
        _ head: [UInt8], _ held: HeldBytes?, in snapshot: RingSnapshot, bytes: Range<Int>,
        _ part: @escaping @Sendable (_ offset: Int) -> (SpoolFile, Range<Int>)?
    ) {
        (self.head, self.held, self.snapshot) = (head, held, snapshot)
        (self.part, unsent) = (part, bytes)
    }

    /// - Parameter part: returns the bytes of a stored file from an offset after the head on; nil if the offset is past
    ///   the end.
    static func file(
        of byteCount: Int, head: [UInt8], held: HeldBytes? = nil, in snapshot: RingSnapshot,
        part: @escaping @Sendable (_ offset: Int) -> (SpoolFile, Range<Int>)?
    ) -> MadeFile {
        MadeFile(byteCount: byteCount) { bytes in
            let reader = MadeFileReader(head, held, in: snapshot, bytes: bytes, part)
            return ByteStream { await reader.next() }
        }
    }

    private func next() async -> ArraySlice<UInt8>? {
        guard !unsent.isEmpty, !Task.isCancelled else { return nil }
        let wanted = unsent.prefix(EndlessStreamReader.byteLimit)
        if wanted.lowerBound < head.count {
            let bytes = head[wanted.lowerBound..<min(wanted.upperBound, head.count)]
            unsent.removeFirst(bytes.count)
            return bytes
        }
        guard let (file, place) = part(wanted.lowerBound) else { return nil }
        let (snapshot, range) = (await snapshot.fetching([file]), place.prefix(wanted.count))
        let bytes = await TransportStreamThreads.perform { try? snapshot.bytes(of: file, in: range) }
        guard let bytes, bytes.count == range.count else { return nil }
        unsent.removeFirst(bytes.count)
        return bytes[...]
    }
}
