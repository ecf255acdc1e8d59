import Demux
import Media
import Mux
import Transcode

/// What an HEVC CRA picture becomes where a run begins with it (ISO/IEC 23008-2 §3.14, §7.4.2.2).
///
/// In the middle of a stream a decoder goes on counting pictures over a CRA picture, as if those of another run that
/// stand in front of it were its own. A BLA picture says that they are not; the two differ in nal_unit_type alone.
enum BrokenLink {
    private static let cleanRandomAccess: UInt8 = 21
    /// BLA_N_LP: pictures that lead it are left out.
    private static let withoutLeadingPictures: UInt8 = 18

    /// - Parameter payload: NAL units behind their lengths in four bytes.
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
