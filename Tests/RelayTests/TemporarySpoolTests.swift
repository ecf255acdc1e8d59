import Foundation
import LiveRing
import Testing

@testable import liverelay

/// What lies in a directory for temporary files when a process begins, and whether that is left of one that was killed.
private let rows: [(what: String, name: String, isLeft: Bool)] = [
    ("a spool that nobody holds", "liverelay-9B1C5A2E-6D0F-4C0B-9E38-0A5C3F0D1E77", true),
    ("a directory of another name", "liverelay-test", false),
    ("a name of ours with more behind it", "liverelay-9B1C5A2E-6D0F-4C0B-9E38-0A5C3F0D1E77.bak", false),
    ("another program's", "9B1C5A2E-6D0F-4C0B-9E38-0A5C3F0D1E77", false),
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

@Test(arguments: rows.indices) func whatKilledProcessesLeftIsRemoved(row: Int) async throws {
    let (what, name, isLeft) = rows[row]
    try await withDirectory { parent in
        let directory = parent.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: directory.appending(path: "ring.lock"))
        let spool = try TemporarySpool(in: parent)
        #expect(spool.removedCount == (isLeft ? 1 : 0), "\(what)")
        #expect(try names(in: parent).contains(name) == !isLeft, "\(what)")
        spool.remove()
        #expect(try names(in: parent).subtracting([name]).isEmpty, "\(what)")
    }
}

@Test func whatAProcessHoldsIsNotRemoved() async throws {
    try await withDirectory { parent in
        // One that has begun, and one of an earlier version that only its ring's lock tells of.
        let begun = try TemporarySpool(in: parent)
        let path = parent.appending(path: "liverelay-\(UUID().uuidString)").path
        let ring = try DVRRing(directory: path, policy: RetentionPolicy(rewind: nil), targetDuration: 2)
        let linked = parent.appending(path: "liverelay-\(UUID().uuidString)").path
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: NSTemporaryDirectory())
        let next = try TemporarySpool(in: parent)
        #expect(next.removedCount == 0 && next.path != begun.path)
        #expect(try names(in: parent).count == 4)
        withExtendedLifetime((begun, ring)) {}
    }
}
