import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

extension SlateMovie {
    /// Opens a slate file, and returns the number of bytes read to find `moov`.
    static func of(_ file: [UInt8]) throws(MediaError) -> (movie: SlateMovie, bytesRead: Int) {
        var locator = MoovLocator(byteCount: UInt64(file.count))
        var bytesRead = 0
        while let range = locator.neededRange {
            bytesRead += range.count
            try locator.append(Array(file[range]))
        }
        return (try SlateMovie(moov: locator.moov, fileSize: UInt64(file.count)), bytesRead)
    }

    /// Returns what a demuxer makes of one pass of the slate.
    func demux(_ file: [UInt8], longest: Ticks) throws(MediaError) -> DemuxedSegment {
        var demuxer = FragmentedMP4Demuxer()
        var whole = DemuxedSegment()
        for segment in try segments(longest: longest) {
            try demuxer.initialize(with: initialization)
            whole.append(try demuxer.feed(segment.ranges.flatMap { file[$0] }, of: segment.ranges))
        }
        return whole
    }
}

/// The output of a splice engine for several passes of a slate, after a channel of one hour.
struct SlateOutput {
    /// A published sample with times in its track's timescale.
    struct Sample {
        let decode: Int64
        let presentation: Int64
        let payload: [UInt8]
    }

    static let start = TimelinePosition(
        videoDecodeTime: 3600 * 90_000, audioDecodeTime: 3600 * TrackTimescale.audio + 9_408_000 / 5,
        presentationEnd: .seconds(3600) + TimelinePosition.compositionDelay, fragmentSequence: 601,
        audio: AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024,
            decoderSpecificInfo: bytes("1190")))

    private(set) var published: [SplicedSegment] = []
    private(set) var video: [[Sample]] = []
    private(set) var audio: [[Sample]] = []
    let counts: SpliceCounts
    let refusal: MediaError?

    init(_ movie: SlateMovie, of file: [UInt8], passes: Int, longest: Ticks, policy: AudioPolicy = .copy) throws {
        var engine = SpliceEngine(
            SpliceConfiguration(
                hasAudioRendition: false, audio: policy, longestSegment: longest, position: Self.start, wallClock: 0))
        let segments = try movie.segments(longest: longest)
        for pass in 0..<passes {
            for (index, segment) in segments.enumerated() {
                published += try engine.handle(
                    .segment(
                        SegmentInput(
                            rendition: .main, mediaSequence: UInt64(pass * segments.count + index),
                            discontinuitySequence: UInt64(pass), isDiscontinuous: pass > 0 && index == 0,
                            initialization: movie.initialization,
                            bytes: segment.ranges.flatMap { file[$0] }, ranges: segment.ranges)))
            }
        }
        published += try engine.handle(.ended(.main))
        (counts, refusal) = (engine.counts, engine.refusal)
        for segment in published {
            let bytes = segment.fragment.header + segment.fragment.payloads.joined()
            let tracks = try MovieFragment.fragments(of: bytes)[0].tracks
            video.append(Self.samples(tracks.first { $0.trackID == TrackID.video }))
            audio.append(Self.samples(tracks.first { $0.trackID == TrackID.audio }))
        }
    }

    private static func samples(_ track: TrackFragment?) -> [Sample] {
        var time = Int64(track?.decodeTime ?? 0)
        return (track?.samples ?? []).map { sample in
            defer { time += Int64(sample.duration) }
            return Sample(
                decode: time, presentation: time + Int64(sample.compositionOffset), payload: Array(sample.payload))
        }
    }

    /// Whether each segment's first decode time is the end of the track in the segment before.
    var isContinuous: Bool {
        var position = Self.start
        return published.indices.allSatisfy { index in
            defer { position = published[index].position }
            let isAudioContinuous = audio[index].first.map { $0.decode == position.audioDecodeTime } ?? true
            return video[index].first?.decode == position.videoDecodeTime && isAudioContinuous
        }
    }

    /// Returns the difference in audio delay to `source` for each audio frame, in microseconds.
    ///
    /// The delay counts from the first video frame of the period. Frames that are equal to others are skipped.
    func audioDelayErrors(from source: DemuxedSegment) -> [Int64] {
        let frames = Dictionary(grouping: source.audio) { Array($0.payload) }.filter { $1.count == 1 }
        let times = frames.compactMapValues { $0[0].pts.map { Ticks(wire: $0, near: .zero) } }
        let start = source.video.first.map { Ticks(wire: $0.pts ?? .zero, near: .zero) } ?? .zero
        var shift = Ticks.zero
        var errors: [Int64] = []
        for index in published.indices {
            if published[index].isDiscontinuous { shift = Ticks(video[index][0].presentation) - start }
            for frame in audio[index] {
                guard let time = times[frame.payload] else { continue }
                let expected = (time + shift).count * 1_000_000 / Ticks.perSecond
                errors.append(
                    Int64(Int128(frame.decode) * 1_000_000 / Int128(TrackTimescale.audio)) - expected)
            }
        }
        return errors
    }
}
