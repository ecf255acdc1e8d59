import Support

/// One box in a byte slice.
package struct Box: Equatable, Sendable {
    package let type: BoxType
    /// The bytes after the header. The indices are those of the slice that was read.
    package let body: ArraySlice<UInt8>
    /// Index of the header's first byte.
    package let start: Int

    package init(type: BoxType, body: ArraySlice<UInt8>, start: Int) {
        self.type = type
        self.body = body
        self.start = start
    }

    /// The boxes in the body.
    /// - Parameter fields: bytes of the box's own fields before them.
    /// - Throws: `.truncated`.
    package func children(after fields: Int = 0) throws(MediaError) -> [Box] {
        guard body.count >= fields else { throw BoxFields(body).truncated }
        return try BoxReader.boxes(in: body.dropFirst(fields))
    }

    /// Returns the first box at the end of a path of plain containers.
    /// - Throws: If a box of the path is missing.
    package func descendant(_ path: BoxType...) throws(MediaError) -> Box {
        var box = self
        for type in path { box = try box.children().require(type) }
        return box
    }
}

extension [Box] {
    package func first(_ type: BoxType) -> Box? { first { $0.type == type } }

    package func require(_ type: BoxType) throws(MediaError) -> Box {
        guard let box = first(type) else {
            throw MediaError(
                .badParameterSet(field: "\(type)"), offset: first?.start ?? 0, section: BoxReader.section)
        }
        return box
    }
}

/// The four-character type of a box (ISO/IEC 14496-12 §4.2).
package struct BoxType: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The four bytes in file order, most significant first.
    let code: UInt32

    package init(code: UInt32) { self.code = code }

    package init(stringLiteral value: String) {
        code = value.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The four characters; a byte that is not printable ASCII becomes a dot.
    package var description: String {
        String(
            decoding: (0..<4).map { shift in
                let byte = UInt8(truncatingIfNeeded: code >> UInt32(24 - 8 * shift))
                return (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: ".")
            }, as: UTF8.self)
    }
}

/// Splits bytes into boxes (ISO/IEC 14496-12 §4.2). It never reads past the end of its input.
package enum BoxReader {
    package static let section = "ISO/IEC 14496-12 §4.2"
    /// The boxes that most boxes and segments have at most.
    private static let usualCount = 4

    /// Returns the boxes that fill `bytes`, in order.
    /// - Throws: `.truncated` if a box is longer than the remaining bytes, or shorter than its header.
    package static func boxes(in bytes: ArraySlice<UInt8>) throws(MediaError) -> [Box] {
        var boxes: [Box] = []
        boxes.reserveCapacity(bytes.isEmpty ? 0 : usualCount)
        var rest = bytes
        while !rest.isEmpty {
            if boxes.count & 0xFFF == 0 { try MediaError.checkCancellation() }
            let box = try first(in: rest)
            boxes.append(box)
            rest = rest[box.body.endIndex...]
        }
        return boxes
    }

    /// Returns the complete boxes at the start of `bytes`, in order, and the bytes after the last complete box: empty,
    /// or the beginning of a box that is longer than the remaining bytes.
    package static func wholeBoxes(
        in bytes: ArraySlice<UInt8>
    ) throws(MediaError) -> (boxes: [Box], rest: ArraySlice<UInt8>) {
        var boxes: [Box] = []
        boxes.reserveCapacity(bytes.isEmpty ? 0 : usualCount)
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

/// Appends big-endian fields and nested boxes (ISO/IEC 14496-12 §4.2). The size of a box is written after its body.
package struct BoxWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package var position: Int { bytes.count }

    package mutating func u8(_ value: UInt8) { bytes.append(value) }

    package mutating func u16(_ value: UInt16) {
        u8(UInt8(truncatingIfNeeded: value >> 8))
        u8(UInt8(truncatingIfNeeded: value))
    }

    package mutating func u32(_ value: UInt32) {
        u16(UInt16(truncatingIfNeeded: value >> 16))
        u16(UInt16(truncatingIfNeeded: value))
    }

    package mutating func u64(_ value: UInt64) {
        u32(UInt32(truncatingIfNeeded: value >> 32))
        u32(UInt32(truncatingIfNeeded: value))
    }

    package mutating func type(_ type: BoxType) { u32(type.code) }

    package mutating func zeros(_ count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

    package mutating func append(_ newBytes: some Sequence<UInt8>) { bytes.append(contentsOf: newBytes) }

    /// Replaces the four bytes at `position` by `value`, big-endian.
    package mutating func patch(_ value: UInt32, at position: Int) {
        for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index)) }
    }

    package mutating func box<Failure: Error>(
        _ type: BoxType, _ body: (inout BoxWriter) throws(Failure) -> Void
    ) throws(Failure) {
        let start = position
        u32(0)
        self.type(type)
        try body(&self)
        patch(UInt32(position - start), at: start)
    }

    package mutating func fullBox<Failure: Error>(
        _ type: BoxType, version: UInt8 = 0, flags: UInt32 = 0,
        _ body: (inout BoxWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try box(type) { (writer: inout BoxWriter) throws(Failure) in
            writer.u32(UInt32(version) << 24 | flags)
            try body(&writer)
        }
    }
}
