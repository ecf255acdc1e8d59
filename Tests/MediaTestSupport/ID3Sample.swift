/// ID3 tags of packed audio.
enum ID3Sample {
    static func tag(_ frames: [UInt8], version: UInt8 = 4, padding: Int = 0) -> [UInt8] {
        let size = frames.count + padding
        return Array("ID3".utf8) + [version, 0, 0, 0, 0, UInt8(size >> 7), UInt8(size & 0x7F)] + frames
            + [UInt8](repeating: 0, count: padding)
    }

    static func timestamp(_ ticks: Int64) -> [UInt8] {
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        let value = (0..<8).reversed().map { UInt8(truncatingIfNeeded: ticks >> (8 * $0)) }
        return Array("PRIV".utf8) + [0, 0, 0, UInt8(owner.count + 8), 0, 0] + owner + value
    }

    static let title = Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 3, 0x41, 0x42]
}
