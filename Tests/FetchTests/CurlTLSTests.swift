import Foundation
import TestSupport
import Testing

@testable import Fetch
@testable import Support

private let openSSL = "/usr/bin/openssl"

/// A certificate of a server on loopback, for `localhost`.
private enum Certificate: Sendable {
    case selfSigned
    /// Signed by a private authority.
    case signed, expired
}

private struct TrustRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let certificate: Certificate
    /// Whether the authority, or the certificate itself, is given to the client.
    let isTrusted: Bool
    var isVerified = true
    let host: String
    let reason: FetchError.Reason?
}

private let trustRows = [
    TrustRow(
        testDescription: "a self-signed certificate", certificate: .selfSigned, isTrusted: false, host: "localhost",
        reason: .selfSignedCertificate),
    TrustRow(
        testDescription: "a self-signed certificate for another host", certificate: .selfSigned, isTrusted: true,
        host: "127.0.0.1", reason: .certificateOfAnotherHost),
    TrustRow(
        testDescription: "a certificate that is not verified", certificate: .selfSigned, isTrusted: false,
        isVerified: false, host: "127.0.0.1", reason: nil),
    TrustRow(
        testDescription: "a self-signed certificate that is trusted", certificate: .selfSigned, isTrusted: true,
        host: "localhost", reason: nil),
    TrustRow(
        testDescription: "an authority that nobody knows", certificate: .signed, isTrusted: false, host: "localhost",
        reason: .untrustedCertificate),
    TrustRow(
        testDescription: "an authority that is trusted", certificate: .signed, isTrusted: true, host: "localhost",
        reason: nil),
    TrustRow(
        testDescription: "an authority that is trusted, and another host", certificate: .signed, isTrusted: true,
        host: "127.0.0.1", reason: .certificateOfAnotherHost),
    TrustRow(
        testDescription: "an authority that is trusted, and a certificate of yesterday", certificate: .expired,
        isTrusted: true, host: "localhost", reason: .expiredCertificate),
    TrustRow(
        testDescription: "a certificate of yesterday that is not verified", certificate: .expired, isTrusted: true,
        isVerified: false, host: "localhost", reason: nil),
]

/// New certificates for localhost, used by a server of the openssl command.
@Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openSSL)), arguments: trustRows)
private func certificatesAreChecked(row: TrustRow) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let files = try CertificateFiles(row.certificate, in: directory)
    let server = try openssl([
        "s_server", "-www", "-accept", "127.0.0.1:0", "-key", files.key, "-cert", files.certificate,
    ])
    defer { server.process.terminate() }
    let url = "https://\(row.host):\(try #require(try portAccepted(by: server.output)))/"
    var configuration = loopbackConfiguration()
    configuration.verifiesCertificates = row.isVerified
    if row.isTrusted { configuration.certificateAuthorities = files.authority }
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

/// Files that openssl made.
private struct CertificateFiles {
    let key: String
    let certificate: String
    /// The certificate of the authority.
    let authority: String

    init(_ kind: Certificate, in directory: URL) throws {
        func path(_ name: String) -> String { directory.appending(path: name).path }
        key = path("key.pem")
        certificate = path("certificate.pem")
        authority = kind == .selfSigned ? certificate : path("authority.pem")
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        let name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key]
        if kind == .selfSigned {
            try Self.run(["req", "-x509"] + newKey + ["-days", "1"] + name + ["-out", certificate])
            return
        }
        let (authorityKey, request) = (path("authority-key.pem"), path("request.pem"))
        try Self.run(
            ["req", "-x509"] + newKey + ["-days", "1", "-subj", "/CN=A private authority"]
                + ["-keyout", authorityKey, "-out", authority])
        try Self.run(["req"] + newKey + name + ["-out", request])
        try Self.run(
            ["x509", "-req", "-in", request, "-CA", authority, "-CAkey", authorityKey, "-CAcreateserial"]
                + ["-days", kind == .expired ? "-1" : "1", "-copy_extensions", "copy", "-out", certificate])
    }

    private static func run(_ arguments: [String]) throws {
        let process = try openssl(arguments).process
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
    }
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
