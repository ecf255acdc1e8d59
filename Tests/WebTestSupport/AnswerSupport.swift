package import HTTP

extension Answer {
    /// The response if it is made at once.
    package var now: Response? { if case .now(let response) = self { response } else { nil } }

    /// The work if the response takes longer.
    package var later: (@Sendable () async -> Response)? { if case .later(let work) = self { work } else { nil } }
}
