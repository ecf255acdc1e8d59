import Support

extension PlaylistWriter {
    /// The tags of our playlists whose URI is one of ours. Those of ad markers lead elsewhere.
    private static let tags = ["#EXT-X-MAP:", "#EXT-X-MEDIA:", "#EXT-X-I-FRAME-STREAM-INF:"].map { Array($0.utf8) }
    private static let attribute = Array("URI=\"".utf8)

    /// Adds a folder and a query item to each URI of a playlist that this type has written.
    /// - Parameters:
    ///   - folder: the path before each URI, with a slash at its end.
    ///   - query: percent-coded, such as `token=a`.
    ///   - text: UTF-8.
    package static func adding(folder: String = "", query: String? = nil, toURIsOf text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count + text.count / 4)
        for line in text.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false) {
            if line.startIndex > 0 { result.append(ASCII.lineFeed) }
            append(line, folder, query, to: &result)
        }
        return result
    }

    private static func append(
        _ line: ArraySlice<UInt8>, _ folder: String, _ query: String?, to result: inout [UInt8]
    ) {
        guard line.first == UInt8(ascii: "#") else {
            if !line.isEmpty { append(uri: line, folder, query, to: &result) }
            return
        }
        guard tags.contains(where: { line.starts(with: $0) }), let start = firstIndex(of: attribute, in: line),
            let end = line[start...].firstIndex(of: UInt8(ascii: "\""))
        else {
            result += line
            return
        }
        result += line[..<start]
        append(uri: line[start..<end], folder, query, to: &result)
        result += line[end...]
    }

    private static func append(
        uri: ArraySlice<UInt8>, _ folder: String, _ query: String?, to result: inout [UInt8]
    ) {
        result += folder.utf8
        result += uri
        guard let query else { return }
        result.append(uri.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
        result += query.utf8
    }

    /// The index after the first occurrence of `word`, which begins an attribute.
    private static func firstIndex(of word: [UInt8], in line: ArraySlice<UInt8>) -> Int? {
        line.indices.first { index in
            let before = index > line.startIndex ? line[index - 1] : 0
            return (before == UInt8(ascii: ":") || before == UInt8(ascii: ",")) && line[index...].starts(with: word)
        }.map { $0 + word.count }
    }
}
