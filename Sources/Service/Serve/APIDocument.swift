import ChannelList
import HTTP
import Support

/// The document of the API (OpenAPI 3.1), made from its operations and from the rows of a channel's keys.
enum APIDocument {
    static let json = StatusDocument.json(of: document)

    private static let document: JSONSchema = [
        "openapi": "3.1.0",
        "info": [
            "title": "liverelay serve", "version": "1",
            "description": """
            Lists and changes the channels of a running `liverelay serve`, and records them. What is put or deleted \
            lies above the configuration, over reloads too, until the process ends.
            """,
            "license": ["name": "See the project", "identifier": "LicenseRef-liverelay"],
        ],
        "servers": [["url": "/"]],
        "security": [["token": []]],
        "paths": .object(Dictionary(uniqueKeysWithValues: Route.API.allCases.map { ($0.rawValue, path($0)) })),
        "components": [
            "securitySchemes": [
                "token": ["type": "http", "scheme": "bearer", "description": "The token of --api-token."]
            ],
            "responses": .object(APIOperation.components),
            "schemas": .object(schemas),
        ],
    ]

    private static func path(_ resource: Route.API) -> JSONSchema {
        let operations = APIOperation.of(resource).map { ($0.method.rawValue.lowercased(), $0.schema) }
        return JSONSchema.object(Dictionary(uniqueKeysWithValues: operations)).adding([
            "parameters": resource.field.map { [field($0)] }
        ])
    }

    private static func field(_ name: String) -> JSONSchema {
        let isChannel = name == "name"
        return [
            "name": .text(name), "in": "path", "required": true,
            "description": isChannel ? "The channel's name in paths." : "The recording's ID.",
            "schema": isChannel
                ? .reference("Name") : ["type": "string", "pattern": .text(ConfigurationPattern.slug.expression)],
        ]
    }

    private static func properties(of scope: ConfigurationKey.Scope) -> [String: JSONSchema] {
        let keys = scope.keys.filter { $0.isPermitted(in: .request) }
        return Dictionary(uniqueKeysWithValues: keys.map { ($0.rawValue, $0.schema) })
    }

    private static let schemas: [String: JSONSchema] = [
        "Name": JSONSchema.string(.slug).adding(["not": .words(ChannelSlug.reserved.sorted())]),
        "URL": .string(.source),
        "Headers": [
            "type": "object", "description": .text(ConfigurationKey.headers.row.help), "maxProperties": 32,
            "propertyNames": [
                "pattern": .text(ConfigurationPattern.headerName.expression),
                "maxLength": .number(ConfigurationPattern.headerName.longest),
                "not": ["pattern": .text(RequestOptions.refusedPattern)],
            ],
            "additionalProperties": .string(.headerValue),
        ],
        // A channel may have several URLs or sources, but a source has one URL.
        "Source": .object(
            of: properties(of: .source).merging(["url": .reference("URL")]) { $1 }, required: ["url"], isClosed: true),
        "Channel": JSONSchema.object(of: properties(of: .channel), required: ["url"], isClosed: true)
            .described(
                """
                How a channel is called and relayed: the keys of channels.yaml (docs/lists.md). What is not given is as \
                `defaults` and the command line say. A `memory-limit` that has no room for `max-segment` and \
                `max-playlist` is refused, so this schema does not permit both.
                """
            ).adding([
                "allOf": .list(
                    ["max-segment", "max-playlist"].map { ["not": .required(["memory-limit", $0])] })
            ]),
        "ShownChannel": .object(
            of: [
                "channel": JSONSchema.string.described("The channel's name in paths."),
                "state": .words(ServeStatus.states), "reason": JSONSchema.string.described("Why it failed."),
                "configuration": JSONSchema.object(
                    of: ["name": .string, "url": sourceOfAnswer, "backups": .array(of: sourceOfAnswer)],
                    required: ["name", "url"]
                ).described("The keys of a channel, with what `defaults` adds. They may be put again."),
            ], required: ["channel", "state", "configuration"]),
        "Moment": [
            "oneOf": [["type": "string", "format": "date-time"], .integer(0...253_402_300_799)],
            "description": "A date with its zone, or seconds since 1970.",
        ],
        "Recording": recording,
        "ShownRecording": .object(
            of: [
                "id": [
                    "type": ["integer", "string"],
                    "description": "A number if it was asked for; a text if its channel is recorded as it runs.",
                ],
                "channel": .string, "name": .string,
                "state": ["enum": ["planned", "recording", "paused", "finishing", "done", "failed"]],
                "reason": JSONSchema.string.described(
                    "Why it is paused, has failed, or has another form than was asked for."),
                "start": .string,
                "end": JSONSchema.string.described("Absent while one that nobody asked for is open."),
                "files": JSONSchema.texts.described("Below the directory of recordings."), "bytes": .integer,
                "lostSeconds": [
                    "type": "number", "description": "Media that it does not have; its .json says where and why.",
                ],
                "keep": .boolean,
                "repeat": JSONSchema.string.described("How it is repeated, if it is the newest of a series."),
                "file": JSONSchema.string.described("The path of one that is done."),
                "playlist": JSONSchema.string.described(
                    "Plays an open recording from its start, as far as the rewind reaches."),
            ],
            required: ["id", "channel", "name", "state", "start", "files", "bytes", "lostSeconds", "keep"]),
        "Viewer": .object(
            of: [
                "id": .integer, "channel": .string, "address": .string, "userAgent": .string,
                "seconds": ["type": "number", "description": "Since the first byte."],
            ], required: ["id", "seconds"]),
        "Problem": JSONSchema.object(
            of: [
                "type": .string, "title": .string, "status": .integer, "detail": .string,
                "errors": .array(
                    of: .object(
                        of: [
                            "pointer": JSONSchema.string.described("A JSON pointer to the value."), "detail": .string,
                        ],
                        required: ["pointer", "detail"])),
            ], required: ["type", "title", "status", "detail"]
        ).described("RFC 9457."),
    ]

    private static let sourceOfAnswer = JSONSchema.object(
        of: [
            "url": .string, "headers": ["type": "object", "additionalProperties": .string], "proxy": .string,
        ], required: ["url"])

    private static let recording: JSONSchema = {
        let (moment, span) = (JSONSchema.reference("Moment"), ConfigurationKey.Form.span.schema)
        let slug = JSONSchema.string(.slug).described("The channel's name in paths.")
        let ofRange: [String: JSONSchema] = [
            "properties": ["repeat": .words(RecordingRequest.repetitions.ofRange)]
        ]
        func without(_ names: String...) -> JSONSchema { ["anyOf": .list(names.map { .required([$0]) })] }
        return JSONSchema.object(
            of: [
                "channel": slug,
                "name": JSONSchema.string(.text).described(
                    "What people call it: the programme's title, or else the channel's name."),
                "start": moment.described("By default now."), "end": moment,
                "duration": span.described("In place of the end."),
                "repeat": JSONSchema.words(RecordingRequest.repetitions.ofProgram).described(
                    "Plans the next one when one begins: a day or a week later by the server's clock, or the next "
                        + "programme with the same title. Deleting the newest one ends the series."),
                "programme": ["anyOf": [["const": "now"], moment], "description": "The programme at that time."],
                "before": span.described("Time before the programme."), "after": span.described("Time after it."),
                "keep": APIOperation.keep,
                "slate": JSONSchema.boolean.described("Whether it has the slate of outages: true by default."),
                "ads": JSONSchema.words(RecordingAds.allCases.map(\.rawValue)).described(
                    "Ad breaks: as `record-ads` of the channel by default. A recording that stays a .ts keeps them."),
            ], required: ["channel"], isClosed: true
        ).described("A range, or a programme of the guide with what is before and after it.").adding([
            "oneOf": [
                JSONSchema.required(["end"]).adding(["not": without("programme", "before", "after", "duration")])
                    .adding(ofRange),
                JSONSchema.required(["duration"]).adding(["not": without("programme", "before", "after", "end")])
                    .adding(ofRange),
                JSONSchema.required(["programme"]).adding(["not": without("start", "end", "duration")]),
            ]
        ])
    }()
}
