import Support

/// Judges a version of a media playlist against the version before it: rules 5 to 10, 12, 13, 15 and 16.
struct VersionComparison {
    enum Outcome: Equatable {
        case continues
        /// The numbers or the list cannot be compared further: the new version begins again.
        case beginsAgain
    }

    let old: ScannedPlaylist
    let new: ScannedPlaylist
    let url: String
    let moment: Duration

    private static let windowTolerance = Duration.milliseconds(500)

    func judge(into log: inout FindingLog) -> Outcome {
        if old.hasEndList {
            // Another token in the queries changes nothing.
            guard !new.hasEndList || !isSameList else { return .continues }
            log.add(
                .endIsFinal, "changed", of: url, at: place(nil, new.hasEndList ? nil : new.segments.last?.line),
                new.hasEndList ? "the playlist changed after EXT-X-ENDLIST" : "EXT-X-ENDLIST was taken back")
            return .beginsAgain
        }
        if let before = old.targetDuration, let after = new.targetDuration {
            log.recordJudgement(.constantTargetDuration)
            if before != after {
                log.add(
                    .constantTargetDuration, "changed", of: url, at: place(nil, nil),
                    "EXT-X-TARGETDURATION was \(before) and is \(after)")
            }
        }
        guard judgeNumbers(into: &log) == .continues else { return .beginsAgain }
        judgeSegments(into: &log)
        judgeDiscontinuities(into: &log)
        judgeRemoval(into: &log)
        return .continues
    }

    private var isSameList: Bool {
        old.segments.elementsEqual(new.segments) { ($0.identity, $0.duration) == ($1.identity, $1.duration) }
    }

    private func place(_ segment: ScannedSegment?, _ line: Int?) -> FindingPlace {
        FindingPlace(
            uri: segment?.uri ?? new.url, sequence: segment?.sequence ?? new.mediaSequence,
            line: segment?.line ?? line, moment: moment)
    }

    // MARK: - Numbers

    private func judgeNumbers(into log: inout FindingLog) -> Outcome {
        for rule in [Rule.sequenceNeverBack, .sequenceGrowth, .headAndTail] { log.recordJudgement(rule) }
        let shifts = self.shifts
        if let first = shifts.first, shifts.allSatisfy({ $0 == first }), first != 0 {
            if new.mediaSequence < old.mediaSequence {
                addBack(&log)
            } else {
                log.add(
                    .sequenceGrowth, "shift", of: url, at: place(nil, nil),
                    "EXT-X-MEDIA-SEQUENCE went from \(old.mediaSequence) to \(new.mediaSequence), but "
                        + "\(removedCount(shift: first)) segments were removed")
            }
            return .beginsAgain
        }
        if shifts.contains(where: { $0 != 0 }) {
            log.add(
                .headAndTail, "middle", of: url, at: place(nil, nil),
                "segments between others were removed or inserted: the same URIs have moved by different numbers")
            return .beginsAgain
        }
        if new.mediaSequence < old.mediaSequence {
            addBack(&log)
            return .beginsAgain
        }
        if shifts.isEmpty, let first = new.segments.first, let last = old.segments.last,
            last.sequence >= first.sequence
        {
            log.add(
                .constantSegment, "reused", of: url, at: place(first, nil),
                "the numbers from \(first.sequence) on stand for other segments than before")
            return .beginsAgain
        }
        if new.end < old.end {
            log.add(
                .headAndTail, "tail", of: url, at: place(new.segments.last, nil),
                "\(old.end - new.end) segments were removed from the tail")
            return .beginsAgain
        }
        if new.mediaSequence > old.end { judgeJump(&log) }
        return .continues
    }

    private func addBack(_ log: inout FindingLog) {
        log.add(
            .sequenceNeverBack, "back", of: url, at: place(nil, nil),
            "EXT-X-MEDIA-SEQUENCE went back from \(old.mediaSequence) to \(new.mediaSequence)")
    }

    private func removedCount(shift: Int64) -> Int64 {
        Int64(new.mediaSequence) - Int64(old.mediaSequence) - shift
    }

    /// By how much each segment that both versions list once has moved, in the order of the new version.
    private var shifts: [Int64] {
        if isUsual { return [0] }
        let before = Self.numbers(of: old)
        let after = Self.numbers(of: new)
        return new.segments.compactMap { segment in
            guard let to = after[segment.identity], to != nil, let from = before[segment.identity], let from else {
                return nil
            }
            return Int64(bitPattern: segment.sequence) - Int64(bitPattern: from)
        }
    }

    /// Whether segments left at the head and came at the tail, and nothing else happened: the usual case, for which no
    /// table is made.
    private var isUsual: Bool {
        let common = self.common
        guard !common.isEmpty, common.allSatisfy({ old.segments[$0.old].identity == new.segments[$0.new].identity })
        else { return false }
        let left = old.segments[..<common[0].old].map(\.identity)
        return !new.segments[common.count...].contains { left.contains($0.identity) }
    }

    /// The number of each segment; nil for one that is listed more than once.
    private static func numbers(of playlist: ScannedPlaylist) -> [String: UInt64?] {
        var numbers: [String: UInt64?] = [:]
        for segment in playlist.segments {
            let isKnown = numbers[segment.identity] != nil
            numbers[segment.identity] = .some(isKnown ? nil : segment.sequence)
        }
        return numbers
    }

    /// Numbers that no version listed, more than can have been published in the meantime.
    private func judgeJump(_ log: inout FindingLog) {
        guard let oldDate = old.segments.last?.date, let newDate = new.segments.first?.date,
            let target = new.targetDuration, target > 0
        else { return }
        let missing = new.mediaSequence - old.end
        let elapsed = Duration.milliseconds(newDate.milliseconds(since: oldDate))
        guard Duration.seconds(Int64(clamping: missing)) * target / 4 > elapsed else { return }
        log.add(
            .sequenceGrowth, "jump", of: url, at: place(nil, nil),
            "EXT-X-MEDIA-SEQUENCE jumped over \(missing) numbers, and the dates by \(elapsed.secondsText)")
    }

    // MARK: - Segments that both versions list

    /// Their indices.
    private var common: [(old: Int, new: Int)] {
        guard new.mediaSequence >= old.mediaSequence, old.skippedSegments == 0, new.skippedSegments == 0 else {
            return []
        }
        let start = new.mediaSequence - old.mediaSequence
        guard start < UInt64(old.segments.count) else { return [] }
        return Array(zip(Int(start)..<old.segments.count, new.segments.indices))
    }

    private func judgeSegments(into log: inout FindingLog) {
        let common = self.common
        log.recordJudgement(.constantSegment, count: common.count)
        for index in common {
            if old.segments[index.old].isListed(like: new.segments[index.new]) {
                if new.segments[index.new].date != nil { log.recordJudgement(.programDateTime) }
                continue
            }
            judge(old.segments[index.old], new.segments[index.new], into: &log)
        }
    }

    private func judge(_ before: ScannedSegment, _ after: ScannedSegment, into log: inout FindingLog) {
        func add(_ cause: String, _ message: String) {
            log.add(.constantSegment, cause, of: url, at: place(after, nil), message)
        }
        if before.identity != after.identity {
            add("uri", "the segment had the URI \(URIReference.redacted(before.reference)) before")
            return
        }
        if before.duration != after.duration {
            add("extinf", "EXTINF was \(before.durationText) and is \(after.durationText)")
        }
        if before.map.map({ identity(of: $0, in: old) }) != after.map.map({ identity(of: $0, in: new) }) {
            add("map", "the segment has another EXT-X-MAP")
        }
        if before.keys.map({ identity(of: $0, in: old) }) != after.keys.map({ identity(of: $0, in: new) }) {
            add("key", "the segment has another EXT-X-KEY")
        }
        guard let was = before.date, let date = after.date else { return }
        log.recordJudgement(.programDateTime)
        let change = Duration.milliseconds(date.milliseconds(since: was))
        if change.magnitude > TextRules.dateTolerance {
            log.add(
                .programDateTime, "changed", of: url, at: place(after, nil),
                "the date of a listed segment moved by \(change.magnitudeText)")
        }
    }

    private func identity(of map: ScannedMap, in playlist: ScannedPlaylist) -> String {
        identity(of: map.uri, in: playlist) + (map.byteRange.map { "@\($0.offset)+\($0.length)" } ?? "")
    }

    private func identity(of key: ScannedKey, in playlist: ScannedPlaylist) -> String {
        [key.method, identity(of: key.uri, in: playlist), key.initializationVector ?? "", key.keyFormat]
            .joined(separator: " ")
    }

    /// A URI without its query, and without the server and the directory that it shares with its playlist.
    private func identity(of uri: String, in playlist: ScannedPlaylist) -> String {
        let (uri, base) = (URIReference.withoutQuery(uri), URIReference.withoutQuery(playlist.url))
        let directory = base.prefix(through: base.lastIndex(of: "/") ?? base.startIndex)
        if uri.hasPrefix(directory) { return String(uri.dropFirst(directory.count)) }
        let server = base.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//") + "/"
        return uri.hasPrefix(server) ? String(uri.dropFirst(server.count - 1)) : uri
    }

    private func judgeDiscontinuities(into log: inout FindingLog) {
        let common = self.common.filter { old.segments[$0.old].identity == new.segments[$0.new].identity }
        guard !common.isEmpty else { return }
        log.recordJudgement(.constantDiscontinuity)
        let removed = old.segments.prefix { $0.sequence < new.mediaSequence }
        if removed.contains(where: { $0.discontinuities > 0 }) { log.recordJudgement(.discontinuityRemoval) }
        let changed = common.first {
            old.segments[$0.old].discontinuitySequence != new.segments[$0.new].discontinuitySequence
        }
        guard let changed else { return }
        let first = (old: old.segments[changed.old], new: new.segments[changed.new])
        let added = common.map {
            new.segments[$0.new].discontinuities - old.segments[$0.old].discontinuities
        }
        // The tag of the first segment may have left with the segment before.
        if added.dropFirst().contains(where: { $0 != 0 }) || added[0] > 0 {
            for (index, added) in zip(common, added) where added > 0 {
                log.withdraw(.untaggedSplice, of: url, sequence: new.segments[index.new].sequence)
            }
            log.add(
                .constantDiscontinuity, "moved", of: url, at: place(first.new, nil),
                "the discontinuity sequence number of the listed segment was \(first.old.discontinuitySequence) and is "
                    + "\(first.new.discontinuitySequence)")
        } else {
            let tags = removed.reduce(0) { $0 + $1.discontinuities }
            log.add(
                .discontinuityRemoval, new.hasDiscontinuitySequence ? "count" : "missing", of: url, at: place(nil, nil),
                "\(tags) EXT-X-DISCONTINUITY were removed, and EXT-X-DISCONTINUITY-SEQUENCE went from "
                    + "\(old.discontinuitySequence) to \(new.discontinuitySequence)"
                    + (new.hasDiscontinuitySequence ? "" : ": the tag is missing"))
        }
    }

    /// Rule 13, and rule 12 for an EVENT or VOD playlist.
    private func judgeRemoval(into log: inout FindingLog) {
        guard new.mediaSequence > old.mediaSequence else { return }
        if let type = old.playlistType {
            log.add(
                .headAndTail, "type", of: url, at: place(nil, nil),
                "segments were removed from a playlist with EXT-X-PLAYLIST-TYPE:\(type)")
        }
        guard let target = new.targetDuration, !new.hasEndList else { return }
        log.recordJudgement(.windowLength)
        guard new.duration + Self.windowTolerance < .seconds(3 * target) else { return }
        log.add(
            .windowLength, "short", of: url, at: place(nil, nil),
            "\(new.duration.secondsText) remain, and three target durations are \(3 * target) s")
    }
}
