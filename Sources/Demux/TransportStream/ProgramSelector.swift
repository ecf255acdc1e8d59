import Media
import Support

/// Chooses the program and the elementary streams to follow (ISO/IEC 13818-1 §2.4.4).
///
/// The choice is sticky: a confirmed program is followed as long as the PAT lists it and it has a followed stream.
struct ProgramSelector: Sendable {
    private let tracks: TrackSelection
    private(set) var selection: ProgramSelection?
    /// Whether the followed program had the requested tracks when every PMT was known. No other program then replaces
    /// it while it is listed.
    private(set) var isConfirmed = false
    /// The last confirmed selection, before or after the last reset.
    private var confirmed: ProgramSelection?

    init(tracks: TrackSelection) { self.tracks = tracks }

    /// Makes the selection replaceable by the tables that come next.
    mutating func reset() { isConfirmed = false }

    /// Follows the streams that were found without tables.
    mutating func setProbed(_ selection: ProgramSelection) { self.selection = selection }

    /// Chooses among the programs whose PMT is known.
    /// - Parameters:
    ///   - maps: the known PMTs in the order of the PAT.
    ///   - programs: every program_number of the PAT, in order.
    mutating func select(from maps: [ProgramMap], programs: [UInt16]) {
        StepCounter.add(maps.count + programs.count)
        let followed = isConfirmed ? selection?.programNumber : nil
        let kept = maps.first { $0.programNumber == followed && $0.hasStreams(of: tracks) }
        guard let map = kept ?? best(of: maps) else { return }
        var chosen = ProgramSelection(map, tracks: tracks, after: selection)
        chosen.otherPrograms = programs.filter { $0 != chosen.programNumber }
        isConfirmed = chosen.programNumber == followed
        selection = chosen
    }

    /// Confirms the selection if it has the requested tracks.
    mutating func confirm() {
        guard let selection else { return }
        isConfirmed = isConfirmed || (tracks == .audio ? selection.audio : selection.video) != nil
        if isConfirmed { confirmed = selection }
    }

    /// Returns the best candidate: the confirmed program by its number, else the one with a stream in common, else the
    /// first with the requested tracks, else the first with any stream.
    private func best(of candidates: [ProgramMap]) -> ProgramMap? {
        let sufficient = candidates.filter { tracks == .audio ? $0.hasAudio : $0.hasVideo }
        return sufficient.first { $0.programNumber == confirmed?.programNumber }
            ?? sufficient.first(where: sharesStreams) ?? sufficient.first
            ?? candidates.first { $0.hasStreams(of: tracks) } ?? candidates.first
    }

    private func sharesStreams(_ candidate: ProgramMap) -> Bool {
        guard let confirmed else { return false }
        let (video, audio) = ProgramSelection.streams(of: candidate, tracks: tracks, after: selection)
        return confirmed.streams.contains { $0.pid == video?.pid || $0.pid == audio?.pid }
    }
}

/// Selection of the streams of one program by its PMT.
extension ProgramSelection {
    /// - Parameter previous: the preceding selection; its streams are kept while `map` lists them.
    init(_ map: ProgramMap, tracks: TrackSelection, after previous: ProgramSelection?) {
        let (video, audio) = Self.streams(of: map, tracks: tracks, after: previous)
        // The segments of the companion repeat the metadata of the video rendition.
        let metadata =
            tracks == .audio
            ? [] : map.entries.compactMap(\.metadataStream).prefix(DemuxLimits.metadataStreams) + map.privateData
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
    fileprivate func names(of content: ElementaryStreamFormat.Content) -> [String] {
        entries.filter { $0.format.content == content }.compactMap(\.format.name)
    }
}

extension ProgramSelection.Stream {
    fileprivate var isVideo: Bool { kind.isVideo }
}

extension ProgramMap {
    /// The streams of DVB subtitles and teletext.
    fileprivate var privateData: [MetadataStream] {
        var ordinals: [[UInt8]: Int] = [:]
        let streams = entries.compactMap { entry -> MetadataStream? in
            guard entry.kind == nil, entry.streamType == 0x06, let descriptor = entry.privateDataDescriptor else {
                return nil
            }
            defer { ordinals[descriptor, default: 0] += 1 }
            let stream = PrivateDataStream(descriptor: descriptor, ordinal: ordinals[descriptor, default: 0])
            return MetadataStream(pid: entry.pid, kind: .privateData(stream))
        }
        return Array(streams.prefix(DemuxLimits.privateDataStreams))
    }
}

extension ProgramMap.Entry {
    fileprivate var metadataStream: MetadataStream? {
        switch streamType {
        case 0x15: MetadataStream(pid: pid, kind: .id3)
        case 0x86: MetadataStream(pid: pid, kind: .splice)
        default: nil
        }
    }
}
