import Testing

@testable import Media

/// SUPPLEMENTAL-CODECS of a Dolby Vision configuration.
struct DolbyVisionTests {
    static let rows: [(when: String, type: BoxType, record: [UInt8], codec: String?)] = [
        ("profile 8.1 over HDR10, level 6", "dvvC", [1, 0, 0x10, 0x35, 0x10], "dvh1.08.06/db1p"),
        ("profile 8.2 over SDR", "dvvC", [1, 0, 0x10, 0x35, 0x20], "dvh1.08.06/db2g"),
        ("profile 8.4 over HLG, level 10", "dvvC", [1, 0, 0x10, 0x55, 0x40], "dvh1.08.10/db4h"),
        ("profile 5, which no other player decodes", "dvcC", [1, 0, 0x0A, 0x35, 0], nil),
        ("profile 7, which has a second layer", "dvcC", [1, 0, 0x0E, 0x37, 0x60], nil),
        ("an unknown compatibility", "dvvC", [1, 0, 0x10, 0x35, 0x30], nil),
        ("a record that is cut off", "dvvC", [1, 0, 0x10], nil),
        ("another box", "clli", [1, 0, 0x10, 0x35, 0x10], nil),
    ]

    @Test(arguments: rows) func supplementalCodec(when: String, type: BoxType, record: [UInt8], codec: String?) {
        var boxes = BoxWriter()
        boxes.box(type) { $0.append(record) }
        #expect(DolbyVision(boxes: boxes.bytes)?.supplementalCodec == codec, "\(when)")
    }
}
