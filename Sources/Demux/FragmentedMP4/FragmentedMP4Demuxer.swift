package import Media
import Support

/// Demuxes fragmented MP4 segments into packets (ISO/IEC 14496-12 §8.8, RFC 8216 §3.3), and parts of plain MP4 files. One
/// value per rendition.
///
/// Every sample has its own time, so only the end of the last segment is kept, for fragments without a decode time. A
/// truncated segment yields its complete samples; an unreadable box costs its fragment.
package struct FragmentedMP4Demuxer: SegmentDemuxer {
    private let selection: TrackSelection
    private let choice: AudioTrackChoice
    private var movieBytes: [UInt8] = []
    /// The current movie; nil before the first usable init section.
    private var movie: Movie?
    private var tracks: SelectedTracks?
    /// The samples of the followed tracks in a file without fragments; nil before they are needed.
    private var file: MovieFile?

    /// - Parameter choice: the audio tracks that are followed beside the leading one.
    package init(tracks: TrackSelection = .both, audio choice: AudioTrackChoice = .leading) {
        selection = tracks
        self.choice = choice
    }

    /// Applies an init section; an identical one changes nothing.
    package mutating func initialize(with section: [UInt8]) throws(MediaError) {
        try apply(BoxReader.wholeBoxes(in: section[...]).boxes.require("moov"))
    }

    package mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment {
        let (boxes, rest) = try BoxReader.wholeBoxes(in: segment[...])
        if let moov = boxes.first("moov") { try apply(moov) }
        guard let movie else { throw MediaError(.missingInitialization, section: "RFC 8216 §3.3") }
        if let moov = boxes.first("moov"), boxes.first("moof") == nil {
            // Packagers that know no EXT-X-MAP list the init section as a segment.
            if movie.isFragmented { return DemuxedSegment() }
            return try feedFile(segment, moov, movie)
        }
        var output = DemuxedSegment()
        if !rest.isEmpty, !Self.isMediaData(rest) { output.counts[.badBoxes] += 1 }
        let fragments = try Self.fragments(in: boxes, of: segment, movie, counts: &output.counts)
        try demux(fragments.flatMap(\.tracks), of: segment, into: &output)
        output.metadata = boxes.timedMessages(
            from: tracks?.earliestPresentation(of: boxes.indexedTrack), counts: &output.counts)
        return output
    }

    /// Demuxes a segment that is a plain MP4 file, as some origins list recordings.
    private mutating func feedFile(_ segment: [UInt8], _ moov: Box, _ movie: Movie) throws(MediaError) -> DemuxedSegment
    {
        guard let tracks else { throw MediaError(.missingInitialization, section: "RFC 8216 §3.3") }
        let file = try MovieFile(moov, movie, tracks, fileSize: UInt64(segment.count))
        guard !file.isEmpty else {
            throw MediaError(.unfragmentedMovie, offset: moov.start, section: "RFC 8216 §3.3")
        }
        var output = DemuxedSegment()
        try demux(file.fragments(in: [0..<UInt64(segment.count)], of: segment), of: segment, into: &output)
        return output
    }

    package mutating func feed(
        _ segment: [UInt8], of ranges: [Range<UInt64>]
    ) throws(MediaError) -> DemuxedSegment {
        guard let movie, let tracks, !movie.isFragmented, !ranges.isEmpty else { return try feed(segment) }
        let read =
            if let file { file } else {
                try MovieFile(Box(type: "moov", body: movieBytes[...], start: 0), movie, tracks)
            }
        file = read
        guard !read.isEmpty else { return try feed(segment) }
        var output = DemuxedSegment()
        try demux(read.fragments(in: ranges, of: segment), of: segment, into: &output)
        return output
    }

    private mutating func demux(
        _ fragments: [TrackFragment], of segment: [UInt8], into output: inout DemuxedSegment
    ) throws(MediaError) {
        guard var tracks else { throw MediaError(.missingInitialization, section: "RFC 8216 §3.3") }
        output.declaresVideo = tracks.hasVideo
        output.declaresAudio = tracks.hasAudio
        (output.unsupportedVideo, output.unsupportedAudio) = (tracks.unsupportedVideo, tracks.unsupportedAudio)
        output.audioTrack = tracks.audioTrack
        // Moved out while it is fed: a second owner would make it copy its contents.
        self.tracks = nil
        defer { self.tracks = tracks }
        tracks.beginSegment(capacity: segment.count)
        do throws(MediaError) {
            for fragment in fragments { try tracks.append(fragment, of: segment, into: &output) }
        } catch {
            tracks.endSegment(into: &output)
            throw error
        }
        tracks.endSegment(into: &output)
    }

    private static func fragments(
        in boxes: [Box], of segment: [UInt8], _ movie: Movie, counts: inout Counts<DemuxCount>
    ) throws(MediaError) -> [MovieFragment] {
        var reader = FragmentReader(segment, boxes: boxes, defaults: movie.defaults)
        var fragments: [MovieFragment] = []
        var lastError = MediaError(.badParameterSet(field: "moof"), section: BoxReader.section)
        for box in boxes where box.type == "moof" {
            do throws(MediaError) {
                fragments.append(try reader.fragment(box))
            } catch {
                try MediaError.checkCancellation()
                counts[.badBoxes] += 1
                lastError = error
            }
        }
        guard !fragments.isEmpty else { throw lastError }
        return fragments
    }

    /// Whether a truncated segment ends inside `mdat`, which holds only samples.
    private static func isMediaData(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.dropFirst(4).starts(with: "mdat".utf8)
    }

    private mutating func apply(_ moov: Box) throws(MediaError) {
        guard !moov.body.elementsEqual(movieBytes) else { return }
        let old = tracks
        (movie, tracks, movieBytes, file) = (nil, nil, [], nil)
        // A copy, because slices must not keep alive the segment that the section may have come in.
        let bytes = Array(moov.body)
        let read = try Movie(Box(type: moov.type, body: bytes[...], start: 0))
        tracks = try SelectedTracks(read, selection, audio: choice, after: old)
        (movie, movieBytes) = (read, bytes)
    }
}
