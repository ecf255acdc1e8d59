/// The subtitles of one segment that are handed to the ring.
package struct NewSubtitles: Sendable {
    /// The index in the renditions with which the ring was opened.
    package var rendition: Int
    /// The media sequence number of the published segment to which they belong.
    package var mediaSequence: UInt64
    /// A complete WebVTT file.
    package var bytes: [UInt8]

    package init(rendition: Int, mediaSequence: UInt64, bytes: [UInt8]) {
        self.rendition = rendition
        self.mediaSequence = mediaSequence
        self.bytes = bytes
    }
}
