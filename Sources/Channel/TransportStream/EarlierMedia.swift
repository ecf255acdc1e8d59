import LiveRing
import Media
import Mux
import Playlist

/// Finds the media of earlier segments that the transport stream of the next one needs.
///
/// It is stored with that segment. What is evicted later therefore changes no byte of its transport stream.
struct EarlierMedia {
    private let snapshot: RingSnapshot
    private let program: TransportProgram

    /// - Parameter snapshot: the ring before the segment is published.
    init(_ snapshot: RingSnapshot, program: TransportProgram) {
        self.snapshot = snapshot
        self.program = program
    }

    /// - Parameter video: the codec of the segment's video; nil if it has none.
    /// - Returns: files of the spool. A file that cannot be had is left out: the segment has no still, or no lead-in.
    func files(forSegmentWith video: VideoConfiguration.Codec?) -> [TransportStreamFile] {
        [program.video != nil && video != program.video ? still : nil, leadIn].compactMap(\.self)
    }

    /// The latest random access point in the program's codec.
    private var still: TransportStreamFile? {
        var number = snapshot.index.nextMediaSequence
        while number > 0, let entry = snapshot.index.entry(numbered: number - 1) {
            number -= 1
            if entry.isGap { continue }
            let codec = entry.format.videoCodec.flatMap { VideoConfiguration.Codec(codecString: $0) }
            if codec == program.video {
                if let bytes = try? excerpt(of: entry).still() { return file(.still, bytes) }
            } else if let known = entry.transportStream?.file(.still), let bytes = try? snapshot.bytes(of: known) {
                return file(.still, bytes)
            }
        }
        return nil
    }

    /// The end of the audio of the segment before, if that is encoded again.
    private var leadIn: TransportStreamFile? {
        guard program.audio.first?.codec == .aac, let previous = snapshot.edge, !previous.isGap,
            previous.format.audioCodec != nil,
            let audio = previous.resumePoint.audioConfiguration.flatMap({ AudioConfiguration(text: $0) }),
            TransportAudioCodec(audio) != .aac
        else { return nil }
        return (try? excerpt(of: previous).leadIn()).map { file(.leadIn, $0) }
    }

    private func excerpt(of entry: RingEntry) throws -> StoredExcerpt {
        try StoredExcerpt(
            initialization: snapshot.bytes(of: entry.initialization), segment: snapshot.bytes(of: entry.segment))
    }

    private func file(_ content: TransportStreamFile.Content, _ bytes: [UInt8]) -> TransportStreamFile {
        TransportStreamFile(content, hash: ContentHash.hexName(of: bytes), bytes: bytes)
    }
}
