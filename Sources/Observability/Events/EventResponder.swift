package import WebServer

/// Answers `/api/events`.
package final class EventResponder: Sendable {
    private let bus: EventBus

    package init(_ bus: EventBus) { self.bus = bus }

    /// Answers a request for the events that may use the API.
    package func response(to target: RequestTarget) -> Response {
        do throws(EventFilter.UnknownType) {
            return stream(try EventFilter(query: target.query), after: lastID(of: target))
        } catch {
            return .text(.badRequest, "There is no event of type \(error.name). Types: \(EventKind.list)")
        }
    }

    /// The ID of the field, or of the query for a client that cannot set a field. An ID that is no number is the oldest.
    private func lastID(of target: RequestTarget) -> UInt64? {
        let text = target.fields.lastEventID ?? target.query.value(of: "after")
        return text.map { UInt64($0) ?? 0 }
    }

    private func stream(_ filter: EventFilter, after last: UInt64?) -> Response {
        // Nothing is subscribed before the client reads, as after a HEAD.
        let reader = EventStreamReader { [bus] in EventStream(bus, filter, after: last) }
        var response = Response(
            contentType: .eventStream, cacheControl: .noStore,
            body: .stream(ByteStream { await reader.next() }))
        // nginx holds responses back otherwise.
        response.extraHeaders = [HeaderField(name: "X-Accel-Buffering", value: "no")]
        return response
    }
}

/// One client's stream, which is subscribed when the client reads first.
private actor EventStreamReader {
    private let open: @Sendable () -> EventStream
    private var stream: EventStream?

    init(_ open: @escaping @Sendable () -> EventStream) { self.open = open }

    func next() async -> ArraySlice<UInt8>? {
        if let stream { return await stream.next() }
        stream = open()
        return EventStream.greeting[...]
    }
}
