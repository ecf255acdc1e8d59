package import LiveRing
import Media
import Mux

/// A file of published media that is never whole anywhere: parts of it are made as far as one client reads.
package struct ExportedFile: Sendable {
    /// Consecutive bytes of the file; `start` is the number of the first.
    fileprivate struct Part: Sendable {
        let bytes: [UInt8]
        let start: Int
    }

    /// The most bytes that are read of a stored file, or returned to a client, at once.
    package static let byteLimit = 64 * 1024

    package let byteCount: Int
    /// Returns the part with the first byte of a range; nil if it cannot be read.
    private let part: @Sendable (_ range: Range<Int>) async -> Part?

    /// Bytes of memory, and bytes of stored files after them. If a file has left the ring, the file ends there, and the
    /// client knows that bytes are missing.
    /// - Parameter stored: returns the bytes of a stored file from an offset after the head on; nil if the offset is past
    ///   the end.
    package init(
        byteCount: Int, head: @escaping @Sendable () -> [UInt8], in snapshot: RingSnapshot,
        stored: @escaping @Sendable (_ offset: Int) -> (file: SpoolFile, bytes: Range<Int>)?
    ) {
        self.byteCount = byteCount
        part = { range in
            let head = head()
            if range.lowerBound < head.count { return Part(bytes: head, start: 0) }
            guard let (file, place) = stored(range.lowerBound) else { return nil }
            let (snapshot, wanted) = (await snapshot.fetching([file]), place.prefix(range.count))
            let bytes = await MediaPool.segments.perform { try? snapshot.bytes(of: file, in: wanted) }
            return bytes.flatMap { $0.count == wanted.count ? Part(bytes: $0, start: range.lowerBound) : nil }
        }
    }

    /// The transport streams of consecutive segments, made one after the other. The file keeps its size: null packets
    /// replace a segment that cannot be read.
    /// - Parameter reportUnreadable: called for each segment that cannot be read.
    package init(
        _ file: TransportStreamFile, in snapshot: RingSnapshot, from store: TransportStreamStore,
        reportUnreadable: @escaping @Sendable () -> Void
    ) {
        byteCount = file.byteCount
        part = { range in
            guard let part = file.part(at: range.lowerBound) else { return nil }
            let (entry, start) = (part.entry, part.bytes.lowerBound)
            guard !entry.isGap,
                let segment = try? await store.segment(of: entry, in: snapshot, earlyAudio: part.earlyAudio),
                let time = segment.chunks.first?.start,
                segment.bytes.count == part.bytes.count - part.leadByteCount
            else {
                reportUnreadable()
                return Part(bytes: TransportTimeShift.nullPackets(part.bytes.count), start: start)
            }
            let begin = time - Ticks(part.shift)
            let pause = part.leadByteCount > 0 ? Ticks(part.pause) : .zero
            let placed = await store.place(
                segment, of: entry, at: ClientClock.Placement(pause: begin - pause..<begin, shift: Ticks(part.shift)),
                earlyAudio: part.earlyAudio)
            return Part(
                bytes: placed.pause.isEmpty ? placed.segment.bytes : placed.pause + placed.segment.bytes, start: start)
        }
    }

    /// Reads a range of the file for one client.
    package actor Reader {
        private let file: ExportedFile
        private var unsent: Range<Int>
        /// The part that was made last.
        private var made: Part?

        package init(_ file: ExportedFile, bytes: Range<Int>) { (self.file, unsent) = (file, bytes) }

        /// The next bytes; nil at the end, or if they cannot be read.
        package func next() async -> ArraySlice<UInt8>? {
            guard !unsent.isEmpty, !Task.isCancelled else { return nil }
            let wanted = unsent.prefix(ExportedFile.byteLimit)
            if let last = made, last.start + last.bytes.count <= wanted.lowerBound { made = nil }
            if made == nil { made = await file.part(wanted) }
            guard let made else { return nil }
            let bytes = made.bytes[
                wanted.lowerBound - made.start..<min(made.bytes.count, wanted.upperBound - made.start)]
            unsent.removeFirst(bytes.count)
            return bytes
        }
    }
}
