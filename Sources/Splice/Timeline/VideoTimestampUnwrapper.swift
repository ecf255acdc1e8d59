import Demux
import Media
import Mux
import Transcode

/// Unfolds the 33-bit times of one rendition's video and gives a time to access units that came without.
struct VideoTimestampUnwrapper: Equatable, Sendable {
    /// What one frame lasts until two of them have told (25 frames a second).
    static let assumedFrameDuration = Ticks(3600)
    /// A step between two access units that is longer is a gap, not a frame rate.
    static let longestFrame = Ticks.milliseconds(500)

    private(set) var last: Ticks?
    private(set) var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    /// A picture is shown no longer than this after it is decoded; a time that says otherwise is a damaged one.
    static let longestReordering = Ticks.seconds(10)

    /// Access units that carried no time of their own, or one that cannot be.
    private(set) var timestampsFilled = 0

    mutating func unwrap(_ packet: VideoPacket) -> TimedVideo {
        let expected = last.map { $0 + frameDuration } ?? .zero
        guard let wire = packet.dts ?? packet.pts else {
            timestampsFilled += 1
            last = expected
            return TimedVideo(packet: packet, dts: expected, pts: expected)
        }
        let dts = Ticks(wire: wire, near: expected)
        if let last, dts > last, dts - last <= Self.longestFrame { frameDuration = dts - last }
        last = dts
        let pts = Ticks(wire: packet.pts ?? wire, near: dts)
        guard pts - dts <= Self.longestReordering, dts - pts <= Self.longestReordering else {
            timestampsFilled += 1
            return TimedVideo(packet: packet, dts: dts, pts: dts)
        }
        return TimedVideo(packet: packet, dts: dts, pts: pts)
    }
}
