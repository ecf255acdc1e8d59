import ChannelTestSupport
import Foundation
import LiveRing
import TestSupport
import Testing
import WebTestSupport

@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer
@testable import liverelay

@Suite struct SpoolErrorTests {
    @Test(arguments: SpoolErrorCase.all) func unusableSpoolSaysWhatToDo(_ row: SpoolErrorCase) {
        #expect(row.error.exit == .cannotSpool)
        for text in row.expectedTexts { #expect(row.error.line.contains(text), "\(row.error.line)") }
    }

    @Test func fullDiskErrorNamesFreeAndNeededBytes() {
        let line = RelayError(.diskFull(directory: "/spool", available: 3 << 20, needed: 1 << 30)).line
        for text in ["/spool", "full", "3 MiB free", "1024 MiB"] { #expect(line.contains(text), "\(line)") }
    }

    @Test func pathThatCannotBecomeDirectorySaysWhy() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([1]).write(to: file)
        for (path, reason) in [(file.path, "file exists"), (file.path + "/spool", "not a directory")] {
            let error = #expect(throws: RelayError.self) { _ = try SpoolLocation(path) }
            #expect(error?.exit == .cannotSpool)
            #expect(error?.line.contains("directory \(path): \(reason)") == true, "\(path)")
            #expect(error?.line.contains("--spool") == true)
        }
    }

    /// Root may write anything.
    @Test(.enabled(if: getuid() != 0)) func unwritableDirectoryIsRefusedAtOnce() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
        defer { try? FileManager.default.removeItem(at: directory) }
        let error = #expect(throws: RelayError.self) { _ = try SpoolLocation(directory.path) }
        #expect(error?.line.replacing(directory.path, with: "/spool") == SpoolErrorCase.unwritable.error.line)
    }

    @Test func channelIsNotReadyWhileDiskIsFull() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("pod_of_ten"))
        let state = try await channel.relay(.init(times: .zero ..< .seconds(12), isDiskFull: true))
        let readiness = try RequestTarget(method: .get, uri: "/readyz")
        let response = try #require(ChannelResponder(state).answer(to: readiness).now)
        #expect(response.status == .serviceUnavailable)
        guard case .bytes(let body, _) = response.body else { return #expect(Bool(false)) }
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.hasPrefix("not ready: the disk does not take the channel"), "\(text)")
    }
}
