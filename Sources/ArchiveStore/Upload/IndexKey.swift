import Support

/// The key of an index object: `index/<hour>/<writer>-<first media sequence number>.m3u8`.
///
/// Each relay writes its own keys, so that no relay overwrites another's. A list of keys shows which hours exist, and
/// which segments each writer published in them.
package struct IndexKey: Hashable, Sendable {
    /// Hours since 1970.
    package let hour: Int64
    /// Lowercase letters and digits.
    package let writer: String
    package let firstMediaSequence: UInt64

    package init(hour: Int64, writer: String, firstMediaSequence: UInt64) {
        (self.hour, self.writer, self.firstMediaSequence) = (hour, writer, firstMediaSequence)
    }

    package static let folder = "index/"
    private static let suffix = ".m3u8"
    static let mediaFolder = "media/"

    /// The common beginning of the keys of an hour. As a key, it precedes all of them.
    static func folder(ofHour hour: Int64) -> String { "\(folder)\(name(ofHour: hour))" }

    package var text: String {
        "\(Self.folder)\(Self.name(ofHour: hour))/\(writer)-\(firstMediaSequence)\(Self.suffix)"
    }

    /// The key of an object whose segments are in the index.
    func key(ofObject name: String) -> String { "\(Self.mediaFolder)\(Self.name(ofHour: hour))/\(name)" }

    /// The key of a file that segments of all hours may use.
    static func key(ofShared name: String) -> String { "files/\(name)" }

    static func hour(of date: ProgramDateTime) -> Int64 {
        let milliseconds = date.millisecondsSince1970
        return (milliseconds - (milliseconds % 3_600_000 + 3_600_000) % 3_600_000) / 3_600_000
    }

    /// `2026-01-02T15`, in UTC.
    static func name(ofHour hour: Int64) -> String {
        String(ProgramDateTime(millisecondsSince1970: hour * 3_600_000).text.prefix(13))
    }

    /// The hour that a name stands for; nil for any other text.
    static func hour(named name: some StringProtocol) -> Int64? {
        ProgramDateTime(parsing: "\(name):00:00Z").map(hour(of:))
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.folder.dropLast(), parts[2].hasSuffix(Self.suffix),
            let hour = Self.hour(named: parts[1])
        else { return nil }
        let name = parts[2].dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard name.count == 2, !name[0].isEmpty, let number = UInt64(name[1]) else { return nil }
        self.init(hour: hour, writer: String(name[0]), firstMediaSequence: number)
    }
}
