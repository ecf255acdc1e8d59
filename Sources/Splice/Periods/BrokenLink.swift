/// Rewrites an HEVC CRA picture at the start of a period as a BLA picture (ISO/IEC 23008-2 §3.14, §7.4.2.2).
///
/// In the middle of a stream a decoder continues picture order counting across a CRA picture, as if frames of another
/// period before it were its own. A BLA picture says that they are not. The two differ in nal_unit_type alone.
enum BrokenLink {
    private static let cleanRandomAccess: UInt8 = 21
    /// BLA_N_LP: its leading pictures are dropped.
    private static let withoutLeadingPictures: UInt8 = 18

    /// - Parameter payload: NAL units with 4-byte length prefixes.
    static func payload(of payload: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var payload = payload
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
