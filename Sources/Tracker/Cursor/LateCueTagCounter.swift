import Playlist
import Support

/// Counts cue tags that an upstream adds to a segment after it was fetched, too late to be passed on in place.
struct LateCueTagCounter: Sendable {
    /// The first media sequence number that was fetched; nil before.
    private var firstFetched: UInt64?
    /// Cue tag lines by media sequence number, as listed last.
    private var tagLines: [UInt64: [String]] = [:]

    /// Returns how many cue tags are new on segments that were fetched before.
    ///
    /// - Parameters:
    ///   - next: the first media sequence number that was not fetched before `playlist` arrived.
    ///   - joined: the first number that is fetched from `playlist`.
    mutating func countLateTags(in playlist: MediaPlaylist, before next: UInt64, joined: UInt64?) -> Int {
        firstFetched = firstFetched ?? joined
        let old = tagLines
        tagLines = [:]
        var late = 0
        for segment in playlist.segments where !segment.unknownTags.isEmpty {
            let (number, cues) = (segment.mediaSequence, segment.cueTags.map(\.line))
            tagLines[number] = cues
            guard let firstFetched, (firstFetched..<max(firstFetched, next)).contains(number) else { continue }
            let known = Set(old[number] ?? [])
            StepCounter.add(known.count + cues.count)
            late += cues.count { !known.contains($0) }
        }
        return late
    }
}
