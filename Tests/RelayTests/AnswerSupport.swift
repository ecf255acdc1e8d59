@testable import WebServer

extension Answer {
    /// The response if it is made at once.
    var now: Response? { if case .now(let response) = self { response } else { nil } }

    /// The work if the response takes longer.
    var later: (@Sendable () async -> Response)? { if case .later(let work) = self { work } else { nil } }
}
