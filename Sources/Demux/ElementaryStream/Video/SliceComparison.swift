import Media

/// Tells whether two slices belong to one picture, whose first slice may be lost (ISO/IEC 14496-10 §7.4.1.2.4, ISO/IEC
/// 23008-2 §7.4.2.4.5). Keeps the parameter sets that their headers refer to.
enum SliceComparison: Sendable {
    case h264(H264ParameterSets)
    case hevc(HEVCParameterSets)

    init(codec: VideoConfiguration.Codec) {
        switch codec {
        case .h264: self = .h264(H264ParameterSets())
        case .hevc: self = .hevc(HEVCParameterSets())
        }
    }

    mutating func insert(_ unit: ArraySlice<UInt8>, _ kind: NALUnitRole.ParameterSet) {
        switch (self, kind) {
        case (.h264(var sets), .sequence):
            sets.insertSequence(unit)
            self = .h264(sets)
        case (.h264(var sets), .picture):
            sets.insertPicture(unit)
            self = .h264(sets)
        case (.hevc(var sets), .sequence):
            sets.insertSequence(unit)
            self = .hevc(sets)
        case (.hevc(var sets), .picture):
            sets.insertPicture(unit)
            self = .hevc(sets)
        case (_, .video): break
        }
    }

    /// Whether the slices are known to belong to different pictures.
    func areDifferentPictures(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .h264(let sets):
            guard let first = H264SliceHeader(first, sets), let second = H264SliceHeader(second, sets) else {
                return false
            }
            return first != second
        case .hevc(let sets):
            guard let first = HEVCSliceHeader(first, sets), let second = HEVCSliceHeader(second, sets) else {
                return false
            }
            return !first.isSamePicture(as: second)
        }
    }

    /// Returns the header of a slice of a field picture; nil for any other slice.
    func field(_ slice: ArraySlice<UInt8>) -> H264SliceHeader? {
        guard case .h264(let sets) = self, sets.allowsFields, let header = H264SliceHeader(slice, sets) else {
            return nil
        }
        return header.isField ? header : nil
    }
}
