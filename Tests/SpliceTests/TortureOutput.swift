@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Output of an engine, demuxed again.
struct TortureOutput {
    struct Sample {
        var label: TortureFrameLabel?
        /// In the track's timescale.
        var decode: Int64
        var presentation: Int64
        var duration: Int64
        var isSync: Bool
        var payload: ArraySlice<UInt8>
    }

    struct Segment {
        var period: Int
        var beginsPeriod: Bool
        var isDiscontinuous: Bool
        var initTracks: Int
        var initSection: [UInt8]
        var video: [Sample]
        /// Nil when the fragment has no such track.
        var audio: [Sample]?
    }

    var segments: [Segment] = []
    var bytes: [[UInt8]] = []
    var counts = SpliceCounts()
    var errors: [MediaError] = []

    var videoSamples: [Sample] { segments.flatMap(\.video) }

    init(_ inputs: [SpliceInput], hasAudioRendition: Bool = false, longest: Int64 = 900_000) {
        var engine = SpliceEngine(
            .init(hasAudioRendition: hasAudioRendition, longestSegment: Ticks(longest), wallClock: 0))
        // Audio frames are labels that no decoder reads, so none is encoded into the channel's codec.
        engine.setChannelAAC(false)
        for input in inputs {
            do throws(MediaError) {
                for segment in try engine.handle(input) { append(segment) }
            } catch { errors.append(error) }
        }
        counts = engine.counts
    }

    private mutating func append(_ segment: SplicedSegment) {
        let whole = segment.fragment.header + segment.fragment.payloads.flatMap { $0 }
        bytes.append(segment.initSection.bytes + whole)
        guard let tracks = try? MovieTrack.tracks(of: segment.initSection.bytes),
            let fragment = try? MovieFragment.fragments(of: whole).first
        else { return }
        func samples(_ id: UInt32) -> [Sample]? {
            guard let track = fragment.tracks.first(where: { $0.trackID == id }) else { return nil }
            var decode = Int64(track.decodeTime ?? 0)
            return track.samples.map { sample in
                defer { decode += Int64(sample.duration) }
                return Sample(
                    label: TortureFrameLabel(sample.payload), decode: decode,
                    presentation: decode + Int64(sample.compositionOffset), duration: Int64(sample.duration),
                    isSync: sample.isSync, payload: sample.payload)
            }
        }
        segments.append(
            Segment(
                period: segment.description.index, beginsPeriod: segments.last?.period != segment.description.index,
                isDiscontinuous: segment.isDiscontinuous, initTracks: tracks.count,
                initSection: segment.initSection.bytes, video: samples(TrackID.video) ?? [],
                audio: samples(TrackID.audio)
            ))
    }
}

/// Violations of what holds for every output, whatever the input.
extension TortureOutput {
    var faults: [String] { faults() }

    /// - Parameters:
    ///   - lost: frames that could not be demuxed; gaps surround them.
    ///   - roundingError: error of the upstream's own times in ticks.
    func faults(after lost: Set<TortureFrameLabel> = [], roundingError: Int64 = 0) -> [String] {
        clockFaults + orderFaults + discontinuityFaults(after: lost, roundingError: roundingError) + audioEndFaults
    }

    /// Checks that tfdt is continuous to the tick and that no track is missing.
    private var clockFaults: [String] {
        var faults: [String] = []
        var (video, audio): (Int64?, Int64?)
        for (number, segment) in segments.enumerated() {
            if let video, segment.video.first?.decode != video {
                faults.append("video tfdt jumps at \(number)")
            }
            if let audio, let first = segment.audio?.first, first.decode != audio {
                faults.append("audio tfdt jumps at \(number)")
            }
            if segment.initTracks != (segment.audio == nil ? 1 : 2) {
                faults.append("a traf is missing at \(number)")
            }
            if number > 0, segment.period - segments[number - 1].period != (segment.beginsPeriod ? 1 : 0) {
                faults.append("period \(segment.period) at \(number) is not the next")
            }
            if segment.beginsPeriod, segment.video.first?.isSync != true {
                faults.append("no sync sample first at \(number)")
            }
            if segment.isDiscontinuous != (segment.beginsPeriod && number > 0) {
                faults.append("an extra or a missing discontinuity at \(number)")
            }
            video = segment.video.last.map { $0.decode + $0.duration }
            audio = segment.audio?.last.map { $0.decode + $0.duration } ?? audio
        }
        let dependent = segments.count { $0.video.first?.isSync != true }
        let counted = counts[.segmentsWithoutSync] + counts[.openSegments]
        return faults + (dependent == counted ? [] : ["\(dependent) segments without a sync sample"])
    }

    /// Checks that init sections hold the parameter sets of their frames, and that frames are complete.
    func videoFaults(of programs: [TortureProgram]) -> [String] {
        segments.enumerated().flatMap { number, segment in
            let labels = segment.video.compactMap(\.label)
            // If it holds for the first frame and the last, it holds for those in between.
            let sets = [labels.first, labels.last].compactMap(\.self).flatMap {
                programs[$0.serial].sets(at: $0.index)
            }
            let isDescribed = sets.allSatisfy { segment.initSection.firstRange(of: $0) != nil }
            let incomplete = zip(labels, segment.video).enumerated().filter { index, frame in
                let (label, sample) = frame
                let expected = programs[label.serial]
                    .published(label.index, beginsPeriod: segment.beginsPeriod && index == 0)
                return !sample.payload.suffixMatches(expected)
            }
            return (isDescribed ? [] : ["a parameter set is not in the init section of \(number)"])
                + incomplete.map { "frame \($0.element.0) is incomplete" }
        }
    }

    private var orderFaults: [String] {
        let labels = videoSamples.compactMap(\.label)
        let isRising = zip(labels, labels.dropFirst()).allSatisfy { $0 < $1 }
        return (labels.count == videoSamples.count ? [] : ["a frame has no label"])
            + (isRising ? [] : ["frames twice or out of order"])
    }

    private func discontinuityFaults(after lost: Set<TortureFrameLabel>, roundingError: Int64) -> [String] {
        var faults: [String] = []
        var end: Int64?
        let programsWithGaps = Set(lost.map(\.serial))
        for (number, segment) in segments.enumerated() {
            guard let first = segment.video.first else { continue }
            if segment.beginsPeriod,
                abs(first.presentation - first.decode - PeriodTimeline.compositionDelay.count) > roundingError,
                counts[.periodsBeyondCompositionDelay] == 0
            {
                faults.append(
                    "offset \(first.presentation - first.decode) at the start of period \(segment.period)")
            }
            let frame = segment.video.map(\.duration).min() ?? 0
            let start = segment.video.map(\.presentation).min() ?? 0
            let isGap = first.label.map { programsWithGaps.contains($0.serial) } ?? false
            if let end, !isGap, abs(start - end) > max(frame / 2, 2) {
                faults.append("presentation jumps by \(start - end) at \(number)")
            }
            let last = segment.video.max { $0.presentation < $1.presentation }
            end = last.map { $0.presentation + frame }
        }
        return faults
    }

    /// Checks that audio does not end after the video of its period by more than a frame. The sample that is decoded last
    /// holds the last frame, which may be presented before it.
    private var audioEndFaults: [String] {
        segments.enumerated().compactMap { number, segment in
            guard let last = segment.audio?.last, let frame = segment.audio?.map(\.duration).min(),
                let presented = segment.video.map({ $0.presentation + $0.duration }).max(),
                let decoded = segment.video.map({ $0.decode + $0.duration }).max()
            else { return nil }
            let videoEnd = Ticks(max(presented, decoded + PeriodTimeline.compositionDelay.count))
            let over = last.decode + last.duration - PeriodTimeline.audioTime(videoEnd)
            return over > frame ? "audio ends \(over) units after its video at \(number)" : nil
        }
    }

    /// Returns the largest offset between audio and video against the source, in microseconds, by period.
    func audioOffsets(of programs: [TortureProgram]) -> [Int: Int64] {
        var worst: [Int: Int64] = [:]
        // Start of each program's media on the timeline of its period.
        var starts: [TortureFrameLabel: Int64] = [:]
        for segment in segments {
            for sample in segment.video {
                guard let label = sample.label else { continue }
                let program = programs[label.serial]
                let source = program.rate.time(program.presented(label.index))
                let key = TortureFrameLabel(label.serial, segment.period)
                if starts[key] == nil { starts[key] = sample.presentation - source }
            }
            let frame = segment.audio?.map(\.duration).min()
            for (index, sample) in (segment.audio ?? []).enumerated() {
                guard let label = sample.label, let start = starts[TortureFrameLabel(label.serial, segment.period)],
                    !(segment.beginsPeriod && index == 0), sample.duration == frame
                else { continue }
                let due = PeriodTimeline.audioTime(Ticks(start + programs[label.serial].audioTime(label.index)))
                let offset = (sample.decode - due) * 1_000_000 / TrackTimescale.audio
                if abs(offset) > abs(worst[segment.period] ?? 0) { worst[segment.period] = offset }
            }
        }
        return worst
    }

    /// Number of audio frames published, by program.
    var audioFrameCounts: [Int: Int] {
        segments.flatMap { $0.audio ?? [] }.compactMap(\.label?.serial).reduce(into: [:]) {
            $0[$1, default: 0] += 1
        }
    }

    /// Returns the number of audio frames, by program, beside published video that were not published.
    func missingAudio(of programs: [TortureProgram]) -> [Int: Int] {
        var missing: [Int: Int] = [:]
        for program in programs {
            let times = program.decodableVideoFrames.map { program.rate.time(program.presented($0)) }
            guard let start = times.min(), let end = times.max() else { continue }
            let due = (0..<program.audioFrameCount).count { (start..<end).contains(program.audioTime($0)) }
            missing[program.serial] = due - (audioFrameCounts[program.serial] ?? 0)
        }
        return missing
    }

    var videoFrameCounts: [Int: Int] {
        videoSamples.compactMap(\.label?.serial).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func suffixMatches(_ end: [UInt8]) -> Bool {
        count >= end.count && suffix(end.count).elementsEqual(end)
    }
}
