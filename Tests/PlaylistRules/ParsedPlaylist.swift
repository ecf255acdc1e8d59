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
            var (whole, thousandths, decimals): (Int, Int, Int?) = (0, 0, nil)
            for digit in text.utf8 {
                guard digit != ASCII.point else {
                    decimals = 0
                    continue
                }
                let value = Int(digit) - Int(ASCII.zero)
                precondition(0...9 ~= value, "EXTINF is \(text)")
                if let count = decimals {
                    if count < 3 { thousandths = thousandths * 10 + value }
                    decimals = count + 1
                } else {
                    whole = whole * 10 + value
                }
            }
            for _ in min(3, decimals ?? 0)..<3 { thousandths *= 10 }
            return whole * 1000 + thousandths
        }
    }

    /// The lines of one segment, its URI last.
    private struct Entry {
        let lines: Range<Int>
        let map: String?
        /// Whether the lines say all that is known of the segment and nothing of the playlist.
        let isAlone: Bool
    }

    fileprivate let bytes: [UInt8]
    private var entries: [Entry] = []
    package var tags: [(name: String, value: String)] = []
    package private(set) var mediaSequence: UInt64 = 0
    package var segments: [Segment] = []
    /// The EXT-X-DATERANGE tags in the head.
    package var openRanges: [[String: String]] = []

    package init(_ text: String) { self.init(Array(text.utf8)) }

    /// - Parameter previous: the version before it, of which segments with the same lines are not parsed again.
    package init(_ bytes: [UInt8], after previous: ParsedPlaylist? = nil) {
        self.bytes = bytes
        var map: String?
        var discontinuities: UInt64 = 0
        while let next = nextEntry(after: previous) {
            var segment = next.segment
            map = next.entry.map ?? map
            if segment.isDiscontinuous { discontinuities += 1 }
            (segment.map, segment.discontinuityNumber) = (map, discontinuities)
            segments.append(segment)
            entries.append(next.entry)
        }
        let base = discontinuitySequence
        if base > 0 { for index in segments.indices { segments[index].discontinuityNumber += base } }
    }

    /// Reads the lines up to the next URI.
    /// - Returns: nil if no URI follows.
    private mutating func nextEntry(after previous: ParsedPlaylist?) -> (segment: Segment, entry: Entry)? {
        let start = entries.last?.lines.upperBound ?? 0
        if !entries.isEmpty, let known = previous?.entry(end, at: start, of: bytes) { return known }
        var offset = start
        let tagCount = tags.count
        var segment = Segment()
        var map: String?
        var isInHead = entries.isEmpty
        while offset < bytes.count {
            let lineEnd = bytes[offset...].firstIndex(of: ASCII.lineFeed) ?? bytes.count
            let line = bytes[offset..<lineEnd]
            offset = min(lineEnd + 1, bytes.count)
            guard line.first == ASCII.numberSign else {
                guard !line.isEmpty else { continue }
                segment.uri = String(decoding: line, as: UTF8.self)
                return (segment, Entry(lines: start..<offset, map: map, isAlone: start > 0 && tags.count == tagCount))
            }
            let colon = line.firstIndex(of: ASCII.colon) ?? lineEnd
            let name = String(decoding: line[(line.startIndex + 1)..<colon], as: UTF8.self)
            let value = String(decoding: line[colon...].dropFirst(), as: UTF8.self)
            switch name {
            case "EXT-X-DATERANGE":
                if isInHead { openRanges.append(Self.attributes(value)) } else { segment.markerLines.append(value) }
                continue
            case _ where name.hasPrefix("EXT-X-CUE") || name == "EXT-OATCLS-SCTE35":
                segment.markerLines.append(String(decoding: line, as: UTF8.self))
                continue
            case "EXTINF": segment.duration = String(value.prefix { $0 != "," })
            case "EXT-X-MAP": map = value
            case "EXT-X-PROGRAM-DATE-TIME": segment.date = value
            case "EXT-X-GAP": segment.isGap = true
            case "EXT-X-DISCONTINUITY": segment.isDiscontinuous = true
            default:
                tags.append((name, value))
                if name == "EXT-X-MEDIA-SEQUENCE" { mediaSequence = UInt64(value) ?? 0 }
                continue
            }
            isInHead = false
        }
        return nil
    }

    /// The segment with a number, if its lines are those of `bytes` from `offset` on.
    private func entry(_ number: UInt64, at offset: Int, of bytes: [UInt8]) -> (segment: Segment, entry: Entry)? {
        guard number >= mediaSequence, number < end else { return nil }
        let index = Int(number - mediaSequence)
        let known = entries[index]
        let lines = offset..<offset + known.lines.count
        guard known.isAlone, lines.upperBound <= bytes.count, self.bytes[known.lines] == bytes[lines] else {
            return nil
        }
        return (segments[index], Entry(lines: lines, map: known.map, isAlone: true))
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package subscript(tag: String) -> String? { tags.first { $0.name == tag }?.value }

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
    func must(_ holds: Bool, _ rule: @autoclosure () -> String) { if !holds { broken.append(rule()) } }
    let names = playlist.tags.map(\.name)
    must(
        playlist.bytes.starts(with: "#EXTM3U\n".utf8) && playlist.bytes.last == ASCII.lineFeed,
        "2: first line, last line")
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
    func must(_ holds: Bool, _ rule: @autoclosure () -> String) { if !holds { broken.append(rule()) } }
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
    must(!old.hasEnded || new.bytes == old.bytes, "23: nothing follows ENDLIST")
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
