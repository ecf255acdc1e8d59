/// A still in the format of JPEG: 8 bits, 4:2:0, full range, BT.601 matrix.
package struct StillImage: Equatable, Sendable {
    /// One plane, row by row.
    struct Plane: Equatable, Sendable {
        let width: Int
        let height: Int
        var samples: [UInt8]

        init(_ size: (width: Int, height: Int), filledWith value: UInt8 = 0) {
            (width, height) = size
            samples = Array(repeating: value, count: width * height)
        }
    }

    /// The size of a still. Both numbers are even.
    package struct Size: Hashable, Sendable {
        package let width: Int
        package let height: Int

        /// - Parameters: rounded to even numbers of at least 2.
        package init(width: Int, height: Int) {
            (self.width, self.height) = (max(2, width & ~1), max(2, height & ~1))
        }

        /// The largest size of `width`, or less, by `height`, with the aspect ratio of a frame.
        init(width: Int, height: Int, showing aspect: (width: Int, height: Int)) {
            let tall = Double(width) * Double(aspect.height) / Double(max(1, aspect.width))
            if tall <= Double(height) {
                self.init(width: width, height: Int(tall.rounded()))
            } else {
                let wide = Double(height) * Double(aspect.width) / Double(max(1, aspect.height))
                self.init(width: Int(wide.rounded()), height: height)
            }
        }
    }

    package let size: Size
    /// Luma, and the two chroma planes of half the size.
    var planes: [Plane]

    package init(_ size: Size) {
        self.size = size
        let half = (width: size.width / 2, height: size.height / 2)
        planes = [
            Plane((size.width, size.height)), Plane(half, filledWith: 128), Plane(half, filledWith: 128),
        ]
    }

    /// Draws `image` into the middle of a part of this still. Whatever does not fit is cut off.
    /// - Parameter origin: the upper left corner of the part; even numbers.
    package mutating func draw(_ image: StillImage, in part: Size, at origin: (x: Int, y: Int)) {
        let left = origin.x + max(0, part.width - image.size.width) / 2 & ~1
        let top = origin.y + max(0, part.height - image.size.height) / 2 & ~1
        for (index, source) in image.planes.enumerated() {
            let (x, y) = index == 0 ? (left, top) : (left / 2, top / 2)
            let width = min(source.width, planes[index].width - x)
            guard width > 0 else { continue }
            for row in 0..<max(0, min(source.height, planes[index].height - y)) {
                let start = (y + row) * planes[index].width + x
                let from = row * source.width
                planes[index].samples.replaceSubrange(start..<start + width, with: source.samples[from..<from + width])
            }
        }
    }
}

/// How the samples of a frame represent colors (ISO/IEC 23091-2).
struct ColorConversion: Equatable {
    /// Whether black is 0, not 16.
    let isFullRange: Bool
    /// Whether the matrix is the one of BT.709 or BT.2020, not of BT.601.
    let isHighDefinition: Bool

    /// Converts the planes of a still to full range and the matrix of BT.601.
    func convert(_ image: inout StillImage) {
        guard !isFullRange || isHighDefinition else { return }
        let (lumaScale, chromaScale, black) = isFullRange ? (1.0, 1.0, 0.0) : (255.0 / 219, 255.0 / 224, 16.0)
        // For BT.709: the contribution of each color difference to the luma and to the color differences of BT.601.
        let matrix =
            isHighDefinition
            ? (blueInLuma: 0.1016, redInLuma: 0.1961, blue: 0.9899, redInBlue: -0.1107, red: 0.9834, blueInRed: -0.0725)
            : (blueInLuma: 0, redInLuma: 0, blue: 1, redInBlue: 0, red: 1, blueInRed: 0)
        let chromaWidth = image.planes[1].width
        for y in 0..<image.size.height {
            for x in 0..<image.size.width {
                let chroma = y / 2 * chromaWidth + x / 2
                let blue = Double(image.planes[1].samples[chroma]) - 128
                let red = Double(image.planes[2].samples[chroma]) - 128
                let index = y * image.size.width + x
                let luma = (Double(image.planes[0].samples[index]) - black) * lumaScale
                let shift = (matrix.blueInLuma * blue + matrix.redInLuma * red) * chromaScale
                image.planes[0].samples[index] = Self.byte(luma + shift)
            }
        }
        for index in image.planes[1].samples.indices {
            let blue = Double(image.planes[1].samples[index]) - 128
            let red = Double(image.planes[2].samples[index]) - 128
            let (newBlue, newRed) = (
                matrix.blue * blue + matrix.redInBlue * red, matrix.red * red + matrix.blueInRed * blue
            )
            image.planes[1].samples[index] = Self.byte(newBlue * chromaScale + 128)
            image.planes[2].samples[index] = Self.byte(newRed * chromaScale + 128)
        }
    }

    private static func byte(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value.rounded()))) }
}

/// Scales a plane down or up: each sample is the mean of the source samples that it covers.
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

    /// The source samples that sample `index` of `count` covers, at least one.
    private static func span(_ index: Int, of count: Int, in total: Int) -> Range<Int> {
        let start = min(index * total / count, total - 1)
        return start..<max(start + 1, min(total, (index + 1) * total / count))
    }
}
