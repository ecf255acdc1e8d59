import Media

/// Unwraps the 33-bit video times of one rendition and infers missing ones.
struct VideoTimestampUnwrapper: Equatable, Sendable {
    /// Frame duration assumed until two frames are known: 25 frames per second.
    static let assumedFrameDuration = Ticks(3600)
    /// Longest step between two access units that counts as a frame rate; a longer one is a gap.
    static let longestFrame = Ticks.milliseconds(500)

    private(set) var last: Ticks?
    private(set) var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    /// Longest time from decoding to presentation; a longer one is damage.
    private static let longestReordering = Ticks.seconds(10)

    /// Counts of access units without a time of their own, or with an impossible one.
    private(set) var counts = SpliceCounts()

    mutating func unwrap(_ packet: VideoPacket) -> TimedVideo {
        let expected = last.map { $0 + frameDuration } ?? .zero
        guard let wire = packet.dts ?? packet.pts else {
            counts[.inferredTimestamps] += 1
            last = expected
            return TimedVideo(packet: packet, dts: expected, pts: expected)
        }
        let dts = Ticks(wire: wire, near: expected)
        if let last, dts > last, dts - last <= Self.longestFrame { frameDuration = dts - last }
        last = dts
        let pts = Ticks(wire: packet.pts ?? wire, near: dts)
        guard pts - dts <= Self.longestReordering, dts - pts <= Self.longestReordering else {
            counts[.inferredTimestamps] += 1
            return TimedVideo(packet: packet, dts: dts, pts: dts)
        }
        return TimedVideo(packet: packet, dts: dts, pts: pts)
    }
}
