import DASH
package import Fetch
package import Foundation
import Playlist

/// A capture on disk: `index.json` and the body files that it names.
package struct CaptureDirectory: Sendable {
    static let indexName = "index.json"

    package let url: URL
    package let index: CaptureIndex
    /// Whether the index ends in the middle of a line because the capturing process was killed.
    ///
    /// `index` holds every exchange before that line.
    package private(set) var isTruncated = false

    /// - Throws: `.unreadable`, or `.malformedIndex` with the coding path in the JSON.
    package init(_ url: URL) throws(CaptureError) {
        let path = url.appending(path: Self.indexName).path
        let data: Data
        do { data = try Data(contentsOf: url.appending(path: Self.indexName)) } catch {
            throw CaptureError(.unreadable, path: path, message: error.localizedDescription)
        }
        do {
            self.init(url, index: try JSONDecoder().decode(CaptureIndex.self, from: data))
        } catch {
            guard let index = Self.repaired(data) else {
                throw CaptureError(.malformedIndex, path: path, message: Self.codingPath(of: error))
            }
            self.init(url, index: index)
            isTruncated = true
        }
    }

    /// Closes the index after its last complete line.
    /// - Returns: nil if `CaptureWriter` cannot have left the index like this.
    private static func repaired(_ data: Data) -> CaptureIndex? {
        guard data.suffix(CaptureWriter.closing.count) != CaptureWriter.closing else { return nil }
        var rest = data
        for _ in 0..<3 {
            if let index = try? JSONDecoder().decode(CaptureIndex.self, from: rest + CaptureWriter.closing) {
                return index
            }
            guard let lineFeed = rest.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
            rest = rest[..<lineFeed]
            if rest.last == UInt8(ascii: ",") { rest.removeLast() }
        }
        return nil
    }

    package init(_ url: URL, index: CaptureIndex) { (self.url, self.index) = (url, index) }

    /// - Throws: `.foreignPath` for a file outside the directory, `.unreadable` for a missing file.
    package func bytes(of body: CapturedAnswer.Body) throws(CaptureError) -> [UInt8] {
        switch body {
        case .text(let text): return Array(text.utf8)
        case .file(let path): return try read(path) { try Data(contentsOf: $0) }
        }
    }

    /// Whether a body begins like a playlist.
    func isPlaylist(_ body: CapturedAnswer.Body) throws(CaptureError) -> Bool {
        let beginning = try beginning(of: body).prefix(64)
        return (try? PlaylistLines(playlist: Array(beginning))) != nil
    }

    func isManifest(_ body: CapturedAnswer.Body) throws(CaptureError) -> Bool {
        DASHManifestParser.isManifest(try beginning(of: body))
    }

    private func beginning(of body: CapturedAnswer.Body) throws(CaptureError) -> [UInt8] {
        switch body {
        case .text(let text): return Array(text.utf8.prefix(4096))
        case .file(let path): return try read(path) { try Self.part(of: $0, from: 0, count: 4096) }
        }
    }

    /// Bytes of a file from `offset` on.
    /// - Throws: as `bytes(of:)`, also for a file that is too short.
    func bytes(of path: String, from offset: Int, count: Int) throws(CaptureError) -> [UInt8] {
        let bytes = try read(path) { try Self.part(of: $0, from: offset, count: count) }
        guard bytes.count == count else {
            throw CaptureError(.unreadable, path: path, message: "the file is too short")
        }
        return bytes
    }

    private static func part(of file: URL, from offset: Int, count: Int) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        return try handle.read(upToCount: count) ?? Data()
    }

    private func read(_ path: String, _ contents: (URL) throws -> Data) throws(CaptureError) -> [UInt8] {
        guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else {
            throw CaptureError(.foreignPath, path: path)
        }
        do { return Array(try contents(url.appending(path: path))) } catch {
            throw CaptureError(.unreadable, path: path, message: error.localizedDescription)
        }
    }

    /// The captured answer with its body, as the fetcher returned it.
    /// - Parameter url: the requested URL.
    package func answer(_ answer: CapturedAnswer, to url: String) throws(CaptureError) -> FetchAnswer {
        FetchAnswer(
            status: answer.status, finalURL: answer.finalURL ?? url, headers: answer.headers,
            body: try bytes(of: answer.body), endsAtClose: answer.endsAtClose)
    }

    private static func codingPath(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return error.localizedDescription }
        switch error {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            return "\(path): \(context.debugDescription)"
        @unknown default: return error.localizedDescription
        }
    }
}

package struct CaptureError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case unreadable
        case unwritable
        /// The directory already holds an index; a capture never replaces another one.
        case alreadyRecorded
        /// The directory holds other files.
        case notEmpty
        case malformedIndex
        /// The index names a body file outside the capture's directory.
        case foreignPath
        /// No exchange was captured in the requested time range.
        case emptyTimeRange
        /// The upstream was a stream, which is replayed and not served.
        case stream
        /// A DASH manifest cannot restart at its end.
        case unloopable
    }

    package let reason: Reason
    package let path: String
    /// Details, such as the system's error; empty if `reason` is sufficient.
    package let message: String

    package init(_ reason: Reason, path: String, message: String = "") {
        self.reason = reason
        self.path = path
        self.message = message
    }
}
