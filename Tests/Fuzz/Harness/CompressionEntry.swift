import Support

/// Entry for compressed guides and lists.
enum CompressionEntry {
    private static let limit = 1 << 20

    static let entry = FuzzEntry(
        "compression", "gzip or xz, whole and in parts", largest: 2048,
        dictionary: [
            [0x1F, 0x8B, 8, 0], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], [0x59, 0x5A], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ],
        // A member, which may have only twenty bytes, is inflated into a buffer of 256 KiB.
        bounds: FuzzBounds(
            heldBytes: FuzzBound(base: 80 << 20, perByte: 64), copiedBytes: FuzzBound(base: 96 << 20, perByte: 40_000)),
        seeds: { seeds in
            let texts = [[], Array("liverelay".utf8), Array(seeds.playlists[0].prefix(2000))]
            let members = texts.compactMap(Gzip.compress)
            return members + [members.flatMap { $0 }, (members.last ?? []) + [0, 0], xz]
        },
        run: { bytes in
            let (whole, isWhole) = decompressed(bytes, partSize: bytes.count + 1)
            let (parts, arePartsWhole) = decompressed(bytes, partSize: Int(bytes.last ?? 0) % 32 + 1)
            try demand(
                isWhole == arePartsWhole && (!isWhole || whole.prefix(limit) == parts.prefix(limit)),
                "parts are decompressed differently")
            switch Gzip.decompress(bytes, limit: limit) {
            case .whole(let content):
                try demand(content.count <= limit, "\(content.count) bytes of content")
                try demand(!isWhole || whole.starts(with: content.prefix(limit)), "the content differs")
            case .notGzip, .truncated, .beyondLimit, .canceled: break
            }
        })

    /// The content up to the limit, and whether nothing was damaged.
    private static func decompressed(_ bytes: [UInt8], partSize: Int) -> (content: [UInt8], isWhole: Bool) {
        var decompressor = Decompressor()
        var content: [UInt8] = []
        let receive = { (part: [UInt8]) in
            content += part
            return content.count <= limit
        }
        do throws(Decompressor.Failure) {
            for start in stride(from: 0, to: bytes.count, by: partSize) {
                let part = Array(bytes[start..<min(start + partSize, bytes.count)])
                try decompressor.decompress(part, isLast: false, to: receive)
            }
            try decompressor.decompress([], isLast: true, to: receive)
        } catch { return (content, error == .stopped) }
        return (content, true)
    }

    /// "liverelay liverelay liverelay" by xz.
    private static let xz: [UInt8] = [
        0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04, 0xE6, 0xD6, 0xB4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00,
        0x00,
        0x00, 0x74, 0x2F, 0xE5, 0xA3, 0xE0, 0x00, 0x1C, 0x00, 0x11, 0x5D, 0x00, 0x36, 0x1A, 0x4B, 0x32, 0xE4, 0x4F,
        0xF1,
        0x8E, 0xE6, 0x5C, 0xB2, 0x3B, 0x49, 0xC5, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xB6, 0xC9, 0xC5, 0x0E,
        0xC7,
        0xB2, 0xD7, 0x4B, 0x00, 0x01, 0x2D, 0x1D, 0x1D, 0x83, 0xAA, 0x63, 0x1F, 0xB6, 0xF3, 0x7D, 0x01, 0x00, 0x00,
        0x00,
        0x00, 0x04, 0x59, 0x5A,
    ]
}
