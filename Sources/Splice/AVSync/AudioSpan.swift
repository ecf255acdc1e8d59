import Media

/// Audio of one configuration on one unbroken clock that was received and not dequeued.
struct AudioSpan: Sendable {
    let pid: UInt16
    let configuration: AudioConfiguration
    let discontinuitySequence: UInt64
    /// What came between the span and the audio before it; nil: its clock or its configuration changed.
    let cause: AudioVideoMatcher.Discontinuity?
    /// Time of the first frame that was ever in the span.
    let start: Ticks
    /// Time of the first video in the segment that the span begins in; nil if that has none.
    let videoStart: Ticks?
    /// A frame's time and its date in milliseconds since 1970; nil if the upstream gave none.
    private var dated: (pts: Ticks, date: Int64)?
    /// Expected time of the next frame, on the span's own unwrapped clock.
    private(set) var end: Ticks
    private(set) var frames: [TimedAudio] = []
    /// Timed metadata, with the times of the frames that it came with.
    private(set) var metadata: [(pts: Ticks, item: TimedMetadata)] = []
    /// Ticks that are added to the span's times to get times on the video's clock; nil until the span is matched.
    var clockOffset: Ticks?

    init(
        first: AudioPacket, discontinuitySequence: UInt64, after cause: AudioVideoMatcher.Discontinuity?,
        videoStart: Ticks? = nil
    ) {
        self.cause = cause
        self.videoStart = videoStart
        pid = first.pid
        configuration = first.configuration
        self.discontinuitySequence = discontinuitySequence
        start = first.pts ?? .zero
        end = start
    }

    /// Whether audio is missing before the span; its start then tells nothing about the start of its period.
    var followsMissingFrames: Bool { cause == .framesLost || cause == .joined }

    /// Date of a time on the span's clock, in milliseconds since 1970; nil if the upstream gave none.
    func date(at time: Ticks) -> Int64? {
        dated.map { $0.date + (time - $0.pts).count * 1000 / Ticks.perSecond }
    }

    /// - Parameter date: that of the frame appended last.
    mutating func record(_ date: Int64) {
        if let last = frames.last { dated = (last.pts, date) }
    }

    var queuedDuration: Ticks { frames.first.map { end - $0.pts } ?? .zero }

    var byteCount: Int { frames.reduce(0) { $0 + $1.packet.payload.count } }

    /// Whether `packet` continues the span: same stream and configuration, at most half a second from the end.
    func continues(with packet: AudioPacket) -> Bool {
        guard packet.pid == pid, packet.configuration == configuration else { return false }
        guard let wire = packet.pts else { return true }
        let step = Ticks(wire: wire, near: end) - end
        return step <= Ticks.longestFrame && step >= .zero - Ticks.longestFrame
    }

    mutating func append(_ packet: AudioPacket) {
        let pts = packet.pts.map { Ticks(wire: $0, near: end) } ?? end
        frames.append(TimedAudio(packet: packet, pts: pts))
        end = pts + configuration.frameDuration
    }

    mutating func append(_ items: [TimedMetadata]) {
        guard let last = frames.last else { return }
        metadata += items.map { (last.pts, $0) }
    }

    /// Removes and returns metadata of frames that begin before `limit`, with times on the video's clock.
    mutating func dequeueMetadata(before limit: Ticks) -> [TimedMetadata] {
        let offset = clockOffset ?? .zero
        let count = metadata.firstIndex { $0.pts + offset >= limit } ?? metadata.count
        defer { metadata.removeFirst(count) }
        return metadata[..<count].map { attached in
            TimedMetadata(attached.item.content, at: ((attached.item.time ?? attached.pts) + offset).wire)
        }
    }

    /// Removes and returns frames that begin before `limit`, with times on the video's clock.
    mutating func dequeueFrames(before limit: Ticks) -> [TimedAudio] {
        let offset = clockOffset ?? .zero
        let count = frames.firstIndex { $0.pts + offset >= limit } ?? frames.count
        defer { frames.removeFirst(count) }
        return frames[..<count].map { TimedAudio(packet: $0.packet, pts: $0.pts + offset) }
    }
}
