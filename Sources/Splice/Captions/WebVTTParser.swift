import Media

/// Parses WebVTT files as tolerantly as browsers (W3C WebVTT §6.1).
enum WebVTTParser {
    /// Parses a file. Lines, cues and definitions beyond the limits are dropped.
    /// - Throws: `.unknownContainer` without the signature, `.tooLarge`.
    static func parse(_ bytes: [UInt8]) throws(MediaError) -> WebVTT {
        let section = "RFC 8216 §3.5"
        guard bytes.count <= SubtitleLimits.fileBytes else {
            throw MediaError(.tooLarge(bytes: bytes.count), section: section)
        }
        var (lines, dropsLines) = Self.lines(of: text(of: bytes))
        guard let signature = lines.popFirst(), isSignature(signature) else {
            throw MediaError(.unknownContainer(firstBytes: Array(bytes.prefix(16))), section: section)
        }
        var file = WebVTT()
        if dropsLines { file.dropped = 1 }
        for line in popHeader(&lines) { readTimestampMap(line, into: &file) }
        while let block = popBlock(&lines) { read(block, into: &file) }
        return file
    }

    /// Whether a file begins with the signature.
    static func hasSignature(_ bytes: [UInt8]) -> Bool {
        let line = text(of: bytes).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return isSignature(Substring(decoding: line.prefix(8), as: UTF8.self))
    }

    /// Returns the bytes between a byte order mark and the zeros with which some encryption fills a block.
    private static func text(of bytes: [UInt8]) -> ArraySlice<UInt8> {
        var text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        while text.last == 0 { text.removeLast() }
        return text
    }

    private static func isSignature(_ line: Substring) -> Bool {
        guard line.hasPrefix("WEBVTT") else { return false }
        return line.utf8.count == 6 || line.dropFirst(6).first.map(isBlank) ?? false
    }

    /// Splits the text at line feeds, carriage returns or both. Returns whether lines were dropped.
    private static func lines(of bytes: ArraySlice<UInt8>) -> (lines: ArraySlice<Substring>, isLimited: Bool) {
        let text = String(decoding: bytes.lazy.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        // Swift treats CR LF as one character.
        let lines = text.split(maxSplits: SubtitleLimits.fileLines, omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r" || $0 == "\r\n"
        }
        return (lines.prefix(SubtitleLimits.fileLines), lines.count > SubtitleLimits.fileLines)
    }

    /// Removes and returns the lines up to the first empty line or the first cue timing line.
    private static func popHeader(_ lines: inout ArraySlice<Substring>) -> ArraySlice<Substring> {
        let header = lines.prefix { !$0.isEmpty && !$0.contains("-->") }
        lines = lines.dropFirst(header.count)
        return header
    }

    private static func popBlock(_ lines: inout ArraySlice<Substring>) -> ArraySlice<Substring>? {
        lines = lines.drop { $0.isEmpty }
        guard !lines.isEmpty else { return nil }
        // A timing line begins another block even without an empty line before it.
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
            guard file.definitions.count < SubtitleLimits.definitions else {
                file.dropped += 1
                return
            }
            file.definitions.append(block.joined(separator: "\n"))
        }
        // Some packagers write the map after the empty line.
        if file.map == nil { readTimestampMap(first, into: &file) }
    }

    private static func readCue(
        _ identifier: String?, _ timing: Substring, _ payload: ArraySlice<Substring>, into file: inout WebVTT
    ) {
        let sides = timing.split(separator: "-->", maxSplits: 1, omittingEmptySubsequences: false)
        let fields = sides.last?.split(maxSplits: 1, whereSeparator: isBlank) ?? []
        guard sides.count == 2, let start = WebVTTTime.parse(sides[0].filter { !isBlank($0) }),
            let end = fields.first.flatMap({ WebVTTTime.parse($0) }), start <= end
        else {
            file.malformed += 1
            return
        }
        guard file.cues.count < SubtitleLimits.fileCues else {
            file.dropped += 1
            return
        }
        let settings = fields.dropFirst().first.map { String($0.drop(while: isBlank)) } ?? ""
        file.cues.append(
            WebVTT.Cue(
                identifier: identifier, start: start, end: end, settings: settings,
                payload: payload.joined(separator: "\n")))
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// Reads `X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000` with the fields in either order.
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
                // Some packagers do not wrap at 33 bits.
                guard let media = UInt64(sides[1]) else { return }
                map.media = Ticks(Int64(media & UInt64(Ticks.wrap - 1)))
            default: break
            }
        }
        file.map = map
    }
}
