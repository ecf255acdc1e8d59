import Channel
import LiveRing
import Support
import WebServer

/// Reads the bytes of a clip for one client: its head from memory, the rest from the files of the ring.
///
/// If a file has left the ring, the response ends there, and the client knows that bytes are missing.
actor MovieFileReader {
    private let clip: MovieClip
    private let head: HeldBytes
    private let snapshot: RingSnapshot
    /// The bytes of the file that are still to be sent.
    private var unsent: Range<Int>

    /// - Parameter bytes: of the file.
    init(_ clip: MovieClip, head: HeldBytes, in snapshot: RingSnapshot, bytes: Range<Int>) {
        (self.clip, self.head, self.snapshot) = (clip, head, snapshot)
        unsent = bytes
    }

    /// The next bytes; nil at the end.
    func next() async -> ArraySlice<UInt8>? {
        guard !unsent.isEmpty, !Task.isCancelled else { return nil }
        let wanted = unsent.prefix(EndlessStreamReader.byteLimit)
        if wanted.lowerBound < head.bytes.count {
            let bytes = head.bytes[wanted.lowerBound..<min(wanted.upperBound, head.bytes.count)]
            unsent.removeFirst(bytes.count)
            return bytes
        }
        guard let (file, place) = clip.part(at: wanted.lowerBound) else { return nil }
        let (snapshot, part) = (snapshot, place.prefix(wanted.count))
        await snapshot.prefetch([file])
        let bytes = await TransportStreamThreads.perform { try? snapshot.bytes(of: file, in: part) }
        guard let bytes, bytes.count == part.count else { return nil }
        unsent.removeFirst(bytes.count)
        return bytes[...]
    }
}
