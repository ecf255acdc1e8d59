import Playlist
import Support

/// The IDs of published date ranges.
///
/// After a restart they say where a range came from. Each contains its date, because one ID means one range for the life
/// of the channel (RFC 8216 §4.3.2.7).
enum DateRangeID {
    /// The ID of an ad break that a cue tag began.
    static func cue(at date: ProgramDateTime) -> String { "cue-\(date.millisecondsSince1970)" }

    static func isCue(_ id: String) -> Bool { id.hasPrefix("cue-") }

    /// The ID of a splice event.
    static func splice(_ eventID: UInt32?, at date: ProgramDateTime) -> String {
        "\(splicePrefix(eventID))\(date.millisecondsSince1970)"
    }

    static func isSplice(_ id: String, _ eventID: UInt32?) -> Bool { id.hasPrefix(splicePrefix(eventID)) }

    private static func splicePrefix(_ eventID: UInt32?) -> String {
        "scte35-\(eventID.map { String($0) } ?? "command")-"
    }

    static func isSplice(_ id: String) -> Bool { id.hasPrefix("scte35-") }

    /// Whether the ring generated `id`, from a cue tag or a splice command.
    static func isGenerated(_ id: String) -> Bool { isCue(id) || isSplice(id) }

    /// The ID of a range whose own ID was published with an earlier range.
    static func reused(_ id: String, at date: ProgramDateTime) -> String { "\(id)-\(date.millisecondsSince1970)" }
}
