import Foundation
import StoreTestSupport
import Support
import TestSupport
import Testing

@testable import ArchiveStore
@testable import LiveRing

/// The numbers of the first segments of two hours of segments of 4 s.
private let hours = [0..<90, 900..<990]

/// A store with those segments, and a reader of it.
private struct StoredHours {
    let server: LoopbackServer
    let cache: CopyCache
    let reader: ArchiveReader

    init(in directory: String) throws {
        var (texts, listing) = ([String: [UInt8]](), "<ListBucketResult>")
        for (hour, numbers) in hours.enumerated() {
            let key = IndexKey(
                hour: IndexKey.hour(of: noon) + Int64(hour), writer: "a", firstMediaSequence: UInt64(numbers.lowerBound)
            )
            var index = head
            for n in numbers { index.append(.numbered(n), isLost: false) }
            let files = index.entries.map(\.segment)
            index.append(ArchiveIndex.Object(name: String(repeating: "\(hour)", count: 64) + ".m4s", files: files))
            texts[key.text] = index.text
            listing += "<Contents><Key>tv/\(key.text)</Key><Size>1</Size><ETag>e</ETag></Contents>"
        }
        let (answers, list) = (texts, Array("\(listing)</ListBucketResult>".utf8))
        server = try LoopbackServer { request in
            let text = answers.first { request.target.contains($0.key) }?.value
            let body = text ?? (request.target.contains("list-type=2") ? list : [])
            let status = body.isEmpty ? "404 Not Found" : "200 OK"
            return [.send(Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)]
        }
        cache = CopyCache(in: try CacheDirectory(directory), byteLimit: 1 << 20)
        let store = try ObjectStore(
            StoreURL(parsing: "s3://archive/tv?endpoint=http://127.0.0.1:\(server.port)"),
            credentials: StoreCredentials(keyID: "k", secretKey: Secret("s"))
        ) { noon.millisecondsSince1970 }
        reader = ArchiveReader(
            store, cache: cache, policy: RetentionPolicy(rewind: nil), redirects: false
        ) { nil }
    }
}

private enum Asked {
    case segments([Int])
    /// Seconds since noon.
    case range(Int64, Int64)
    /// A segment that the store has lost meanwhile.
    case lost(Int)
}

private let rows: [(when: String, asked: [Asked], made: Int)] = [
    ("each segment of an hour", [.segments(Array(hours[0]))], 1),
    ("each segment of two hours", [.segments(hours.flatMap(\.self))], 2),
    ("two hours in turns", [.segments((0..<180).map { hours[$0 % 2].lowerBound + $0 / 2 })], 2),
    ("ranges of the same hours", (0..<100).map { .range($0, $0 + 60) }, 1),
    ("a range and its segments", [.range(10, 70), .segments(Array(2..<18)), .range(20, 80)], 2),
    ("a segment that the store has lost", [.segments([5]), .lost(5), .segments([6, 7, 8])], 2),
]

@Suite struct ArchiveReaderTests {
    @Test(arguments: rows.indices)
    func partsAreMadeOncePerVersion(row: Int) async throws {
        let row = rows[row]
        let directory = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let stored = try StoredHours(in: directory)
        for asked in row.asked {
            switch asked {
            case .segments(let numbers):
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for name in numbers.map({ RingEntry.numbered($0).segment.name }) {
                        group.addTask { try await stored.reader.part(ofFile: name) != nil }
                    }
                    for try await isFound in group { #expect(isFound, "\(row.when)") }
                }
            case .range(let start, let end):
                let part = try await stored.reader.part(
                    from: noon.advanced(byMilliseconds: start * 1000), to: noon.advanced(byMilliseconds: end * 1000),
                    with: nil)
                #expect(part?.snapshot.index.entry(numbered: 17) != nil, "\(row.when)")
            case .lost(let n):
                let name = RingEntry.numbered(n).segment.name
                let part = try await stored.reader.part(ofFile: name)
                await #expect(throws: RingError.self) {
                    _ = try await part?.snapshot.remote?.path(of: SpoolFile(name: name, byteCount: 100 + n))
                }
                let next = try await stored.reader.part(ofFile: name)
                #expect(next?.snapshot.index.entry(numbered: UInt64(n))?.isGap == true, "\(row.when)")
            }
        }
        #expect(await stored.cache.parts.madeCount == row.made, "\(row.when)")
    }

    @Test func partsOfTwoHoursDiffer() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let stored = try StoredHours(in: directory)
        var versions: Set<String> = []
        for hour in hours {
            let name = RingEntry.numbered(hour.lowerBound).segment.name
            versions.insert(try #require(try await stored.reader.part(ofFile: name)).version)
        }
        #expect(versions.count == 2)
    }
}
