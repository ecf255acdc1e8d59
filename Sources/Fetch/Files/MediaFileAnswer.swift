import Media
import Support

// Recognizes the answer to a request for a whole resource that is a media file, and reads parts of one.

extension FetchAnswer {
    /// Whether the body is that of a media file, or its beginning.
    package var isMediaFile: Bool { isSuccess && Self.isMediaFile(body, headers: headers) }

    /// Whether a body begins as an MP4 file, or as a transport stream that has an end.
    ///
    /// A stream without end may have a Content-Length too, but no byte ranges.
    static func isMediaFile(_ beginning: [UInt8], headers: [Header]) -> Bool {
        if beginning.beginsWithMovieBox { return true }
        let answer = FetchAnswer(status: 200, finalURL: "", headers: headers, body: [])
        let length = answer.header("content-length").flatMap { UInt64($0) } ?? 0
        return length > 0 && answer.header("accept-ranges")?.lowercased() == "bytes"
            && answer.header("content-encoding") == nil && StreamPart.isStream(beginning)
    }

    /// The part of a file that an answer to a request for a byte range brings, and the size of the file; nil if the answer
    /// is none to such a request.
    package func filePart(of range: Range<UInt64>) -> (bytes: [UInt8], fileSize: UInt64)? {
        if status == 200, range.lowerBound == 0 { return (body, UInt64(body.count)) }
        guard status == 206, let fields = header("content-range")?.lowercased(), fields.hasPrefix("bytes ") else {
            return nil
        }
        let parts = fields.dropFirst("bytes ".count).split { $0 == "-" || $0 == "/" }.map { UInt64($0) }
        guard parts.count == 3, let first = parts[0], let last = parts[1], let size = parts[2],
            first == range.lowerBound,
            last >= first, last < size, UInt64(body.count) == last - first + 1
        else { return nil }
        return (body, size)
    }
}

extension [UInt8] {
    private static let fileTypes = [
        "ftyp", "styp", "moov", "moof", "mdat", "wide", "free", "skip", "pdin", "pnot",
    ]

    /// Whether the bytes begin with the header of a box that an MP4 file may begin with.
    fileprivate var beginsWithMovieBox: Bool {
        count >= 8 && self[0] == 0 && Self.fileTypes.contains { self[4..<8].elementsEqual($0.utf8) }
    }
}
