/// The parameter sets that a video stream is decoded with, as they appear in the stream.
///
/// They are complete NAL units: header byte included, emulation prevention bytes kept, no start code and no length.
/// They are ordered by kind, then by identifier. For MPEG-2, the sequence header takes the place of sequence parameter
/// sets and its extensions that of picture parameter sets, each from the last byte of its start code on.
///
/// Two spans of video with equal values share an init section; any other byte begins a new period.
package struct VideoConfiguration: Hashable, Sendable {
    package enum Codec: Hashable, Sendable { case h264, hevc, mpeg2 }

    package let codec: Codec
    /// The sets by kind: a copy of a packet retains one reference instead of three.
    private let sets: [[[UInt8]]]
    package var videoParameterSets: [[UInt8]] { sets[0] }
    package var sequenceParameterSets: [[UInt8]] { sets[1] }
    package var pictureParameterSets: [[UInt8]] { sets[2] }
    /// Whole boxes of a sample entry that state what no parameter set states: Dolby Vision and HDR10 metadata.
    package let dynamicRangeBoxes: [UInt8]

    package init(
        codec: Codec, videoParameterSets: [[UInt8]] = [], sequenceParameterSets: [[UInt8]],
        pictureParameterSets: [[UInt8]], dynamicRangeBoxes: [UInt8] = []
    ) {
        self.codec = codec
        sets = [videoParameterSets, sequenceParameterSets, pictureParameterSets]
        self.dynamicRangeBoxes = dynamicRangeBoxes
    }
}

extension VideoConfiguration.Codec {
    /// nil for a codec that is not published.
    package init?(codecString: String) {
        switch codecString.prefix(4) {
        case "avc1": self = .h264
        case "hvc1": self = .hevc
        case "mp4v": self = .mpeg2
        default: return nil
        }
    }
}
