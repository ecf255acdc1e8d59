import Foundation
import TestSupport
import Testing

@testable import Fetch
@testable import Support

private let openSSL = "/usr/bin/openssl"

struct TrustRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isTrusted: Bool
    var isVerified = true
    let host: String
    let reason: FetchError.Reason?
}

private let trustRows = [
    TrustRow(
        testDescription: "the certificate is self-signed", isTrusted: false, host: "localhost",
        reason: .selfSignedCertificate),
    TrustRow(
        testDescription: "the certificate is for another host", isTrusted: true, host: "127.0.0.1",
        reason: .certificateOfAnotherHost),
    TrustRow(
        testDescription: "the certificate is not verified", isTrusted: false, isVerified: false, host: "127.0.0.1",
        reason: nil),
    TrustRow(testDescription: "the certificate is trusted", isTrusted: true, host: "localhost", reason: nil),
]

/// A new certificate for localhost, used by a server of the openssl command.
@Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openSSL)), arguments: trustRows)
func certificatesAreChecked(row: TrustRow) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let key = directory.appending(path: "key.pem").path
    let certificate = directory.appending(path: "certificate.pem").path
    try makeCertificate(key: key, certificate: certificate)
    let server = try openssl(["s_server", "-www", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate])
    defer { server.process.terminate() }
    let url = "https://\(row.host):\(try #require(try portAccepted(by: server.output)))/"
    var configuration = loopbackConfiguration()
    configuration.verifiesCertificates = row.isVerified
    if row.isTrusted { configuration.certificateAuthorities = certificate }
    let upstream = try CurlFetcher(upstream: url, configuration: configuration)
    switch await upstream.fetch(FetchRequest(.mediaPlaylist, url: url)) {
    case .success(let answer):
        #expect(row.reason == nil)
        #expect(answer.status == 200)
    case .failure(let error): #expect(error.reason == row.reason, "\(error)")
    }
}

/// An https URL whose server knows nothing of TLS.
@Test func anAnswerInPlainHTTPIsNoTLS() async throws {
    let server = try LoopbackServer { _ in [.answer(body: Array("#EXTM3U".utf8))] }
    let url = server.url.replacing("http://", with: "https://") + "/x.m3u8"
    let upstream = try CurlFetcher(upstream: url, configuration: loopbackConfiguration())
    guard case .failure(let error) = await upstream.fetch(FetchRequest(.mediaPlaylist, url: url)) else {
        Issue.record("it was answered")
        return
    }
    #expect(error.reason == .notTLS, "\(error)")
}

/// The fault of a proxy is not the upstream's.
@Test(arguments: [("proxy.invalid:3128", FetchError.Reason.unresolvedProxy), ("127.0.0.1:1", .proxyRefused)])
func aProxyThatIsNotThereIsNamed(proxy: String, reason: FetchError.Reason) async throws {
    let url = "http://upstream.example/x.m3u8"
    var configuration = CurlConfiguration()
    configuration.proxy = Secret("http://\(proxy)")
    let upstream = try CurlFetcher(upstream: url, configuration: configuration)
    guard case .failure(let error) = await upstream.fetch(FetchRequest(.mediaPlaylist, url: url)) else {
        Issue.record("it was answered")
        return
    }
    #expect(error.reason == reason, "\(error)")
}

private func makeCertificate(key: String, certificate: String) throws {
    let made = try openssl([
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
    ])
    made.process.waitUntilExit()
}

/// Starts openssl. The caller keeps the process's input open, because the server ends with it.
private func openssl(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: openSSL)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = Pipe()
    try process.run()
    return (process, pipe.fileHandleForReading)
}

/// Returns the port in the line `ACCEPT 127.0.0.1:41234`; nil if the server ended without it.
private func portAccepted(by output: FileHandle) throws -> Int? {
    var text = ""
    while let data = try output.read(upToCount: 1), !data.isEmpty {
        text += String(decoding: data, as: UTF8.self)
        if data == Data("\n".utf8), text.contains("ACCEPT "), let port = text.split(separator: ":").last {
            return Int(port.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
    return nil
}
