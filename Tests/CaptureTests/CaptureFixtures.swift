import Foundation

@testable import Capture
@testable import Support

let playlistURL = "http://h/main.m3u8"

/// Calls `body` with an empty directory that is removed afterwards.
func withDirectory<T>(_ body: (URL) async throws -> T) async throws -> T {
    let directory = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

/// A capture of `playlistURL` in memory.
func makeCapture(_ exchanges: [CapturedExchange]) -> CaptureDirectory {
    CaptureDirectory(
        URL(filePath: "/nowhere"), index: CaptureIndex(upstream: playlistURL, about: "", exchanges: exchanges))
}

func makeExchange(
    _ at: Duration, _ url: String, _ text: String, status: Int = 200, range: ByteRange? = nil, took: Duration = .zero
) -> CapturedExchange {
    CapturedExchange(
        at: at, took: took, url: url, byteRange: range,
        ending: .answer(CapturedAnswer(status: status, body: .text(text))))
}
