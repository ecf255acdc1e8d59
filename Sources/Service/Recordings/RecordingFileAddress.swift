/// The path of a finished recording: `/web/recordings/12.mkv`, or `/web/recordings/12@n2.mkv` at the node `n2` of a fleet.
struct RecordingFileAddress {
    private static let folder = "/web/recordings/"
    /// The forms of recordings, the last form first.
    private static let suffixes = ["mkv", "mp4", "ts"]

    /// As in the API.
    let id: String
    let suffix: String
    /// The name of the node that has the file; nil: this one.
    let node: String?

    /// nil for another path.
    init?(path: String) {
        guard path.hasPrefix(Self.folder), let dot = path.lastIndex(of: ".") else { return nil }
        let name = path[..<dot].dropFirst(Self.folder.count).split(separator: "@", maxSplits: 1)
        guard let first = name.first else { return nil }
        (id, node) = (String(first), name.count > 1 ? String(name[1]) : nil)
        suffix = String(path[path.index(after: dot)...])
        guard Self.suffixes.contains(suffix), !id.contains("/") else { return nil }
    }

    static func path(of id: String, _ suffix: String) -> String { "\(folder)\(id).\(suffix)" }

    /// The path of a file of another node; nil for another path.
    static func path(_ path: String, at node: String) -> String? {
        RecordingFileAddress(path: path).map { Self.path(of: "\($0.id)@\(node)", $0.suffix) }
    }

    /// The suffix of the recording among those of its files; nil if it has none.
    static func suffix(in present: [String]) -> String? { suffixes.first(where: present.contains) }
}
