package import Media

/// A part of a media file that is fetched as a media segment.
package struct FileSegment: Equatable, Sendable {
    package let range: Range<UInt64>
    package let duration: Ticks

    package init(range: Range<UInt64>, duration: Ticks) {
        self.range = range
        self.duration = duration
    }
}

/// How a media file is cut into segments.
package struct FileCutting: Equatable, Sendable {
    /// A segment ends at the first sync sample after this time …
    var shortest = Ticks.seconds(3)
    /// … and at any sample after this one …
    var longest = Ticks.seconds(9)
    /// … or when it is half as large as this. No segment is larger.
    package var maxBytes: Int

    package init(maxBytes: Int) { self.maxBytes = maxBytes }
}
