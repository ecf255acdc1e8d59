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

    let bytes: [UInt8]
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
