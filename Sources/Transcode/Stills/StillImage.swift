/// A still as JPEG has it: 8 bits, 4:2:0, full range, the matrix of BT.601.
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

        /// - Parameters: are rounded to even numbers of at least 2.
        package init(width: Int, height: Int) {
            (self.width, self.height) = (max(2, width & ~1), max(2, height & ~1))
        }

        /// The size of that width, or less if it would be taller than `height`, with the aspect ratio of a frame.
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

    /// Draws `still` into the middle of a part of this one. What does not fit is cut off.
    /// - Parameters:
    ///   - origin: of the part; even numbers.
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
