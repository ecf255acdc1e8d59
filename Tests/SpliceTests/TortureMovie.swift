@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Options with which a packager writes a program as fragmented MP4.
struct TortureMovie: Sendable {
    var videoTimescale: UInt32 = 90_000
    var audioTimescale: UInt32 = 48_000
    /// Size of a NAL unit's length prefix in bytes.
    var lengthSize: UInt8 = 4
    /// Whether parameter sets are in the samples and not in the sample entry (avc3, hev1).
    var isInBand = false
    /// Whether presentation begins with an edit list's media time, after reorder delay and audio priming.
    var hasEdits = false
    /// Number of fragments per segment.
    var fragments = 1

    /// Converts ticks to a timescale, to the nearest unit.
    static func units(_ ticks: Int64, _ timescale: UInt32) -> Int64 {
        (ticks * Int64(timescale) * 2 + 90_000) / 180_000
    }
}

/// Writes the segments of a program, with the maps in turn.
struct TortureMovieWriter {
    let program: TortureProgram
    let maps: [TortureMovie]
    private var nextFrame = 0

    init(program: TortureProgram, maps: [TortureMovie]) {
        (self.program, self.maps) = (program, maps)
    }

    private var isMuxed: Bool { program.hasAudio && !program.hasCompanionAudio }

    mutating func segments() -> [TortureSegment] {
        let boundaries = program.boundaries
        return program.segments.indices.map { index in
            let map = maps[index % maps.count]
            let frames = boundaries[index]..<boundaries[index + 1]
            let isLast = index == program.segments.indices.last
            var tracks = [videoTrack(map, at: frames.lowerBound)]
            if isMuxed { tracks.append(audioTrack(map)) }
            return TortureSegment(
                initialization: MovieBuilder.initialization(tracks), atoms: fragments(of: frames, map, isLast: isLast)
            )
        }
    }

    /// Returns segments with the program's audio only.
    mutating func companion(boundaries: [Int64]) -> [TortureSegment] {
        boundaries.enumerated().map { index, boundary in
            let map = maps[index % maps.count]
            return TortureSegment(
                initialization: MovieBuilder.initialization([audioTrack(map)]),
                atoms: [audio(before: boundary, map)].compactMap(\.self).map { MovieBuilder.fragment([$0]) })
        }
    }

    private mutating func fragments(of frames: Range<Int>, _ map: TortureMovie, isLast: Bool) -> [[UInt8]] {
        let step = (frames.count + map.fragments - 1) / map.fragments
        return stride(from: frames.lowerBound, to: frames.upperBound, by: step).compactMap { start in
            let end = min(start + step, frames.upperBound)
            let isEnd = isLast && end == frames.upperBound
            let limit = isEnd ? .max : program.rate.time(end) - program.audioLag
            let trafs = [video(start..<end, map), isMuxed ? audio(before: limit, map) : nil].compactMap(\.self)
            return trafs.isEmpty ? nil : MovieBuilder.fragment(trafs)
        }
    }

    // MARK: - Samples

    /// Flags of a `trun` with all fields for each sample.
    private static let everything: UInt32 = 0xF01

    private func videoEdit(_ map: TortureMovie) -> Int64 { map.hasEdits ? program.reorderDelay : 0 }

    private func video(_ frames: Range<Int>, _ map: TortureMovie) -> MovieBuilder.Traf? {
        let sent = frames.clamped(to: program.sentVideoFrames)
        guard !sent.isEmpty else { return nil }
        let edit = videoEdit(map)
        let decode = { (index: Int) -> Int64 in TortureMovie.units(program.decode(index) + edit, map.videoTimescale) }
        let samples = sent.map { index in
            let presentation = TortureMovie.units(program.presentation(index) + edit, map.videoTimescale)
            return MovieBuilder.Sample(
                duration: UInt32(decode(index + 1) - decode(index)), offset: Int32(presentation - decode(index)),
                flags: program.isIDR(index) ? 0 : 0x1_0000, payload: payload(index, map))
        }
        return MovieBuilder.Traf(
            id: 1, decodeTime: UInt64(decode(sent.lowerBound)), runs: [(flags: Self.everything, samples: samples)])
    }

    private func payload(_ index: Int, _ map: TortureMovie) -> [UInt8] {
        program.units(index).flatMap { (map.isInBand ? $0.sets : []) + $0.media }.flatMap { unit in
            NALUnitLength.bytes(unit.count).suffix(Int(map.lengthSize)) + unit
        }
    }

    private mutating func audio(before boundary: Int64, _ map: TortureMovie) -> MovieBuilder.Traf? {
        let frames = program.frames(from: nextFrame, before: boundary)
        guard !frames.isEmpty else { return nil }
        nextFrame = frames.upperBound
        let first: Int64 =
            TortureMovie.units(program.firstAudioTime + program.audioOffset, map.audioTimescale) + priming(map)
        let (rate, scale) = (program.sampleRate, Int64(map.audioTimescale))
        let length = program.samplesPerFrame
        let time = { (frame: Int) -> Int64 in (Int64(frame) * length * scale * 2 / rate + 1) / 2 + first }
        let samples = frames.map { frame in
            MovieBuilder.Sample(duration: UInt32(time(frame + 1) - time(frame)), payload: program.audioSample(frame))
        }
        return MovieBuilder.Traf(
            id: 2, decodeTime: UInt64(time(frames.lowerBound)), runs: [(flags: Self.everything, samples: samples)])
    }

    /// Priming of one frame, in the track's timescale.
    private func priming(_ map: TortureMovie) -> Int64 {
        map.hasEdits ? program.samplesPerFrame * Int64(map.audioTimescale) / program.sampleRate : 0
    }

    // MARK: - Tracks

    private func videoTrack(_ map: TortureMovie, at index: Int) -> MovieBuilder.Track {
        let edit = TortureMovie.units(videoEdit(map), map.videoTimescale)
        let sets = map.isInBand ? [] : program.sets(at: index)
        return MovieBuilder.Track(
            id: 1, timescale: map.videoTimescale,
            entries: [
                program.isHEVC
                    ? MovieBuilder.hvc1(sets, lengthSize: map.lengthSize)
                    : MovieBuilder.avc1(sets, lengthSize: map.lengthSize)
            ],
            edits: edits(map, from: edit))
    }

    private func edits(_ map: TortureMovie, from time: Int64) -> [(duration: UInt32, mediaTime: Int32)] {
        guard map.hasEdits else { return [] }
        return [(duration: 0, mediaTime: Int32(time))]
    }

    private func audioTrack(_ map: TortureMovie) -> MovieBuilder.Track {
        let info: [UInt8] = [
            2 << 3 | program.frequencyIndex >> 1, (program.frequencyIndex & 1) << 7 | program.channels << 3,
        ]
        return MovieBuilder.Track(
            id: 2, timescale: map.audioTimescale, handler: "soun",
            entries: [program.isLayer3 ? MovieBuilder.mp4a(objectType: 0x6B, []) : MovieBuilder.mp4a(info)],
            edits: edits(map, from: priming(map)))
    }
}

extension MovieBuilder {
    /// - Parameter sets: one sequence and one picture parameter set; empty if they are in the samples.
    fileprivate static func avc1(_ sets: [[UInt8]], lengthSize: UInt8) -> (type: BoxType, boxes: [UInt8]) {
        let count = UInt8(sets.isEmpty ? 0 : 1)
        let (sequence, picture) = (sets.prefix(1), sets.dropFirst())
        let record: [UInt8] = [1, 0x64, 0, 30, 0xFC | lengthSize - 1, 0xE0 | count] + sequence.flatMap(unit) + [count]
        return (sets.isEmpty ? "avc3" : "avc1", box("avcC", record + picture.flatMap(unit)))
    }

    /// - Parameter sets: one of each kind, or none.
    fileprivate static func hvc1(_ sets: [[UInt8]], lengthSize: UInt8) -> (type: BoxType, boxes: [UInt8]) {
        let head: [UInt8] = [1] + [UInt8](repeating: 0, count: 20) + [0xFC | lengthSize - 1, UInt8(sets.count)]
        let arrays: [UInt8] = sets.flatMap { set -> [UInt8] in [0x80 | set[0] >> 1 & 0x3F, 0, 1] + unit(set) }
        return (sets.isEmpty ? "hev1" : "hvc1", box("hvcC", head + arrays))
    }

    private static func unit(_ set: [UInt8]) -> [UInt8] { [UInt8(set.count >> 8), UInt8(set.count & 0xFF)] + set }
}
