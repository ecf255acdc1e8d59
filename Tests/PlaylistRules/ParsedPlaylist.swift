import Support

/// A media playlist that is parsed independently of the code under test, as far as the rules need it.
package struct ParsedPlaylist {
    package struct Segment: Equatable {
        package var uri = ""
        package var duration = ""
        package var map: String?
        package var discontinuityNumber: UInt64 = 0
        package var isDiscontinuous = false
        package var date: String?
        /// EXT-X-GAP: its URI has no content.
        package var isGap = false
        /// The date ranges and cue tags before it, as lines.
        package var markerLines: [String] = []

        package var milliseconds: Int { Self.milliseconds(duration) }

        /// The EXTINF in milliseconds: 6006 for "6.00640".
        static func milliseconds(_ text: String) -> Int {
            let parts = text.split(separator: ".")
            return Int(parts[0])! * 1000 + (parts.count == 2 ? Int((parts[1] + "000").prefix(3))! : 0)
        }
    }

    package let text: String
    package var tags: [(name: String, value: String)] = []
    package var segments: [Segment] = []
    package var firstSegmentLine = Int.max
    /// The EXT-X-DATERANGE tags in the head.
    package var openRanges: [[String: String]] = []

    package init(_ text: String) {
        self.text = text
        var segment = Segment()
        var discontinuities: UInt64 = 0
        var map: String?
        var isInHead = true
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            guard line.hasPrefix("#") else {
                segment.uri = String(line)
                segment.map = map
                segment.discontinuityNumber = discontinuities
                segments.append(segment)
                segment = Segment()
                continue
            }
            let parts = line.dropFirst().split(separator: ":", maxSplits: 1).map(String.init)
            let value = parts.count == 2 ? parts[1] : ""
            if ["EXTINF", "EXT-X-MAP", "EXT-X-PROGRAM-DATE-TIME", "EXT-X-DISCONTINUITY", "EXT-X-GAP"].contains(parts[0])
            {
                isInHead = false
            }
            switch parts[0] {
            case "EXT-X-DATERANGE":
                if isInHead { openRanges.append(Self.attributes(value)) } else { segment.markerLines.append(value) }
            case _ where parts[0].hasPrefix("EXT-X-CUE") || parts[0] == "EXT-OATCLS-SCTE35":
                segment.markerLines.append(line.description)
            case "EXTINF": segment.duration = String(value.prefix { $0 != "," })
            case "EXT-X-MAP": map = value
            case "EXT-X-PROGRAM-DATE-TIME": segment.date = value
            case "EXT-X-GAP": segment.isGap = true
            case "EXT-X-DISCONTINUITY":
                segment.isDiscontinuous = true
                discontinuities += 1
            default: tags.append((parts[0], value))
            }
            if parts[0] == "EXTINF" { firstSegmentLine = min(firstSegmentLine, number) }
        }
        let base = UInt64(self["EXT-X-DISCONTINUITY-SEQUENCE"] ?? "") ?? 0
        for index in segments.indices { segments[index].discontinuityNumber += base }
    }

    package subscript(tag: String) -> String? { tags.first { $0.name == tag }?.value }

    package var mediaSequence: UInt64 { UInt64(self["EXT-X-MEDIA-SEQUENCE"] ?? "") ?? 0 }
    package var discontinuitySequence: UInt64 { UInt64(self["EXT-X-DISCONTINUITY-SEQUENCE"] ?? "") ?? 0 }
    package var targetDuration: Int { Int(self["EXT-X-TARGETDURATION"] ?? "") ?? 0 }
    package var hasEnded: Bool { self["EXT-X-ENDLIST"] != nil }
    package var milliseconds: Int { segments.reduce(0) { $0 + $1.milliseconds } }
    package var end: UInt64 { mediaSequence + UInt64(segments.count) }

    /// The values of these attribute lists have no commas.
    package static func attributes(_ text: String) -> [String: String] {
        let pairs = text.split(separator: ",").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.map { ($0[0], $0.count == 2 ? $0[1] : "") }, uniquingKeysWith: { _, last in last })
    }

    /// Every EXT-X-DATERANGE, in order.
    package var ranges: [[String: String]] {
        openRanges + segments.flatMap(\.markerLines).filter { $0.hasPrefix("ID=") }.map(Self.attributes)
    }

    package subscript(number number: UInt64) -> Segment { segments[Int(number - mediaSequence)] }
}

/// The rules that a single version of a playlist breaks.
package func brokenRules(in playlist: ParsedPlaylist, isLive: Bool = true) -> [String] {
    var broken: [String] = []
    func must(_ holds: Bool, _ rule: String) { if !holds { broken.append(rule) } }
    let names = playlist.tags.map(\.name)
    must(playlist.text.hasPrefix("#EXTM3U\n") && playlist.text.hasSuffix("\n"), "2: first line, last line")
    must(Set(names).count == names.count, "2: each tag once")
    must(playlist["EXT-X-VERSION"] == "6", "3: VERSION 6 with MAP")
    must(playlist.targetDuration >= 1, "4: TARGETDURATION")
    must(
        playlist.segments.allSatisfy {
            ($0.milliseconds + 500) / 1000 <= playlist.targetDuration && $0.milliseconds > 0
        },
        "4: EXTINF rounds to TARGETDURATION at most")
    must(
        playlist["EXT-X-DISCONTINUITY-SEQUENCE"] != nil && playlist["EXT-X-MEDIA-SEQUENCE"] != nil,
        "5, 6: both sequences")
    must(playlist.segments.allSatisfy { $0.map != nil }, "7: a MAP for every segment")
    must(playlist.segments.allSatisfy { $0.date?.hasSuffix("Z") == true }, "8: PROGRAM-DATE-TIME")
    must(!isLive || playlist["EXT-X-PLAYLIST-TYPE"] == nil, "9: no type on a playlist that slides")
    must(names.contains("EXT-X-INDEPENDENT-SEGMENTS"), "10: INDEPENDENT-SEGMENTS")
    must(Set(playlist.segments.map(\.uri)).count == playlist.segments.count, "16: each URI once")
    must(agree(playlist.ranges), "22: two tags of one ID have the same values")
    must(playlist.ranges.allSatisfy { $0["ID"] != nil && $0["START-DATE"] != nil }, "22: ID and START-DATE")
    return broken
}

/// The rules that a version breaks in comparison with the version before it.
package func brokenRules(from old: ParsedPlaylist, to new: ParsedPlaylist) -> [String] {
    var broken: [String] = []
    func must(_ holds: Bool, _ rule: String) { if !holds { broken.append(rule) } }
    must(new.mediaSequence >= old.mediaSequence, "15: MEDIA-SEQUENCE never decreases")
    must(new.end >= old.end, "14: nothing is removed from the end")
    let common = max(old.mediaSequence, new.mediaSequence)..<max(old.end, max(old.mediaSequence, new.mediaSequence))
    for number in common where number < new.end {
        // The discontinuity sequence number already proves that a DISCONTINUITY tag stays before its segment.
        must(old[number: number] == new[number: number], "16, 17: segment \(number) is what it was")
    }
    let removed = old.segments.prefix(Int(max(old.mediaSequence, min(new.mediaSequence, old.end)) - old.mediaSequence))
    let slidOut = UInt64(removed.count { $0.isDiscontinuous })
    if new.mediaSequence <= old.end {
        must(new.discontinuitySequence == old.discontinuitySequence + slidOut, "17: DISCONTINUITY-SEQUENCE")
    }
    must(agree(old.ranges + new.ranges), "22: an ID keeps its attributes")
    let kept = Set(new.ranges.compactMap { $0["ID"] })
    must(kept.isSuperset(of: closedRanges(of: old.ranges, reachingInto: new)), "22: a range in the playlist stays")
    must(new.targetDuration == old.targetDuration, "18: TARGETDURATION")
    must(old["EXT-X-PLAYLIST-TYPE"] == new["EXT-X-PLAYLIST-TYPE"], "14: the type stays")
    must(!old.hasEnded || new.text == old.text, "23: nothing follows ENDLIST")
    if new.mediaSequence > old.mediaSequence {
        must(new.milliseconds >= 3 * new.targetDuration * 1000, "11: 3 TARGETDURATIONs after a removal")
        must(new.segments.count >= 6, "11: six segments")
    }
    return broken
}

/// Whether no attribute has two values under one ID.
private func agree(_ ranges: [[String: String]]) -> Bool {
    var known: [String: [String: String]] = [:]
    for range in ranges {
        for (name, value) in range {
            if let before = known[range["ID"] ?? "", default: [:]].updateValue(value, forKey: name), before != value {
                return false
            }
        }
    }
    return true
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

package func brokenRules(in text: String, isLive: Bool = true) -> [String] {
    brokenRules(in: ParsedPlaylist(text), isLive: isLive)
}

package func brokenRules(from old: String, to new: String) -> [String] {
    brokenRules(from: ParsedPlaylist(old), to: ParsedPlaylist(new))
}
