import Media

/// Rewrites an HEVC CRA picture at the start of a period as a BLA picture (ISO/IEC 23008-2 §3.14, §7.4.2.2), and sets
/// broken_link of MPEG-2 (ISO/IEC 13818-2 §6.3.8).
///
/// In the middle of a stream a decoder continues picture order counting across a CRA picture, as if frames of another
/// period before it were its own. A BLA picture says that they are not. The two differ in nal_unit_type alone.
enum BrokenLink {
    private static let cleanRandomAccess: UInt8 = 21
    /// BLA_N_LP: its leading pictures are dropped.
    private static let withoutLeadingPictures: UInt8 = 18

    private static let groupStartCode: [UInt8] = [0, 0, 1, 0xB8]
    /// broken_link in the fourth byte after the start code of a group of pictures header.
    private static let brokenLink: UInt8 = 0x20

    /// - Parameter payload: NAL units with 4-byte length prefixes; of MPEG-2, with start codes.
    static func payload(of payload: ArraySlice<UInt8>, codec: VideoConfiguration.Codec) -> ArraySlice<UInt8> {
        var payload = payload
        guard codec != .mpeg2 else {
            if let group = payload.firstRange(of: groupStartCode), group.upperBound + 3 < payload.endIndex {
                payload[group.upperBound + 3] |= brokenLink
            }
            return payload
        }
        var start = payload.startIndex
        while payload.endIndex - start > 4 {
            let header = start + 4
            let length = payload[start..<header].reduce(0) { $0 << 8 | Int($1) }
            if payload[header] >> 1 & 0x3F == cleanRandomAccess {
                payload[header] = payload[header] & 0x81 | withoutLeadingPictures << 1
            }
            start = header + min(length, payload.endIndex - header)
        }
        return payload
    }
}
