import Media

/// One access unit in a byte stream: the ranges of its NAL units and bytes.
struct AccessUnit: Equatable, Sendable {
    /// Indices into the splitter's units.
    var units: Range<Int>
    /// From the first zero of its first start code to that of the next access unit.
    var bytes: Range<Int>
    /// Whether it contains a coded slice.
    var hasSlice: Bool
    /// Whether its first slice is not the first of a picture: the beginning of the picture is missing.
    var isFirstSliceMissing = false
    /// Header of its first slice, if that belongs to a field picture.
    var field: H264SliceHeader?
    /// Whether it is the first field of a frame whose second field is not here.
    var isUnpairedField = false

    mutating func merge(_ next: AccessUnit) {
        units = units.lowerBound..<next.units.upperBound
        bytes = bytes.lowerBound..<next.bytes.upperBound
        isFirstSliceMissing = isFirstSliceMissing || next.isFirstSliceMissing
        isUnpairedField = false
    }
}
