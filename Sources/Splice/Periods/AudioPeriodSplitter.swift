import Media

/// Splits the audio of upstream segments without video into periods.
///
/// The thresholds are those for video (`DiscontinuityDetector`). Every audio frame can begin a period.
struct AudioPeriodSplitter: Equatable, Sendable {
    private struct Frame: Equatable, Sendable {
        var pid: UInt16
        var configuration: AudioConfiguration
        var time: Ticks
        var end: Ticks
    }

    private var clock = AudioTimestampUnwrapper()
    private var last: Frame?
    /// Counts of frames dropped because their bytes were lost or damaged. A gap becomes silence; a damaged frame would
    /// be noise.
    private var dropped = SpliceCounts()
    /// Gaps in the upstream's timestamps; dropped frames do not count as gaps.
    private var gaps = TimestampGaps()

    var counts: SpliceCounts { dropped + gaps.counts }

    /// Returns the parts of `packets` in order, each of one period and none of them empty.
    mutating func split(
        _ packets: [AudioPacket], from segment: SegmentInput, boundary: SegmentBoundary
    ) -> [AudioPeriodPart] {
        var parts: [AudioPeriodPart] = []
        let isAtStart = boundary != .none
        var boundary = boundary
        var start: Ticks?
        for packet in packets {
            let expected = clock.expected
            let time = clock.unwrap(packet)
            let segmentStart = start ?? time
            start = segmentStart
            guard !packet.isDamaged else {
                dropped[.damagedAudioFrames] += 1
                continue
            }
            let signal = admit(packet, at: time, expected: expected, boundary: boundary)
            boundary = .none
            let frame = TimedAudio(packet: packet, pts: time)
            guard signal != nil || parts.isEmpty else {
                parts[parts.count - 1].frames.append(frame)
                continue
            }
            let lead = parts.isEmpty ? time - segmentStart : nil
            var part = AudioPeriodPart(signal: signal, frames: [frame], from: segment, after: lead)
            part.opensSegment = isAtStart && parts.isEmpty
            parts.append(part)
        }
        return parts
    }

    /// Records an intact frame at `time`, and the gap before it.
    /// - Returns: why a period begins with the frame; nil if it continues the current one.
    private mutating func admit(
        _ packet: AudioPacket, at time: Ticks, expected: Ticks, boundary: SegmentBoundary
    ) -> DiscontinuityDetector.Signal? {
        let signal = signal(of: packet, at: time, boundary: boundary)
        if let last, boundary != .tagged, signal == nil || signal == .clock {
            gaps.recordAudioLead(time - expected, after: last.end - last.time)
        }
        last = Frame(pid: packet.pid, configuration: packet.configuration, time: time, end: clock.expected)
        return signal
    }

    private func signal(
        of packet: AudioPacket, at time: Ticks, boundary: SegmentBoundary
    ) -> DiscontinuityDetector.Signal? {
        if boundary == .loss { return .loss }
        guard let last else { return .joined }
        let isOtherStream = packet.pid != last.pid || packet.configuration != last.configuration
        if isOtherStream { return boundary == .tagged ? .tagged : .configuration }
        let duration = last.end - last.time
        guard DiscontinuityDetector.isClockChange(time - last.time, frame: duration, atBoundary: boundary != .none)
        else {
            return nil
        }
        return boundary == .tagged ? .tagged : .clock
    }
}

/// Audio of one period from one upstream segment without video, in order.
struct AudioPeriodPart: Equatable, Sendable {
    let signal: DiscontinuityDetector.Signal?
    var frames: [TimedAudio]
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Date of the first frame in milliseconds since 1970; nil if the upstream gave none.
    let programDateTime: Int64?
    let lostBefore: Ticks
    var opensSegment = false
    var metadata: [TimedMetadata] = []

    /// - Parameter lead: time from the segment's first frame to the first of `frames`; nil if the segment's date does
    ///   not apply here.
    init(
        signal: DiscontinuityDetector.Signal?, frames: [TimedAudio], from segment: SegmentInput, after lead: Ticks?
    ) {
        self.signal = signal
        self.frames = frames
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        lostBefore = segment.lostBefore
        programDateTime = lead.flatMap { lead in
            segment.programDateTime.map { $0 + lead.count * 1000 / Ticks.perSecond }
        }
    }
}
