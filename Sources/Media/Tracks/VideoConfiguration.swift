/// The parameter sets a video stream is decoded with, as they stood in the stream: whole NAL units, header byte
/// included, emulation prevention bytes kept, no start code and no length. Their order is by kind, then by id.
///
/// Two stretches of video with equal values need one init section; any other byte begins a new run.
package struct VideoConfiguration: Hashable, Sendable {
    package enum Codec: Hashable, Sendable { case h264, hevc }

    package let codec: Codec
    /// HEVC only; empty for H.264.
    package let videoParameterSets: [[UInt8]]
    package let sequenceParameterSets: [[UInt8]]
    package let pictureParameterSets: [[UInt8]]

    package init(
        codec: Codec, videoParameterSets: [[UInt8]] = [], sequenceParameterSets: [[UInt8]],
        pictureParameterSets: [[UInt8]]
    ) {
        self.codec = codec
        self.videoParameterSets = videoParameterSets
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
    }
}
