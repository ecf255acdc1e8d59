import Media

/// The elementary streams that a demuxer follows, and their program.
package struct ProgramSelection: Hashable, Sendable {
    package struct Stream: Hashable, Sendable {
        package let pid: UInt16
        package let kind: ElementaryStreamKind
    }

    /// One stream of the PMT, described for an operator.
    package struct ListedStream: Hashable, Sendable {
        package let pid: UInt16
        /// ISO/IEC 13818-1 Table 2-34.
        package let streamType: UInt8
        /// "H.264", "DVB teletext"; nil for an unknown type.
        package let name: String?
        /// ISO 639-2 code; nil if the PMT has none.
        package let language: String?
        package let isFollowed: Bool
    }

    /// program_number; 0 if the streams were detected without tables.
    package let programNumber: UInt16
    /// The first supported video stream of the PMT; kept while the PMT lists it.
    package let video: Stream?
    /// The best audio stream; kept while the PMT lists it. Main audio precedes commentary, then audio that fMP4 can
    /// carry precedes audio that must be transcoded, then the order of the PMT decides.
    package let audio: Stream?
    /// Streams of splice information and timed ID3.
    let metadata: [MetadataStream]
    /// All streams of the PMT in its order; empty if the streams were detected without tables.
    package let listed: [ListedStream]
    /// program_number of the other programs in the PAT.
    package internal(set) var otherPrograms: [UInt16] = []

    package var streams: [Stream] { [video, audio].compactMap(\.self) }

    init(
        programNumber: UInt16, video: Stream?, audio: Stream?, metadata: [MetadataStream] = [],
        listed: [ListedStream] = []
    ) {
        self.programNumber = programNumber
        self.video = video
        self.audio = audio
        self.metadata = metadata
        self.listed = listed
    }

    /// - Parameter previous: the preceding selection; its streams are kept while `map` lists them.
    init(_ map: ProgramMap, tracks: TrackSelection, after previous: ProgramSelection?) {
        let streams = map.entries.compactMap { entry in entry.kind.map { Stream(pid: entry.pid, kind: $0) } }
        let video =
            tracks == .audio ? nil : Self.retained(previous?.video, of: streams) ?? streams.first(where: \.isVideo)
        let audio = tracks == .video ? nil : Self.retained(previous?.audio, of: streams) ?? Self.preferredAudio(of: map)
        // The segments of the companion repeat the metadata of the video rendition.
        let metadata = tracks == .audio ? [] : map.entries.compactMap(\.metadataStream)
        let followed = [video?.pid, audio?.pid] + metadata.map(\.pid)
        self.init(
            programNumber: map.programNumber, video: video, audio: audio, metadata: metadata,
            listed: map.entries.map { entry in
                ListedStream(
                    pid: entry.pid, streamType: entry.streamType, name: entry.name, language: entry.language,
                    isFollowed: followed.contains(entry.pid))
            })
    }

    private static func retained(_ stream: Stream?, of streams: [Stream]) -> Stream? {
        stream.flatMap { streams.contains($0) ? $0 : nil }
    }

    private static func preferredAudio(of map: ProgramMap) -> Stream? {
        let candidates = map.entries.compactMap { entry -> (stream: Stream, rank: Int)? in
            guard let kind = entry.kind, case .audio(let framing) = kind else { return nil }
            let rank = (entry.isCommentary ? 2 : 0) + (framing.isCarriedInMP4 ? 0 : 1)
            return (Stream(pid: entry.pid, kind: kind), rank)
        }
        return candidates.min { $0.rank < $1.rank }?.stream
    }
}

extension ProgramSelection.Stream {
    fileprivate var isVideo: Bool { kind.isVideo }
}

extension ProgramMap.Entry {
    fileprivate var metadataStream: MetadataStream? {
        guard kind == nil else { return nil }
        return MetadataStreamKind(rawValue: streamType).map { MetadataStream(pid: pid, kind: $0) }
    }
}
