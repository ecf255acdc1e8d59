/// The bounds of what is made of one segment besides its bytes: small units cost more than the bytes that they are made of.
///
/// What exceeds them is dropped and counted as undecodable.
package enum DemuxLimits {
    /// Frames of the video: 2.3 minutes of 60 frames per second.
    package static let videoFrames = 8192
    /// Frames of the audio: 5.8 minutes of AAC.
    package static let audioFrames = 16_384
    /// Samples of all tracks of fragmented MP4, before they are followed.
    package static let samples = 65_536
    /// NAL units of one track. 10 s of 60 frames with 64 slices have 38,400.
    package static let units = 131_072
}
