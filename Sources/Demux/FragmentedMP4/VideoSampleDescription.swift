package import Media

/// The video coding that a sample entry describes (ISO/IEC 14496-15 §5.3, §8.3).
package struct VideoSampleDescription: Equatable, Sendable {
    struct ParameterSet: Equatable, Sendable {
        let kind: NALUnitRole.ParameterSet
        let unit: ArraySlice<UInt8>
    }

    let codec: VideoConfiguration.Codec
    /// Bytes of the length field of each NAL unit, 1 ... 4.
    let lengthSize: Int
    /// The parameter sets of `avcC` or `hvcC`, in order; none if only the stream carries them (avc3, hev1).
    let parameterSets: [ParameterSet]
    /// Whole boxes for Dolby Vision (`dvcC`, `dvvC`) and HDR10 (`mdcv`, `clli`), in order.
    let dynamicRangeBoxes: [UInt8]

    private static let dynamicRangeTypes: Set<BoxType> = ["dvcC", "dvvC", "mdcv", "clli"]
    /// The size limit of their content in bytes. The four have 76.
    private static let largestDynamicRange = 256

    private static let codecs: [BoxType: VideoConfiguration.Codec] = [
        "avc1": .h264, "avc2": .h264, "avc3": .h264, "avc4": .h264, "hvc1": .hevc, "hev1": .hevc,
    ]

    /// - Returns: nil for an unsupported codec.
    /// - Throws: If the decoder configuration is missing or truncated.
    package init?(_ entry: SampleEntry) throws(MediaError) {
        guard let codec = Self.codecs[entry.type] else { return nil }
        self.codec = codec
        var boxes = BoxWriter(capacity: 0)
        let kept = entry.configuration.filter { Self.dynamicRangeTypes.contains($0.type) }
        if kept.reduce(0, { $0 + $1.body.count }) <= Self.largestDynamicRange {
            for box in kept { boxes.box(box.type) { $0.append(box.body) } }
        }
        dynamicRangeBoxes = boxes.bytes
        switch codec {
        case .h264: (lengthSize, parameterSets) = try Self.readAVC(entry.require("avcC"))
        case .hevc: (lengthSize, parameterSets) = try Self.readHEVC(entry.require("hvcC"))
        case .mpeg2: return nil
        }
    }

    /// AVCDecoderConfigurationRecord (§5.3.3.1). The fields after the sets of profiles above Extended are also in the
    /// sets.
    private static func readAVC(_ record: ArraySlice<UInt8>) throws(MediaError) -> (Int, [ParameterSet]) {
        var fields = BoxFields(record)
        try fields.skip(4)
        let lengthSize = Int(try fields.u8() & 3) + 1
        var sets: [ParameterSet] = []
        for _ in 0..<(try fields.u8() & 0x1F) { try fields.appendParameterSet(.sequence, to: &sets) }
        for _ in 0..<(try fields.u8()) { try fields.appendParameterSet(.picture, to: &sets) }
        return (lengthSize, sets)
    }

    /// HEVCDecoderConfigurationRecord (§8.3.3.1).
    private static func readHEVC(_ record: ArraySlice<UInt8>) throws(MediaError) -> (Int, [ParameterSet]) {
        let kinds: [UInt8: NALUnitRole.ParameterSet] = [32: .video, 33: .sequence, 34: .picture]
        var fields = BoxFields(record)
        try fields.skip(21)
        let lengthSize = Int(try fields.u8() & 3) + 1
        var sets: [ParameterSet] = []
        for _ in 0..<(try fields.u8()) {
            let kind = kinds[try fields.u8() & 0x3F]
            for _ in 0..<(try fields.u16()) { try fields.appendParameterSet(kind, to: &sets) }
        }
        return (lengthSize, sets)
    }
}

extension BoxFields {
    fileprivate mutating func appendParameterSet(
        _ kind: NALUnitRole.ParameterSet?, to sets: inout [VideoSampleDescription.ParameterSet]
    ) throws(MediaError) {
        var unit = try bytes(Int(u16()))
        while unit.last == 0 { unit.removeLast() }
        guard let kind, !unit.isEmpty else { return }
        sets.append(VideoSampleDescription.ParameterSet(kind: kind, unit: unit))
    }
}
