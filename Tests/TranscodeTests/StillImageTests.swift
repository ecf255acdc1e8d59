import CLibAV
import Media
import TestSupport
import Testing

@testable import Transcode

/// Small stills of frames.
@Suite struct StillImageTests {
    private static let sizes: [(aspect: (width: Int, height: Int), box: (Int, Int), result: (Int, Int))] = [
        ((1920, 1080), (320, 640), (320, 180)), ((1920, 1080), (161, 322), (160, 90)),
        ((4, 3), (160, 90), (120, 90)), ((9, 16), (160, 90), (50, 90)), ((1920, 8), (16, 32), (16, 2)),
        ((1, 100_000), (1280, 2560), (2, 2560)),
    ]

    @Test(arguments: sizes)
    func imageFits(aspect: (width: Int, height: Int), box: (Int, Int), result: (Int, Int)) {
        #expect(
            StillImage.Size(width: box.0 & ~1, height: box.1, showing: aspect)
                == StillImage.Size(width: result.0, height: result.1))
    }

    private static let scales: [(from: (Int, Int), to: (Int, Int), depth: Int)] = [
        ((8, 4), (4, 2), 8), ((7, 5), (4, 2), 8), ((2, 2), (6, 4), 8), ((8, 4), (4, 2), 10), ((1, 1), (2, 2), 8),
        ((1, 1), (2, 2), 12),
    ]

    /// A mean that is computed sample by sample.
    @Test(arguments: scales) func sampleIsAMean(from: (Int, Int), to: (Int, Int), depth: Int) {
        let values = (0..<from.0 * from.1).map { UInt16(($0 * 37) % (1 << depth)) }
        let bytes = depth > 8 ? values.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } : values.map { UInt8($0) }
        let plane = unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return StillImage.Plane((0, 0)) }
            let source = unsafe PlaneScaler.Source(
                start, stride: from.0 * (depth > 8 ? 2 : 1), width: from.0, height: from.1, depth: depth)
            return PlaneScaler.scale(source, to: to)
        }
        for y in 0..<to.1 {
            for x in 0..<to.0 {
                let rows = y * from.1 / to.1..<max(y * from.1 / to.1 + 1, (y + 1) * from.1 / to.1)
                let columns = x * from.0 / to.0..<max(x * from.0 / to.0 + 1, (x + 1) * from.0 / to.0)
                let covered = rows.flatMap { row in columns.map { Int(values[row * from.0 + $0]) } }
                #expect(Int(plane.samples[y * to.0 + x]) == (covered.reduce(0, +) / covered.count) >> (depth - 8))
            }
        }
    }

    private static let colors: [(limited: (UInt8, UInt8, UInt8), isHigh: Bool, full: (UInt8, UInt8, UInt8))] = [
        ((16, 128, 128), false, (0, 128, 128)), ((235, 128, 128), true, (255, 128, 128)),
        // Pure red: of BT.601, and of BT.709.
        ((81, 90, 240), false, (76, 85, 255)), ((63, 102, 240), true, (76, 85, 255)),
    ]

    @Test(arguments: colors)
    func colorsAreThoseOfJPEG(limited: (UInt8, UInt8, UInt8), isHigh: Bool, full: (UInt8, UInt8, UInt8)) {
        var image = StillImage(StillImage.Size(width: 2, height: 2))
        for (index, value) in [limited.0, limited.1, limited.2].enumerated() {
            image.planes[index].samples = image.planes[index].samples.map { _ in value }
        }
        ColorConversion(isFullRange: false, isHighDefinition: isHigh).convert(&image)
        for (index, value) in [full.0, full.1, full.2].enumerated() {
            #expect(image.planes[index].samples.allSatisfy { abs(Int($0) - Int(value)) <= 1 })
        }
    }

    @Test func imageIsDrawnIntoItsPart() {
        var sheet = StillImage(StillImage.Size(width: 8, height: 4))
        var white = StillImage(StillImage.Size(width: 2, height: 2))
        white.planes[0].samples = [255, 255, 255, 255]
        sheet.draw(white, in: StillImage.Size(width: 4, height: 4), at: (4, 0))
        #expect(sheet.planes[0].samples.indices.filter { sheet.planes[0].samples[$0] == 255 } == [4, 5, 12, 13])
        sheet.draw(white, in: StillImage.Size(width: 4, height: 4), at: (8, 4))  // Outside of it.
        #expect(sheet.planes[0].samples.count { $0 == 255 } == 4)
    }

    @Test func equalImagesGiveEqualBytes() throws {
        let image = StillImage(StillImage.Size(width: 160, height: 90))
        let bytes = try JPEGEncoder.encode(image)
        #expect(bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2) == [0xFF, 0xD9])
        #expect(try JPEGEncoder.encode(image) == bytes)
        let text = try FFmpegTool.run("ffprobe", ["-v", "error", "-show_streams", "INPUT"], input: bytes).text
        #expect(text.contains("codec_name=mjpeg") && text.contains("width=160") && text.contains("height=90"))
    }

    @Test(arguments: [VideoConfiguration.Codec.h264, .hevc, .mpeg2])
    func garbageIsAnError(_ codec: VideoConfiguration.Codec) {
        let box = StillImage.Size(width: 160, height: 320)
        for bytes in [[], [0], Array(repeating: UInt8(0xFF), count: 1000)] {
            #expect(throws: MediaError.self) {
                try StillDecoder.image(of: bytes, codec, record: codec == .mpeg2 ? [] : [1, 2, 3], in: box)
            }
        }
        #expect(throws: MediaError(.tooLarge(bytes: (16 << 20) + 1), section: "libavcodec")) {
            try StillDecoder.image(of: Array(repeating: 0, count: (16 << 20) + 1), codec, record: [], in: box)
        }
    }
}
