import Media

/// Tells whether two slices belong to one picture, whose first slice may be lost (ISO/IEC 14496-10 §7.4.1.2.4, ISO/IEC
/// 23008-2 §7.4.2.4.5). Keeps the parameter sets that their headers refer to.
struct SliceComparison: Sendable {
    private let codec: VideoConfiguration.Codec
    private var h264 = H264ParameterSets()
    private var hevc = HEVCParameterSets()

    init(codec: VideoConfiguration.Codec) { self.codec = codec }

    mutating func insert(_ unit: ArraySlice<UInt8>, _ kind: NALUnitRole.ParameterSet) {
        switch (codec, kind) {
        case (.h264, .sequence): h264.insertSequence(unit)
        case (.h264, .picture): h264.insertPicture(unit)
        case (.hevc, .sequence): hevc.insertSequence(unit)
        case (.hevc, .picture): hevc.insertPicture(unit)
        case (_, .video): break
        }
    }

    /// Whether the slices are known to belong to different pictures.
    func areDifferentPictures(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
        switch codec {
        case .h264:
            guard let first = H264SliceHeader(first, h264), let second = H264SliceHeader(second, h264) else {
                return false
            }
            return first != second
        case .hevc:
            guard let first = HEVCSliceHeader(first, hevc), let second = HEVCSliceHeader(second, hevc) else {
                return false
            }
            return !first.isSamePicture(as: second)
        }
    }

    /// Returns the header of a slice of a field picture; nil for any other slice.
    func field(_ slice: ArraySlice<UInt8>) -> H264SliceHeader? {
        guard codec == .h264, h264.allowsFields, let header = H264SliceHeader(slice, h264) else { return nil }
        return header.isField ? header : nil
    }
}
