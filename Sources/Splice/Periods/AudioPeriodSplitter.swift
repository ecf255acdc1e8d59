import Demux
import Media
import Mux
import Transcode

/// Takes the sound of upstream segments that have no picture apart into runs, by the thresholds that hold for pictures
/// (`DiscontinuityDetector`). Every frame of sound may begin one.
struct AudioPeriodSplitter: Equatable, Sendable {
    private struct Frame: Equatable, Sendable {
        var pid: UInt16
        var configuration: AudioConfiguration
        var time: Ticks
        var end: Ticks
    }

    private var clock = AudioTimestampUnwrapper()
    private var last: Frame?
    /// Frames left out because bytes of them were lost or doubted: a hole is silence, they would be noise.
    private(set) var damaged = 0
    /// Where the upstream's own clock lacks time; frames that were left out do not count.
    private(set) var gaps = TimestampGaps()

    /// - Returns: the pieces of `packets`, each of one run, in order; none is empty.
    mutating func pieces(
        of packets: [AudioPacket], from segment: SegmentInput, border: DiscontinuityDetector.Boundary
    ) -> [AudioPeriodPart] {
        var pieces: [AudioPeriodPart] = []
        let isAtStart = border != .none
        var border = border
        var start: Ticks?
        for packet in packets {
            let expected = clock.expected
            let time = clock.unwrap(packet)
            start = start ?? time
            guard !packet.isDamaged else {
                damaged += 1
                continue
            }
            let signal = signal(of: packet, at: time, border: border)
            if let last, border != .tagged, signal == nil || signal == .clock {
                gaps.recordAudioLead(time - expected, after: last.end - last.time)
            }
            last = Frame(pid: packet.pid, configuration: packet.configuration, time: time, end: clock.expected)
            border = .none
            let frame = TimedAudio(packet: packet, pts: time)
            if signal == nil, !pieces.isEmpty {
                pieces[pieces.count - 1].frames.append(frame)
            } else {
                let lead = pieces.isEmpty ? start.map { time - $0 } : nil
                pieces.append(AudioPeriodPart(signal: signal, frames: [frame], from: segment, after: lead))
                pieces[pieces.count - 1].opensSegment = isAtStart && pieces.count == 1
            }
        }
        return pieces
    }

    private func signal(
        of packet: AudioPacket, at time: Ticks, border: DiscontinuityDetector.Boundary
    ) -> DiscontinuityDetector.Signal? {
        if border == .loss { return .loss }
        guard let last else { return .joined }
        let isOther = packet.pid != last.pid || packet.configuration != last.configuration
        if isOther { return border == .tagged ? .tagged : .configuration }
        let frame = last.end - last.time
        guard DiscontinuityDetector.isClockChange(time - last.time, frame: frame, atBoundary: border != .none) else {
            return nil
        }
        return border == .tagged ? .tagged : .clock
    }
}

/// Sound of one run from one upstream segment that has no picture, in order.
struct AudioPeriodPart: Equatable, Sendable {
    /// Set when the run begins with the first frame.
    let signal: DiscontinuityDetector.Signal?
    var frames: [TimedAudio]
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Milliseconds since 1970 of the first frame, where the upstream said so.
    let programDateTime: Int64?
    /// Its upstream segment begins with it.
    var opensSegment = false
    /// What its upstream segment carries beside it, in order.
    var metadata: [TimedMetadata] = []

    /// - Parameter lead: from the segment's first frame to the first of `frames`; nil when its date does not lead here.
    init(
        signal: DiscontinuityDetector.Signal?, frames: [TimedAudio], from segment: SegmentInput, after lead: Ticks?
    ) {
        self.signal = signal
        self.frames = frames
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        programDateTime = lead.flatMap { lead in
            segment.programDateTime.map { $0 + lead.count * 1000 / Ticks.perSecond }
        }
    }
}
