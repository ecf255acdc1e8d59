import Foundation

/// Writes a capture that can be read after every exchange: the index ends with its closing brackets at all times, and
/// the next exchange is written over them.
struct CaptureWriter {
    private static let closing = Data("\n]}\n".utf8)

    private let directory: URL
    private let index: FileHandle
    private var end: UInt64
    private var exchangeCount = 0
    private var bodyCount = 0
    /// Bodies stored so far by checksum, to store each once: a key or a playlist comes back many times.
    private var stored: [UInt64: [String]] = [:]
    private let encoder = JSONEncoder()

    /// - Throws: `.alreadyRecorded`, `.unwritable`.
    init(_ directory: URL, upstream: String, about: String) throws(CaptureError) {
        let path = directory.appending(path: CaptureDirectory.indexName)
        guard !FileManager.default.fileExists(atPath: path.path) else {
            throw CaptureError(.alreadyRecorded, path: path.path)
        }
        self.directory = directory
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let bodies = directory.appending(path: "body")
            try FileManager.default.createDirectory(at: bodies, withIntermediateDirectories: true)
            let names = try [upstream, about].map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
            let opening = Data("{\"upstream\": \(names[0]),\n\"about\": \(names[1]),\n\"exchanges\": [".utf8)
            try (opening + Self.closing).write(to: path)
            index = try FileHandle(forUpdating: path)
            end = UInt64(opening.count)
        } catch {
            throw CaptureError(.unwritable, path: path.path, message: error.localizedDescription)
        }
    }

    /// - Throws: `.unwritable`.
    mutating func append(_ exchange: CapturedExchange) throws(CaptureError) {
        do {
            let separator = Data((exchangeCount == 0 ? "\n" : ",\n").utf8)
            let line = separator + (try encoder.encode(exchange))
            try index.seek(toOffset: end)
            try index.write(contentsOf: line + Self.closing)
            end += UInt64(line.count)
            exchangeCount += 1
        } catch {
            throw CaptureError(.unwritable, path: directory.path, message: error.localizedDescription)
        }
    }

    /// - Returns: where the bytes lie, the same file for the same bytes.
    /// - Throws: `.unwritable`.
    mutating func store(_ bytes: [UInt8], from url: String) throws(CaptureError) -> CapturedAnswer.Body {
        guard !bytes.isEmpty else { return .text("") }
        let data = Data(bytes)
        let checksum = bytes.checksum
        for name in stored[checksum, default: []]
        where (try? Data(contentsOf: directory.appending(path: name))) == data { return .file(name) }
        let name = "body/\(String(format: "%06d", bodyCount + 1)).\(Self.fileExtension(of: url))"
        do { try data.write(to: directory.appending(path: name)) } catch {
            throw CaptureError(.unwritable, path: name, message: error.localizedDescription)
        }
        bodyCount += 1
        stored[checksum, default: []].append(name)
        return .file(name)
    }

    /// As in the address, so that a body opens in a player; "bin" when there is none.
    private static func fileExtension(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return "bin" }
        let found = name[name.index(after: dot)...]
        let isPlain = (1...5).contains(found.count) && found.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isPlain ? found.lowercased() : "bin"
    }
}

extension [UInt8] {
    /// FNV-1a, 64 bits; a hint only, equal bytes are compared.
    fileprivate var checksum: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}
