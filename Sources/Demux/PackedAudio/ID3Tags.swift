import Media
import Support

/// Consecutive ID3v2 tags in packed audio (RFC 8216 §3.4, ID3v2.4 structure §3).
struct ID3Tags: Equatable, Sendable {
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]

    private(set) var end: Int
    /// The PTS of the next frame, 0 ..< 2³³.
    private(set) var timestamp: Ticks?
    /// Tags with other frames than the timestamp, without the timestamp.
    private(set) var metadataTags: [[UInt8]] = []
    private(set) var excessTags = 0

    init(_ bytes: [UInt8], at offset: Int = 0) throws(MediaError) {
        end = offset
        while Self.begins(bytes, at: end) {
            StepCounter.add(1)
            let next = min(bytes.count, end + 10 + Self.size(bytes, at: end + 6))
            let sizesAreSyncSafe = bytes[end + 3] >= 4
            let frames = try readFrames(bytes, in: end + 10..<next, sizesAreSyncSafe: sizesAreSyncSafe)
            if !frames.isEmpty { append(Self.tag(like: bytes[end..<end + 6], frames)) }
            end = Self.endOfTag(bytes, at: end)
        }
    }

    /// Returns where consecutive tags end; `offset` if none begins there.
    static func end(in bytes: [UInt8], from offset: Int = 0) -> Int {
        var end = offset
        while begins(bytes, at: end) {
            StepCounter.add(1)
            end = endOfTag(bytes, at: end)
        }
        return end
    }

    private static func endOfTag(_ bytes: [UInt8], at offset: Int) -> Int {
        let hasFooter = bytes[offset + 5] & 0x10 != 0
        return min(bytes.count, offset + 10 + size(bytes, at: offset + 6) + (hasFooter ? 10 : 0))
    }

    private mutating func append(_ tag: [UInt8]) {
        if metadataTags.count < DemuxLimits.messages { metadataTags.append(tag) } else { excessTags += 1 }
    }

    static func begins(_ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + 10 <= bytes.count, bytes[offset] == UInt8(ascii: "I") else { return false }
        return bytes[offset..<offset + 3].elementsEqual("ID3".utf8)
    }

    private static func tag(like header: ArraySlice<UInt8>, _ frames: [UInt8]) -> [UInt8] {
        let size = (0..<4).map { UInt8(truncatingIfNeeded: frames.count >> (21 - 7 * $0) & 0x7F) }
        return header.dropLast() + [(header.last ?? 0) & ~0x10] + size + frames
    }

    private mutating func readFrames(
        _ bytes: [UInt8], in range: Range<Int>, sizesAreSyncSafe: Bool
    ) throws(MediaError) -> [UInt8] {
        var others: [UInt8] = []
        var offset = range.lowerBound
        try MediaError.checkCancellation()
        while offset + 10 <= range.upperBound, bytes[offset] != 0 {  // zeros are padding
            try MediaError.checkCancellation()
            StepCounter.add(1)
            let size = Self.size(bytes, at: offset + 4, isSyncSafe: sizesAreSyncSafe)
            let end = min(range.upperBound, offset + 10 + size)
            let body = bytes[offset + 10..<end]
            if bytes[offset..<offset + 4].elementsEqual("PRIV".utf8), body.starts(with: Self.owner) {
                readTimestamp(body.dropFirst(Self.owner.count))
            } else {
                others += bytes[offset..<end]
            }
            offset += 10 + size
        }
        return others
    }

    /// Reads eight bytes, big-endian, of which the low 33 bits count.
    private mutating func readTimestamp(_ body: ArraySlice<UInt8>) {
        guard body.count >= 8 else { return }
        timestamp = Ticks(body.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }).wire
    }

    private static func size(_ bytes: [UInt8], at offset: Int, isSyncSafe: Bool = true) -> Int {
        bytes[offset..<offset + 4].reduce(0) { isSyncSafe ? $0 << 7 | Int($1 & 0x7F) : $0 << 8 | Int($1) }
    }
}
