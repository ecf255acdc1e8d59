import ChannelList
import HTTP
import Observability
import Support

/// A request to the API.
struct APIRequest: Sendable {
    /// The text in the place of the path's field.
    let field: String
    let target: RequestTarget
    /// Documents of the moment.
    let documents: DocumentCache
    /// The status of the process.
    let status: @Sendable () -> ServeStatus
}

/// An operation of the API: a method of a path, its answer, and its part of the document (OpenAPI 3.1).
struct APIOperation: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"

        /// Whether a request with this method is answered. A HEAD is answered as a GET.
        func answers(_ method: RequestTarget.Method) -> Bool {
            switch method {
            case .get, .head: self == .get
            case .options: false
            case .other(let name): name == rawValue
            }
        }
    }

    let resource: Route.API
    let method: Method
    let id, summary: String
    var description: String?
    var parameters: [JSONSchema] = []
    /// The schema of the body; nil: a body is ignored.
    var body: JSONSchema?
    /// The responses by status, beside those of all operations.
    let responses: [Int: JSONSchema]
    var needsToken = true
    let answer: @Sendable (APIResponder, APIRequest) -> Answer

    /// The operations of a path. None needs a token, or all do.
    static func of(_ resource: Route.API) -> [APIOperation] { all.filter { $0.resource == resource } }
}

extension APIOperation {
    static let all: [APIOperation] = [
        APIOperation(
            resource: .channels, method: .get, id: "listChannels", summary: "All channels, in their order",
            responses: [
                200: json(
                    "The channels.",
                    .object(of: ["channels": .array(of: .reference("ShownChannel"))], required: ["channels"]))
            ],
            answer: { $0.channels($1) }),
        APIOperation(
            resource: .channel, method: .get, id: "getChannel", summary: "One channel",
            responses: [200: json("The channel.", .reference("ShownChannel")), 404: noChannel],
            answer: { .now($0.document(of: $1.field, .ok)) }),
        APIOperation(
            resource: .channel, method: .put, id: "putChannel", summary: "Add a channel, or replace one",
            description: """
                A channel that is relayed as before goes on; its viewers notice nothing. What only the configuration \
                file can say of it (slate, spool, capture, allow-address, token) stays.
                """,
            body: .reference("Channel"),
            responses: [
                200: json("The channel was replaced.", .reference("ShownChannel")),
                201: json("The channel was added.", .reference("ShownChannel")),
                409: problem("The channel names an account that the configuration does not have."),
                422: problem("The channel has mistakes: `errors` names each."),
            ],
            answer: { responder, request in
                APIResponder.action(json: request.target) { await responder.put(request.field, $0) }
            }),
        APIOperation(
            resource: .channel, method: .delete, id: "deleteChannel", summary: "Remove a channel",
            description: "Its run ends. A channel of the configuration comes back when the process starts again.",
            responses: [204: empty("The channel was removed."), 404: noChannel],
            answer: { responder, request in APIResponder.action { _ in await responder.delete(request.field) } }),
        APIOperation(
            resource: .recordings, method: .get, id: "listRecordings",
            summary: """
                All recordings: those that were asked for, in the order of the requests, and those of channels that are \
                recorded as they run
                """,
            responses: [
                200: json(
                    "The recordings.",
                    .object(of: ["recordings": .array(of: .reference("ShownRecording"))], required: ["recordings"]))
            ],
            answer: { $0.recordings.list($1) }),
        APIOperation(
            resource: .recordings, method: .post, id: "addRecording",
            summary: "Record a range of a channel, of the past or of the future",
            description:
                "The past reaches as far as the rewind. The directory and the form are those of `--recordings`.",
            body: .reference("Recording"),
            responses: [
                201: json("The recording is planned, or open.", .reference("ShownRecording")), 404: noChannel,
                409: problem(
                    """
                    The range is empty or too long, nothing of it is kept, the guide has no such programme, there are \
                    too many recordings, or there is no place for them.
                    """),
                422: problem("The recording has mistakes: `errors` names each."),
                503: problem("The list of recordings cannot be stored; nothing changed."),
            ],
            answer: { $0.recordings.add($1) }),
        APIOperation(
            resource: .recording, method: .get, id: "getRecording", summary: "One recording",
            responses: [200: json("The recording.", .reference("ShownRecording")), 404: noRecording],
            answer: { $0.recordings.show($1) }),
        APIOperation(
            resource: .recording, method: .patch, id: "keepRecording",
            summary: "Keep a recording, or let retention remove it",
            body: .object(of: ["keep": keep], required: ["keep"], isClosed: true),
            responses: [
                200: json("The recording.", .reference("ShownRecording")), 404: noRecording,
                422: problem("The body has mistakes: `errors` names each."), 503: problem("It cannot be stored."),
            ],
            answer: { $0.recordings.keep($1) }),
        APIOperation(
            resource: .recording, method: .delete, id: "removeRecording", summary: "End a recording, or forget it",
            description: """
                One that is planned is forgotten, and one that is open ends there and gets its last form. One that is \
                over is forgotten, and its files stay unless `files` is true.
                """,
            parameters: [
                parameter("files", "Whether the files of one that is over are removed.", .words(["true", "false"]))
            ],
            responses: [
                204: empty("It is forgotten, or ends."), 404: noRecording,
                409: problem("It gets its last form right now, or is open and its channel is recorded as it runs."),
                503: problem("The list cannot be stored."),
            ],
            answer: { $0.recordings.remove($1) }),
        APIOperation(
            resource: .viewers, method: .get, id: "listViewers", summary: "The clients of endless streams",
            description: "Clients of playlists have no connection of their own, and are not listed.",
            responses: [
                200: json(
                    "The clients, in the order in which they came.",
                    .object(of: ["viewers": .array(of: .reference("Viewer"))], required: ["viewers"]))
            ],
            answer: { responder, _ in .now(responder.viewers()) }),
        APIOperation(
            resource: .viewer, method: .delete, id: "endStream", summary: "End the stream of a client",
            description: "The client may come back.",
            responses: [204: empty("The stream ends."), 404: problem("There is no such open stream.")],
            answer: { responder, request in APIResponder.action { _ in responder.endStream(of: request.field) } }),
        APIOperation(
            resource: .status, method: .get, id: "getStatus",
            summary: "The status of the process and of each channel that is not idle",
            description:
                "As `/status.json`, with the URLs of upstreams and guides, without their secrets, and with whole reasons.",
            responses: [200: json("The status.", ["type": "object"])],
            answer: { _, request in
                .later { await request.documents.perform { .json(of: request.status(), for: .operators) } }
            }),
        APIOperation(
            resource: .reload, method: .post, id: "reload", summary: "Read the configuration and its lists again",
            description: """
                Only what has changed is touched. If anything cannot be read, nothing changes; an included list that \
                cannot be read stays as it was.
                """,
            responses: [
                200: json(
                    "What changed: names in paths.",
                    .object(
                        of: [
                            "added": .texts, "removed": .texts, "changed": .texts, "unchanged": .integer,
                            "ended": .integer.described("Channels that ran, and end."),
                            "staleLists": .texts.described("Why lists stay as they were."),
                        ], required: ["added", "removed", "changed", "unchanged", "ended", "staleLists"])),
                409: problem("The configuration has mistakes: `errors` names each."),
                502: problem("The list, or a new one, cannot be read."),
            ],
            answer: { responder, _ in APIResponder.action { _ in await responder.reload() } }),
        APIOperation(
            resource: .events, method: .get, id: "streamEvents", summary: "What happens, as Server-Sent Events",
            description: """
                The response does not end. `event` is the type of an event, `data` one line of JSON; docs/events.md has \
                an example of each. A client that reconnects with Last-Event-ID gets what it missed, as far as it is kept.
                """,
            parameters: [
                parameter("channel", "Names in paths, separated by commas: only events of these channels."),
                parameter("type", "Types of events, separated by commas: only these. \(EventKind.list)."),
                parameter("after", "As Last-Event-ID, for clients that cannot set a field."),
                parameter("Last-Event-ID", in: "header", "The last event that was received."),
            ],
            responses: [
                200: response("Events, from now on or after the given one.", ["text/event-stream": .string]),
                400: response(
                    "There is no such type of events, or the request is malformed.", ["text/plain": .string]),
            ],
            answer: { .now($0.bus.response(to: $1.target)) }),
        // Open to everybody, because it is part of the project.
        APIOperation(
            resource: .document, method: .get, id: "getDocument", summary: "This document",
            responses: [200: json("The document.", ["type": "object"])], needsToken: false,
            answer: { _, _ in
                .now(
                    Response(
                        contentType: .json, cacheControl: .maxAge(seconds: 3600),
                        body: .bytes(APIDocument.json, gzip: nil)))
            }),
    ]

    static let keep = JSONSchema.boolean.described("Whether no retention removes it.")
    private static let noChannel = problem("There is no such channel.")
    private static let noRecording = problem("There is no such recording.")

    private static func response(_ description: String, _ content: [String: JSONSchema]) -> JSONSchema {
        ["description": .text(description), "content": .object(content.mapValues { ["schema": $0] })]
    }

    private static func json(_ description: String, _ schema: JSONSchema) -> JSONSchema {
        response(description, ["application/json": schema])
    }

    private static func empty(_ description: String) -> JSONSchema { ["description": .text(description)] }

    private static func problem(_ description: String) -> JSONSchema {
        response(description, ["application/problem+json": .reference("Problem")])
    }

    private static func parameter(
        _ name: String, in place: String = "query", _ description: String, _ schema: JSONSchema = .string
    ) -> JSONSchema {
        ["name": .text(name), "in": .text(place), "description": .text(description), "schema": schema]
    }

    /// The responses of several operations.
    static let components: [String: JSONSchema] = [
        "Malformed": response(
            "The request is malformed.", ["application/problem+json": .reference("Problem"), "text/plain": .string]),
        "Unauthorized": problem("The token is missing or wrong.").adding([
            "headers": ["WWW-Authenticate": ["schema": .string]]
        ]),
        "WrongMethod": problem("The path has no such method.").adding(["headers": ["Allow": ["schema": .string]]]),
        "BodyTooLarge": problem("The body is too large."),
        "NotJSON": problem("The body is not sent as JSON."),
    ]

    private static func component(_ name: String) -> JSONSchema { ["$ref": "#/components/responses/\(name)"] }

    /// The part of the document.
    var schema: JSONSchema {
        var all: [Int: JSONSchema] = [400: Self.component("Malformed"), 405: Self.component("WrongMethod")]
        if needsToken { all[401] = Self.component("Unauthorized") }
        if body != nil { (all[413], all[415]) = (Self.component("BodyTooLarge"), Self.component("NotJSON")) }
        all.merge(responses) { $1 }
        let schema: JSONSchema = ["operationId": .text(id), "summary": .text(summary)]
        return schema.described(description).adding([
            "parameters": parameters.isEmpty ? nil : .list(parameters),
            "security": needsToken ? nil : [],
            "requestBody": body.map { ["required": true, "content": ["application/json": ["schema": $0]]] },
            "responses": .object(Dictionary(uniqueKeysWithValues: all.map { ("\($0)", $1) })),
        ])
    }
}
