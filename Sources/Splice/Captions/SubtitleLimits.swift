/// The bounds of the subtitles that are read, held and published. What exceeds them is dropped and counted.
package enum SubtitleLimits {
    /// Bytes of one upstream segment. A segment is a few seconds of text.
    package static let fileBytes = 1 << 20
    /// Lines of one upstream segment.
    package static let fileLines = 50_000
    /// Cues of one upstream segment. A feature film in one file has some two thousand.
    package static let fileCues = 4000
    /// STYLE and REGION blocks of one upstream segment.
    package static let definitions = 64
    /// Bytes of the upstream segments of one rendition whose cues wait for their video.
    package static let heldBytes = 512 << 10
    /// Their cues.
    package static let heldCues = 4000
    /// Cues of one rendition that have a place and may still be presented.
    package static let placedCues = 1024
    /// Bytes of one published segment of subtitles.
    package static let publishedBytes = 1 << 20
}
