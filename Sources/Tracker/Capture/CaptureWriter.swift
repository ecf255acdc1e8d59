package import Foundation
package import Playlist

/// Writes a capture that can be read after every exchange: the index ends with its closing brackets at all times, and
/// the next exchange is written over them. A body is on the disk before the index names it, so a process that is killed
/// in the middle costs the one exchange it was writing (`CaptureDirectory.isCutOff`).
///
/// What it holds in memory does not grow with what it has written.
package struct CaptureWriter: Sendable {
    static let closing = Data("\n]}\n".utf8)

    package struct Totals: Equatable, Sendable {
        package var exchanges = 0
        /// Of bodies, as answered; those stored only once count each time.
        package var bytes = 0
    }

    package private(set) var totals = Totals()
    private let directory: URL
    private let index: FileHandle
    private var end: UInt64
    private var bodyCount = 0
    /// Bodies stored lately by checksum, to store each once: a key or a playlist comes back many times.
    private var stored = RecentCache<String>(limit: 4096)
    private var redactor: CaptureRedactor

    /// - Parameters:
    ///   - directory: made if need be; holds nothing yet.
    ///   - upstream: absolute address that the recording begins with; `backups`: those that stand in for it.
    /// - Throws: `.alreadyRecorded`, `.notEmpty`, `.unwritable`.
    package init(
        _ directory: URL, upstream: String, about: String = "", variant: VariantChoice = .highest,
        backups: [String] = [],
        mask options: CaptureRedactor.Options = .none
    ) throws(CaptureError) {
        self.directory = directory
        var mask = CaptureRedactor(options)
        let address = mask.redact(url: upstream)
        let head = CaptureIndex(
            upstream: address, about: about, variant: variant, backups: backups.map { mask.redact(url: $0) },
            exchanges: [])
        self.redactor = mask
        let path = try Self.indexURL(in: directory)
        do {
            try FileManager.default.createDirectory(
                at: directory.appending(path: "body"), withIntermediateDirectories: true)
            let opening = try head.opening
            try (opening + Self.closing).write(to: path)
            index = try FileHandle(forUpdating: path)
            end = UInt64(opening.count)
        } catch {
            throw CaptureError(.unwritable, path: path.path, message: error.localizedDescription)
        }
    }

    /// Where the index goes. A recording never mixes with anything else.
    private static func indexURL(in directory: URL) throws(CaptureError) -> URL {
        let index = directory.appending(path: CaptureDirectory.indexName)
        if FileManager.default.fileExists(atPath: index.path) {
            throw CaptureError(.alreadyRecorded, path: index.path)
        }
        let found = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        guard found.isEmpty else { throw CaptureError(.notEmpty, path: directory.path) }
        return index
    }

    /// - Parameters: `at`: when it was asked for, since the recording began; `took`: from there to the end.
    /// - Throws: `.unwritable`.
    package mutating func append(
        _ request: FetchRequest, _ outcome: FetchOutcome, at: Duration, took: Duration
    ) throws(CaptureError) {
        let ending: CapturedExchange.Ending
        switch outcome {
        case .failure(let error): ending = .failure(error.reason)
        case .success(let answer): ending = .answer(try store(answer, asked: request.url))
        }
        let exchange = CapturedExchange(
            at: at, took: took, url: redactor.redact(url: request.url), byteRange: request.byteRange, ending: ending)
        do {
            let line = Data((totals.exchanges == 0 ? "\n" : ",\n").utf8) + (try exchange.line)
            try index.seek(toOffset: end)
            try index.write(contentsOf: line + Self.closing)
            end += UInt64(line.count)
        } catch {
            throw CaptureError(.unwritable, path: directory.path, message: error.localizedDescription)
        }
        totals.exchanges += 1
    }

    private mutating func store(_ answer: FetchAnswer, asked url: String) throws(CaptureError) -> CapturedAnswer {
        let isRefusal = !(200..<300).contains(answer.status)
        // The address asked for comes first, so that it and not the one it leads to is the one without a number.
        let address = redactor.redact(url: url)
        let final = answer.finalURL == url ? nil : redactor.redact(url: answer.finalURL)
        let body =
            isRefusal && redactor.dropsErrorBodies ? [] : redactor.redact(body: answer.body, base: answer.finalURL)
        totals.bytes += answer.body.count
        return CapturedAnswer(
            status: answer.status, finalURL: final == address ? nil : final,
            headers: redactor.redact(headers: answer.headers),
            body: try store(body, from: url), endsAtClose: answer.endsAtClose)
    }

    /// Where the bytes lie, the same file for the same bytes.
    private mutating func store(_ bytes: [UInt8], from url: String) throws(CaptureError) -> CapturedAnswer.Body {
        guard !bytes.isEmpty else { return .text("") }
        let data = Data(bytes)
        let checksum = bytes.checksum
        if let name = stored[checksum], (try? Data(contentsOf: directory.appending(path: name))) == data {
            return .file(name)
        }
        let name = "body/\(String(format: "%06d", bodyCount + 1)).\(Self.fileExtension(of: url))"
        do { try data.write(to: directory.appending(path: name)) } catch {
            throw CaptureError(.unwritable, path: name, message: error.localizedDescription)
        }
        bodyCount += 1
        stored[checksum] = name
        return .file(name)
    }

    /// As in the address, so that a body opens in a player; "bin" when there is none.
    private static func fileExtension(of url: String) -> String {
        let name = URIReference.withoutQuery(url).split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return "bin" }
        let found = name[name.index(after: dot)...]
        let isPlain = (1...5).contains(found.count) && found.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isPlain ? found.lowercased() : "bin"
    }
}
