@testable import Fetch
@testable import Support
@testable import Tracker

/// Entry for an upstream's HTTP answers: their header fields, and the signs in a body that it is whole.
enum AnswerEntry {
    static let entry = FuzzEntry(
        "answer", "a URL, the header fields and the body of an answer", largest: 2048,
        dictionary: [
            "\r\n", "HTTP/1.1 200 OK\r\n", "Retry-After: ", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "Age: 86400\r\n",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Cache-Control: ", "max-age=", "s-maxage=",
            "no-store", "9223372036854775807", "http://u:p@[::1]:80/a?b#c", "%2F", [0x47, 0x40, 0, 0x10], "ftyp",
            "moof",
            "mdat", "Content-Range: bytes 3-7/16",
        ],
        seeds: { _ in
            let fields = headers(503) + headers(200)
            let head = "http://u:p@a.example:8080/b?c\nHTTP/1.1 302 Found\r\nLocation: /d\r\nHTTP/1.1 503 Busy\r\n"
            let text = head + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + " folded\r\n\r\n"
            let movie: [UInt8] = [0, 0, 0, 8] + Array("styp".utf8) + [0, 0, 0, 1] + Array("mdat".utf8)
            return [Array(text.utf8) + movie + [0, 0, 0, 0, 0, 0, 0, 16]]
                + TableSeeds.streams.map {
                    Array(text.utf8) + $0.prefix(188 * 6)
                }
        },
        run: { bytes in
            let separator = Array("\r\n\r\n".utf8)
            let end = bytes.firstRange(of: separator) ?? bytes.endIndex..<bytes.endIndex
            let body = Array(bytes[end.upperBound...])
            var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            try checkURL(lines.removeFirst())
            var head = ResponseHead()
            for line in lines { _ = head.receive(line) }
            for status in [200, 206, 503] {
                try check(
                    FetchAnswer(status: status, finalURL: "", headers: head.headers, body: body, endsAtClose: true))
            }
        })

    static func headers(_ status: Int) -> [FetchAnswer.Header] {
        status < 300
            ? [.init(name: "Age", value: "3"), .init(name: "Cache-Control", value: "s-maxage=2, max-age=4")]
            : [
                .init(name: "Retry-After", value: "Sun, 06 Nov 1994 08:49:40 GMT"),
                .init(name: "Date", value: "Sunday, 06-Nov-94 08:49:37 GMT"),
            ]
    }

    /// A URL without user information reads as itself.
    private static func checkURL(_ text: String) throws {
        guard let url = try? HTTPURL(text) else { return }
        let again: HTTPURL
        do throws(FetchError) { again = try HTTPURL(url.text) } catch {
            throw FuzzFinding(description: "\(url.text) of \(text) is refused: \(error)")
        }
        try demand(again.origin == url.origin && again.userInfo == nil, "\(url.text) of \(text) has another origin")
        _ = IPAddress(url.origin.host)?.isPublic
        _ = IPAddressPrefix(text)
    }

    private static func check(_ answer: FetchAnswer) throws {
        let freshness = answer.cacheFreshness
        let times = [answer.retryAfter ?? .zero, freshness.age, freshness.maxAge]
        try demand(times.allSatisfy { $0 >= .zero && $0 <= .seconds(10_000 * 366 * 86_400) }, "times of \(times)")
        let repeatTime = freshness.repeatTime(segmentDuration: .seconds(6), hasSeenCache: true)
        try demand(repeatTime >= .zero, "a cache that repeats for \(repeatTime)")
        let ranges = [nil, ByteRange(offset: 3, length: 5), ByteRange(offset: .max, length: .max)]
        for range in ranges {
            let request = FetchRequest(.segment, url: "http://a/", byteRange: range, duration: .seconds(6))
            for isEncrypted in [false, true] {
                _ = try? request.media(in: .success(answer), isEncrypted: isEncrypted, acceptsShort: false)
            }
        }
    }
}
