import Media

/// The picture of one access unit: what its NAL units say about decoding that begins with it.
struct CodedPicture {
    /// IDR, BLA or CRA; nil for any other picture.
    private var irap: RandomAccessPoint?
    /// Frames until output is correct, by the recovery point SEI message; nil if there is none.
    private var recoveryFrames: Int?
    private var hasSequenceParameterSet = false
    /// The slices of the picture; of two fields, those of the first.
    private var slices: [ArraySlice<UInt8>] = []
    private var hasSecondField = false
    private let codec: VideoConfiguration.Codec

    /// - Returns: nil if the units contain no slice.
    init?(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, of bytes: [UInt8],
        codec: VideoConfiguration.Codec
    ) {
        self.codec = codec
        var hasSlice = false
        for (unit, role) in zip(units, roles) {
            switch role {
            case .slice(let isFirst, let type):
                hasSlice = true
                record(type)
                recordSlice(bytes[unit.start..<unit.end], isFirst: isFirst)
            case .parameterSet(.sequence): hasSequenceParameterSet = true
            case .prefix where !hasSlice:
                recoveryFrames = SEIMessage.recoveryFrames(in: unit, of: bytes, codec: codec) ?? recoveryFrames
            default: break
            }
        }
        guard hasSlice else { return nil }
    }

    private mutating func record(_ type: NALUnitRole.PictureType) {
        switch type {
        case .instantaneousRefresh: irap = irap ?? .instantaneousRefresh
        case .cleanRandomAccess: irap = irap ?? .cleanRandomAccess
        case .plain: break
        }
    }

    private mutating func recordSlice(_ slice: ArraySlice<UInt8>, isFirst: Bool) {
        guard codec == .h264 else { return }
        hasSecondField = hasSecondField || (isFirst && !slices.isEmpty)
        if !hasSecondField { slices.append(slice) }
    }

    /// Returns how decoding may begin with the picture.
    ///
    /// A recovery point SEI message says it, whether recovery is exact or not. Without one, an I picture of H.264 counts
    /// if it follows its SPS or if the container marks a sync sample: encoders and packagers announce no other picture
    /// so, and players begin there. Nothing after an I picture refers before it if there is one reference frame.
    /// - Parameters:
    ///   - isMarkedSync: whether the container marks a sync sample.
    ///   - hasSingleReference: whether the sequence has at most one reference frame.
    func randomAccess(isMarkedSync: Bool, hasSingleReference: Bool) -> RandomAccessPoint? {
        if let irap { return irap }
        guard codec == .h264 else {
            return recoveryFrames.map { $0 > 0 ? .gradualRefresh(frames: $0) : .recoveryPoint }
        }
        if let recoveryFrames, recoveryFrames > 0 {
            return isIntra ? .recoveryPoint : .gradualRefresh(frames: recoveryFrames)
        }
        if recoveryFrames != nil { return .recoveryPoint }
        let isAnnounced = hasSequenceParameterSet || isMarkedSync || hasSingleReference
        return isAnnounced && isReference && isIntra ? .recoveryPoint : nil
    }

    private var isReference: Bool { slices.first?.first.map { $0 & 0x60 != 0 } ?? false }

    /// Whether all slices are I or SI slices. The second field of a frame may refer to the first.
    private var isIntra: Bool { slices.allSatisfy { H264SliceHeader.isIntra($0) } }
}

extension SEIMessage {
    /// Returns recovery_frame_cnt (HEVC: recovery_poc_cnt, at least 0) of a recovery point message; nil if `unit` contains
    /// none.
    fileprivate static func recoveryFrames(
        in unit: NALUnit, of bytes: [UInt8], codec: VideoConfiguration.Codec
    ) -> Int? {
        guard let message = recoveryPoint.bytes(in: unit, of: bytes, codec: codec, limit: 9) else { return nil }
        var bits = BitReader(message[...], section: "ISO/IEC 14496-10 §D.1.8")
        do throws(MediaError) {
            return codec == .h264
                ? try bits.ue("recovery_frame_cnt", in: 0...0xFFFF) : max(0, try bits.se("recovery_poc_cnt"))
        } catch {
            return nil
        }
    }
}
