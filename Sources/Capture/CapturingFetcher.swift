package import Fetch

/// A fetcher that stores every answer of another fetcher in a capture.
package actor CapturingFetcher: Fetcher {
    private let upstream: any Fetcher
    private let now: @Sendable () -> Duration
    private let onFailure: @Sendable (CaptureError) -> Void
    private var writer: CaptureWriter
    /// The first error while storing; the capture ended with it, fetching did not.
    package private(set) var failure: CaptureError?

    /// The bytes of each stream that arrived since the stream's last line in the index, by request number.
    private var streams: [Int: (bytes: [UInt8], parts: [CapturedStream.Part], finalURL: String)] = [:]
    private var requests = 0
    /// The most bytes of a stream that a killed process loses.
    private static let streamBytes = 4 << 20
    private static let streamParts = 100

    package var totals: CaptureWriter.Totals { writer.totals }

    /// - Parameter onFailure: called once, with `failure`.
    package init(
        _ upstream: any Fetcher, to writer: CaptureWriter, now: @escaping @Sendable () -> Duration,
        onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.upstream = upstream
        self.onFailure = onFailure
        self.writer = writer
        self.now = now
    }

    /// Fetches from the wrapped fetcher and stores the outcome before it returns.
    ///
    /// Stores requests that were canceled here too: a replay leaves such a request unanswered. Otherwise it would
    /// report that the capture does not contain the URL.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let start = now()
        let outcome = await upstream.fetch(request)
        store { writer throws(CaptureError) in
            try writer.append(request, outcome, at: start, took: now() - start)
        }
        return outcome
    }

    package func storeDemand(of track: String) {
        let demand = CaptureIndex.Demand(at: now(), track: track)
        store { writer throws(CaptureError) in try writer.append(demand) }
    }

    /// Stores each part of a stream before passing it on.
    package func fetch(
        _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
    ) async -> FetchOutcome {
        let start = now()
        requests += 1
        let number = requests
        let outcome = await upstream.fetch(request) { part in
            await self.append(part, of: request, number, since: start)
            await receive(part)
        }
        let rest = streams.removeValue(forKey: number)
        store { writer throws(CaptureError) in
            try writer.append(
                request, outcome, at: start, took: now() - start, stream: rest.map { ($0.bytes, $0.parts) })
        }
        return outcome
    }

    private func append(_ part: StreamPart, of request: FetchRequest, _ number: Int, since start: Duration) {
        let after = now() - start
        var stream = streams.removeValue(forKey: number) ?? ([], [], part.finalURL)
        stream.bytes += part.bytes
        stream.parts.append(.init(after: after, byteCount: part.bytes.count))
        guard stream.bytes.count >= Self.streamBytes || stream.parts.count >= Self.streamParts else {
            streams[number] = stream
            return
        }
        let answer = FetchAnswer(status: 200, finalURL: stream.finalURL, body: [])
        store { writer throws(CaptureError) in
            try writer.append(
                request, .success(answer), at: start, took: after, stream: (stream.bytes, stream.parts),
                continues: true)
        }
        streams[number] = ([], [], stream.finalURL)
    }

    private func store(_ append: (inout CaptureWriter) throws(CaptureError) -> Void) {
        guard failure == nil else { return }
        do throws(CaptureError) { try append(&writer) } catch {
            failure = error
            onFailure(error)
        }
    }
}
