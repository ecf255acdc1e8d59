@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// What came out of an engine, taken apart again.
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
        var run: Int
        var beginsRun: Bool
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
    var maxHeldBytes = 0

    var videoSamples: [Sample] { segments.flatMap(\.video) }

    init(_ inputs: [SpliceInput], hasAudioRendition: Bool = false, longest: Int64 = 900_000) {
        var engine = SpliceEngine(
            .init(hasAudioRendition: hasAudioRendition, longestSegment: Ticks(longest), wallClock: 0))
        for input in inputs {
            do throws(MediaError) {
                for segment in try engine.handle(input) { append(segment) }
            } catch { errors.append(error) }
            maxHeldBytes = max(maxHeldBytes, Self.heldByteCount(in: engine))
        }
        counts = engine.counts
    }

    /// Audio frames that wait in the merger.
    static func heldByteCount(in engine: SpliceEngine) -> Int {
        let pictures =
            Mirror(reflecting: engine).children.first { $0.label == "pictures" }?.value as? VideoSpanQueue
        return pictures?.matcher.audioSpans.reduce(0) { $0 + $1.frames.count } ?? -1
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
                run: segment.description.index, beginsRun: segments.last?.run != segment.description.index,
                isDiscontinuous: segment.isDiscontinuous, initTracks: tracks.count,
                initSection: segment.initSection.bytes, video: samples(TrackID.video) ?? [],
                audio: samples(TrackID.audio)
            ))
    }
}

/// What holds of every output, whatever came in. Each answer names what does not.
extension TortureOutput {
    var faults: [String] { faults() }

    /// - Parameters:
    ///   - lost: pictures that nobody could read; around them there are holes.
    ///   - grain: ticks by which the upstream's own clocks are not exact.
    func faults(after lost: Set<TortureFrameLabel> = [], grain: Int64 = 0) -> [String] {
        clockFaults + orderFaults + discontinuityFaults(after: lost, grain: grain) + audioEndFaults
    }

    /// tfdt goes on to the tick; no track is missing.
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
            if number > 0, segment.run - segments[number - 1].run != (segment.beginsRun ? 1 : 0) {
                faults.append("run \(segment.run) at \(number) is not the next")
            }
            if segment.beginsRun, segment.video.first?.isSync != true {
                faults.append("no sync sample first at \(number)")
            }
            if segment.isDiscontinuous != (segment.beginsRun && number > 0) {
                faults.append("a discontinuity too many or too few at \(number)")
            }
            video = segment.video.last.map { $0.decode + $0.duration }
            audio = segment.audio?.last.map { $0.decode + $0.duration } ?? audio
        }
        let dependent = segments.count { $0.video.first?.isSync != true }
        return faults + (dependent == counts.segmentsWithoutSync ? [] : ["\(dependent) segments without a sync sample"])
    }

    /// Pictures under an init section that does not have their parameter sets, and such as are not whole.
    func videoFaults(of programs: [TortureProgram]) -> [String] {
        segments.enumerated().flatMap { number, segment in
            let labels = segment.video.compactMap(\.label)
            // What holds for the first and the last of them holds in between.
            let sets = [labels.first, labels.last].compactMap(\.self).flatMap {
                programs[$0.serial].sets(at: $0.index)
            }
            let isDescribed = sets.allSatisfy { segment.initSection.firstRange(of: $0) != nil }
            let torn = zip(labels, segment.video).enumerated().filter { place, picture in
                let (label, sample) = picture
                let whole = programs[label.serial]
                    .published(label.index, beginsRun: segment.beginsRun && place == 0)
                return !sample.payload.suffixMatches(whole)
            }
            return (isDescribed ? [] : ["a parameter set is not in the init section of \(number)"])
                + torn.map { "picture \($0.element.0) is not whole" }
        }
    }

    private var orderFaults: [String] {
        let labels = videoSamples.compactMap(\.label)
        let isRising = zip(labels, labels.dropFirst()).allSatisfy { $0 < $1 }
        return (labels.count == videoSamples.count ? [] : ["a picture cannot be told"])
            + (isRising ? [] : ["pictures twice or out of order"])
    }

    private func discontinuityFaults(after lost: Set<TortureFrameLabel>, grain: Int64) -> [String] {
        var faults: [String] = []
        var end: Int64?
        let holed = Set(lost.map(\.serial))
        for (number, segment) in segments.enumerated() {
            guard let first = segment.video.first else { continue }
            if segment.beginsRun,
                abs(first.presentation - first.decode - PeriodTimeline.compositionDelay.count) > grain,
                counts.periodsBeyondCompositionDelay == 0
            {
                faults.append(
                    "offset \(first.presentation - first.decode) at the start of run \(segment.run)")
            }
            let frame = segment.video.map(\.duration).min() ?? 0
            let start = segment.video.map(\.presentation).min() ?? 0
            let isHole = first.label.map { holed.contains($0.serial) } ?? false
            if let end, !isHole, abs(start - end) > max(frame / 2, 2) {
                faults.append("presentation jumps by \(start - end) at \(number)")
            }
            let last = segment.video.max { $0.presentation < $1.presentation }
            end = last.map { $0.presentation + frame }
        }
        return faults
    }

    /// A run's sound does not end after its picture by more than a frame.
    private var audioEndFaults: [String] {
        segments.enumerated().compactMap { number, segment in
            guard let sound = segment.audio?.last, let frame = segment.audio?.map(\.duration).min(),
                let picture = segment.video.map({ $0.presentation + $0.duration }).max()
            else { return nil }
            let over = sound.decode + sound.duration - PeriodTimeline.audioTime(Ticks(picture))
            return over > frame ? "sound ends \(over) units after its picture at \(number)" : nil
        }
    }

    /// Sound that is not where its source had it beside the picture: worst in microseconds, by run.
    func departures(of programs: [TortureProgram]) -> [Int: Int64] {
        var worst: [Int: Int64] = [:]
        // Where picture and sound of each program would begin on the run's timeline.
        var starts: [TortureFrameLabel: Int64] = [:]
        for segment in segments {
            for sample in segment.video {
                guard let label = sample.label else { continue }
                let program = programs[label.serial]
                let source = program.rate.time(program.presented(label.index))
                let key = TortureFrameLabel(label.serial, segment.run)
                if starts[key] == nil { starts[key] = sample.presentation - source }
            }
            let frame = segment.audio?.map(\.duration).min()
            for (place, sample) in (segment.audio ?? []).enumerated() {
                guard let label = sample.label, let start = starts[TortureFrameLabel(label.serial, segment.run)],
                    !(segment.beginsRun && place == 0), sample.duration == frame
                else { continue }
                let due = PeriodTimeline.audioTime(Ticks(start + programs[label.serial].audioTime(label.index)))
                let off = (sample.decode - due) * 1_000_000 / TrackTimescale.audio
                if abs(off) > abs(worst[segment.run] ?? 0) { worst[segment.run] = off }
            }
        }
        return worst
    }

    /// Frames of sound that were published, by program.
    var audioFrameCounts: [Int: Int] {
        segments.flatMap { $0.audio ?? [] }.compactMap(\.label?.serial).reduce(into: [:]) {
            $0[$1, default: 0] += 1
        }
    }

    /// Frames of sound, by program, that its source had beside the pictures shown and that did not come out.
    func missingAudio(of programs: [TortureProgram]) -> [Int: Int] {
        var missing: [Int: Int] = [:]
        for program in programs {
            let shown = program.decodableVideoFrames.map { program.rate.time(program.presented($0)) }
            guard let start = shown.min(), let end = shown.max() else { continue }
            let due = (0..<program.audioFrameCount).count { (start..<end).contains(program.audioTime($0)) }
            missing[program.serial] = due - (audioFrameCounts[program.serial] ?? 0)
        }
        return missing
    }

    var pictureCount: [Int: Int] {
        videoSamples.compactMap(\.label?.serial).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func suffixMatches(_ end: [UInt8]) -> Bool {
        count >= end.count && suffix(end.count).elementsEqual(end)
    }
}
