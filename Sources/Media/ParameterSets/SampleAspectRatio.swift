/// The ratio of width to height of one sample (Table E-1 of both standards).
struct SampleAspectRatio: Equatable, Sendable {
    var aspectRatioIdc: Int
    /// Present only if aspect_ratio_idc is 255.
    var sarWidth: Int?
    var sarHeight: Int?

    static let extended = 255
    /// Ratios by aspect_ratio_idc; 0 is "unspecified".
    static let table: [(width: Int, height: Int)] = [
        (0, 0), (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
        (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    init(_ bits: inout BitReader) throws(MediaError) {
        aspectRatioIdc = try bits.u(8)
        guard aspectRatioIdc == Self.extended else { return }
        sarWidth = try bits.u(16)
        sarHeight = try bits.u(16)
    }

    /// Width and height; nil if unspecified or reserved.
    var ratio: (width: Int, height: Int)? {
        let tabulated = aspectRatioIdc < Self.table.count ? Self.table[aspectRatioIdc] : (width: 0, height: 0)
        let ratio = (width: sarWidth ?? tabulated.width, height: sarHeight ?? tabulated.height)
        return ratio.width > 0 && ratio.height > 0 ? ratio : nil
    }
}
