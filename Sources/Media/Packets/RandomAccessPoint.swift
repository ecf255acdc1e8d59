/// How decoding may begin at a video frame: the stream access points of ISO/IEC 14496-12 Annex I, by the names of the
/// video standards.
package enum RandomAccessPoint: Equatable, Sendable {
    /// Every frame from here on can be decoded. IDR; HEVC: IDR or BLA. Of another kind: one without leading pictures.
    case instantaneousRefresh
    /// HEVC CRA. Leading pictures (decoded later, presented earlier) may refer to frames before this one.
    case cleanRandomAccess
    /// H.264 I picture that is announced as a random access point, or a recovery point of either codec without frames
    /// to wait for. Leading pictures may refer to frames before this one.
    case recoveryPoint
    /// A recovery point at which the refresh begins. Output is correct from the frame on that is decoded `frames` frames
    /// later.
    case gradualRefresh(frames: Int)

    /// SAP_type. A sample of type 1 or 2 is a sync sample, one of type 3 belongs to the sample group `rap `, one of type
    /// 4 to `roll`.
    package var streamAccessPointType: Int {
        switch self {
        case .instantaneousRefresh: 1
        case .cleanRandomAccess, .recoveryPoint: 3
        case .gradualRefresh: 4
        }
    }
}
