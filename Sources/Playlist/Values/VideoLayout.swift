/// A REQ-VIDEO-LAYOUT: how the video of a variant has to be rendered (draft-pantos-hls-rfc8216bis §4.4.6.2).
package struct VideoLayout: Hashable, Sendable {
    private static let ordinary: Set = ["CH-MONO", "PROJ-RECT"]
    private static let stereoscopic = "CH-STEREO"
    private static let projections: Set = ["PROJ-EQUI", "PROJ-HEQU", "PROJ-PRIM", "PROJ-AIV"]

    /// The view presentation entries, each with its specifiers, in the order written.
    private let entries: [[String]]

    /// Reads the attribute; nil if an entry is empty or has an unknown specifier. Clients ignore such a variant.
    package init?(_ text: String) {
        entries = text.split(separator: ",", omittingEmptySubsequences: false).map { entry in
            entry.split(separator: "/", omittingEmptySubsequences: false).map { $0.filter { $0 != " " }.uppercased() }
        }
        let known = Self.ordinary.union(Self.projections).union([Self.stereoscopic])
        guard entries.allSatisfy({ $0.allSatisfy(known.contains) }) else { return nil }
    }

    /// Whether every client can render the video.
    var isOrdinary: Bool { entries.allSatisfy { $0.allSatisfy(Self.ordinary.contains) } }

    /// The layout of what is republished: without the second view of stereoscopic video, whose description is not kept; nil
    /// if that is ordinary.
    package var republished: String? {
        var kept: [String] = []
        for entry in entries {
            let projection = entry.first(where: Self.projections.contains) ?? "PROJ-RECT"
            if !kept.contains(projection) { kept.append(projection) }
        }
        return kept == ["PROJ-RECT"] ? nil : kept.joined(separator: ",")
    }
}
