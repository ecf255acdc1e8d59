/// The bounds of the units that are made of one segment: small units cost more than their bytes.
///
/// Units beyond the bounds are dropped and counted: frames, samples and units as undecodable, tables as bad sections, messages
/// as excess messages.
package enum DemuxLimits {
    /// Frames of the video: 2.3 minutes of 60 frames per second.
    package static let videoFrames = 8192
    /// Frames of the audio: 5.8 minutes of AAC.
    static let audioFrames = 16_384
    /// Samples of all tracks of fragmented MP4, before they are followed.
    package static let samples = 65_536
    /// NAL units of one track. 10 s of 60 frames with 64 slices have 38,400.
    package static let units = 131_072
    /// Programs of a PAT. A satellite transponder of radio has about 100.
    package static let programs = 256
    /// Streams of a program. A section of the permitted size has 202 at most; films with subtitles have about 40.
    package static let streams = 128
    static let metadataStreams = 8
    static let privateDataStreams = 32
    /// Tables in a segment that differ from those before them: every PMT of a multiplex, and versions for splices.
    static let tableChanges = 1024
    /// Changes of the selected streams in a segment. Of more, the last applies.
    static let selectionChanges = 64
    package static let messages = 1024
    /// PES packets of DVB subtitles and teletext of a segment: 5.4 minutes of one teletext stream.
    package static let privateDataPackets = 8192
}
