import PlaylistRules

// MARK: - What is kept: files for as long as players may ask for them, and nothing that grows

extension Oracle {
    mutating func judgeResources() {
        judgeRetention()
        // The first sample is that of a full spool.
        guard let first = record.sizes.first, let last = record.sizes.last, first.at < last.at else { return }
        for text in CollectionSizes.grown(last.sizes, since: first.sizes) { find(.growth, at: last.at, text) }
    }

    /// A segment that left the playlist can be had for its own duration and that of the longest playlist that listed it
    /// (RFC 8216 §6.2.2). As in the relay, time is that of the media: after an outage, much of it comes at once.
    private mutating func judgeRetention() {
        var (mediaTime, longest, due): (Int, [String: Int], [String: Int]) = (0, [:], [:])
        for (index, version) in record.versions.enumerated() {
            let (playlist, before) = (version.playlist, index > 0 ? record.versions[index - 1].playlist : nil)
            let known = before?.end ?? playlist.mediaSequence
            mediaTime += playlist.segments.suffix(Int(clamping: playlist.end - min(known, playlist.end)))
                .reduce(0) { $0 + $1.milliseconds }
            let listed = Set(playlist.segments.map(\.uri))
            for segment in before?.segments ?? [] where !segment.isGap && !listed.contains(segment.uri) {
                due[segment.uri] = mediaTime + segment.milliseconds + (longest[segment.uri] ?? 0)
            }
            for name in listed { longest[name] = max(longest[name] ?? 0, playlist.milliseconds) }
            for name in record.removals[index] ?? [] {
                guard let due = due[name] else {
                    find(.retention, at: version.at, "\(name) was removed while it was listed")
                    continue
                }
                if due > mediaTime {
                    find(.retention, at: version.at, "\(name) was removed \(due - mediaTime) ms too early")
                }
            }
        }
    }
}
