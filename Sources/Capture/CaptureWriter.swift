package import Fetch
package import Foundation
import Support

/// Writes a capture that is complete on disk after every exchange.
///
/// The index always ends with its closing brackets; the next exchange overwrites them. A body is on disk before the
/// index names it. A killed process therefore loses only the exchange that it was writing
/// (`CaptureDirectory.isTruncated`). Memory use does not grow with the size of the capture.
package struct CaptureWriter: Sendable {
    static let closing = Data("\n]}\n".utf8)

    package struct Totals: Equatable, Sendable {
        package var exchanges = 0
        /// Bytes of all bodies; a body that is stored once for several answers counts for each answer.
        package var bytes = 0
    }

    private(set) var totals = Totals()
    private let directory: URL
    private let index: FileHandle
    /// Offset of the closing brackets in the index.
    private var end: UInt64
    private var lineCount = 0
    private var bodyCount = 0
    /// File names of recently stored bodies by checksum. Keys and playlists recur, and each is stored once.
    private var stored = RecentCache<String>(limit: 4096)
    private var redactor: CaptureRedactor

    /// - Parameters:
    ///   - directory: created if it does not exist; must be empty.
    ///   - index: written without its demands and exchanges, which `append` adds.
    /// - Throws: `.alreadyRecorded`, `.notEmpty`, `.unwritable`.
    package init(
        _ directory: URL, _ index: CaptureIndex, redaction options: CaptureRedactor.Options = .none
    ) throws(CaptureError) {
        self.directory = directory
        redactor = CaptureRedactor(options)
        let head = index.redacted(by: &redactor)
        let path = try Self.indexURL(in: directory)
        do {
            try FileManager.default.createDirectory(
                at: directory.appending(path: "body"), withIntermediateDirectories: true)
            let opening = try head.opening
            try (opening + Self.closing).write(to: path)
            self.index = try FileHandle(forUpdating: path)
            end = UInt64(opening.count)
        } catch {
            throw CaptureError(.unwritable, path: path.path, message: error.localizedDescription)
        }
    }

    /// The URL of the index in `directory`, which must be empty.
    private static func indexURL(in directory: URL) throws(CaptureError) -> URL {
        let index = directory.appending(path: CaptureDirectory.indexName)
        if FileManager.default.fileExists(atPath: index.path) {
            throw CaptureError(.alreadyRecorded, path: index.path)
        }
        let found = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        guard found.isEmpty else { throw CaptureError(.notEmpty, path: directory.path) }
        return index
    }

    /// - Parameters:
    ///   - at: time of the request since the capture began.
    ///   - took: time from the request to the end of the answer.
    ///   - stream: the bytes of a stream that arrived since the stream's last line.
    ///   - continues: whether the next line continues the stream.
    /// - Throws: `.unwritable`.
    package mutating func append(
        _ request: FetchRequest, _ outcome: FetchOutcome, at: Duration, took: Duration,
        stream: (bytes: [UInt8], parts: [CapturedStream.Part])? = nil, continues: Bool = false
    ) throws(CaptureError) {
        let ending: CapturedExchange.Ending
        switch outcome {
        case .failure(let error): ending = .failure(error.reason)
        case .success(let answer): ending = .answer(try store(answer, requested: request.url))
        }
        let exchange = CapturedExchange(
            at: at, took: took, url: redactor.redact(url: request.url), byteRange: request.byteRange, ending: ending,
            stream: try stream.map { stream throws(CaptureError) in
                let file = try store(stream.bytes, as: "ts")
                totals.bytes += stream.bytes.count
                return [CapturedStream(file: file, parts: stream.parts, continues: continues)]
            } ?? [])
        try append(line: exchange)
        totals.exchanges += 1
    }

    /// Records that somebody asks for a variant.
    /// - Throws: `.unwritable`.
    package mutating func append(_ demand: CaptureIndex.Demand) throws(CaptureError) { try append(line: demand) }

    private mutating func append(line: some Encodable) throws(CaptureError) {
        do {
            let line = Data((lineCount == 0 ? "\n" : ",\n").utf8) + (try CaptureIndex.encoder.encode(line))
            try index.seek(toOffset: end)
            try index.write(contentsOf: line + Self.closing)
            end += UInt64(line.count)
            lineCount += 1
        } catch {
            throw CaptureError(.unwritable, path: directory.path, message: error.localizedDescription)
        }
    }

    private mutating func store(_ answer: FetchAnswer, requested url: String) throws(CaptureError) -> CapturedAnswer {
        let isError = !(200..<300).contains(answer.status)
        // Redact the requested URL before the final one, so that the requested URL gets the name without a number.
        let requested = redactor.redact(url: url)
        let final = answer.finalURL == url ? nil : redactor.redact(url: answer.finalURL)
        let body =
            isError && redactor.dropsErrorBodies ? [] : redactor.redact(body: answer.body, base: answer.finalURL)
        totals.bytes += answer.body.count
        return CapturedAnswer(
            status: answer.status, finalURL: final == requested ? nil : final,
            headers: redactor.redact(headers: answer.headers, isFile: answer.isMediaFile),
            body: try store(body, from: url), endsAtClose: answer.endsAtClose)
    }

    /// Stores a body, once for equal bytes, and returns its place.
    private mutating func store(_ bytes: [UInt8], from url: String) throws(CaptureError) -> CapturedAnswer.Body {
        guard !bytes.isEmpty else { return .text("") }
        let data = Data(bytes)
        let checksum = bytes.checksum
        if let name = stored[checksum], (try? Data(contentsOf: directory.appending(path: name))) == data {
            return .file(name)
        }
        let name = try store(bytes, as: Self.fileExtension(of: url))
        stored[checksum] = name
        return .file(name)
    }

    /// Stores bytes in a file of their own. Returns its name.
    private mutating func store(_ bytes: [UInt8], as fileExtension: String) throws(CaptureError) -> String {
        let name = "body/\(String(format: "%06d", bodyCount + 1)).\(fileExtension)"
        do { try Data(bytes).write(to: directory.appending(path: name)) } catch {
            throw CaptureError(.unwritable, path: name, message: error.localizedDescription)
        }
        bodyCount += 1
        return name
    }

    /// The extension of the URL's path, so that players open the body. "bin" if the path has no extension, or an
    /// extension of no media format, which may be part of a secret.
    private static func fileExtension(of url: String) -> String {
        let name = URIReference.withoutQuery(url).split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return "bin" }
        let found = name[name.index(after: dot)...]
        return extensions.contains(found.lowercased()) ? found.lowercased() : "bin"
    }

    private static let extensions: Set = [
        "3gp", "aac", "ac3", "avi", "bin", "cmfa", "cmft", "cmfv", "css", "dash", "dat", "ec3", "flac", "gif", "htm",
        "html",
        "ism", "isma", "ismv", "jpeg", "jpg", "js", "json", "key", "m2ts", "m3u", "m3u8", "m4a", "m4f", "m4s", "m4v",
        "mkv",
        "mov", "mp2", "mp3", "mp4", "mp4a", "mp4v", "mpd", "mpeg", "mpg", "mts", "ogg", "php", "png", "ts", "tsv",
        "ttml",
        "txt", "vtt", "wav", "webm", "webp", "xml",
    ]
}
