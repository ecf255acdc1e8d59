import Support

/// Reads bit fields from the front of a byte slice, most significant bit first, and never past its end.
///
/// The descriptors u(n), ue(v) and se(v) are those of ISO/IEC 14496-10 §7.2 and §9.1.
package struct BitReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var removesEmulationPrevention = false
    private let section: String
    private var index: Int
    /// The unread low bits of the byte before `index`.
    private var current: UInt8 = 0
    private var bitsInCurrent = 0
    private var zeroBytes = 0

    /// - Parameter section: the standard and section that defines the layout of `bytes`.
    package init(_ bytes: ArraySlice<UInt8>, section: String) {
        self.bytes = bytes
        self.section = section
        index = bytes.startIndex
    }

    /// Creates a reader of a NAL unit's payload: a 3 after two zero bytes is skipped (ISO/IEC 14496-10 §7.4.1).
    /// - Parameter nalUnit: header included, without start code or length.
    package init(nalUnit: [UInt8], section: String) {
        self.init(nalUnit[...], section: section)
        removesEmulationPrevention = true
    }

    /// Byte offset of the next bit, emulation prevention bytes included.
    var offset: Int { index - bytes.startIndex - (bitsInCurrent > 0 ? 1 : 0) }

    /// Number of unread bits, emulation prevention bytes included.
    package var bitsLeft: Int { (bytes.endIndex - index) * 8 + bitsInCurrent }

    package func fault(_ reason: MediaError.Reason) -> MediaError {
        MediaError(reason, offset: offset, section: section)
    }

    package mutating func flag() throws(MediaError) -> Bool {
        if bitsInCurrent == 0 { try loadByte() }
        bitsInCurrent -= 1
        return (current >> UInt8(bitsInCurrent)) & 1 == 1
    }

    /// - Parameter count: 0 ... 32.
    package mutating func u(_ count: Int) throws(MediaError) -> Int {
        var (value, rest) = (0, count)
        while rest > 0 {
            if bitsInCurrent == 0 { try loadByte() }
            let read = min(rest, bitsInCurrent)
            bitsInCurrent -= read
            rest -= read
            value = value << read | Int(current >> UInt8(bitsInCurrent)) & (1 << read - 1)
        }
        return value
    }

    package mutating func u(_ count: Int, _ field: StaticString, in range: ClosedRange<Int>) throws(MediaError) -> Int {
        try check(u(count), field, range)
    }

    package mutating func skip(_ count: Int) throws(MediaError) {
        var rest = count
        while rest > 0 {
            if bitsInCurrent == 0 { try loadByte() }
            let read = min(rest, bitsInCurrent)
            bitsInCurrent -= read
            rest -= read
        }
    }

    /// Reads ue(v), 0 ... 2³² − 2, and checks its range.
    package mutating func ue(_ field: StaticString, in range: ClosedRange<Int>) throws(MediaError) -> Int {
        try check(exponentialGolomb(field), field, range)
    }

    /// Reads se(v), −2³¹ + 1 ... 2³¹ − 1, and checks its range.
    package mutating func se(
        _ field: StaticString, in range: ClosedRange<Int> = -0x7FFF_FFFF...0x7FFF_FFFF
    ) throws(MediaError) -> Int {
        let codeNumber = try exponentialGolomb(field)
        return try check(codeNumber & 1 == 1 ? (codeNumber + 1) / 2 : -codeNumber / 2, field, range)
    }

    private mutating func exponentialGolomb(_ field: StaticString) throws(MediaError) -> Int {
        var leadingZeroBits = 0
        while try !flag() {
            leadingZeroBits += 1
            guard leadingZeroBits < 32 else { throw fault(.badParameterSet(field: "\(field)")) }
        }
        return try (1 << leadingZeroBits) - 1 + u(leadingZeroBits)
    }

    private func check(
        _ value: Int, _ field: StaticString, _ range: ClosedRange<Int>
    ) throws(MediaError) -> Int {
        guard range.contains(value) else { throw fault(.badParameterSet(field: "\(field)")) }
        return value
    }

    private mutating func loadByte() throws(MediaError) {
        StepCounter.add(1)
        if removesEmulationPrevention, zeroBytes >= 2, index < bytes.endIndex, bytes[index] == 3 {
            index += 1
            zeroBytes = 0
        }
        guard index < bytes.endIndex else { throw fault(.truncated) }
        current = bytes[index]
        zeroBytes = current == 0 ? zeroBytes + 1 : 0
        index += 1
        bitsInCurrent = 8
    }
}

/// Appends bit fields, most significant bit first, and fills the last byte with zeros.
package struct BitWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// Number of bits written, padding of `align()` included.
    package private(set) var bitCount = 0

    package init() {}

    package mutating func append(_ value: Int, bits count: Int) {
        for shift in (0..<count).reversed() {
            if bitCount.isMultiple(of: 8) { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << UInt8(7 - bitCount % 8)
            bitCount += 1
        }
    }

    package mutating func align() { bitCount = bytes.count * 8 }
}
