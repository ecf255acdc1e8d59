import Support
import Synchronization
import Testing

@testable import Fetch

/// A file whose origin sends no parts of it is read from its beginning on.
@Suite struct ForwardReaderTests {
    /// Sends the file in parts to each request. Connections may end before the end of the file.
    private final class Origin: Fetcher {
        let byteCount: Int
        let partBytes: Int
        /// Where each connection ends; later ones do not.
        let ends: [(place: Int, outcome: FetchOutcome)]
        private let counts = Mutex((connections: 0, parts: 0))

        init(byteCount: Int, partBytes: Int, ends: [(place: Int, outcome: FetchOutcome)] = []) {
            (self.byteCount, self.partBytes, self.ends) = (byteCount, partBytes, ends)
        }

        var connections: Int { counts.withLock { $0.connections } }
        var parts: Int { counts.withLock { $0.parts } }

        /// A part of the file, which repeats itself at no distance that a reader might confuse.
        private static let pattern = (0..<65_537).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

        static func bytes(_ range: Range<Int>) -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < range.count {
                let start = (range.lowerBound + bytes.count) % pattern.count
                bytes += pattern[start...].prefix(range.count - bytes.count)
            }
            return bytes
        }

        func fetch(_ request: FetchRequest) async -> FetchOutcome { .failure(FetchError(.other, url: request.url)) }

        func fetch(
            _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
        ) async -> FetchOutcome {
            let number = counts.withLock { counts in
                counts.connections += 1
                return counts.connections - 1
            }
            let end = number < ends.count ? ends[number].place : byteCount
            for start in stride(from: 0, to: end, by: partBytes) {
                if Task.isCancelled { return .failure(FetchError(.canceled, url: request.url)) }
                counts.withLock { $0.parts += 1 }
                let bytes = Self.bytes(start..<min(start + partBytes, end))
                await receive(StreamPart(finalURL: "http://cdn/", bytes: bytes))
            }
            if number < ends.count { return ends[number].outcome }
            return .success(FetchAnswer(status: 200, finalURL: request.url, body: []))
        }
    }

    private static let url = "http://h/movie.mp4"

    private static func read(
        _ reader: ForwardReader, _ range: Range<Int>, of byteCount: Int
    ) async -> Result<[UInt8], FetchError> {
        var request = FetchRequest(
            .segment, url: url, byteRange: ByteRange(offset: UInt64(range.lowerBound), length: UInt64(range.count)))
        request.wholeByteCount = UInt64(byteCount)
        return await reader.read(request).map { answer in
            let part = answer.filePart(of: UInt64(range.lowerBound)..<UInt64(range.upperBound))
            #expect(part?.fileSize == UInt64(byteCount) && answer.finalURL == "http://cdn/")
            return part?.bytes ?? []
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var byteCount = 1000
        var partBytes = 64
        var reads: [Range<Int>]
        var connections = 1
        /// The parts that the origin could pass on, at most.
        var parts: Int
        var testDescription: String { when }
    }

    private static let distant = ForwardReader.windowBytes * 3

    static let rows = [
        Row(when: "one after the other", reads: [0..<100, 100..<300, 300..<1000], parts: 16),
        Row(when: "no more than is read, and a part", reads: [0..<100, 100..<130], parts: 4),
        Row(when: "overlapping, and in any order", reads: [300..<500, 0..<300, 450..<700, 449..<450], parts: 12),
        Row(when: "beyond the end", reads: [900..<2000], parts: 16),
        Row(
            when: "before the window, as in the next round of a loop", byteCount: distant, partBytes: 1 << 20,
            reads: [0..<50, (distant - 50)..<distant, 0..<50], connections: 2, parts: 50),
        Row(
            when: "far from the beginning, and in the window before it", byteCount: distant, partBytes: 1 << 20,
            reads: [(distant - 50)..<distant, (distant - ForwardReader.windowBytes)..<(distant - 100)], parts: 48),
    ]

    @Test(arguments: rows) func parts(_ row: Row) async throws {
        let origin = Origin(byteCount: row.byteCount, partBytes: row.partBytes)
        let reader = ForwardReader(origin)
        for range in row.reads {
            let expected = Origin.bytes(range.clamped(to: 0..<row.byteCount))
            #expect(try await Self.read(reader, range, of: row.byteCount).get() == expected, "\(range)")
        }
        #expect(origin.connections == row.connections && origin.parts <= row.parts)
    }

    @Test func readerThatNobodyAsksBeginsAgain() async throws {
        let origin = Origin(byteCount: 1000, partBytes: 64)
        let reader = ForwardReader(origin)
        _ = await Self.read(reader, 0..<100, of: 1000)
        await reader.closeIfIdle()
        #expect(try await Self.read(reader, 200..<300, of: 1000).get() == Origin.bytes(200..<300))
        #expect(origin.connections == 2)
    }

    @Test func readsTakeTurns() async throws {
        let origin = Origin(byteCount: 1000, partBytes: 7)
        let reader = ForwardReader(origin)
        try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for start in stride(from: 0, to: 1000, by: 100) {
                group.addTask { (start, try await Self.read(reader, start..<start + 100, of: 1000).get()) }
            }
            for try await (start, bytes) in group { #expect(bytes == Origin.bytes(start..<start + 100)) }
        }
        #expect(origin.connections == 1)
    }

    static let ends: [(when: String, outcome: FetchOutcome, reason: FetchError.Reason)] = [
        ("a connection fails", .failure(FetchError(.reset, url: url)), .reset),
        (
            "the file is shorter than announced", .success(FetchAnswer(status: 200, finalURL: url, body: [])),
            .shortBody
        ),
    ]

    @Test(arguments: ends.indices) func readAfterAFailure(_ index: Int) async throws {
        let row = Self.ends[index]
        let origin = Origin(byteCount: 1000, partBytes: 64, ends: [(500, row.outcome)])
        let reader = ForwardReader(origin)
        #expect(try await Self.read(reader, 0..<100, of: 1000).get().count == 100)
        let failed = await Self.read(reader, 400..<600, of: 1000)
        guard case .failure(let error) = failed else { return #expect(Bool(false), "\(row.when)") }
        #expect(error.reason == row.reason, "\(row.when)")
        #expect(try await Self.read(reader, 400..<600, of: 1000).get() == Origin.bytes(400..<600))
        #expect(origin.connections == 2)
    }

    @Test func refusalIsPassedOn() async throws {
        let refusal = FetchAnswer(status: 403, finalURL: Self.url, body: [])
        let reader = ForwardReader(Origin(byteCount: 1000, partBytes: 64, ends: [(0, .success(refusal))]))
        var request = FetchRequest(.segment, url: Self.url, byteRange: ByteRange(offset: 0, length: 10))
        request.wholeByteCount = 1000
        #expect(await reader.read(request) == .success(refusal))
        request = FetchRequest(.segment, url: Self.url, byteRange: ByteRange(offset: 1000, length: 10))
        request.wholeByteCount = 1000
        guard case .failure = await reader.read(request) else { return #expect(Bool(false), "nothing is there") }
    }
}
