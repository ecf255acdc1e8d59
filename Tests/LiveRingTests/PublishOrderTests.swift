import Playlist
import Synchronization
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A record of each write of a publish: what the spool had and what viewers saw just before it.
private final class WriteRecorder: Sendable {
    struct Write: Equatable {
        /// The file, without the fingerprint in its name.
        var file: String
        /// Files that were complete under their final names.
        var complete: [String]
        /// The newest visible segment.
        var visible: UInt64?
    }

    private let directory: ScratchDirectory
    private let ring = Mutex<DVRRing?>(nil)
    private let recorded = Mutex<[Write]>([])

    init(_ directory: ScratchDirectory) { self.directory = directory }

    var writes: [Write] { recorded.withLock { $0 } }

    func start(_ ring: DVRRing) {
        self.ring.withLock { $0 = ring }
        recorded.withLock { $0 = [] }
    }

    func stop() { ring.withLock { $0 = nil } }

    func record(_ name: String) {
        guard let ring = ring.withLock({ $0 }) else { return }
        let complete = directory.names.filter { $0.hasPrefix("init-") || $0.hasPrefix("seg-") }.map(Self.short)
        let write = Write(
            file: Self.short(name), complete: complete.filter { !$0.hasSuffix(".part") }.sorted(),
            visible: ring.snapshot.newest?.mediaSequence)
        recorded.withLock { $0.append(write) }
    }

    private static func short(_ name: String) -> String {
        guard name.hasPrefix("seg-"), !name.hasSuffix(".part") else { return name }
        return name.split(separator: "-").prefix(2).joined(separator: "-")
    }
}

struct PublishOrderTests {
    @Test func filesThenJournalThenVisible() async throws {
        let directory = try ScratchDirectory()
        let recorder = WriteRecorder(directory)
        defer { recorder.stop() }
        let spool = try SpoolDirectory(
            directory.path,
            on: FileSystem(fault: { name, _ in
                recorder.record(name)
                return nil
            }))
        let ring = try DVRRing(spool: spool, policy: plentiful, targetDuration: 6)
        try await ring.publish(.numbered(0))
        recorder.start(ring)
        try await ring.publish(.numbered(1, initialization: "init-b.mp4"))
        #expect(
            recorder.writes == [
                .init(file: "init-b.mp4", complete: ["init-a.mp4", "seg-0"], visible: 0),
                .init(file: "seg-1", complete: ["init-a.mp4", "init-b.mp4", "seg-0"], visible: 0),
                .init(file: "ring.m3u8", complete: ["init-a.mp4", "init-b.mp4", "seg-0", "seg-1"], visible: 0),
            ])
        #expect(ring.snapshot.newest?.mediaSequence == 1)
        #expect(!directory.names.contains { $0.hasSuffix(SpoolName.partSuffix) })
    }

    /// A gap has no file: its journal line comes before it is visible.
    @Test func gapIsRecordedBeforeItIsVisible() async throws {
        let directory = try ScratchDirectory()
        let recorder = WriteRecorder(directory)
        defer { recorder.stop() }
        let spool = try SpoolDirectory(
            directory.path,
            on: FileSystem(fault: { name, _ in
                recorder.record(name)
                return nil
            }))
        let ring = try DVRRing(spool: spool, policy: plentiful, targetDuration: 6)
        try await ring.publish(.numbered(0))
        recorder.start(ring)
        try await ring.publishGap(lasting: 540_000, resumePoint: .after(1))
        #expect(recorder.writes == [.init(file: "ring.m3u8", complete: ["init-a.mp4", "seg-0"], visible: 0)])
        #expect(ring.snapshot.newest?.mediaSequence == 1 && ring.snapshot.newest?.isGap == true)
    }
}
