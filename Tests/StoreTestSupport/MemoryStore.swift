package import ArchiveStore
import Foundation
package import Support
import Synchronization
import TestSupport

package let noon = ProgramDateTime(millisecondsSince1970: 1_767_355_200_000)  // 2026-01-02T12:00:00Z

/// A store in memory, which does what a test says: it has another clock, lies, or answers late.
package final class MemoryStore: Sendable {
    package struct State {
        /// By their keys below the bucket.
        package var objects: [String: [UInt8]] = [:]
        /// What is answered in the place of an object.
        package var lies: [String: [UInt8]] = [:]
        /// Seconds by which the clock is ahead.
        package var clockOffset: Int64 = 0
        /// Whether dates of requests are compared with the clock.
        package var checksDates = false
        /// `PUT key`, `GET key bytes=0-9`, `LIST prefix after`
        package var requests: [String] = []
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private let shared = Shared()
    private let server: LoopbackServer

    package init() throws {
        server = try LoopbackServer { [shared] request in
            [.send(shared.state.withLock { Self.answer(request, &$0) })]
        }
    }

    package var requests: [String] { shared.state.withLock { $0.requests } }
    package var keys: [String] { shared.state.withLock { $0.objects.keys.sorted() } }

    package func change<Value: Sendable>(_ body: (inout sending State) -> sending Value) -> Value {
        shared.state.withLock(body)
    }

    package subscript(key: String) -> [UInt8]? {
        get { shared.state.withLock { $0.objects[key] } }
        set { shared.state.withLock { $0.objects[key] = newValue } }
    }

    /// A client of the store at `noon`, and the damage that it reports.
    package func client(
        now: @escaping @Sendable () -> Int64 = { noon.millisecondsSince1970 },
        report: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws -> ObjectStore {
        try ObjectStore(
            StoreURL(parsing: "s3://archive?endpoint=http://127.0.0.1:\(server.port)"),
            credentials: StoreCredentials(keyID: "k", secretKey: Secret("s")), now: now, reportDamage: report)
    }

    // MARK: - Answers

    private static func answer(_ request: LoopbackServer.Request, _ state: inout State) -> [UInt8] {
        let parts = request.target.split(separator: "?", maxSplits: 1)
        let key =
            PercentEncoding.decode(parts[0].dropFirst("/archive".count)).map { String($0.drop { $0 == "/" }) } ?? ""
        var query: [String: String] = [:]
        for item in parts.last?.split(separator: "&") ?? [] {
            let pair = item.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { query[String(pair[0])] = PercentEncoding.decode(pair[1]) }
        }
        let date = noon.advanced(byMilliseconds: state.clockOffset * 1000)
        let signed = query["X-Amz-Date"].map { $0.prefix(11) } ?? ""
        if state.checksDates, date.text.filter({ $0 != "-" && $0 != ":" }).prefix(11) != signed {
            return response("403 Forbidden", Array("<Error><Code>RequestTimeTooSkewed</Code></Error>".utf8), at: date)
        }
        switch request.method {
        case "PUT":
            state.requests.append("PUT \(key)")
            if request.headers["if-none-match"] == "*", state.objects[key] != nil {
                return response("412 Precondition Failed", [], at: date)
            }
            state.objects[key] = request.body
            return response("200 OK", [], at: date)
        case "DELETE":
            state.requests.append("DELETE \(key)")
            state.objects[key] = nil
            return response("204 No Content", [], at: date)
        case _ where key.isEmpty: return list(query, &state, at: date)
        default:
            let range = request.headers["range"]
            state.requests.append("GET \(key)\(range.map { " \($0)" } ?? "")")
            guard let body = state.lies[key] ?? state.objects[key] else {
                return response("404 Not Found", Array("<Error><Code>NoSuchKey</Code></Error>".utf8), at: date)
            }
            guard let range, let bounds = bounds(range) else { return response("200 OK", body, at: date) }
            let part = body[min(bounds.lowerBound, body.count)..<min(bounds.upperBound + 1, body.count)]
            let field =
                "Content-Range: bytes \(bounds.lowerBound)-\(bounds.lowerBound + part.count - 1)/\(body.count)\r\n"
            return response("206 Partial Content", Array(part), field, at: date)
        }
    }

    private static func bounds(_ range: String) -> ClosedRange<Int>? {
        let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        return ends.count == 2 ? ends[0]...ends[1] : nil
    }

    private static func list(_ query: [String: String], _ state: inout State, at date: ProgramDateTime) -> [UInt8] {
        let (prefix, after) = (query["prefix"] ?? "", query["start-after"] ?? "")
        state.requests.append("LIST \(prefix) \(after)")
        let limit = query["max-keys"].flatMap { Int($0) } ?? 1000
        let keys = state.objects.keys.filter { $0.hasPrefix(prefix) && after.utf8.lexicographicallyPrecedes($0.utf8) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var text = "<ListBucketResult><IsTruncated>\(keys.count > limit)</IsTruncated>"
        for key in keys.prefix(limit) {
            let bytes = state.lies[key] ?? state.objects[key] ?? []
            text += "<Contents><Key>\(key)</Key><Size>\(bytes.count)</Size>"
            text += "<ETag>\(ContentTag.of(bytes))</ETag></Contents>"
        }
        return response("200 OK", Array((text + "</ListBucketResult>").utf8), at: date)
    }

    private static func response(
        _ status: String, _ body: [UInt8], _ field: String = "", at date: ProgramDateTime
    ) -> [UInt8] {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let text = formatter.string(from: Date(timeIntervalSince1970: Double(date.millisecondsSince1970) / 1000))
        let head = "HTTP/1.1 \(status)\r\nDate: \(text)\r\n\(field)Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }
}

private enum ContentTag {
    static func of(_ bytes: [UInt8]) -> String { SHA256.digest(of: bytes).map { Hexadecimal.encode($0) } ?? "" }
}
