import Foundation
import LiveRing
import Testing

@testable import liverelay

/// Directories that exist when a process starts, and whether they belong to a killed process.
private let rows: [(when: String, name: String, isLeftover: Bool)] = [
    ("a spool without a lock", "liverelay-9B1C5A2E-6D0F-4C0B-9E38-0A5C3F0D1E77", true),
    ("a directory with another name", "liverelay-test", false),
    ("a name of liverelay with a suffix", "liverelay-9B1C5A2E-6D0F-4C0B-9E38-0A5C3F0D1E77.bak", false),
    ("a directory of another program", "9B1C5A2E-6D0F-4C0B-9E38-0A5C3F0D1E77", false),
]

private func withDirectory(_ use: (URL) async throws -> Void) async throws {
    let parent = FileManager.default.temporaryDirectory.appending(path: "test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: parent) }
    try await use(parent)
}

private func names(in parent: URL) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: parent.path))
}

@Test(arguments: rows.indices) func spoolsOfKilledProcessesAreRemoved(row: Int) async throws {
    let (when, name, isLeftover) = rows[row]
    try await withDirectory { parent in
        let directory = parent.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: directory.appending(path: "ring.lock"))
        let spool = try TemporarySpool(in: parent)
        #expect(spool.removedCount == (isLeftover ? 1 : 0), "\(when)")
        #expect(try names(in: parent).contains(name) == !isLeftover, "\(when)")
        spool.remove()
        #expect(try names(in: parent).subtracting([name]).isEmpty, "\(when)")
    }
}

@Test func onlyItsUserSeesATemporarySpool() async throws {
    try await withDirectory { parent in
        let spool = try TemporarySpool(in: parent)
        let attributes = try FileManager.default.attributesOfItem(atPath: spool.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
}

@Test func spoolsOfRunningProcessesAreKept() async throws {
    try await withDirectory { parent in
        // A running process, and one of an earlier version that locks only its ring.
        let running = try TemporarySpool(in: parent)
        let path = parent.appending(path: "liverelay-\(UUID().uuidString)").path
        let ring = try DVRRing(directory: path, policy: RetentionPolicy(rewind: nil), targetDuration: 2)
        let linked = parent.appending(path: "liverelay-\(UUID().uuidString)").path
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: NSTemporaryDirectory())
        let next = try TemporarySpool(in: parent)
        #expect(next.removedCount == 0 && next.path != running.path)
        #expect(try names(in: parent).count == 4)
        withExtendedLifetime((running, ring)) {}
    }
}
