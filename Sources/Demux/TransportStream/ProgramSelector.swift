import Media
import Support

/// Chooses the program and the elementary streams to follow (ISO/IEC 13818-1 §2.4.4).
///
/// The choice is sticky: a confirmed program is followed as long as the PAT lists it and it has a followed stream.
struct ProgramSelector: Sendable {
    private let tracks: TrackSelection
    private let choice: AudioTrackChoice
    var selection: ProgramSelection?
    /// Whether the followed program had the requested tracks when every PMT was known. No other program then replaces
    /// it while it is listed.
    private(set) var isConfirmed = false
    /// The last confirmed selection, before or after the last reset.
    private var confirmed: ProgramSelection?

    init(tracks: TrackSelection, audio choice: AudioTrackChoice = .leading) {
        self.tracks = tracks
        self.choice = choice
    }

    /// Makes the selection replaceable by the tables that come next.
    mutating func reset() { isConfirmed = false }

    mutating func select(from maps: [ProgramMap], programs: [UInt16]) {
        StepCounter.add(maps.count + programs.count)
        let followed = isConfirmed ? selection?.programNumber : nil
        let kept = maps.first { $0.programNumber == followed && $0.hasStreams(of: tracks) }
        guard let map = kept ?? best(of: maps) else { return }
        var chosen = ProgramSelection(map, tracks: tracks, audio: choice, after: selection)
        chosen.otherPrograms = programs.filter { $0 != chosen.programNumber }
        isConfirmed = chosen.programNumber == followed
        selection = chosen
    }

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
        let chosen = ProgramSelection(candidate, tracks: tracks, audio: choice, after: selection)
        return confirmed.streams.contains { $0.pid == chosen.video?.pid || $0.pid == chosen.audio?.pid }
    }
}

/// Selection of the streams of one program by its PMT.
extension ProgramSelection {
    /// - Parameter previous: the preceding selection; its streams are kept while `map` lists them.
    init(
        _ map: ProgramMap, tracks: TrackSelection, audio choice: AudioTrackChoice = .leading,
        after previous: ProgramSelection?
    ) {
        StepCounter.add(map.entries.count)
        let video = tracks == .audio ? nil : map.video(after: previous?.video)
        let audio = tracks == .video ? [] : map.audio(choice, after: previous)
        let further = tracks == .both ? audio.dropFirst().filter { choice.admits($0.track.language) } : []
        // The segments of the companion repeat the metadata of the video rendition.
        let metadata =
            tracks == .audio
            ? [] : map.entries.compactMap(\.metadataStream).prefix(DemuxLimits.metadataStreams) + map.privateData
        let streams = further.prefix(AudioTrackChoice.limit).map { audio in
            Stream(pid: audio.stream.pid, kind: audio.stream.kind, furtherTrack: audio.track)
        }
        let followed = [video?.pid, audio.first?.stream.pid] + metadata.map(\.pid) + streams.map(\.pid)
        self.init(
            programNumber: map.programNumber, video: video, audio: audio.first?.stream, metadata: metadata,
            listed: map.entries.map { entry in
                ListedStream(
                    pid: entry.pid, streamType: entry.streamType, name: entry.format.name, language: entry.language,
                    isFollowed: followed.contains(entry.pid))
            })
        audioTrack = audio.first?.track
        furtherAudio = streams
        if tracks != .audio { unsupportedVideo = map.names(of: .unsupportedVideo) }
        if tracks != .video { unsupportedAudio = map.names(of: .unsupportedAudio) }
    }
}

/// A supported audio stream of a program and what it is.
private struct ListedAudio {
    let stream: ProgramSelection.Stream
    let track: AudioTrackIdentity
    let isCommentary: Bool
}

extension ProgramMap {
    private var streams: [ProgramSelection.Stream] {
        entries.compactMap { entry in entry.kind.map { ProgramSelection.Stream(pid: entry.pid, kind: $0) } }
    }

    fileprivate func video(after previous: ProgramSelection.Stream?) -> ProgramSelection.Stream? {
        let streams = streams
        return previous.flatMap { streams.contains($0) ? $0 : nil } ?? streams.first(where: \.kind.isVideo)
    }

    /// The audio streams, the leading one first.
    ///
    /// The stream that led before leads while it is listed, unless it is another language now and the language that led is
    /// listed too.
    fileprivate func audio(_ choice: AudioTrackChoice, after previous: ProgramSelection?) -> [ListedAudio] {
        var listed = listedAudio
        let retained = listed.first { $0.stream == previous?.audio }
        let alike = listed.first { $0.track == previous?.audioTrack }
        let isAlike = retained.map { $0.track.isAlike(previous?.audioTrack) } ?? false
        let leading =
            (isAlike ? nil : alike) ?? retained ?? choice.leading(of: listed) { $0.track.language }
            ?? listed.first { !$0.isCommentary } ?? listed.first
        guard let leading else { return [] }
        listed.removeAll { $0.stream.pid == leading.stream.pid }
        return [leading] + listed
    }

    private var listedAudio: [ListedAudio] {
        var pids: Set<UInt16> = []
        let audio = entries.filter { $0.kind?.isVideo == false && pids.insert($0.pid).inserted }
        let tracks = AudioTrackIdentity.all(
            of: audio.map { entry in
                let kind = entry.audioType.flatMap(AudioTrackIdentity.Kind.init) ?? .main
                let language = entry.language.flatMap { LanguageTag($0) } ?? .unknown
                return (language, entry.isCommentary ? .commentary : kind)
            })
        return zip(audio, tracks).compactMap { entry, track in
            entry.kind.map {
                ListedAudio(
                    stream: .init(pid: entry.pid, kind: $0), track: track, isCommentary: entry.isCommentary)
            }
        }
    }

    fileprivate func names(of content: ElementaryStreamFormat.Content) -> [String] {
        entries.filter { $0.format.content == content }.compactMap(\.format.name)
    }

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
