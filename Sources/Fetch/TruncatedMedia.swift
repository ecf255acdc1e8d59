import Media

// Detects media that ends before its own structure does. Used only if nothing else tells where the body ends: without
// Content-Length and chunked coding, a truncated body looks complete.

extension [UInt8] {
    /// Whether the bytes end inside a cipher block, a transport packet or a box.
    ///
    /// - Parameter isEncrypted: whether all bytes are encrypted with AES-128, in whole blocks.
    package func isTruncated(isEncrypted: Bool) -> Bool {
        if isEncrypted { return count % 16 != 0 }
        if isTransportStream { return count % PacketStride.packetSize != 0 }
        return isFragmentedMP4 && !endsWithBox
    }

    /// Whether sync bytes stand where packets begin (ISO/IEC 13818-1 §2.4.3.2).
    private var isTransportStream: Bool {
        let packetSize = PacketStride.packetSize
        return first == PacketStride.syncByte && (count <= packetSize || self[packetSize] == PacketStride.syncByte)
    }

    private var isFragmentedMP4: Bool {
        count >= 8 && topLevelTypes.contains { self[4..<8].elementsEqual($0.utf8) }
    }

    /// Whether the last top-level box ends where the bytes do (ISO/IEC 14496-12 §4.2).
    private var endsWithBox: Bool {
        var offset = 0
        while offset < count {
            guard let size = boxSize(at: offset), size <= count - offset else { return false }
            offset += size
        }
        return true
    }

    /// Returns the size of the box at `offset`; nil if its header is incomplete or invalid.
    private func boxSize(at offset: Int) -> Int? {
        guard let short = bigEndian(4, at: offset) else { return nil }
        switch short {
        case 0: return count - offset  // to the end of the file
        case 1: return bigEndian(8, at: offset + 8).flatMap { Int(exactly: $0) }.flatMap { $0 >= 16 ? $0 : nil }
        default: return short >= 8 ? Int(short) : nil
        }
    }

    private func bigEndian(_ width: Int, at offset: Int) -> UInt64? {
        guard offset + width <= count else { return nil }
        return self[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

private let topLevelTypes = ["ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft", "mdat", "free", "skip"]
