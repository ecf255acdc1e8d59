import Playlist

/// The cue tags of the segments listed, to find those that an upstream adds to a segment when it has been taken: they
/// come too late to be passed on where they stand.
struct CueTagMemory: Sendable {
    /// The first segment that was taken; nil before it.
    private var first: UInt64?
    /// By media sequence number, as listed last.
    private var lines: [UInt64: [String]] = [:]

    /// - Parameters:
    ///   - next: the first media sequence number that was not taken before `list` came.
    ///   - joined: the first that is taken from it.
    /// - Returns: how many tags segments before `next` have that they did not have.
    mutating func note(_ list: MediaPlaylist, before next: UInt64, joined: UInt64?) -> Int {
        first = first ?? joined
        let old = lines
        lines = [:]
        var late = 0
        for segment in list.segments where !segment.marks.isEmpty {
            let (number, cues) = (segment.mediaSequence, segment.cueMarks.map(\.line))
            lines[number] = cues
            guard let first, (first..<max(first, next)).contains(number) else { continue }
            late += cues.count { !(old[number] ?? []).contains($0) }
        }
        return late
    }
}
