import Support

/// Splits bytes into boxes (ISO/IEC 14496-12 §4.2). It never reads past the end of its input.
package enum BoxReader {
    package static let section = "ISO/IEC 14496-12 §4.2"

    /// Returns the boxes that fill `bytes`, in order.
    /// - Throws: `.truncated` if a box is longer than the remaining bytes, or shorter than its header.
    package static func boxes(in bytes: ArraySlice<UInt8>) throws(MediaError) -> [Box] {
        var boxes: [Box] = []
        var rest = bytes
        while !rest.isEmpty {
            if boxes.count & 0xFFF == 0 { try MediaError.checkCancellation() }
            let box = try first(in: rest)
            boxes.append(box)
            rest = rest[box.body.endIndex...]
        }
        return boxes
    }

    /// Returns the complete boxes at the start of `bytes`, in order, and the bytes after the last of them: empty, or
    /// the beginning of a box that is longer than the remaining bytes.
    package static func wholeBoxes(
        in bytes: ArraySlice<UInt8>
    ) throws(MediaError) -> (boxes: [Box], rest: ArraySlice<UInt8>) {
        var boxes: [Box] = []
        var rest = bytes
        while !rest.isEmpty {
            if boxes.count & 0xFFF == 0 { try MediaError.checkCancellation() }
            do throws(MediaError) { boxes.append(try first(in: rest)) } catch { break }
            rest = rest[(boxes.last?.body.endIndex ?? rest.endIndex)...]
        }
        return (boxes, rest)
    }

    private static func first(in bytes: ArraySlice<UInt8>) throws(MediaError) -> Box {
        StepCounter.add(1)
        var fields = BoxFields(bytes)
        let shortSize = try fields.u32()
        let type = BoxType(code: try fields.u32())
        let size: UInt64
        switch shortSize {
        case 0: size = UInt64(bytes.count)  // up to the end
        case 1: size = try fields.u64()
        default: size = UInt64(shortSize)
        }
        let headerSize = fields.index - bytes.startIndex
        guard size >= UInt64(headerSize), size <= UInt64(bytes.count) else { throw fields.truncated }
        return Box(
            type: type, body: bytes[fields.index..<bytes.startIndex + Int(size)], start: bytes.startIndex)
    }
}

/// Reads big-endian fields from the front of a box's body.
package struct BoxFields {
    private let bytes: ArraySlice<UInt8>
    package private(set) var index: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    package var truncated: MediaError { MediaError(.truncated, offset: index, section: BoxReader.section) }

    package mutating func u8() throws(MediaError) -> UInt8 {
        guard index < bytes.endIndex else { throw truncated }
        defer { index += 1 }
        return bytes[index]
    }

    package mutating func u16() throws(MediaError) -> UInt16 { try UInt16(u8()) << 8 | UInt16(u8()) }

    package mutating func u32() throws(MediaError) -> UInt32 { try UInt32(u16()) << 16 | UInt32(u16()) }

    package mutating func u64() throws(MediaError) -> UInt64 { try UInt64(u32()) << 32 | UInt64(u32()) }

    package mutating func bytes(_ count: Int) throws(MediaError) -> ArraySlice<UInt8> {
        let start = index
        try skip(count)
        return bytes[start..<index]
    }

    package var rest: ArraySlice<UInt8> { bytes[index...] }

    package mutating func skip(_ count: Int) throws(MediaError) {
        guard bytes.endIndex - index >= count else { throw truncated }
        index += count
    }

    package mutating func versionAndFlags() throws(MediaError) -> (version: UInt8, flags: UInt32) {
        let word = try u32()
        return (UInt8(word >> 24), word & 0xFF_FFFF)
    }
}
