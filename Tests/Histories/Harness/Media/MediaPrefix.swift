/// Bytes that some packagers and portals put before the media of a segment (docs/upstreams.md).
enum MediaPrefix {
    /// An ID3 tag with the time of the segment, as HLS has it before packed audio (RFC 8216 §3.4).
    static func timeTag(_ clock: Int) -> [UInt8] {
        var writer = BoxComposer()
        let owner = "com.apple.streaming.transportStreamTimestamp"
        let size = owner.utf8.count + 1 + 8
        writer.text("ID3")
        writer.append([4, 0, 0, 0, 0, 0, UInt8(size + 10)])
        writer.text("PRIV")
        writer.append([0, 0, 0, UInt8(size), 0, 0])
        writer.text(owner)
        writer.integer(0, 1)
        writer.integer(clock & (1 << 33 - 1), 8)
        return writer.bytes
    }

    /// The beginning of an image, and other bytes up to `size`.
    static func image(_ size: Int) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        return signature + (0..<max(0, size - signature.count)).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
    }
}

extension Broadcast.Segment {
    /// Puts other bytes before the media, if that is a trait of the channel.
    mutating func addPrefix(_ history: History) {
        guard let event = history.all(.prefixed).first, let part = parts.first else { return }
        let clock = part.clock + part.frames.lowerBound * part.format.frameDuration
        let prefix =
            switch event.pick(0...2) {
            case 0: MediaPrefix.timeTag(clock)
            case 1: MediaPrefix.image(event.pick(100...8000, 1))
            default: MediaPrefix.image(event.pick(40_000...60_000, 1))
            }
        bodies = bodies.map { prefix + $0 }
    }
}
