/// The Dolby Vision of HEVC video, as its `dvcC` or `dvvC` box says (Dolby Vision Streams Within the ISO Base Media File Format
/// §3.1).
struct DolbyVision: Equatable {
    let profile: Int
    let level: Int
    /// The video that other players decode: 1 is HDR10, 2 SDR, 4 HLG.
    let compatibility: Int

    /// The brands of the compatible bitstreams (mp4ra.org), by `compatibility`.
    private static let brands = [1: "db1p", 2: "db2g", 4: "db4h"]

    /// - Parameter boxes: whole boxes; nil if none of them says it.
    init?(boxes: [UInt8]) {
        guard let read = try? BoxReader.wholeBoxes(in: boxes[...]).boxes,
            let record = (read.first("dvcC") ?? read.first("dvvC"))?.body, record.count >= 5
        else { return nil }
        let fields = record.dropFirst(2).prefix(3).reduce(0) { $0 << 8 | Int($1) }
        profile = fields >> 17
        level = fields >> 11 & 0x3F
        compatibility = fields >> 4 & 0xF
    }

    /// The entry of SUPPLEMENTAL-CODECS (draft-pantos-hls-rfc8216bis §4.4.6.2); nil for profiles that no other player
    /// decodes, or that need a second layer.
    var supplementalCodec: String? {
        guard profile == 8, let brand = Self.brands[compatibility] else { return nil }
        return "dvh1.0\(profile).\(level < 10 ? "0" : "")\(level)/\(brand)"
    }
}
