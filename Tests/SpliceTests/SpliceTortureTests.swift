import Glibc
import TestSupport
import Testing

@testable import Splice

/// What came out of an engine, taken apart again.
struct TortureOutput {
    struct Sample {
        var label: TortureLabel?
        /// In the track's timescale.
        var decode: Int64
        var presentation: Int64
        var duration: Int64
        var isSync: Bool
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
    var errors: [SpliceError] = []
    var mostHeld = 0

    var pictures: [Sample] { segments.flatMap(\.video) }

    init(_ inputs: [SpliceInput], hasAudioRendition: Bool = false, longest: Int64 = 900_000) {
        var engine = SpliceEngine(
            .init(hasAudioRendition: hasAudioRendition, longestSegment: Ticks(longest), wallClock: 0))
        for input in inputs {
            do throws(SpliceError) {
                for segment in try engine.handle(input) { append(segment) }
            } catch { errors.append(error) }
            mostHeld = max(mostHeld, Self.held(in: engine))
        }
        counts = engine.counts
    }

    /// Audio frames that wait in the merger.
    static func held(in engine: SpliceEngine) -> Int {
        let pictures =
            Mirror(reflecting: engine).children.first { $0.label == "pictures" }?.value as? PictureQueue
        return pictures?.merger.stretches.reduce(0) { $0 + $1.frames.count } ?? -1
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
                    label: TortureLabel(sample.payload), decode: decode,
                    presentation: decode + Int64(sample.compositionOffset), duration: Int64(sample.duration),
                    isSync: sample.isSync)
            }
        }
        segments.append(
            Segment(
                run: segment.description.run, beginsRun: segments.last?.run != segment.description.run,
                isDiscontinuous: segment.isDiscontinuous, initTracks: tracks.count,
                initSection: segment.initSection.bytes, video: samples(TrackID.video) ?? [],
                audio: samples(TrackID.audio)
            ))
    }
}

/// What holds of every output, whatever came in. Each answer names what does not.
extension TortureOutput {
    var faults: [String] {
        clockFaults + orderFaults + seamFaults + soundEndFaults
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

    /// A picture under an init section that does not have its parameter set.
    func initFaults(of programmes: [TortureProgramme]) -> [Int] {
        segments.indices.filter { index in
            let serials = Set(segments[index].video.compactMap(\.label?.serial))
            return serials.contains { serial in
                let set = programmes.first { $0.serial == serial }?.sequenceSet ?? []
                return segments[index].initSection.firstRange(of: set) == nil
            }
        }
    }

    private var orderFaults: [String] {
        let labels = pictures.compactMap(\.label)
        let isRising = zip(labels, labels.dropFirst()).allSatisfy { $0 < $1 }
        return (labels.count == pictures.count ? [] : ["a picture cannot be told"])
            + (isRising ? [] : ["pictures twice or out of order"])
    }

    private var seamFaults: [String] {
        var faults: [String] = []
        var end: Int64?
        for (number, segment) in segments.enumerated() {
            guard let first = segment.video.first else { continue }
            if segment.beginsRun,
                first.presentation - first.decode != ProgramTimeline.compositionDelay.count,
                counts.runsBeyondDelay == 0
            {
                faults.append(
                    "offset \(first.presentation - first.decode) at the start of run \(segment.run)")
            }
            let frame = segment.video.map(\.duration).min() ?? 0
            let start = segment.video.map(\.presentation).min() ?? 0
            if let end, abs(start - end) > max(frame / 2, 2) {
                faults.append("presentation jumps by \(start - end) at \(number)")
            }
            let last = segment.video.max { $0.presentation < $1.presentation }
            end = last.map { $0.presentation + frame }
        }
        return faults
    }

    /// A run's sound does not end after its picture by more than a frame.
    private var soundEndFaults: [String] {
        segments.enumerated().compactMap { number, segment in
            guard let sound = segment.audio?.last, let frame = segment.audio?.map(\.duration).min(),
                let picture = segment.video.map({ $0.presentation + $0.duration }).max()
            else { return nil }
            let over = sound.decode + sound.duration - ProgramTimeline.audioTime(Ticks(picture))
            return over > frame ? "sound ends \(over) units after its picture at \(number)" : nil
        }
    }

    /// Sound that is not where its source had it beside the picture: worst in microseconds, by programme.
    func departures(of programmes: [TortureProgramme]) -> [Int: Int64] {
        var starts: [Int: Int64] = [:]
        for sample in pictures {
            guard let label = sample.label,
                let programme = programmes.first(where: { $0.serial == label.serial })
            else { continue }
            let source = programme.rate.time(programme.presented(label.index))
            if starts[label.serial] == nil { starts[label.serial] = sample.presentation - source }
        }
        var worst: [Int: Int64] = [:]
        for segment in segments {
            let frame = segment.audio?.map(\.duration).min()
            for (place, sample) in (segment.audio ?? []).enumerated() {
                guard let label = sample.label, let start = starts[label.serial],
                    let programme = programmes.first(where: { $0.serial == label.serial }),
                    !(segment.beginsRun && place == 0),
                    sample.duration == frame
                else { continue }
                let due = ProgramTimeline.audioTime(Ticks(start + programme.audioTime(label.index)))
                let off = (sample.decode - due) * 1_000_000 / TrackTimescale.audio
                if abs(off) > abs(worst[label.serial] ?? 0) { worst[label.serial] = off }
            }
        }
        return worst
    }

    /// Frames of sound that were published, by programme.
    var soundCount: [Int: Int] {
        segments.flatMap { $0.audio ?? [] }.compactMap(\.label?.serial).reduce(into: [:]) {
            $0[$1, default: 0] += 1
        }
    }

    /// Frames of sound, by programme, that its source had beside the pictures shown and that did not come out.
    func missingSound(of programmes: [TortureProgramme]) -> [Int: Int] {
        var missing: [Int: Int] = [:]
        for programme in programmes {
            let shown = programme.decodablePictures.map { programme.rate.time(programme.presented($0)) }
            guard let start = shown.min(), let end = shown.max() else { continue }
            let due = (0..<programme.frameCount).count { (start..<end).contains(programme.audioTime($0)) }
            missing[programme.serial] = due - (soundCount[programme.serial] ?? 0)
        }
        return missing
    }

    var pictureCount: [Int: Int] {
        pictures.compactMap(\.label?.serial).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

private func input(
    _ sequence: Int, _ bytes: [UInt8], of rendition: SourceRendition = .main,
    isAfterSeam: Bool = false
) -> SpliceInput {
    .segment(
        SegmentInput(
            rendition: rendition, mediaSequence: UInt64(sequence), isAfterSeam: isAfterSeam, bytes: bytes)
    )
}

@Test func soundComesBackInSyncAfterTwoLostSegments() {
    var programme = TortureProgramme(serial: 0, segments: [Int](repeating: 150, count: 6))
    programme.soundsInCompanion = true
    var (pictures, sounds) = (TortureMultiplexer(), TortureMultiplexer())
    let video = pictures.segments(of: programme)
    let audio = sounds.companion(of: programme, borders: (1...6).map { Int64($0) * 540_000 })
    let inputs = (0..<6).flatMap { place in
        let isLost = place == 1 || place == 2
        let sound = input(place, audio[place], of: .audio, isAfterSeam: place == 3)
        return [input(place, video[place]), isLost ? .lost(.audio) : sound]
    }
    let output = TortureOutput(inputs + [.ended(.main), .ended(.audio)], hasAudioRendition: true)
    #expect(output.departures(of: [programme]).values.allSatisfy { abs($0) <= 25_000 })
}

@Test func aWildPresentationTimeIsNoEndOfTheProcess() async {
    await #expect(processExitsWith: .success) {
        var builder = TransportStreamBuilder()
        let programme = TortureProgramme(serial: 0)
        builder.tables([.init(pid: 256, type: 0x1B)])
        for index in 0..<50 {
            let time = 900_000 + Int64(index) * 3600
            builder.pes(
                pid: 256, pts: index == 30 ? time | 1 << 31 : time, dts: index == 30 ? time : nil,
                programme.accessUnit(index))
        }
        _ = TortureOutput([input(0, builder.cut())])
    }
}

@Test func aForeignBeginningOfSoundIsNoEndlessLoop() async {
    await #expect(processExitsWith: .success) {
        _ = alarm(5)
        var builder = TransportStreamBuilder()
        let programme = TortureProgramme(serial: 0)
        var foreign = programme
        foreign.frequencyIndex = 4
        builder.tables([.init(pid: 256, type: 0x1B), .init(pid: 257, type: 0x0F)])
        for index in 0..<9 {
            builder.pes(
                pid: 257, streamID: 0xC0, pts: 880_000 + Int64(index) * 1920, isBounded: true,
                foreign.audioFrame(index))
        }
        for index in 0..<50 {
            builder.pes(pid: 256, pts: 900_000 + Int64(index) * 3600, programme.accessUnit(index))
            builder.pes(
                pid: 257, streamID: 0xC0, pts: 898_000 + Int64(index) * 3840, isBounded: true,
                programme.audioFrame(2 * index) + programme.audioFrame(2 * index + 1))
        }
        _ = TortureOutput([input(0, builder.cut())])
    }
}

/// Nobody can know that the last picture is whole until the end, and its segment waits for it.
@Test func aPictureHeldAtTheEndIsPublished() {
    var builder = TransportStreamBuilder()
    let programme = TortureProgramme(serial: 0)
    builder.tables([.init(pid: 256, type: 0x1B)])
    for index in 0..<25 {
        var unit = programme.accessUnit(index)
        // Transport packets that end with the unit do not say that it is over.
        while (unit.count + 14) % 184 != 0 { unit.insert(0x33, at: unit.count - 8) }
        builder.pes(pid: 256, pts: 900_000 + Int64(index) * 3600, unit)
    }
    let output = TortureOutput([input(0, builder.cut()), .ended(.main)])
    #expect(output.pictures.count == 25 && output.counts.segmentsWithoutSync == 0)
}
