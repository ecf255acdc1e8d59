import Foundation

/// A directory of recordings that is removed with its owner.
final class RecordingFolder {
    let path = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)").path
    deinit { try? FileManager.default.removeItem(atPath: path) }

    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: "\(path)/\(name)"))) }
    func append(_ bytes: [UInt8], to name: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: "\(path)/\(name)"))
        try file.seekToEnd()
        try file.write(contentsOf: bytes)
    }
}
