/// The bounds of what is made of one segment besides its bytes: small units cost more than the bytes that they are made of.
///
/// What exceeds them is dropped and counted as undecodable.
package enum DemuxLimits {
    /// Frames of one track: 4.5 minutes of 60 frames per second, 5.8 minutes of AAC.
    package static let frames = 16_384
    /// Samples of all tracks of fragmented MP4, before they are followed.
    package static let samples = 65_536
    /// NAL units of one track. 10 s of 60 frames with 64 slices have 38,400.
    package static let units = 131_072
}
