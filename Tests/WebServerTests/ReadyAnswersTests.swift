import NIOCore
import Testing

@testable import HTTP
@testable import WebServer

@Suite struct ReadyAnswersTests {
    private static func playlist(_ text: String, cacheControl: CacheControl = .noStore) -> Response {
        let bytes = Array(text.utf8)
        return Response(contentType: .playlist, cacheControl: cacheControl, body: .bytes(bytes, gzip: LazyGzip(bytes)))
    }

    @Test func foundOnlyForTheSameAnswerInTheSameSecond() {
        let answers = ReadyAnswers()
        let response = Self.playlist("a")
        let bytes = ByteBuffer(string: "head a")
        answers.keep(bytes, bodyByteCount: 1, of: response, .identity, second: 10)
        var other = response
        other.cacheControl = .immutable
        var refused = response
        refused.status = .notFound
        let rows: [(what: String, found: Bool, isFound: Bool)] = [
            ("the same", answers.find(response, .identity, second: 10)?.bytes == bytes, true),
            ("compressed", answers.find(response, .gzip, second: 10) != nil, false),
            ("a second later", answers.find(response, .identity, second: 11) != nil, false),
            ("with other fields", answers.find(other, .identity, second: 10) != nil, false),
            ("with another status", answers.find(refused, .identity, second: 10) != nil, false),
            ("the same text, made again", answers.find(Self.playlist("a"), .identity, second: 10) != nil, false),
        ]
        for row in rows { #expect(row.found == row.isFound, "\(row.what)") }
    }

    @Test func boundedInBytes() {
        let answers = ReadyAnswers()
        let large = ByteBuffer(repeating: 0, count: ReadyAnswers.bodyLimit)
        var most = 0
        let responses = (0..<200).map { Self.playlist("\($0)") }
        for response in responses {
            answers.keep(large, bodyByteCount: ReadyAnswers.bodyLimit, of: response, .identity, second: 1)
            most = max(most, answers.byteCount)
        }
        #expect(most <= ReadyAnswers.byteLimit)
        #expect(most > ReadyAnswers.byteLimit - 2 * ReadyAnswers.bodyLimit)
        answers.keep(large, bodyByteCount: ReadyAnswers.bodyLimit + 1, of: responses[0], .gzip, second: 1)
        #expect(answers.find(responses[0], .gzip, second: 1) == nil)
        answers.keep(ByteBuffer(string: "a"), bodyByteCount: 1, of: responses[0], .identity, second: 2)
        #expect(answers.byteCount == 2)
        let huge = Self.playlist(String(repeating: "a", count: ReadyAnswers.byteLimit / 16 + 1))
        answers.keep(ByteBuffer(string: "small, compressed"), bodyByteCount: 1, of: huge, .gzip, second: 2)
        #expect(answers.find(huge, .gzip, second: 2) == nil)
    }
}
