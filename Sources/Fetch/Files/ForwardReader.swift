import Support

/// Reads a file from its beginning on, over one connection, for an origin that does not serve byte ranges.
///
/// Reads take turns. The connection receives no more than they need, so the origin is slowed as by a slow player.
/// Received bytes are kept for `windowBytes`, because ranges are requested in any order and some overlap. A range
/// before the window, as in the next round of a loop, is read over a new connection, and so is a range after a failed
/// connection. A reader without requests closes its connection.
package actor ForwardReader {
    /// The least number of received bytes that are kept; at most twice as many are, in addition to the range being
    /// read.
    package static let windowBytes = 16 << 20
    /// The time without a read after which the connection is closed and the bytes are dropped.
    private static let idleTime = Duration.seconds(60)

    private enum Arrival: Sendable {
        case part(StreamPart)
        case end(FetchOutcome)
    }

    private struct Connection {
        var arrivals: AsyncStream<Arrival>.Iterator
        let demand: AsyncStream<Void>.Continuation
    }

    private let upstream: any Fetcher
    private var connection: Connection?
    private var transfer: Task<Void, Never>?
    private var finalURL = ""
    /// The newest bytes received, and the position of the first of them in the file.
    private var bytes: [UInt8] = []
    private var start: UInt64 = 0
    /// The newest read; the next read waits for it.
    private var lastRead: Task<FetchOutcome, Never>?
    /// The number of reads in progress, and the task that closes an idle reader.
    private var reads = 0
    private var idle: Task<Void, Never>?

    init(_ upstream: any Fetcher) { self.upstream = upstream }

    deinit {
        transfer?.cancel()
        idle?.cancel()
    }

    /// Reads the part of a file that a request with `wholeByteCount` asks for.
    ///
    /// - Returns: an answer with status 206, or the answer that came in place of the file.
    func read(_ request: FetchRequest) async -> FetchOutcome {
        let earlier = lastRead
        reads += 1
        idle?.cancel()
        defer { endRead() }
        let read = Task {
            _ = await earlier?.value
            return await readNext(request)
        }
        lastRead = read
        return await withTaskCancellationHandler {
            await read.value
        } onCancel: {
            read.cancel()
        }
    }

    private func endRead() {
        reads -= 1
        guard reads == 0 else { return }
        idle = Task { [weak self] in
            guard (try? await Task.sleep(for: Self.idleTime)) != nil else { return }
            await self?.closeIfIdle()
        }
    }

    /// Closes the connection and drops the bytes if no read is in progress.
    func closeIfIdle() {
        guard reads == 0 else { return }
        disconnect()
        (bytes, start) = ([], 0)
    }

    private func readNext(_ request: FetchRequest) async -> FetchOutcome {
        guard let byteCount = request.wholeByteCount, let asked = request.byteRange?.range,
            asked.lowerBound < byteCount, !Task.isCancelled
        else { return .failure(FetchError(.canceled, url: request.url)) }
        let range = asked.clamped(to: 0..<byteCount)
        if range.lowerBound < start || range.upperBound > end && connection == nil { connect(for: request) }
        while end < range.upperBound {
            drop(before: range.lowerBound)
            switch await nextArrival() {
            case .part(let part):
                finalURL = part.finalURL
                bytes += part.bytes
            case .end(.success(let answer)) where !answer.isSuccess:
                disconnect()
                return .success(answer)
            case .end(let outcome):
                disconnect()
                guard case .failure(let error) = outcome else {
                    return .failure(FetchError(.shortBody, url: request.url))
                }
                return .failure(error)
            case nil:
                disconnect()
                return .failure(FetchError(.canceled, url: request.url))
            }
        }
        let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)"
        return .success(
            FetchAnswer(
                status: 206, finalURL: finalURL, headers: [.init(name: "Content-Range", value: place)],
                body: Array(bytes[Int(range.lowerBound - start)..<Int(range.upperBound - start)])))
    }

    private var end: UInt64 { start + UInt64(bytes.count) }

    /// Drops bytes before the window and before `place`. This is not done for each part, because it moves the other
    /// bytes.
    private func drop(before place: UInt64) {
        let window = UInt64(Self.windowBytes)
        let kept = min(place, end - min(end, window))
        guard kept >= start + window else { return }
        bytes.removeFirst(Int(kept - start))
        start = kept
    }

    private func nextArrival() async -> Arrival? {
        guard var arrivals = connection?.arrivals else { return nil }
        connection?.demand.yield()
        return await arrivals.next(isolation: self)
    }

    private func connect(for request: FetchRequest) {
        disconnect()
        (bytes, start) = ([], 0)
        var whole = FetchRequest(.segment, url: request.url)
        (whole.source, whole.acceptsStream, whole.readsForward) = (request.source, true, true)
        let (arrivals, arrival) = AsyncStream<Arrival>.makeStream()
        let (demands, demand) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        connection = Connection(arrivals: arrivals.makeAsyncIterator(), demand: demand)
        transfer = Task { [upstream, whole] in
            let outcome = await upstream.fetch(whole) { part in
                for await _ in demands { break }
                arrival.yield(.part(part))
            }
            arrival.yield(.end(outcome))
            arrival.finish()
        }
    }

    private func disconnect() {
        transfer?.cancel()
        (transfer, connection) = (nil, nil)
    }
}
