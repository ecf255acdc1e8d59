import ChannelList
import Fleet
import HTTP
import Support

/// An error in answer to a request to the API (RFC 9457).
struct APIProblem: Encodable, Equatable, Sendable {
    struct Mistake: Encodable, Equatable, Sendable {
        /// A JSON pointer (RFC 6901) into the request's body, or the keys of the configuration.
        let pointer: String
        let detail: String
    }

    private let type = "about:blank"
    let title: String
    let status: Int
    let detail: String
    var errors: [Mistake]?

    private enum CodingKeys: CodingKey { case type, title, status, detail, errors }

    init(_ status: HTTPStatus, _ title: String, _ detail: String, errors: [Mistake]? = nil) {
        self.title = title
        self.status = status.rawValue
        self.detail = detail.redactingURLs
        self.errors = errors.map { $0.map { Mistake(pointer: $0.pointer, detail: $0.detail.redactingURLs) } }
    }

    /// - Parameter title: the subject of the configuration.
    init(_ error: ConfigurationError, status: HTTPStatus, title: String) {
        let more = error.count > 1 ? " There are more mistakes: \(error.count) in all." : ""
        self.init(
            status, title, (error.issues.first?.text ?? "") + "." + more,
            errors: error.issues.map {
                Mistake(
                    pointer: $0.path.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined(),
                    detail: ($0.position.map { "line \($0.line), column \($0.column): " } ?? "") + $0.reason)
            })
    }

    init(_ failure: SharedTexts.Failure) {
        switch failure {
        case .tooLong(let limit):
            self.init(.conflict, "Too much for a fleet", "The nodes can share \(limit) bytes of it: remove something.")
        case .unavailable:
            self.init(
                .serviceUnavailable, "The fleet cannot be reached",
                "The engine does not say whether it has the change. Look first, then ask again.")
        case .contended:
            self.init(
                .serviceUnavailable, "Others change it", "Other nodes changed the same list meanwhile. Ask again.")
        }
    }

    func response(_ headers: [HeaderField] = []) -> Response {
        .json(of: self, status: HTTPStatus(rawValue: status), .problem, headers)
    }

    // MARK: - Those without details

    static let switchedOff = APIProblem(
        .notFound, "There is no API", "The API is switched off. Start liverelay serve with --api-token.")
    static let unauthorized = APIProblem(
        .unauthorized, "Not authorized", "Send the token of --api-token as Authorization: Bearer TOKEN.")
    static let malformedBody = APIProblem(.badRequest, "Malformed body", "The body is not a JSON object in UTF-8.")
    static let wrongType = APIProblem(
        .unsupportedMediaType, "Not JSON", "The body has to be sent with Content-Type: application/json.")
    static let largeBody = APIProblem(
        .contentTooLarge, "Body too large", "The body has more than \(APIResponder.bodyLimit) bytes.")

    static let noRecordings = APIProblem(
        .conflict, "There is no place for recordings", "Start liverelay serve with --recordings.")
    static let noSuchRecording = APIProblem(.notFound, "No such recording", "There is no recording of that ID.")

    static let noSuchViewer = APIProblem(.notFound, "No such viewer", "There is no open stream of that ID.")

    static func unknownPath(_ path: String) -> APIProblem {
        APIProblem(.notFound, "Nothing here", "The API has no \(path). See /api/openapi.json.")
    }

    static func unknownChannel(_ name: String) -> APIProblem {
        APIProblem(.notFound, "No such channel", "There is no channel \(name).")
    }

    static func wrongMethod(allowed: String) -> Response {
        APIProblem(.methodNotAllowed, "Wrong method", "Only \(allowed) are answered here.")
            .response([HeaderField(name: "Allow", value: allowed)])
    }
}
