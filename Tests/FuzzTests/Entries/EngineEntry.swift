@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// The whole splice: segment bytes in, fragmented MP4 out.
enum EngineEntry {
    /// The last byte says how the channel is: what becomes of its sound, whether it is in a rendition of its own, and
    /// how the segment meets itself, which is handed in twice.
    static let entry = FuzzEntry(
        "engine", "a segment of any container through the whole splice", largest: 32 << 10,
        dictionary: MovieEntries.words,
        seeds: { seeds in
            let streams = seeds.segments(in: .transportStream).map { Array($0.prefix(188 * 100)) }
            let sounds = seeds.segments(in: .packedAudio).map { Array($0.prefix(6000)) }
            let movies = seeds.movies.map { Array($0.prefix(24 << 10)) }
            let controls: [UInt8] = [64, 8, 4, 16, 1, 2, 3, 0x58]
            return (streams + sounds + movies).enumerated().map { $1 + [controls[$0 % controls.count]] }
        },
        run: { bytes in
            guard let control = bytes.last else { return }
            let input = SectionRepair.repaired(bytes.dropLast())
            let first = try published(input, control)
            guard control & 64 != 0 else { return }
            try demand(first == published(input, control), "the same input was published as other bytes")
        })

    private static let longest = Ticks.seconds(6)

    /// - Returns: what was published, checked.
    private static func published(_ bytes: [UInt8], _ control: UInt8) throws -> [[UInt8]] {
        let hasAudioRendition = control & 4 != 0
        var engine = SpliceEngine(
            .init(
                hasAudioRendition: hasAudioRendition, audio: AudioPolicy.allCases[Int(control & 3)],
                longestSegment: longest, wallClock: 1_767_225_600_000))
        var promise = OutputInvariants(longest: longest)
        for input in inputs(bytes, control) {
            let written: [SplicedSegment]
            do throws(MediaError) { written = try engine.handle(input) } catch { continue }
            for segment in written { try promise.check(segment) }
        }
        try demand(engine.isFinished, "something is held after the end")
        return promise.published
    }

    private static func inputs(_ bytes: [UInt8], _ control: UInt8) -> [SpliceInput] {
        let border = SegmentContainer.sniff(bytes) == .fragmentedMP4 ? MovieEntries.initializationEnd(of: bytes) : 0
        let media = Array(bytes[border...])
        var inputs: [SpliceInput] = []
        for number in 0..<UInt64(2) {
            for rendition in control & 4 != 0 ? [InputRendition.main, .audio] : [.main] {
                inputs.append(
                    .segment(
                        SegmentInput(
                            rendition: rendition, mediaSequence: number,
                            isDiscontinuous: control & 8 != 0 && number > 0,
                            isAfterDiscontinuity: control & 16 != 0 && number > 0,
                            programDateTime: control & 32 != 0 ? 1_767_225_600_000 : nil,
                            initialization: border > 0 ? Array(bytes[..<border]) : nil, bytes: media)))
            }
        }
        return inputs + [.ended(.main), .ended(.audio)]
    }
}

/// What holds of all that is published, whatever came in.
struct OutputInvariants {
    let longest: Ticks
    private(set) var published: [[UInt8]] = []
    /// Decode time at which each track goes on.
    private var ends: [UInt32: UInt64] = [:]

    init(longest: Ticks) { self.longest = longest }

    mutating func check(_ segment: SplicedSegment) throws {
        let bytes = segment.fragment.header + segment.fragment.payloads.joined()
        published.append(segment.initSection.bytes + bytes)
        try demand(segment.duration > .zero, "a segment of no duration")
        // EXTINF rounds to TARGETDURATION at most (RFC 8216 §4.3.3.1).
        let rounded = (segment.duration.count + 45_000) / 90_000
        try demand(rounded <= longest.count / 90_000, "a segment of \(segment.duration.count) ticks")
        let (boxes, rest) = BoxReader.wholeBoxes(in: bytes[...])
        try demand(rest.isEmpty, "boxes that do not fill the segment")
        let movie: Movie
        let fragment: MovieFragment
        do throws(MediaError) {
            movie = try Movie(BoxReader.wholeBoxes(in: segment.initSection.bytes[...]).boxes.require("moov"))
            var reader = FragmentReader(bytes, boxes: boxes, defaults: movie.defaults)
            fragment = try reader.fragment(boxes.require("moof"))
        } catch { throw FuzzFinding(description: "what was published cannot be read: \(error)") }
        try demand(fragment.tracks.count == movie.tracks.count, "a track without a fragment")
        for track in fragment.tracks { try check(track, beginsRun: segment.isDiscontinuous) }
    }

    /// Only sound that a run lacked for more than a second may begin later than it ended, with the discontinuity behind it.
    private mutating func check(_ track: TrackFragment, beginsRun: Bool) throws {
        let id = track.header.trackID
        let start = track.header.decodeTime
        let end = ends[id] ?? start
        let isLater = id == TrackID.audio && beginsRun && start ?? 0 > end ?? 0
        try demand(start != nil && (start == end || isLater), "track \(id) goes on at \(start ?? 0), not \(end ?? 0)")
        try demand(!track.samples.isEmpty, "track \(id) has no samples")
        for sample in track.samples {
            try demand(sample.duration > 0, "a sample of no duration in track \(id)")
            try demand(sample.payload.count == Int(sample.size), "a sample that is not whole in track \(id)")
        }
        ends[id] = track.samples.reduce(start ?? 0) { $0 + UInt64($1.duration) }
    }
}
