import Media

/// Matches the video of another variant to the leading track.
///
/// Variants have the same timestamps and discontinuity sequence numbers (RFC 8216 §6.2.4). What was received is queued by
/// segment. A part of the leading track gets the frames with its discontinuity sequence number and its times. Numbers that
/// count from another base, and a clock of the variant's own, are learned where a period begins.
struct VariantMatcher: Sendable {
    /// The frames of one upstream segment that were not matched, in decoding order.
    private struct Received: Sendable {
        let discontinuitySequence: UInt64
        var units: [TimedVideo]
        /// Times of the first frame presented and of the end of the last, on the variant's unwrapped clock.
        var start = Ticks.zero
        var end = Ticks.zero
        var byteCount = 0

        mutating func append(_ unit: TimedVideo, frameDuration: Ticks) {
            let frameEnd = unit.pts + frameDuration
            (start, end) = units.isEmpty ? (unit.pts, frameEnd) : (min(start, unit.pts), max(end, frameEnd))
            units.append(unit)
            byteCount += unit.packet.payload.count
        }
    }

    /// Place of received video relative to a part of the leading track. `elsewhere`: on another clock.
    private enum Place { case before, overlapping, after, elsewhere }

    /// The distance beyond which two times are on different clocks.
    private static let longestDistance = Ticks.seconds(60)
    private static let segmentLimit = 64
    /// Parts in a row without video, after which the discontinuity sequence number is learned again.
    private static let missesBeforeLearning = 8

    private var received: [Received] = []
    private var clock = VideoTimestampUnwrapper()
    private var isEnded = false
    private var misses = 0
    private var lastSequence: UInt64?
    /// Difference between the discontinuity sequence numbers of the variant and the leading track; nil until a part was
    /// matched.
    private var sequenceOffset: UInt64?
    /// Ticks that are added to the variant's times, beside the difference of wraps; not zero if its clock is its own.
    private var clockOffset = Ticks.zero
    private(set) var droppedFrames = 0
    /// Bytes of the queued frames, beyond which the oldest segments are dropped.
    var byteLimit: Int

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    var frameDuration: Ticks { clock.frameDuration }

    mutating func appendLeftover(_ packets: [VideoPacket]) {
        guard !packets.isEmpty else { return }
        append(packets, discontinuitySequence: received.last?.discontinuitySequence ?? 0)
    }

    mutating func append(_ packets: [VideoPacket], discontinuitySequence: UInt64) {
        var segment = Received(discontinuitySequence: discontinuitySequence, units: [])
        for packet in packets {
            let unit = clock.unwrap(packet)
            // A clock that jumps inside a segment belongs to another part.
            if !segment.units.isEmpty, abs((unit.pts - segment.end).count) > DiscontinuityDetector.longestGap.count {
                received.append(segment)
                segment = Received(discontinuitySequence: discontinuitySequence, units: [])
            }
            segment.append(unit, frameDuration: clock.frameDuration)
        }
        if !segment.units.isEmpty { received.append(segment) }
        var bytes = received.reduce(0) { $0 + $1.byteCount }
        while received.count > 1, bytes > byteLimit || received.count > Self.segmentLimit {
            bytes -= received[0].byteCount
            dropFirst()
        }
    }

    mutating func end() { isEnded = true }

    mutating func removeAll() {
        let dropped = droppedFrames
        self = VariantMatcher(byteLimit: byteLimit)
        droppedFrames = dropped
    }

    var segmentCount: Int { received.count }

    func overlaps(_ span: AudioVideoMatcher.VideoSpan) -> Bool {
        received.contains { place(of: $0, span) == .overlapping }
    }

    private mutating func dropFirst() { droppedFrames += received.removeFirst().units.count }

    /// Whether enough was received to decide the video of `span`: all of it, what follows it, or the end.
    func covers(_ span: AudioVideoMatcher.VideoSpan) -> Bool {
        if isEnded { return true }
        return received.contains { segment in
            switch place(of: segment, span) {
            case .before, .elsewhere: false
            case .overlapping: times(of: segment, near: span).end >= span.end - frameDuration
            case .after: true
            }
        }
    }

    /// Removes and returns the frames of `span`, in decoding order and on the clock of the leading track. What precedes them
    /// is dropped.
    mutating func dequeueVideo(of span: AudioVideoMatcher.VideoSpan, tolerance: Ticks) -> [TimedVideo] {
        learn(from: span)
        var units: [TimedVideo] = []
        if let first = received.firstIndex(where: { place(of: $0, span) == .overlapping }) {
            for _ in 0..<first { dropFirst() }
        }
        while let segment = received.first {
            switch place(of: segment, span) {
            case .before: dropFirst()
            case .after, .elsewhere: return finish(units)
            case .overlapping:
                let offset = times(of: segment, near: span).start - segment.start
                let end = segment.units.firstIndex { $0.pts + offset >= span.end - tolerance } ?? segment.units.count
                for var unit in segment.units[..<end] {
                    (unit.pts, unit.dts) = (unit.pts + offset, unit.dts + offset)
                    if unit.pts < span.start - tolerance { droppedFrames += 1 } else { units.append(unit) }
                }
                guard end == segment.units.count else {
                    keep(segment.units[end...])
                    return finish(units)
                }
                received.removeFirst()
            }
        }
        return finish(units)
    }

    private mutating func finish(_ units: [TimedVideo]) -> [TimedVideo] {
        misses = units.isEmpty ? misses + 1 : 0
        return units
    }

    private mutating func keep(_ units: ArraySlice<TimedVideo>) {
        var rest = Received(discontinuitySequence: received[0].discontinuitySequence, units: [])
        for unit in units { rest.append(unit, frameDuration: clock.frameDuration) }
        received[0] = rest
    }

    /// Learns the base of the variant's discontinuity sequence numbers, and whether its clock is its own.
    private mutating func learn(from span: AudioVideoMatcher.VideoSpan) {
        let isSignaled = span.beginsPeriod && lastSequence != span.discontinuitySequence
        lastSequence = span.discontinuitySequence
        let shared = received.filter { segment in
            let times = times(of: segment, near: span, offset: .zero)
            return times.start < span.end && times.end > span.start
        }
        if sequenceOffset == nil || misses >= Self.missesBeforeLearning, let segment = shared.first {
            (sequenceOffset, clockOffset) = (segment.discontinuitySequence &- span.discontinuitySequence, .zero)
        }
        if shared.contains(where: { isOfSequence($0, span) }) { clockOffset = .zero }
        guard isSignaled, let segment = received.first(where: { isOfSequence($0, span) }),
            place(of: segment, span) == .elsewhere
        else { return }
        clockOffset = (span.clockStart ?? span.start) - times(of: segment, near: span, offset: .zero).start
    }

    private func isOfSequence(_ segment: Received, _ span: AudioVideoMatcher.VideoSpan) -> Bool {
        segment.discontinuitySequence == span.discontinuitySequence &+ (sequenceOffset ?? 0)
    }

    private func place(of segment: Received, _ span: AudioVideoMatcher.VideoSpan) -> Place {
        let expected = span.discontinuitySequence &+ (sequenceOffset ?? 0)
        if sequenceOffset != nil, segment.discontinuitySequence != expected {
            return Int64(bitPattern: segment.discontinuitySequence &- expected) < 0 ? .before : .after
        }
        let (start, end) = times(of: segment, near: span)
        if abs((start - span.start).count) > Self.longestDistance.count { return .elsewhere }
        if end <= span.start { return .before }
        return start >= span.end ? .after : .overlapping
    }

    /// The times of received video on the clock of the leading track.
    private func times(
        of segment: Received, near span: AudioVideoMatcher.VideoSpan, offset: Ticks? = nil
    ) -> (start: Ticks, end: Ticks) {
        let shifted = segment.start + (offset ?? clockOffset)
        let start = Ticks(wire: shifted.wire, near: span.start)
        return (start, start + (segment.end - segment.start))
    }
}
