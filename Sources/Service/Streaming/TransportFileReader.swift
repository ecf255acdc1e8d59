import Channel
import HTTP
import LiveRing
import Media
import Mux

/// Makes the bytes of a transport stream file for one client, segment by segment, as they are read.
///
/// The file keeps its size: null packets replace a segment that cannot be read.
actor TransportFileReader {
    private let state: ChannelState
    private let snapshot: RingSnapshot
    private let file: TransportStreamFile
    /// The range of the file that is still to be sent.
    private var unsent: Range<Int>
    /// The bytes of the part that was made last, and their position in the file.
    private var made: (bytes: [UInt8], start: Int)?

    /// - Parameter bytes: the range of the file to send.
    init(_ state: ChannelState, _ file: TransportStreamFile, in snapshot: RingSnapshot, bytes: Range<Int>) {
        self.state = state
        self.file = file
        self.snapshot = snapshot
        unsent = bytes
    }

    /// The next bytes; nil at the end.
    func next() async -> ArraySlice<UInt8>? {
        guard !unsent.isEmpty, !Task.isCancelled else { return nil }
        if let sent = made, sent.start + sent.bytes.count <= unsent.lowerBound { made = nil }
        if made == nil {
            guard let part = file.part(at: unsent.lowerBound) else { return nil }
            made = (await bytes(of: part), part.bytes.lowerBound)
        }
        guard let made else { return nil }
        let start = unsent.lowerBound - made.start
        let slice = made.bytes[start..<min(made.bytes.count, start + min(unsent.count, EndlessStreamReader.byteLimit))]
        unsent.removeFirst(slice.count)
        return slice
    }

    private func bytes(of part: TransportStreamFile.Part) async -> [UInt8] {
        let (entry, shift, store) = (part.entry, Ticks(part.shift), state.transportStreams)
        let size = part.bytes.count - part.leadByteCount
        guard !entry.isGap,
            var segment = try? await store.segment(of: entry, in: snapshot, earlyAudio: part.earlyAudio),
            let start = segment.chunks.first?.start, segment.bytes.count == size
        else {
            state.update { $0.transportStream.unreadableSegments += 1 }
            return TransportTimeShift.nullPackets(part.bytes.count)
        }
        if part.shift != 0 {
            segment = await store.segment(segment, of: entry, earlierBy: shift, earlyAudio: part.earlyAudio)
        }
        guard part.leadByteCount > 0, let program = entry.transportStream.flatMap({ TransportStreamState($0)?.program })
        else { return segment.bytes }
        let begin = start - shift
        return TransportTimeShift.clock(begin - Ticks(part.pause)..<begin, of: program) + segment.bytes
    }
}
