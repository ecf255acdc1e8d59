import Demux
import Media
import Mux
import Transcode

/// Text of a WebVTT file → values (W3C WebVTT §6.1), as forgiving as a browser.
enum WebVTTParser {
    /// A segment is some seconds of text; what is larger is something else.
    static let largestFile = 4 << 20

    /// - Throws: `.unknownContainer` without the signature, `.tooLarge`.
    static func parse(_ bytes: [UInt8]) throws(MediaError) -> WebVTT {
        let section = "RFC 8216 §3.5"
        guard bytes.count <= largestFile else { throw MediaError(.tooLarge(bytes: bytes.count), section: section) }
        let marked = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        var lines = Self.lines(of: marked)
        guard let signature = lines.popFirst(), isSignature(signature) else {
            throw MediaError(.unknownContainer(firstBytes: Array(bytes.prefix(16))), section: section)
        }
        var file = WebVTT()
        for line in popHeader(&lines) { readTimestampMap(line, into: &file) }
        while let block = popBlock(&lines) { read(block, into: &file) }
        return file
    }

    private static func isSignature(_ line: Substring) -> Bool {
        guard line.hasPrefix("WEBVTT") else { return false }
        return line.utf8.count == 6 || line.dropFirst(6).first.map(isBlank) ?? false
    }

    /// Line feeds, carriage returns, or both, end a line.
    private static func lines(of bytes: ArraySlice<UInt8>) -> ArraySlice<Substring> {
        let text = String(decoding: bytes.lazy.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        // CR LF is one character of Swift's.
        return text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }[...]
    }

    /// Up to the first empty line, or the first that can only be a cue's.
    private static func popHeader(_ lines: inout ArraySlice<Substring>) -> ArraySlice<Substring> {
        let header = lines.prefix { !$0.isEmpty && !$0.contains("-->") }
        lines = lines.dropFirst(header.count)
        return header
    }

    private static func popBlock(_ lines: inout ArraySlice<Substring>) -> ArraySlice<Substring>? {
        lines = lines.drop { $0.isEmpty }
        guard !lines.isEmpty else { return nil }
        // Times begin another block even where the empty line is missing.
        let body = lines.dropFirst(lines.dropFirst().first?.contains("-->") == true ? 2 : 1)
        let end = body.firstIndex { $0.isEmpty || $0.contains("-->") } ?? lines.endIndex
        defer { lines = lines[end...] }
        return lines[..<end]
    }

    private static func read(_ block: ArraySlice<Substring>, into file: inout WebVTT) {
        guard let first = block.first else { return }
        if first.contains("-->") { return readCue(nil, first, block.dropFirst(), into: &file) }
        if let second = block.dropFirst().first, second.contains("-->") {
            return readCue(String(first), second, block.dropFirst(2), into: &file)
        }
        let name = first.prefix { !isBlank($0) }
        if name == "STYLE" || name == "REGION", file.cues.isEmpty {
            file.definitions.append(block.joined(separator: "\n"))
        }
        // Some packagers put the map behind the empty line.
        if file.map == nil { readTimestampMap(first, into: &file) }
    }

    private static func readCue(
        _ identifier: String?, _ timing: Substring, _ payload: ArraySlice<Substring>, into file: inout WebVTT
    ) {
        let sides = timing.split(separator: "-->", maxSplits: 1, omittingEmptySubsequences: false)
        let words = sides.last?.split(maxSplits: 1, whereSeparator: isBlank) ?? []
        guard sides.count == 2, let start = WebVTTTime.parse(sides[0].filter { !isBlank($0) }),
            let end = words.first.flatMap({ WebVTTTime.parse($0) }), start <= end
        else {
            file.malformed += 1
            return
        }
        let settings = words.dropFirst().first.map { String($0.drop(while: isBlank)) } ?? ""
        file.cues.append(
            WebVTT.Cue(
                identifier: identifier, start: start, end: end, settings: settings,
                payload: payload.joined(separator: "\n")))
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// `X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000`, in either order.
    private static func readTimestampMap(_ line: Substring, into file: inout WebVTT) {
        guard let range = line.firstRange(of: "X-TIMESTAMP-MAP="), range.lowerBound == line.startIndex else { return }
        var map = WebVTT.TimestampMap.absent
        for part in line[range.upperBound...].split(separator: ",") {
            let sides = part.filter { !isBlank($0) }.split(separator: ":", maxSplits: 1)
            guard sides.count == 2 else { return }
            switch sides[0].uppercased() {
            case "LOCAL":
                guard let local = WebVTTTime.parse(sides[1]) else { return }
                map.local = local
            case "MPEGTS":
                // Some count on past 33 bits.
                guard let media = UInt64(sides[1]) else { return }
                map.media = Ticks(Int64(media & UInt64(Ticks.wrap - 1)))
            default: break
            }
        }
        file.map = map
    }
}
