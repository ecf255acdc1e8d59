/// What a segment carries beside its pictures and its sound, and when.
package struct TimedMetadata: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// ID3v2 tags, whole.
        case id3([UInt8])
        case splice(SpliceInfoSection)
        /// An event message of a fragmented MP4 upstream, and the splice command in it. The command is of the message's
        /// time: its own counts on the clock that it was made for, which was left behind (SCTE 214-3 §8.3.3).
        case message(EventMessage, SpliceInfoSection?)
    }

    package let content: Content
    /// Presentation time as on the wire, 0 ..< 2³³; of a splice command, which has none, that of the pictures it stood
    /// among. nil: of the segment's first picture.
    package let time: Ticks?

    package init(_ content: Content, at time: Ticks?) {
        self.content = content
        self.time = time
    }
}
