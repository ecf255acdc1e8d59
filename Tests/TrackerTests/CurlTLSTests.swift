import Foundation
import Testing

@testable import Tracker

/// A certificate nobody vouches for: the openssl command's own server, on a port of the system's choice.
@Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")))
func anUnknownCertificateIsATLSFailure() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let certificate = directory.appending(path: "both.pem").path
    let request = try openssl([
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
        "/CN=localhost", "-keyout", certificate, "-out", certificate + ".crt",
    ])
    request.process.waitUntilExit()
    let server = try openssl(["s_server", "-accept", "127.0.0.1:0", "-key", certificate, "-cert", certificate + ".crt"])
    defer { server.process.terminate() }
    let port = try #require(try portAccepted(by: server.output))
    let url = "https://127.0.0.1:\(port)/main.m3u8"
    let upstream = try CurlUpstream(upstream: url, configuration: loopbackConfiguration())
    let outcome = await upstream.fetch(FetchRequest(.mediaPlaylist, url: url))
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.reason == .tlsFailure, "\(error)")
}

private func openssl(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = Pipe()
    try process.run()
    return (process, pipe.fileHandleForReading)
}

/// From the line `ACCEPT 127.0.0.1:41234`; nil when the server ended without one.
private func portAccepted(by output: FileHandle) throws -> Int? {
    var text = ""
    while let data = try output.read(upToCount: 1), !data.isEmpty {
        text += String(decoding: data, as: UTF8.self)
        if data == Data("\n".utf8), let port = text.split(separator: ":").last, text.contains("ACCEPT ") {
            return Int(port.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
    return nil
}
