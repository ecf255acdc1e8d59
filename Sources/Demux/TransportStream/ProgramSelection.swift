import Media

/// Which tracks of a transport stream are wanted: a rendition with a companion for its audio gives only video.
package enum TrackSelection: Hashable, Sendable { case video, audio, both }

/// The elementary streams a demuxer follows, and the programme they belong to.
package struct ProgramSelection: Hashable, Sendable {
    package struct Stream: Hashable, Sendable {
        package let pid: UInt16
        package let kind: ElementaryStreamKind
    }

    /// One line of the PMT, for a person.
    package struct ListedStream: Hashable, Sendable {
        package let pid: UInt16
        /// ISO/IEC 13818-1 Table 2-34.
        package let streamType: UInt8
        /// "H.264", "DVB teletext"; nil for a type without a name here.
        package let name: String?
        /// ISO 639-2; nil when none is said.
        package let language: String?
        package let isFollowed: Bool
    }

    /// program_number; 0 when the streams were guessed from their bytes.
    package let programNumber: UInt16
    /// The first in the PMT that can be carried; stayed with while it is listed.
    package let video: Stream?
    /// Main sound before commentary, what fMP4 carries before what has to be encoded anew, and then the order of the
    /// PMT; stayed with while it is listed.
    package let audio: Stream?
    /// Splice information and timed ID3 beside them.
    let metadata: [MetadataStreams.Stream]
    /// All of the PMT in its order; empty when the streams were guessed.
    package let listed: [ListedStream]
    /// program_number of what else the PAT lists.
    package internal(set) var otherPrograms: [UInt16] = []

    package var streams: [Stream] { [video, audio].compactMap(\.self) }

    init(
        programNumber: UInt16, video: Stream?, audio: Stream?, metadata: [MetadataStreams.Stream] = [],
        listed: [ListedStream] = []
    ) {
        self.programNumber = programNumber
        self.video = video
        self.audio = audio
        self.metadata = metadata
        self.listed = listed
    }

    /// - Parameter previous: its streams are kept while `map` lists them.
    init(_ map: ProgramMap, tracks: TrackSelection, after previous: ProgramSelection?) {
        let streams = map.entries.compactMap { entry in entry.kind.map { Stream(pid: entry.pid, kind: $0) } }
        let video =
            tracks == .audio ? nil : Self.retained(previous?.video, of: streams) ?? streams.first(where: \.isVideo)
        let audio = tracks == .video ? nil : Self.retained(previous?.audio, of: streams) ?? Self.preferredAudio(of: map)
        // A companion's segments repeat what stands beside the picture.
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
    fileprivate var metadataStream: MetadataStreams.Stream? {
        guard kind == nil else { return nil }
        return MetadataStreamKind(rawValue: streamType).map { MetadataStreams.Stream(pid: pid, kind: $0) }
    }
}

/// A selection and the packet from which it holds.
struct SelectionChange: Equatable, Sendable {
    /// Offset of the packet in the segment.
    let offset: Int
    let selection: ProgramSelection
}
