import TestSupport
import Testing

@testable import liverelay

/// What goes out for what a responder said: the files of a clip, cut like one file.
@Suite struct HTTPConditionalResponseTests {
    static let clip = [
        BodyFile(path: "init", byteCount: 10), BodyFile(path: "nothing", byteCount: 0),
        BodyFile(path: "one", byteCount: 100), BodyFile(path: "two", byteCount: 100),
    ]

    static let rows: [(when: String, range: String?, slices: [String])] = [
        ("all of it", nil, ["init 0..<10", "one 0..<100", "two 0..<100"]),
        ("inside one file", "bytes=20-29", ["one 10..<20"]),
        ("across a border", "bytes=105-114", ["one 95..<100", "two 0..<5"]),
        ("across all borders", "bytes=9-110", ["init 9..<10", "one 0..<100", "two 0..<1"]),
        ("up to a border", "bytes=0-9", ["init 0..<10"]),
        ("the last byte", "bytes=-1", ["two 99..<100"]),
        ("past the end", "bytes=210-", []),
    ]

    @Test(arguments: rows)
    func filesAreCutAsOne(when: String, range: String?, slices: [String]) throws {
        let response = Response(contentType: .videoMP4, cacheControl: .noStore, body: .files(Self.clip))
        let target = try RequestTarget(method: .get, uri: "/clip.mp4", fields: .init(range: range))
        let framed = ConditionalResponse(response, to: target, date: "")
        #expect(Self.describe(framed.body) == slices, "\(when)")
    }

    private static func describe(_ body: ConditionalResponse.Body) -> [String] {
        guard case .files(let slices) = body else { return [] }
        return slices.map { "\($0.file.path) \($0.bytes)" }
    }

    /// Over random files and ranges: Content-Length is the sum of the slices, and no slice leaves its file.
    @Test func announcedLengthIsTheSumOfTheSlices() throws {
        var random = SeededGenerator(seed: 206)
        for _ in 0..<1000 {
            let sizes = (0...Int.random(in: 0...6, using: &random)).map { _ in Int.random(in: 0...20, using: &random) }
            let files = sizes.map { BodyFile(path: "f", byteCount: $0) }
            let first = Int.random(in: 0...60, using: &random)
            let target = try RequestTarget(
                method: .get, uri: "/",
                fields: .init(range: "bytes=\(first)-\(first + Int.random(in: 0...60, using: &random))"))
            let framed = ConditionalResponse(
                Response(cacheControl: .noStore, body: .files(files)), to: target, date: "")
            var sent = 0
            if case .files(let slices) = framed.body {
                sent = slices.reduce(0) { $0 + $1.bytes.count }
                #expect(slices.allSatisfy { !$0.bytes.isEmpty && $0.bytes.upperBound <= $0.file.byteCount })
            }
            let announced = framed.fields.first { $0.name == "Content-Length" }?.value
            #expect(announced == String(sent))
            #expect((framed.status == .partialContent) == (sent > 0))
        }
    }

    static let caching: [(when: CacheControl, field: String)] = [
        (.noStore, "no-store"), (.maxAge(seconds: 3), "max-age=3"), (.immutable, "max-age=31536000, immutable"),
    ]

    @Test(arguments: caching)
    func cacheControl(when: CacheControl, field: String) {
        #expect(when.fieldValue == field)
    }
}
