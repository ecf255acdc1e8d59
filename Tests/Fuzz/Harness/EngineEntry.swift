@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Entry for the whole splice engine, from segment bytes to fragmented MP4.
enum EngineEntry {
    /// The last byte selects the audio policy, whether there is a companion rendition, and how the segment, which is fed
    /// twice, is joined to itself.
    static let entry = FuzzEntry(
        "engine", "a segment of any container through the whole splice", largest: 32 << 10,
        dictionary: MovieEntries.words + TableSeeds.words + AudioSeeds.words,
        // A decoder of AAC makes up to forty blocks of 535 kB, one for each channel element that damaged frames name.
        bounds: FuzzBounds(
            heldBytes: FuzzBound(base: 32 << 20, perByte: 256), allocations: FuzzBound(base: 40_000, perByte: 64),
            copiedBytes: FuzzBound(base: 32 << 20, perByte: 4096)),
        seeds: { seeds in
            let streams = seeds.segments(in: .transportStream).map { Array($0.prefix(188 * 100)) }
            let audio = seeds.segments(in: .packedAudio).map { Array($0.prefix(6000)) }
            let movies = MovieEntries.movies(seeds)
            let controls: [UInt8] = [64, 8, 4, 16, 1, 2, 3, 0x58]
            return (streams + audio + movies + TableSeeds.streams).enumerated().map {
                $1 + [controls[$0 % controls.count]]
            }
        },
        run: { bytes in
            guard let control = bytes.last else { return }
            let input = SectionRepair.repaired(bytes.dropLast())
            let first = try published(input, control)
            guard control & 64 != 0 else { return }
            try demand(first == published(input, control), "equal input was published as different bytes")
        })

    private static let longest = Ticks.seconds(6)

    /// Splices the input, checks the output and returns it.
    private static func published(_ bytes: [UInt8], _ control: UInt8) throws -> [[UInt8]] {
        let hasAudioRendition = control & 4 != 0
        var engine = SpliceEngine(
            .init(
                hasAudioRendition: hasAudioRendition, audio: AudioPolicy.allCases[Int(control & 3)],
                longestSegment: longest, wallClock: 1_767_225_600_000))
        var invariants = OutputInvariants(longest: longest)
        for input in inputs(bytes, control) {
            let written: [SplicedSegment]
            do throws(MediaError) { written = try engine.handle(input) } catch { continue }
            for segment in written { try invariants.check(segment) }
        }
        try demand(engine.isFinished, "the engine holds media after the end")
        let count = invariants.published.reduce(0) { $0 + $1.count }
        try demand(count <= (1 << 20) + 64 * bytes.count, "\(count) bytes are published of \(bytes.count)")
        return invariants.published
    }

    private static func inputs(_ bytes: [UInt8], _ control: UInt8) -> [SpliceInput] {
        let initEnd =
            (try? LocatedMedia.find(in: bytes))?.container == .fragmentedMP4
            ? MovieEntries.initializationEnd(of: bytes) : 0
        let media = Array(bytes[initEnd...])
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
                            initialization: initEnd > 0 ? Array(bytes[..<initEnd]) : nil, bytes: media)))
            }
        }
        return inputs + [.ended(.main), .ended(.audio)]
    }
}

/// Checks the invariants of published segments.
struct OutputInvariants {
    let longest: Ticks
    private(set) var published: [[UInt8]] = []
    /// End of each track's decode times.
    private var ends: [UInt32: UInt64] = [:]

    init(longest: Ticks) { self.longest = longest }

    mutating func check(_ segment: SplicedSegment) throws {
        // Copied payload by payload: byte by byte, the check would take more steps than the splice.
        var bytes = segment.fragment.header
        for payload in segment.fragment.payloads { bytes += payload }
        published.append(segment.initSection.bytes + bytes)
        try demand(segment.duration > .zero, "a segment without duration")
        // EXTINF, rounded, is at most TARGETDURATION (RFC 8216 §4.3.3.1).
        let rounded = (segment.duration.count + 45_000) / 90_000
        try demand(rounded <= longest.count / 90_000, "a segment of \(segment.duration.count) ticks")
        let (boxes, rest) = try BoxReader.wholeBoxes(in: bytes[...])
        try demand(rest.isEmpty, "incomplete boxes in a segment")
        let movie: Movie
        let fragment: MovieFragment
        do throws(MediaError) {
            movie = try Movie(BoxReader.wholeBoxes(in: segment.initSection.bytes[...]).boxes.require("moov"))
            var reader = FragmentReader(bytes, boxes: boxes, defaults: movie.defaults)
            fragment = try reader.fragment(boxes.require("moof"))
        } catch { throw FuzzFinding(description: "a published segment cannot be parsed: \(error)") }
        try demand(fragment.tracks.count == movie.tracks.count, "a track without a fragment")
        for track in fragment.tracks { try check(track, beginsPeriod: segment.isDiscontinuous) }
    }

    /// Checks one track. Only audio may begin later than it ended: after a discontinuity, when it was missing for more than
    /// a second.
    private mutating func check(_ track: TrackFragment, beginsPeriod: Bool) throws {
        let id = track.header.trackID
        let start = track.header.decodeTime
        let end = ends[id] ?? start
        let isLater = id == TrackID.audio && beginsPeriod && start ?? 0 > end ?? 0
        try demand(start != nil && (start == end || isLater), "track \(id) continues at \(start ?? 0), not \(end ?? 0)")
        try demand(!track.samples.isEmpty, "track \(id) has no samples")
        for sample in track.samples {
            try demand(sample.duration > 0, "a sample without duration in track \(id)")
            try demand(sample.payload.count == Int(sample.size), "an incomplete sample in track \(id)")
        }
        ends[id] = track.samples.reduce(start ?? 0) { $0 + UInt64($1.duration) }
    }
}
