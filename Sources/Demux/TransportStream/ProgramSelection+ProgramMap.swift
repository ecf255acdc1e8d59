import Media
import Metering

/// Selection of the streams of one program by its PMT.
extension ProgramSelection {
    /// - Parameter previous: the preceding selection; its streams are kept while `map` lists them.
    init(_ map: ProgramMap, tracks: TrackSelection, after previous: ProgramSelection?) {
        let (video, audio) = Self.streams(of: map, tracks: tracks, after: previous)
        // The segments of the companion repeat the metadata of the video rendition.
        let metadata =
            tracks == .audio
            ? [] : Array(map.entries.lazy.compactMap(\.metadataStream).prefix(DemuxLimits.metadataStreams))
        let followed = [video?.pid, audio?.pid] + metadata.map(\.pid)
        self.init(
            programNumber: map.programNumber, video: video, audio: audio, metadata: metadata,
            listed: map.entries.map { entry in
                ListedStream(
                    pid: entry.pid, streamType: entry.streamType, name: entry.format.name, language: entry.language,
                    isFollowed: followed.contains(entry.pid))
            })
        if tracks != .audio { unsupportedVideo = map.names(of: .unsupportedVideo) }
        if tracks != .video { unsupportedAudio = map.names(of: .unsupportedAudio) }
    }

    /// Returns the streams of a program to follow.
    static func streams(
        of map: ProgramMap, tracks: TrackSelection, after previous: ProgramSelection?
    ) -> (video: Stream?, audio: Stream?) {
        StepCounter.add(map.entries.count)
        let streams = map.entries.compactMap { entry in entry.kind.map { Stream(pid: entry.pid, kind: $0) } }
        let video =
            tracks == .audio ? nil : retained(previous?.video, of: streams) ?? streams.first(where: \.isVideo)
        let audio = tracks == .video ? nil : retained(previous?.audio, of: streams) ?? preferredAudio(of: map)
        return (video, audio)
    }

    private static func retained(_ stream: Stream?, of streams: [Stream]) -> Stream? {
        stream.flatMap { streams.contains($0) ? $0 : nil }
    }

    private static func preferredAudio(of map: ProgramMap) -> Stream? {
        let candidates = map.entries.filter { $0.kind?.isVideo == false }
        let chosen = candidates.first { !$0.isCommentary } ?? candidates.first
        return chosen.flatMap { entry in entry.kind.map { Stream(pid: entry.pid, kind: $0) } }
    }
}

extension ProgramMap {
    fileprivate func names(of content: StreamFormat.Content) -> [String] {
        entries.filter { $0.format.content == content }.compactMap(\.format.name)
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
