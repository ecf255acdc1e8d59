/// The treatment of ad breaks in a recording that is closed.
package enum RecordingAds: String, CaseIterable, Codable, Sendable {
    /// They stay, with marks and chapters.
    case keep
    /// The file has none.
    case cut
    /// There is a file with them, and another one without them.
    case both
}
