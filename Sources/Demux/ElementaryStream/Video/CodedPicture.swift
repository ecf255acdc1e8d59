import Media
import Support

/// The picture of one access unit: what its NAL units say about decoding that begins with it.
struct CodedPicture {
    private let units: ArraySlice<NALUnit>
    private let roles: ArraySlice<NALUnitRole>
    private let bytes: [UInt8]
    private let codec: VideoConfiguration.Codec

    /// - Returns: nil if the units contain no slice.
    init?(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, of bytes: [UInt8],
        codec: VideoConfiguration.Codec
    ) {
        StepCounter.add(units.count)
        guard roles.contains(where: \.isSlice) else { return nil }
        (self.units, self.roles, self.bytes, self.codec) = (units, roles, bytes, codec)
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
        if codec == .mpeg2 { return sequenceStart }
        if let irap { return irap }
        if let recoveryFrames {
            let isComplete = recoveryFrames == 0 || (codec == .h264 && isIntra)
            return isComplete ? .recoveryPoint : .gradualRefresh(frames: recoveryFrames)
        }
        guard codec == .h264 else { return nil }
        let isAnnounced = isMarkedSync || hasSingleReference || roles.contains(.parameterSet(.sequence))
        return isAnnounced && isReference && isIntra ? .recoveryPoint : nil
    }

    var captions: CaptionChannels {
        if codec == .mpeg2 { return MPEG2Picture.captions(units, of: bytes) }
        var channels = CaptionChannels()
        for (unit, role) in zip(units, roles) where role == .prefix || role == .other {
            let messages = SEIMessage.userDataRegistered.all(
                in: unit, of: bytes, codec: codec, limit: CaptionData.messageLimit)
            for message in messages { channels.formUnion(CaptionData.channels(in: message)) }
        }
        return channels
    }

    /// MPEG-2: an I picture after its sequence header. Its leading pictures can be decoded if its group is closed.
    private var sequenceStart: RandomAccessPoint? {
        guard let irap, roles.contains(.parameterSet(.sequence)) else { return nil }
        let isClosed = zip(units, roles).contains { $1 == .prefix && MPEG2Picture.isClosed($0, of: bytes) }
        return isClosed ? .instantaneousRefresh : irap
    }

    private var irap: RandomAccessPoint? {
        for case .slice(_, let type) in roles {
            switch type {
            case .instantaneousRefresh: return .instantaneousRefresh
            case .cleanRandomAccess: return .cleanRandomAccess
            case .plain: continue
            }
        }
        return nil
    }

    /// Frames until output is correct, by the recovery point SEI message; nil if there is none.
    private var recoveryFrames: Int? {
        for (unit, role) in zip(units, roles) {
            if role.isSlice { return nil }
            guard role == .prefix else { continue }
            if let frames = SEIMessage.recoveryFrames(in: unit, of: bytes, codec: codec) { return frames }
        }
        return nil
    }

    /// Whether pictures that are presented later may refer to the picture or to one of its fields.
    var isReference: Bool { zip(units, roles).contains { $1.isSlice && isReference($0) } }

    /// HEVC: up to RSV_VCL_R15 the odd types are sub-layer references; 6 to 9 are leading pictures, to which no trailing
    /// picture refers (ISO/IEC 23008-2 Table 7-1, §8.3.2).
    private func isReference(_ slice: NALUnit) -> Bool {
        let header = bytes[slice.start]
        switch codec {
        case .h264: return header & 0x60 != 0
        case .hevc:
            let type = header >> 1 & 0x3F
            return type > 15 || type & 1 == 1 && !(6...9).contains(type)
        case .mpeg2: return MPEG2Picture.isReference(slice, of: bytes)
        }
    }

    /// H.264: whether all slices are I or SI slices. Only the first of two fields counts: the second may refer to it.
    private var isIntra: Bool {
        var hasSlice = false
        for (unit, role) in zip(units, roles) {
            guard case .slice(let isFirst, _) = role else { continue }
            if isFirst, hasSlice { return true }
            hasSlice = true
            guard H264SliceHeader.isIntra(bytes[unit.start..<unit.end]) else { return false }
        }
        return hasSlice
    }
}

extension NALUnitRole {
    fileprivate var isSlice: Bool {
        if case .slice = self { true } else { false }
    }
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
