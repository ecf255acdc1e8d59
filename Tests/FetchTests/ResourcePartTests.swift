import Testing

@testable import Fetch
@testable import Support

/// Which bytes an answer brings. Each byte of the resource is its position, and ten of 40 are asked: 10 to 19.
@Suite struct ResourcePartTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var status = 206
        var field: String?
        /// The positions that the body has.
        let body: Range<UInt8>
        /// nil: what was asked.
        var failure: ResourcePart.Failure?
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "the part", field: "bytes 10-19/40", body: 10..<20),
        Row(when: "the part, of a resource of unknown size", field: "bytes 10-19/*", body: 10..<20),
        Row(when: "the part, with an equals sign", field: "Bytes=10-19/40", body: 10..<20),
        Row(when: "the part, without Content-Range", body: 10..<20),
        Row(when: "the part, with its own size for that of the resource", field: "bytes 10-19/10", body: 10..<20),
        Row(when: "the part, with an end that is one too high", field: "bytes 10-20/40", body: 10..<20),
        Row(when: "the part with status 200", status: 200, body: 10..<20),
        Row(when: "more than the part", field: "bytes 8-23/40", body: 8..<24),
        Row(when: "everything from the part on", field: "bytes 10-39/40", body: 10..<40),
        Row(when: "the whole resource with status 200", status: 200, body: 0..<40),
        Row(when: "the whole resource as what it is", field: "bytes 0-39/40", body: 0..<40),
        Row(when: "the whole resource, called the part", field: "bytes 10-19/40", body: 0..<40),
        Row(
            when: "the whole resource, called the part, of unknown size", field: "bytes 10-19/*", body: 0..<40,
            failure: .wrong),
        Row(when: "the whole resource, without Content-Range", body: 0..<40, failure: .wrong),
        Row(when: "other bytes, as many", field: "bytes 20-29/40", body: 20..<30, failure: .wrong),
        Row(when: "other bytes, as many, from before", field: "bytes 0-9/40", body: 0..<10, failure: .short),
        Row(when: "more bytes than are said", field: "bytes 10-19/40", body: 10..<32, failure: .wrong),
        Row(when: "fewer bytes than are said", field: "bytes 10-19/40", body: 10..<15, failure: .short),
        Row(when: "the part as far as the resource goes", field: "bytes 10-14/15", body: 10..<15, failure: .short),
        Row(when: "a resource that is too short", status: 200, body: 0..<15, failure: .short),
        Row(when: "nothing of the part", status: 200, body: 0..<4, failure: .short),
    ]

    private static func answer(_ row: Row) -> FetchAnswer {
        FetchAnswer(
            status: row.status, finalURL: "http://h/a",
            headers: row.field.map { [.init(name: "Content-Range", value: $0)] } ?? [], body: Array(row.body))
    }

    @Test(arguments: rows) func bytesOfARange(_ row: Row) {
        let read = Result { () throws(ResourcePart.Failure) in
            try ResourcePart(of: Self.answer(row), range: 10..<20).bytes
        }
        #expect(read == (row.failure.map { .failure($0) } ?? .success(Array(10..<20))))
        let request = FetchRequest(.segment, url: "http://h/a", byteRange: ByteRange(offset: 10, length: 10))
        let media = Result { () throws(FetchFailure) in try request.media(in: .success(Self.answer(row))).body }
        let failure = row.failure.map { $0 == .short ? FetchFailure.shortRange : .wrongRange }
        #expect(media == (failure.map { .failure($0) } ?? .success(Array(10..<20))))
    }

    /// What was asked for as a whole, and came as a part.
    @Test(arguments: [
        Row(when: "the whole resource", field: "bytes 0-39/40", body: 0..<40),
        Row(when: "the whole resource, called a part", field: "bytes 0-9/40", body: 0..<40),
        Row(when: "without Content-Range", body: 0..<40),
        Row(when: "its beginning", field: "bytes 0-9/40", body: 0..<10, failure: .short),
        Row(when: "its end", field: "bytes 30-39/40", body: 30..<40, failure: .short),
        Row(when: "its end, of unknown size", field: "bytes 30-39/*", body: 30..<40, failure: .short),
        Row(when: "status 200, whatever Content-Range says", status: 200, field: "bytes 0-9/99", body: 0..<40),
    ])
    func wholeResources(_ row: Row) {
        let read = Result { () throws(ResourcePart.Failure) in
            try ResourcePart(of: Self.answer(row), range: nil).bytes
        }
        #expect(read == (row.failure.map { .failure($0) } ?? .success(Array(row.body))))
    }

    @Test func endOfAResource() throws {
        let end = Row(when: "", field: "bytes 10-14/15", body: 10..<15)
        let part = try ResourcePart(of: Self.answer(end), range: 10..<20, mayEndEarly: true)
        #expect(part.bytes == Array(10..<15) && part.resourceSize == 15)
        for row in [Row(when: "", body: 10..<15), Row(when: "", field: "bytes 10-14/*", body: 10..<15)] {
            #expect(throws: ResourcePart.Failure.wrong) {
                try ResourcePart(of: Self.answer(row), range: 10..<20, mayEndEarly: true)
            }
        }
    }

    @Test func rangesAtTheEndOfNumbers() {
        let answer = FetchAnswer(
            status: 206, finalURL: "http://h/a",
            headers: [.init(name: "Content-Range", value: "bytes 0-\(UInt64.max)/*")], body: [1, 2, 3])
        for range in [UInt64.max - 2..<UInt64.max, 0..<UInt64.max, 3..<3] {
            _ = try? ResourcePart(of: answer, range: range).bytes
            _ = try? ResourcePart(of: answer, range: range, mayEndEarly: true).bytes
        }
    }
}
