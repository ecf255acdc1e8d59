/// How a frame's samples stand for colors (ISO/IEC 23091-2).
struct ColorConversion: Equatable {
    /// Whether black is 0, not 16.
    let isFullRange: Bool
    /// Whether the matrix is that of BT.709 or BT.2020, not of BT.601.
    let isHighDefinition: Bool

    /// Converts the planes of a still to full range and the matrix of BT.601.
    func convert(_ image: inout StillImage) {
        guard !isFullRange || isHighDefinition else { return }
        let (lumaScale, chromaScale, black) = isFullRange ? (1.0, 1.0, 0.0) : (255.0 / 219, 255.0 / 224, 16.0)
        // From BT.709: the share of each difference in the luma, and in the differences, of BT.601.
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
