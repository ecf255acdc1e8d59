import Foundation

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Ordinary MP4 files that ffmpeg made when the tests began, and how they are read by ranges.
enum SlateMedia {
    /// Closed groups of a second, B-frames.
    static let h264 = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-x264-params", "keyint=25:scenecut=0"]
    static let hevc = [
        "-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params",
        "log-level=none:keyint=25:bframes=2:open-gop=0:scenecut=0",
    ]
    static let aac = ["-c:a", "aac", "-ar", "48000", "-ac", "2"]

    struct Failure: Error { let errors: String }

    /// Noise, so that no two frames of sound are equal.
    /// - Parameters: `late`: seconds by which the pictures and the sound begin later; `output`: further options of the
    ///   muxer.
    static func make(
        video: [String]? = h264, audio: [String]? = aac, seconds: String = "3", rate: String = "25",
        late: (pictures: String, sound: String) = ("0", "0"), output: [String] = []
    ) throws -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString).mp4").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var arguments = ["-nostdin", "-v", "error", "-bitexact"]
        if video != nil {
            arguments += [
                "-itsoffset", late.pictures, "-f", "lavfi", "-i",
                "testsrc2=size=160x90:rate=\(rate):duration=\(seconds)",
            ]
        }
        if audio != nil {
            arguments += ["-itsoffset", late.sound, "-f", "lavfi", "-i", "anoisesrc=seed=1:r=48000:d=\(seconds)"]
        }
        arguments += (video ?? []) + (audio ?? []) + ["-strict", "-2", "-flags", "+bitexact"] + output
        let answer = try FragmentTool.run("ffmpeg", arguments + [path])
        guard answer.status == 0 else { throw Failure(errors: answer.errors) }
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }
}

extension [UInt8] {
    subscript(range: Range<UInt64>) -> ArraySlice<UInt8> { self[Int(range.lowerBound)..<Int(range.upperBound)] }

    func replacing(_ old: String, with new: String) -> [UInt8] { replacing(bytes(old), with: bytes(new)) }
}

extension SlateMovie {
    /// - Returns: how much of the file it took to find the tables, too.
    static func of(_ file: [UInt8]) throws(MediaError) -> (movie: SlateMovie, bytesRead: Int) {
        var index = MoovLocator(byteCount: UInt64(file.count))
        var bytesRead = 0
        while let wanted = index.neededRange {
            bytesRead += wanted.count
            try index.append(Array(file[wanted]))
        }
        return (try SlateMovie(moov: index.moov, fileSize: UInt64(file.count)), bytesRead)
    }

    /// The segments of one round.
    func segments(of file: [UInt8], longest: Ticks) throws(MediaError) -> [[UInt8]] {
        var segments: [[UInt8]] = []
        for chunk in try self.segments(longest: longest) {
            segments.append(try mediaSegment(chunk, bytes: chunk.ranges.flatMap { file[$0] }))
        }
        return segments
    }
}

/// What an engine makes of some rounds of a slate, behind a channel that had been on for an hour.
struct SlateShow {
    /// One sample as published, times in its track's timescale.
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
    private(set) var pictures: [[Sample]] = []
    private(set) var audio: [[Sample]] = []
    let counts: SpliceCounts
    let refusal: MediaError?

    init(_ movie: SlateMovie, of file: [UInt8], rounds: Int, longest: Ticks, policy: AudioPolicy = .copy) throws {
        var engine = SpliceEngine(
            SpliceEngine.Configuration(
                hasAudioRendition: false, audio: policy, longestSegment: longest, position: Self.start, wallClock: 0))
        let segments = try movie.segments(of: file, longest: longest)
        for round in 0..<rounds {
            for (place, segment) in segments.enumerated() {
                published += try engine.handle(
                    .segment(
                        SegmentInput(
                            rendition: .main, mediaSequence: UInt64(round * segments.count + place),
                            discontinuitySequence: UInt64(round), isDiscontinuous: round > 0 && place == 0,
                            initialization: movie.initialization, bytes: segment)))
            }
        }
        published += try engine.handle(.ended(.main))
        (counts, refusal) = (engine.counts, engine.refusal)
        for segment in published {
            let bytes = segment.fragment.header + segment.fragment.payloads.joined()
            let tracks = try MovieFragment.fragments(of: bytes)[0].tracks
            pictures.append(Self.samples(tracks.first { $0.trackID == TrackID.video }))
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

    /// Every segment's first sample is decoded where the one before said that the track ends.
    var isContinuous: Bool {
        var position = Self.start
        return published.indices.allSatisfy { index in
            defer { position = published[index].position }
            let sound = audio[index].first.map { $0.decode == position.audioDecodeTime } ?? true
            return pictures[index].first?.decode == position.videoDecodeTime && sound
        }
    }

    /// By how many microseconds each copied frame of sound comes later after its run's first picture than in `source`.
    /// Frames that are equal to others are left out.
    func departures(from source: DemuxedSegment) -> [Int64] {
        let frames = Dictionary(grouping: source.audio) { Array($0.payload) }.filter { $1.count == 1 }
        let times = frames.compactMapValues { $0[0].pts.map { Ticks(wire: $0, near: .zero) } }
        let begin = source.video.first.map { Ticks(wire: $0.pts ?? .zero, near: .zero) } ?? .zero
        var shift = Ticks.zero
        var departures: [Int64] = []
        for index in published.indices {
            if published[index].isDiscontinuous { shift = Ticks(pictures[index][0].presentation) - begin }
            for frame in audio[index] {
                guard let time = times[frame.payload] else { continue }
                let due = (time + shift).count * 1_000_000 / Ticks.perSecond
                departures.append(
                    Int64(Int128(frame.decode) * 1_000_000 / Int128(TrackTimescale.audio)) - due)
            }
        }
        return departures
    }
}
