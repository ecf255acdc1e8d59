import Channel
import LiveRing
import Mux

/// Reads one track of a segment for one client: the header that was made, and then bytes of the segment's file.
actor ExtractReader {
    private let segment: TrackExtract.Segment
    private let file: SpoolFile
    private let snapshot: RingSnapshot
    /// The bytes that are still to be sent.
    private var unsent: Range<Int>

    init(_ segment: TrackExtract.Segment, of file: SpoolFile, in snapshot: RingSnapshot, bytes: Range<Int>) {
        self.segment = segment
        self.file = file
        self.snapshot = snapshot
        unsent = bytes
    }

    /// The next bytes; nil at the end, or if the file cannot be read.
    func next() async -> ArraySlice<UInt8>? {
        guard !unsent.isEmpty, !Task.isCancelled else { return nil }
        let headerSize = segment.header.count
        if unsent.lowerBound < headerSize {
            let bytes = segment.header[unsent.lowerBound..<min(headerSize, unsent.upperBound)]
            unsent.removeFirst(bytes.count)
            return bytes
        }
        let start = unsent.lowerBound - headerSize + segment.payload.lowerBound
        let range = start..<start + min(unsent.count, EndlessStreamReader.byteLimit)
        let (snapshot, file) = (snapshot, file)
        await snapshot.prefetch([file])
        let bytes = await TransportStreamThreads.perform { try? snapshot.bytes(of: file, in: range) }
        guard let bytes, bytes.count == range.count else { return nil }
        unsent.removeFirst(bytes.count)
        return bytes[...]
    }
}

extension TrackExtract.Track {
    init(_ track: SpoolName.Track) { self = track == .audio ? .audio : .video }
}
