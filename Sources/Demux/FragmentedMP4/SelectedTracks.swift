package import Media

/// The tracks of a movie that a rendition is made of.
struct SelectedTracks: Sendable {
    private(set) var video: TrackDemuxer?
    private(set) var audio: TrackDemuxer?

    private static let section = "ISO/IEC 14496-12 §8.5.2"

    /// The first video track, and of the audio tracks the first that plays unless somebody chooses, else the first.
    /// - Parameter old: what was followed before.
    /// - Throws: when what is wanted is encrypted, or coded as nothing we carry. Beside pictures, sound that cannot be
    ///   used is left out.
    init(_ movie: Movie, _ selection: TrackSelection, after old: SelectedTracks?) throws(MediaError) {
        let pictures = selection == .audio ? [] : movie.tracks.filter { $0.handler == "vide" }
        let sounds = selection == .video ? [] : movie.tracks.filter { $0.handler == "soun" }
        video = try Self.first(of: pictures, in: movie)
        audio = try audioTrack(of: sounds.filter(\.isEnabled) + sounds.filter { !$0.isEnabled }, in: movie)
        guard video != nil || pictures.isEmpty && audio != nil else {
            let candidates = pictures.isEmpty ? sounds.isEmpty ? movie.tracks : sounds : pictures
            throw MediaError(
                .noSupportedTrack(sampleEntries: candidates.map { "\($0.sampleEntries[0].type)" }),
                section: Self.section)
        }
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

    /// In the segment, as on the wire.
    /// - Parameter trackID: whose; of any track that is followed when that is none of them.
    func earliestPresentation(of trackID: UInt32?) -> Ticks? {
        let tracks = [video, audio].compactMap(\.self)
        let asked = tracks.filter { $0.trackID == trackID }
        return (asked.isEmpty ? tracks : asked).compactMap(\.earliestPTS).reduce(nil) { earliest, time in
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
    /// Why the entry that a fragment names cannot be used.
    /// - Parameter index: from 0; as the fragment says, so perhaps of none.
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
