import Playlist

/// Bounds on the upstream's ad markers, far above those of real channels.
enum AdMarkerLimits {
    /// Cue tags of one segment. If there are more, the first and the last are kept.
    static let cueTags = 64
    /// Bytes of one segment's cue tags.
    static let cueTagBytes = 16 * 1024
    /// Splice commands of one segment.
    static let spliceCommands = 64
    /// Date ranges written with one segment. Others follow with the next segments.
    static let dateRanges = 64
    /// Bytes of the date ranges written with one segment, unless the first one is longer.
    static let dateRangeBytes = 64 * 1024
    /// Date ranges of the upstream that are known at once. If the upstream lists more, the last are dropped.
    static let knownDateRanges = 512
    /// Date ranges that are looked at in one playlist of the upstream.
    static let listedDateRanges = 2048
    /// Date ranges of earlier segments that reach into a playlist. If there are more, the oldest are dropped.
    static let openDateRanges = 64
    /// The time after which an ad break without an end is over, unless a longer one was planned.
    static let breakWithoutEnd = Duration.seconds(3600)

    /// Drops cue tags from the middle, because the first begin ad breaks and the last end them.
    /// - Returns: how many were dropped.
    static func dropExcess(of tags: inout [CueTag]) -> Int {
        let before = tags.count
        if tags.count > cueTags { tags = tags.prefix(cueTags / 2) + tags.suffix(cueTags / 2) }
        var bytes = tags.reduce(0) { $0 + $1.line.utf8.count }
        while bytes > cueTagBytes { bytes -= tags.remove(at: tags.count / 2).line.utf8.count }
        return before - tags.count
    }
}
