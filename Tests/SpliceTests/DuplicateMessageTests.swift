import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Splice

/// Duplicate messages on the channel's timeline.
struct DuplicateMessageTests {
    private static func message(
        _ time: Int64, lasting duration: Int64? = nil, scheme: String = "urn:a", value: String = "v",
        number: UInt32? = 1, data: [UInt8] = [1]
    ) -> PlacedMessage {
        PlacedMessage(
            message: EventMessage(
                scheme: scheme, value: value, duration: duration.map { Ticks($0) }, number: number, data: data),
            time: Ticks(time))
    }

    private static let rows: [(when: String, messages: [PlacedMessage], written: Int)] = [
        ("a duplicate", [message(90_000), message(90_000)], 1),
        ("a duplicate with other rounding", [message(90_000), message(90_045)], 1),
        (
            "a duplicate inside the duration", [message(90_000, lasting: 900_000), message(450_000, lasting: 540_000)],
            1
        ),
        ("after the end: another message with the same number", [message(90_000, lasting: 900), message(450_000)], 2),
        ("another number", [message(90_000), message(90_000, number: 2)], 2),
        ("another scheme", [message(90_000), message(90_000, scheme: "urn:b")], 2),
        ("another value", [message(90_000), message(90_000, value: "w")], 2),
        ("scheme and value shifted", [message(0, scheme: "ab", value: "c"), message(0, scheme: "a", value: "bc")], 2),
        ("the same number, other data", [message(90_000), message(90_000, data: [2])], 2),
        ("without a number", [message(90_000, number: nil), message(90_000, number: nil)], 2),
        ("a duplicate after it was written", [message(10), message(90_000), message(10)], 2),
    ]

    @Test func duplicateMessages() {
        for row in Self.rows {
            var messages = PendingMessages()
            var written = 0
            for message in row.messages {
                _ = messages.add(message)
                written += messages.dequeue(before: Ticks(1000)).count
            }
            written += messages.dequeue(before: Ticks(1 << 40)).count
            #expect(written == row.written && messages.counts[.eventMessages] == written, "\(row.when)")
            #expect(messages.counts[.duplicateEventMessages] == row.messages.count - row.written, "\(row.when)")
        }
    }
}
