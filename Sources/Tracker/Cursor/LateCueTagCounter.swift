import Playlist

/// The cue tags of the segments listed, to find those that an upstream adds to a segment when it has been taken: they
/// come too late to be passed on where they stand.
struct LateCueTagCounter: Sendable {
    /// The first segment that was taken; nil before it.
    private var firstFetched: UInt64?
    /// By media sequence number, as listed last.
    private var tagLines: [UInt64: [String]] = [:]

    /// - Parameters:
    ///   - next: the first media sequence number that was not taken before `list` came.
    ///   - joined: the first that is taken from it.
    /// - Returns: how many tags segments before `next` have that they did not have.
    mutating func countLateTags(in list: MediaPlaylist, before next: UInt64, joined: UInt64?) -> Int {
        firstFetched = firstFetched ?? joined
        let old = tagLines
        tagLines = [:]
        var late = 0
        for segment in list.segments where !segment.unknownTags.isEmpty {
            let (number, cues) = (segment.mediaSequence, segment.cueTags.map(\.line))
            tagLines[number] = cues
            guard let firstFetched, (firstFetched..<max(firstFetched, next)).contains(number) else { continue }
            late += cues.count { !(old[number] ?? []).contains($0) }
        }
        return late
    }
}
