package import Media

/// The followed tracks of a movie.
struct SelectedTracks: Sendable {
    private(set) var video: TrackDemuxer?
    private(set) var audio: TrackDemuxer?
    /// Sample entries of the audio tracks that cannot be republished.
    private(set) var unsupportedAudio: [String] = []

    private static let section = "ISO/IEC 14496-12 §8.5.2"

    /// Selects the first video track, and the first audio track that plays by default, else the first audio track.
    /// - Parameter old: the tracks followed before.
    /// - Throws: If a requested track is encrypted or its codec is not supported. Unsupported audio beside video is
    ///   dropped instead.
    init(_ movie: Movie, _ selection: TrackSelection, after old: SelectedTracks?) throws(MediaError) {
        let videoTracks = selection == .audio ? [] : movie.tracks.filter { $0.handler == "vide" }
        let audioTracks = selection == .video ? [] : movie.tracks.filter { $0.handler == "soun" }
        video = try Self.first(of: videoTracks, in: movie)
        audio = try audioTrack(of: audioTracks.filter(\.isEnabled) + audioTracks.filter { !$0.isEnabled }, in: movie)
        guard video != nil || videoTracks.isEmpty && audio != nil else {
            let candidates = videoTracks.isEmpty ? audioTracks.isEmpty ? movie.tracks : audioTracks : videoTracks
            throw MediaError(
                .noSupportedTrack(sampleEntries: candidates.map { "\($0.sampleEntries[0].type)" }),
                section: Self.section)
        }
        unsupportedAudio = audioTracks.filter { !Self.isSupported($0, in: movie) }.map { "\($0.sampleEntries[0].type)" }
        video?.resume(after: old?.video)
        audio?.resume(after: old?.audio)
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
        do throws(MediaError) { return try TrackDemuxer(track, of: movie) != nil } catch { return false }
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

    mutating func beginSegment(capacity: Int) {
        video?.beginSegment(capacity: capacity)
        audio?.beginSegment(capacity: capacity)
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
        default: segment.counts.otherPackets += 1
        }
    }

    mutating func endSegment(into segment: inout DemuxedSegment) {
        video?.endSegment(into: &segment)
        audio?.endSegment(into: &segment)
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
