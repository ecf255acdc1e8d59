/// The connections of the server, over all channels of the process.
package struct ClientCounts: Encodable, Equatable, Sendable {
    /// Connections now.
    var connections = 0
    /// Connections that got the status 503 because there were too many.
    package var refused = 0
    /// Connections that were closed for another one, before any request.
    var closedWithoutRequest = 0
    /// Requests that got the status 429 because one address sent too many.
    var throttledRequests = 0
    /// Requests that were refused because too many were being answered.
    var busyRequests = 0

    package init(
        connections: Int = 0, refused: Int = 0, closedWithoutRequest: Int = 0, throttledRequests: Int = 0,
        busyRequests: Int = 0
    ) {
        self.throttledRequests = throttledRequests
        self.busyRequests = busyRequests
        self.connections = connections
        self.refused = refused
        self.closedWithoutRequest = closedWithoutRequest
    }
}
