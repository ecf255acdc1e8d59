package import Media

/// One segment as a transport stream.
package struct TransportSegment: Equatable, Sendable {
    /// A part of the segment that may follow any other chunk of the channel without a jump of a continuity counter.
    ///
    /// It begins with PAT and PMT, and contains the audio from its first frame on.
    package struct Chunk: Equatable, Sendable {
        package let bytes: Range<Int>
        /// Decode time of its first video frame, or of its first audio frame if there is no video.
        package let start: Ticks
        package let duration: Ticks
        /// Whether a client may begin with the chunk: it begins with a random access point, or with a gradual refresh,
        /// which a decoder shows as soon as the refresh is complete.
        package let isEntryPoint: Bool
        /// The number of random access points; with video, the number of GOPs.
        package let randomAccessPoints: Int
    }

    package internal(set) var bytes: [UInt8]
    /// In order, without gaps. Empty if the segment has no media.
    package let chunks: [Chunk]
    /// Frames whose decode time was lowered because it was after their presentation time.
    package var loweredDecodeTimes = 0
    /// Audio frames and ID3 tags that are too large for their headers, and were dropped.
    package var oversizeUnits = 0
    /// Audio frames that are sent after they are due, because their source delivers them long after the video of the
    /// same time.
    package var lateAudioFrames = 0

    package init(bytes: [UInt8], chunks: [Chunk]) {
        self.bytes = bytes
        self.chunks = chunks
    }
}
