import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// A synthetic audio-only channel: programs, the segments of their frames, and their containers.
struct AudioOnlyChannel {
    enum Container { case transportStream, packed, packedWithoutTime }

    /// One upstream segment.
    struct Part {
        var program: TortureProgram
        /// Numbers of its frames.
        var frames: [Int]
        var container = Container.transportStream
        var isDiscontinuous = false
        /// The segment before it was lost.
        var followsLoss = false
        var date: Int64?
        /// The next part is in the same upstream segment.
        var isOneWithNext = false
    }

    var parts: [Part] = []

    /// Appends `count` segments of 47 frames, the first of them after a tag if `isTagged`.
    mutating func play(
        _ program: TortureProgram, _ count: Int, from first: Int = 0, isTagged: Bool = false,
        in container: Container = .transportStream
    ) {
        for index in 0..<count {
            let start = first + index * 47
            parts.append(
                Part(
                    program: program, frames: Array(start..<start + 47), container: container,
                    isDiscontinuous: isTagged && index == 0))
        }
    }

    var inputs: [SpliceInput] {
        var builder = TransportStreamBuilder()
        var inputs: [SpliceInput] = []
        var bytes: [UInt8] = []
        for (number, part) in parts.enumerated() {
            bytes += part.bytes(with: &builder)
            if part.isOneWithNext { continue }
            defer { bytes = [] }
            if part.followsLoss { inputs.append(.lost(.main)) }
            inputs.append(
                .segment(
                    SegmentInput(
                        rendition: .main, mediaSequence: UInt64(number), isDiscontinuous: part.isDiscontinuous,
                        isAfterDiscontinuity: part.followsLoss, programDateTime: part.date,
                        bytes: bytes)))
        }
        return inputs + [.ended(.main)]
    }

    /// Everything as one transport stream.
    var stream: [UInt8] {
        var builder = TransportStreamBuilder()
        return parts.flatMap { $0.bytes(with: &builder) }
    }
}

extension AudioOnlyChannel.Part {
    fileprivate func bytes(with builder: inout TransportStreamBuilder) -> [UInt8] {
        let time = { (program.clock + program.audioTime($0)) & (Ticks.wrap - 1) }
        switch container {
        case .packedWithoutTime: return frames.flatMap(program.audioFrame)
        case .packed:
            return ID3Sample.tag(ID3Sample.timestamp(frames.first.map(time) ?? 0))
                + frames.flatMap(program.audioFrame)
        case .transportStream:
            builder.tables([.init(pid: program.audioPID, type: 0x0F)])
            for frame in frames {
                builder.pes(
                    pid: program.audioPID, streamID: 0xC0, pts: time(frame), isBounded: true,
                    program.audioFrame(frame))
            }
            return builder.cut()
        }
    }
}

/// Output of an engine, demuxed again.
struct AudioOnlyOutput {
    struct Sample: Equatable {
        /// Nil for silence.
        var label: TortureFrameLabel?
        var duration: UInt32
    }

    struct Segment {
        var period: Int
        var isDiscontinuous: Bool
        var duration: Ticks
        var date: Int64
        var trackIDs: [UInt32]
        var decodeTime: UInt64
        var samples: [Sample]
    }

    var segments: [Segment] = []
    var position = TimelinePosition.beginning
    var counts = SpliceCounts()
    var errors: [MediaError] = []

    var samples: [Sample] { segments.flatMap(\.samples) }
    var labels: [TortureFrameLabel] { samples.compactMap(\.label) }
    var periods: Int { segments.filter(\.isDiscontinuous).count + (segments.isEmpty ? 0 : 1) }

    init(
        _ inputs: [SpliceInput], longest: Ticks = .seconds(10), position: TimelinePosition = .beginning,
        hasAudioRendition: Bool = false
    ) {
        var engine = SpliceEngine(
            .init(hasAudioRendition: hasAudioRendition, longestSegment: longest, position: position, wallClock: 0))
        for input in inputs {
            do throws(MediaError) {
                for segment in try engine.handle(input) { append(segment) }
            } catch { errors.append(error) }
        }
        counts = engine.counts
    }

    private mutating func append(_ segment: SplicedSegment) {
        let whole = segment.fragment.header + segment.fragment.payloads.flatMap { $0 }
        guard let tracks = try? MovieTrack.tracks(of: segment.initSection.bytes),
            let fragments = try? MovieFragment.fragments(of: whole),
            let audio = fragments.first?.tracks.first(where: { $0.trackID == TrackID.audio })
        else { return }
        position = segment.position
        let trackIDs = fragments.flatMap(\.tracks).map(\.trackID)
        segments.append(
            Segment(
                period: segment.description.index, isDiscontinuous: segment.isDiscontinuous, duration: segment.duration,
                date: segment.programDateTime, trackIDs: trackIDs == tracks.map(\.trackID) ? trackIDs : [],
                decodeTime: audio.decodeTime ?? 0,
                samples: audio.samples.map { Sample(label: TortureFrameLabel($0.payload), duration: $0.duration) }))
    }

    /// Violations of what holds for every output: clocks, counts and discontinuities.
    var faults: [String] {
        var faults: [String] = []
        var next: UInt64?
        for (number, segment) in segments.enumerated() {
            if segment.trackIDs.isEmpty { faults.append("\(number): its tracks are not those of its init section") }
            if let next, next != segment.decodeTime {
                faults.append("\(number): tfdt \(segment.decodeTime), not \(next)")
            }
            let end = segment.samples.reduce(segment.decodeTime) { $0 + UInt64($1.duration) }
            next = end
            if number > 0, segment.isDiscontinuous != (segments[number - 1].period != segment.period) {
                faults.append("\(number): a discontinuity without a period, or the reverse")
            }
            let written = PeriodTimeline.ticks(ofAudioTime: Int64(end))
            if segment.trackIDs == [TrackID.audio],
                segment.duration != written - PeriodTimeline.ticks(ofAudioTime: Int64(segment.decodeTime))
            {
                faults.append("\(number): duration \(segment.duration.count) differs from its samples")
            }
        }
        if labels != labels.sorted() { faults.append("frames out of order") }
        if Set(labels).count != labels.count { faults.append("a frame twice") }
        return faults
    }
}
