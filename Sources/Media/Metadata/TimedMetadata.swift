/// Metadata of a segment and its presentation time.
package struct TimedMetadata: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// Complete ID3v2 tags.
        case id3([UInt8])
        case splice(SpliceInfoSection)
        /// An event message of a fragmented MP4 upstream and the splice command in it. The command takes effect at the
        /// message's time: its own time counts on the encoder's clock, which no longer exists (SCTE 214-3 §8.3.3).
        case message(EventMessage, SpliceInfoSection?)
    }

    package let content: Content
    /// Presentation time as on the wire, 0 ..< 2³³. A splice command has none of its own, so it gets the time of the
    /// frames around it. nil: the time of the segment's first frame.
    package let time: Ticks?

    package init(_ content: Content, at time: Ticks?) {
        self.content = content
        self.time = time
    }
}
