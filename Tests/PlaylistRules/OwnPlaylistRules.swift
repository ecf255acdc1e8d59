import Conformance
import Support

/// The rules of `liverelay check` that versions of our own playlist break, such as `4/exceeds: …`, and the promises that
/// only our playlists keep, such as `promise map: …`.
package struct PlaylistOracle {
    private static let url = "live.m3u8"
    private var record = PlaylistRecord(url: Self.url)
    private var last: ParsedPlaylist?

    package init() {}

    /// Judges the next version, alone and against the versions before it.
    package mutating func append(_ playlist: ParsedPlaylist, isLive: Bool = true) -> [String] {
        // The versions have no times, and the upstream announces the lengths of ad breaks.
        var log = FindingLog(excluded: [.publicationPace, .breakLength])
        let time = AnswerTime(requested: .zero, received: .zero)
        _ = record.append(playlist.bytes, finalURL: Self.url, at: time, into: &log)
        defer { last = playlist }
        return log.sorted.map { "\($0.identifier): \($0.message)" } + brokenPromises(of: playlist, isLive: isLive)
            + (last.map { brokenPromises(from: $0, to: playlist) } ?? [])
    }
}

private func brokenPromises(of playlist: ParsedPlaylist, isLive: Bool) -> [String] {
    var broken: [String] = []
    func must(_ holds: Bool, _ promise: @autoclosure () -> String) {
        if !holds { broken.append("promise " + promise()) }
    }
    must(playlist.bytes.last == ASCII.lineFeed, "end: the last line has an end")
    must(playlist["EXT-X-VERSION"] == "6", "version: 6 with EXT-X-MAP")
    must(playlist.segments.allSatisfy { $0.milliseconds > 0 }, "duration: no EXTINF is 0")
    must(
        playlist["EXT-X-DISCONTINUITY-SEQUENCE"] != nil && playlist["EXT-X-MEDIA-SEQUENCE"] != nil,
        "numbers: both sequences")
    must(playlist.segments.allSatisfy { $0.map != nil }, "map: an EXT-X-MAP for every segment")
    must(playlist.segments.allSatisfy { $0.date?.hasSuffix("Z") == true }, "date: each segment is dated in UTC")
    must(!isLive || playlist["EXT-X-PLAYLIST-TYPE"] == nil, "type: none on a playlist that slides")
    must(playlist["EXT-X-INDEPENDENT-SEGMENTS"] != nil, "independence: EXT-X-INDEPENDENT-SEGMENTS")
    must(Set(playlist.segments.map(\.uri)).count == playlist.segments.count, "uri: each once")
    return broken
}

private func brokenPromises(from old: ParsedPlaylist, to new: ParsedPlaylist) -> [String] {
    var broken: [String] = []
    func must(_ holds: Bool, _ promise: @autoclosure () -> String) {
        if !holds { broken.append("promise " + promise()) }
    }
    // The discontinuity sequence number already proves that a DISCONTINUITY tag stays before its segment.
    for number in max(old.mediaSequence, new.mediaSequence)..<max(old.end, old.mediaSequence, new.mediaSequence)
    where number < new.end {
        must(old[number: number] == new[number: number], "segment: \(number) is what it was, with its markers")
    }
    let kept = Set(new.ranges.compactMap { $0["ID"] })
    must(kept.isSuperset(of: closedRanges(of: old.ranges, reachingInto: new)), "range: one in the playlist stays")
    must(old["EXT-X-PLAYLIST-TYPE"] == new["EXT-X-PLAYLIST-TYPE"], "type: it stays")
    if new.mediaSequence > old.mediaSequence {
        must(new.milliseconds >= 3 * new.targetDuration * 1000, "window: three target durations after a removal")
        must(new.segments.count >= 6, "window: six segments")
    }
    return broken
}

/// The IDs of the ranges with an end after the start of the first segment of `playlist`.
private func closedRanges(of ranges: [[String: String]], reachingInto playlist: ParsedPlaylist) -> Set<String> {
    guard let first = playlist.segments.first?.date.flatMap({ ProgramDateTime(parsing: $0) }) else { return [] }
    let reaching = ranges.filter { range in
        guard let start = (range["START-DATE"]?.dropFirst().dropLast()).flatMap({ ProgramDateTime(parsing: "\($0)") }),
            let lasting = range["DURATION"].flatMap({ DecimalSeconds.duration($0) })
        else { return false }
        return start.advanced(by: lasting) > first
    }
    return Set(reaching.compactMap { $0["ID"] })
}

/// What one version breaks.
package func brokenRules(in text: String, isLive: Bool = true) -> [String] {
    var oracle = PlaylistOracle()
    return oracle.append(ParsedPlaylist(text), isLive: isLive)
}

/// What a version breaks, alone and against the version before it.
package func brokenRules(from old: String, to new: String) -> [String] {
    var oracle = PlaylistOracle()
    _ = oracle.append(ParsedPlaylist(old))
    return oracle.append(ParsedPlaylist(new))
}
