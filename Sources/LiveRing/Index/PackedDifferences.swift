/// The differences of a block's entries in a fifth of their memory. Each is read alone, in constant time.
///
/// A difference is some numbers of 32 bits. Most of them are the same in all entries, or rise evenly. Therefore each
/// number is kept as a line through the block, and as how far above the line it is in each entry, in as few bits as the
/// block needs.
struct PackedDifferences: Sendable {
    /// The numbers of a difference. The last number of its layout is unused.
    private static let columns = MemoryLayout<EntryDifference>.size / 4 - 1
    /// Where the lines begin, how they rise, and the numbers of bits, four in a number.
    private static let headCount = 2 * columns + (columns + 3) / 4

    /// Modulo 2³²: the head, the bits of each number, and one more for reading beyond the last.
    let numbers: [UInt32]

    /// - Parameter differences: `EntryBlock.size` of them.
    init(_ differences: [EntryDifference]) {
        let columns = (0..<Self.columns).map { Self.values(of: $0, in: differences) }
        let lines = columns.map(Line.init)
        var numbers: [UInt32] = []
        let bits = lines.reduce(0) { $0 + $1.width } * EntryBlock.size
        numbers.reserveCapacity(Self.headCount + bits / 32 + 1)
        numbers += lines.map(\.start) + lines.map(\.rise)
        numbers += Array(repeating: 0, count: Self.headCount - 2 * Self.columns)
        for (column, line) in lines.enumerated() {
            numbers[2 * Self.columns + column / 4] |= UInt32(line.width) << UInt32(column % 4 * 8)
            line.appendBits(of: columns[column], to: &numbers)
        }
        numbers.append(0)
        self.numbers = numbers
    }

    private static func values(of column: Int, in differences: [EntryDifference]) -> [UInt32] {
        unsafe differences.withUnsafeBytes { bytes in
            (0..<EntryBlock.size).map { position in
                let offset = position * MemoryLayout<EntryDifference>.stride + column * 4
                return unsafe bytes.load(fromByteOffset: offset, as: UInt32.self)
            }
        }
    }

    /// A line on or below all values of a column.
    private struct Line {
        var (start, rise): (UInt32, UInt32)
        /// The number of bits of the highest value above the line.
        var width: Int

        init(through values: [UInt32]) {
            let flat = Line(values, rise: 0)
            guard flat.width > 0 else {
                self = flat
                return
            }
            let rise = (Int64(values[values.count - 1]) - Int64(values[0])) / Int64(values.count - 1)
            let sloped = Line(values, rise: rise)
            self = sloped.width < flat.width ? sloped : flat
        }

        private init(_ values: [UInt32], rise: Int64) {
            var (lowest, highest) = (Int64.max, Int64.min)
            for (position, value) in values.enumerated() {
                let above = Int64(value) - rise * Int64(position)
                (lowest, highest) = (min(lowest, above), max(highest, above))
            }
            (start, self.rise) = (UInt32(truncatingIfNeeded: lowest), UInt32(truncatingIfNeeded: rise))
            width = Int64.bitWidth - (highest - lowest).leadingZeroBitCount
        }

        /// Appends how far each value is above the line.
        func appendBits(of values: [UInt32], to numbers: inout [UInt32]) {
            var (bits, count) = (UInt64(0), 0)
            for (position, value) in values.enumerated() where width > 0 {
                let above = value &- start &- rise &* UInt32(position)
                bits |= UInt64(above) << UInt64(count)
                count += width
                while count >= 32 {
                    numbers.append(UInt32(truncatingIfNeeded: bits))
                    bits >>= 32
                    count -= 32
                }
            }
        }
    }

    /// The difference at a position in 0 ..< `EntryBlock.size`.
    subscript(position: Int) -> EntryDifference {
        var difference = EntryDifference(base: 0)
        unsafe withUnsafeMutableBytes(of: &difference) { bytes in
            var start = Self.headCount
            for column in 0..<Self.columns {
                let width = Int(numbers[2 * Self.columns + column / 4] >> UInt32(column % 4 * 8) & 0xFF)
                var value = numbers[column] &+ numbers[Self.columns + column] &* UInt32(position)
                if width > 0 {
                    let (number, bit) = (position * width).quotientAndRemainder(dividingBy: 32)
                    let bits = UInt64(numbers[start + number]) | UInt64(numbers[start + number + 1]) << 32
                    value &+= UInt32(truncatingIfNeeded: bits >> UInt64(bit) & ((1 << UInt64(width)) - 1))
                }
                start += EntryBlock.size / 32 * width
                unsafe bytes.storeBytes(of: value, toByteOffset: column * 4, as: UInt32.self)
            }
        }
        return difference
    }

    /// All differences in the order of the entries.
    var all: [EntryDifference] { (0..<EntryBlock.size).map { self[$0] } }
}
