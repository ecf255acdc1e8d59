package import Media
import Support

/// The followed tracks of a movie.
struct SelectedTracks: Sendable {
    private var video: TrackDemuxer?
    private var audio: TrackDemuxer?
    private(set) var audioTrack: AudioTrackIdentity?
    private var furtherAudio: [TrackDemuxer] = []
    /// Sample entries of the audio tracks that cannot be republished.
    private(set) var unsupportedAudio: [String] = []
    /// Sample entries of the video tracks, if none of them can be republished.
    private(set) var unsupportedVideo: [String] = []

    private static let section = "ISO/IEC 14496-12 §8.5.2"

    /// Selects the first video track, and the first audio track that plays by default, else the first audio track.
    /// - Throws: If a requested track is encrypted, or no codec is supported. Unsupported audio beside video, and unsupported
    ///   video beside audio, is dropped instead.
    init(
        _ movie: Movie, _ selection: TrackSelection, audio choice: AudioTrackChoice = .leading,
        after old: SelectedTracks?
    ) throws(MediaError) {
        let videoTracks = selection == .audio ? [] : movie.tracks.filter { $0.handler == "vide" }
        let audioTracks = selection == .video ? [] : movie.tracks.filter { $0.handler == "soun" }
        video = try Self.first(of: videoTracks, in: movie)
        let ordered = audioTracks.filter(\.isEnabled) + audioTracks.filter { !$0.isEnabled }
        let wanted = choice.leading(of: ordered, language: \.language).map { [$0] } ?? []
        audio = try audioTrack(of: wanted + ordered, in: movie)
        guard video != nil || audio != nil else {
            let candidates = videoTracks.isEmpty ? audioTracks.isEmpty ? movie.tracks : audioTracks : videoTracks
            throw MediaError(
                .noSupportedTrack(sampleEntries: candidates.map { "\($0.sampleEntries[0].type)" }),
                section: Self.section)
        }
        unsupportedAudio = audioTracks.filter { !Self.isSupported($0, in: movie) }.map { "\($0.sampleEntries[0].type)" }
        if video == nil { unsupportedVideo = videoTracks.map { "\($0.sampleEntries[0].type)" } }
        video?.resume(after: old?.video)
        audio?.resume(after: old?.audio)
        follow(audioTracks, of: movie, selection == .both ? choice : .leading, after: old)
    }

    /// Follows the audio tracks of `choice` beside the leading one, as far as their codecs are supported.
    private mutating func follow(
        _ tracks: [MovieTrack], of movie: Movie, _ choice: AudioTrackChoice, after old: SelectedTracks?
    ) {
        let identities = AudioTrackIdentity.all(of: tracks.map { ($0.language, .main) })
        for (track, identity) in zip(tracks, identities) {
            guard track.trackID != audio?.trackID else {
                audioTrack = identity
                continue
            }
            guard choice.admits(track.language), furtherAudio.count < AudioTrackChoice.limit,
                track.sampleEntries[0].protectionScheme == nil, var demuxer = try? TrackDemuxer(track, of: movie)
            else { continue }
            demuxer.furtherTrack = identity
            demuxer.resume(after: old?.furtherAudio.first { $0.furtherTrack == identity })
            furtherAudio.append(demuxer)
        }
    }

    private func audioTrack(of tracks: [MovieTrack], in movie: Movie) throws(MediaError) -> TrackDemuxer? {
        do throws(MediaError) {
            return try Self.first(of: tracks, in: movie)
        } catch {
            if video == nil { throw error }
            if case .protectedTrack = error.reason { throw error }
            return nil
        }
    }

    private static func isSupported(_ track: MovieTrack, in movie: Movie) -> Bool {
        (try? TrackDemuxer(track, of: movie)) != nil
    }

    private static func first(of tracks: [MovieTrack], in movie: Movie) throws(MediaError) -> TrackDemuxer? {
        for track in tracks {
            if track.sampleEntries[0].protectionScheme != nil {
                throw SampleEntry.unusableError(0, of: track.sampleEntries)
            }
            if let followed = try TrackDemuxer(track, of: movie) { return followed }
        }
        return nil
    }

    /// The track IDs of the video and the audio that are selected.
    ///
    /// It is not inlined: the optimizer of Swift 6.3.1 aborts in CopyPropagation where a caller that throws reads both.
    @inline(never)
    static func trackIDs(of movie: Movie) throws(MediaError) -> (video: UInt32?, audio: UInt32?) {
        let tracks = try SelectedTracks(movie, .both, after: nil)
        return (tracks.videoID, tracks.audioID)
    }

    var hasVideo: Bool { video != nil }
    var hasAudio: Bool { audio != nil }
    var videoID: UInt32? { video?.trackID }
    var audioID: UInt32? { audio?.trackID }

    mutating func beginSegment(capacity: Int) {
        video?.beginSegment(capacity: capacity)
        audio?.beginSegment(capacity: capacity)
        for index in furtherAudio.indices { furtherAudio[index].beginSegment(capacity: capacity) }
    }

    /// Returns the earliest presentation time in the segment, as on the wire.
    /// - Parameter trackID: the track to ask; any followed track if it is none of them.
    func earliestPresentation(of trackID: UInt32?) -> Ticks? {
        let tracks = [video, audio].compactMap(\.self)
        let indexed = tracks.filter { $0.trackID == trackID }
        return (indexed.isEmpty ? tracks : indexed).compactMap(\.earliestPTS).reduce(nil) { earliest, time in
            earliest.map { Ticks.earlierOnWire($0, time) } ?? time
        }
    }

    mutating func append(
        _ fragment: TrackFragment, of bytes: [UInt8], into segment: inout DemuxedSegment
    ) throws(MediaError) {
        switch fragment.trackID {
        case video?.trackID: try video?.append(fragment, of: bytes, into: &segment)
        case audio?.trackID: try audio?.append(fragment, of: bytes, into: &segment)
        default:
            guard let index = furtherAudio.firstIndex(where: { $0.trackID == fragment.trackID }) else {
                segment.counts[.otherPackets] += 1
                return
            }
            try furtherAudio[index].append(fragment, of: bytes, into: &segment)
        }
    }

    mutating func endSegment(into segment: inout DemuxedSegment) {
        video?.endSegment(into: &segment)
        audio?.endSegment(into: &segment)
        for index in furtherAudio.indices { furtherAudio[index].endSegment(into: &segment) }
    }
}

extension SampleEntry {
    /// Returns the error for an unusable sample entry of a fragment.
    /// - Parameter index: zero-based; it may be out of range.
    package static func unusableError(_ index: Int, of entries: [SampleEntry]) -> MediaError {
        let section = "ISO/IEC 14496-12 §8.5.2"
        guard entries.indices.contains(index) else {
            return MediaError(.badParameterSet(field: "sample_description_index"), section: section)
        }
        if let scheme = entries[index].protectionScheme {
            return MediaError(.protectedTrack(scheme: scheme), section: "ISO/IEC 14496-12 §8.12")
        }
        return MediaError(.noSupportedTrack(sampleEntries: ["\(entries[index].type)"]), section: section)
    }
}

/// Demuxes one followed track: converts its times and keeps the decode time of its next fragment.
private struct TrackDemuxer: Sendable {
    let trackID: UInt32
    var furtherTrack: AudioTrackIdentity?
    private let converter: TrackTimeConverter
    /// The end of the last sample, in the track's timescale: the decode time of a fragment without `tfdt`.
    private var nextDecodeTime: UInt64 = 0
    /// The earliest presentation time in the segment, as on the wire, samples outside the edit list included.
    private(set) var earliestPTS: Ticks?
    private var video: VideoFragmentFramer?
    private var audio: AudioFragmentFramer?

    /// - Returns: nil if the track is neither audio nor video, or its codec is not supported.
    init?(_ track: MovieTrack, of movie: Movie) throws(MediaError) {
        trackID = track.trackID
        converter = TrackTimeConverter(track, movieTimescale: movie.timescale)
        switch track.handler {
        case "vide": video = try VideoFragmentFramer(track)
        case "soun": audio = try AudioFragmentFramer(track)
        default: break
        }
        guard video != nil || audio != nil else { return nil }
    }

    /// Continues at the end of `old`, which may have another timescale.
    mutating func resume(after old: TrackDemuxer?) {
        if let old { nextDecodeTime = old.converter.convert(old.nextDecodeTime, to: converter) }
    }

    mutating func beginSegment(capacity: Int) {
        video?.reserve(bytes: capacity)
        earliestPTS = nil
    }

    mutating func append(
        _ fragment: TrackFragment, of bytes: [UInt8], into segment: inout DemuxedSegment
    ) throws(MediaError) {
        let entry = Int(fragment.header.defaults.descriptionIndex) - 1
        segment.video += try video?.selectEntry(entry) ?? []
        try audio?.selectEntry(entry, for: fragment.samples)
        var time = fragment.decodeTime ?? nextDecodeTime
        for sample in fragment.samples {
            try MediaError.checkCancellation()
            StepCounter.add(1)
            append(sample, at: time, of: bytes, counts: &segment.counts)
            time &+= UInt64(sample.duration)
        }
        nextDecodeTime = time
    }

    private mutating func append(
        _ sample: TrackFragment.Sample, at time: UInt64, of bytes: [UInt8], counts: inout Counts<DemuxCount>
    ) {
        if !sample.isComplete { counts[.incompleteSamples] += 1 }
        guard sample.isComplete || !sample.payload.isEmpty else { return }
        let pts = converter.wire(time, offset: sample.compositionOffset)
        earliestPTS = earliestPTS.map { Ticks.earlierOnWire($0, pts) } ?? pts
        let isAppended =
            video?.append(sample, of: bytes, pts: pts, dts: converter.wire(time), counts: &counts)
            ?? audio?.append(sample, of: bytes, pts: pts) ?? false
        if !isAppended { counts[.undecodableUnits] += 1 }
    }

    mutating func endSegment(into segment: inout DemuxedSegment) {
        segment.video += video?.drain() ?? []
        let packets = audio?.drain() ?? []
        if let furtherTrack { segment.append(packets, of: furtherTrack) } else { segment.audio += packets }
    }
}
