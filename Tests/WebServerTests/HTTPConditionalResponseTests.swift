import TestSupport
import Testing

@testable import HTTP
@testable import WebServer

@Suite struct HTTPConditionalResponseTests {
    static let rows: [(when: String, range: String?, bytes: Range<Int>?)] = [
        ("no range", nil, 0..<100), ("inside the file", "bytes=20-29", 20..<30),
        ("the last byte", "bytes=-1", 99..<100),
        ("after the end", "bytes=100-", nil),
    ]

    @Test(arguments: rows)
    func rangeSelectsASliceOfTheFile(when: String, range: String?, bytes: Range<Int>?) throws {
        let response = Response(cacheControl: .noStore, body: .file(path: "f", byteCount: 100))
        let target = try RequestTarget(method: .get, uri: "/f", fields: .init(range: range))
        let slice = bytes.map { ConditionalResponse.FileSlice(path: "f", fileByteCount: 100, bytes: $0) }
        let body = ConditionalResponse(response, to: target, date: "").body
        #expect(body == slice.map { .file($0) } ?? .none, "\(when)")
    }

    /// Over random sizes and ranges: Content-Length is the size of the slice, and the slice lies inside the file.
    @Test func announcedLengthIsTheSizeOfTheSlice() throws {
        var random = SeededGenerator(seed: 206)
        for _ in 0..<1000 {
            let byteCount = Int.random(in: 0...60, using: &random)
            let first = Int.random(in: 0...60, using: &random)
            let last = first + Int.random(in: 0...60, using: &random)
            let target = try RequestTarget(method: .get, uri: "/", fields: .init(range: "bytes=\(first)-\(last)"))
            let response = ConditionalResponse(
                Response(cacheControl: .noStore, body: .file(path: "f", byteCount: byteCount)), to: target, date: "")
            var sent = 0
            if case .file(let slice) = response.body {
                sent = slice.bytes.count
                #expect(sent > 0 && slice.bytes.upperBound <= byteCount)
            }
            #expect(response.fields.first { $0.name == "Content-Length" }?.value == String(sent))
            #expect((response.status == .partialContent) == (sent > 0))
        }
    }

    static let caching: [(cacheControl: CacheControl, fieldValue: String)] = [
        (.noStore, "no-store"), (.maxAge(seconds: 3), "max-age=3"),
        (.renewed(seconds: 2, stale: 1, ifError: 30), "max-age=2, stale-while-revalidate=1, stale-if-error=30"),
        (.immutable, "max-age=31536000, immutable"),
    ]

    @Test(arguments: caching)
    func cacheControlField(cacheControl: CacheControl, fieldValue: String) {
        #expect(cacheControl.fieldValue == fieldValue)
    }
}
