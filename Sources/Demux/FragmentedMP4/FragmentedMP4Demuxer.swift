package import Media

/// Fragmented MP4 segments in, packets out (ISO/IEC 14496-12 §8.8, RFC 8216 §3.3). One value per run of a rendition.
///
/// Every sample says its own time, so nothing is kept between segments but where the last one ended, for fragments that
/// do not say where they begin. A cut segment gives what is in it; a box that cannot be read costs its fragment.
package struct FragmentedMP4Demuxer: SegmentDemuxer {
    private let selection: TrackSelection
    /// The body of the `moov` in force.
    private var movieBytes: [UInt8] = []
    /// Nil before the first init section that could be used.
    private var movie: Movie?
    private var tracks: SelectedTracks?

    package init(tracks: TrackSelection = .both) { selection = tracks }

    /// The same section again changes nothing.
    package mutating func initialize(with section: [UInt8]) throws(MediaError) {
        try apply(BoxReader.wholeBoxes(in: section[...]).boxes.require("moov"))
    }

    package mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment {
        let (boxes, rest) = BoxReader.wholeBoxes(in: segment[...])
        if let moov = boxes.first("moov") { try apply(moov) }
        guard let movie, var tracks else { throw MediaError(.missingInitialization, section: "RFC 8216 §3.3") }
        var output = DemuxedSegment()
        output.declaresVideo = tracks.video != nil
        output.declaresAudio = tracks.audio != nil
        if !rest.isEmpty, !Self.isMediaData(rest) { output.counts.badBoxes += 1 }
        let fragments = try Self.fragments(in: boxes, of: segment, movie, counts: &output.counts)
        // Taken out while it is fed: a second owner would make it copy what it holds.
        self.tracks = nil
        defer { self.tracks = tracks }
        tracks.beginSegment(capacity: segment.count)
        do throws(MediaError) {
            for fragment in fragments.flatMap(\.tracks) { try tracks.append(fragment, of: segment, into: &output) }
        } catch {
            tracks.endSegment(into: &output)
            throw error
        }
        tracks.endSegment(into: &output)
        output.metadata = boxes.timedMessages(
            from: tracks.earliestPresentation(of: boxes.indexedTrack), counts: &output.counts)
        return output
    }

    /// - Throws: when there is none that can be read.
    private static func fragments(
        in boxes: [Box], of segment: [UInt8], _ movie: Movie, counts: inout DemuxCounts
    ) throws(MediaError) -> [MovieFragment] {
        var reader = FragmentReader(segment, boxes: boxes, defaults: movie.defaults)
        var fragments: [MovieFragment] = []
        var refusal = MediaError(.badParameterSet(field: "moof"), section: BoxReader.section)
        for box in boxes where box.type == "moof" {
            do throws(MediaError) {
                fragments.append(try reader.fragment(box))
            } catch {
                counts.badBoxes += 1
                refusal = error
            }
        }
        guard !fragments.isEmpty else { throw refusal }
        return fragments
    }

    /// The box that a cut segment ends in holds nothing but samples.
    private static func isMediaData(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.dropFirst(4).starts(with: "mdat".utf8)
    }

    /// What was followed goes on when another section comes into force.
    private mutating func apply(_ moov: Box) throws(MediaError) {
        guard !moov.body.elementsEqual(movieBytes) else { return }
        let old = tracks
        (movie, tracks, movieBytes) = (nil, nil, [])
        // A copy: what is kept of it must not keep the segment it may have come in.
        let bytes = Array(moov.body)
        let read = try Movie(Box(type: moov.type, body: bytes[...], start: 0))
        tracks = try SelectedTracks(read, selection, after: old)
        (movie, movieBytes) = (read, bytes)
    }

    package mutating func reset() -> DemuxedSegment { DemuxedSegment() }

    package mutating func finish() -> DemuxedSegment { DemuxedSegment() }
}
