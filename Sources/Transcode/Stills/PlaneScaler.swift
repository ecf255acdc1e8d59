/// Makes a plane smaller, or larger: each sample is the mean of those that it covers.
struct PlaneScaler {
    /// A plane of a decoded frame, of one or two bytes a sample.
    @safe struct Source {
        private let bytes: UnsafeRawPointer
        private let stride: Int
        let width: Int
        let height: Int
        /// Bits of a sample, from the lowest on.
        let depth: Int

        /// - Parameter bytes: of all rows, and valid for as long as this value is used.
        init(_ bytes: UnsafeRawPointer, stride: Int, width: Int, height: Int, depth: Int) {
            unsafe self.bytes = bytes
            (self.stride, self.width, self.height, self.depth) = (stride, width, height, depth)
        }

        fileprivate func add(row: Int, to sums: inout [UInt32]) {
            let start = unsafe bytes + row * stride
            if depth <= 8 {
                let samples = unsafe start.assumingMemoryBound(to: UInt8.self)
                unsafe add(UnsafeBufferPointer(start: samples, count: width), to: &sums)
            } else {
                let samples = unsafe start.assumingMemoryBound(to: UInt16.self)
                unsafe add(UnsafeBufferPointer(start: samples, count: width), to: &sums)
            }
        }

        @inline(__always)
        private func add<Sample: FixedWidthInteger>(_ row: UnsafeBufferPointer<Sample>, to sums: inout [UInt32]) {
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for column in 0..<min(row.count, sums.count) {
                    unsafe sums[column] &+= UInt32(truncatingIfNeeded: row[column])
                }
            }
        }
    }

    static func scale(_ source: Source, to size: (width: Int, height: Int)) -> StillImage.Plane {
        var plane = StillImage.Plane(size)
        var sums = [UInt32](repeating: 0, count: source.width)
        for y in 0..<size.height {
            let rows = span(y, of: size.height, in: source.height)
            for column in sums.indices { sums[column] = 0 }
            for row in rows { source.add(row: row, to: &sums) }
            for x in 0..<size.width {
                let columns = span(x, of: size.width, in: source.width)
                var sum: UInt64 = 0
                for column in columns { sum &+= UInt64(sums[column]) }
                let mean = sum / UInt64(rows.count * columns.count)
                plane.samples[y * size.width + x] = UInt8(clamping: mean >> UInt64(max(0, source.depth - 8)))
            }
        }
        return plane
    }

    /// The samples that the `index`th of `count` covers, at least one.
    private static func span(_ index: Int, of count: Int, in total: Int) -> Range<Int> {
        let start = min(index * total / count, total - 1)
        return start..<max(start + 1, min(total, (index + 1) * total / count))
    }
}
