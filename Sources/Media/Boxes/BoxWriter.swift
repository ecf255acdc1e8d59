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
