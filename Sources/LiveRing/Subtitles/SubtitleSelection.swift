package import Playlist

/// The subtitle renditions that a ring is opened with. The files of others are removed.
package enum SubtitleSelection: Equatable, Sendable {
    /// All of the earlier process.
    case all
    /// The upstream's renditions. Those that this process makes itself follow, if they are kept.
    case upstream([Rendition], keepsMade: Bool)

    package static let none = SubtitleSelection.upstream([], keepsMade: false)

    /// - Parameter number: the number of the first new rendition.
    func renditions(of earlier: [SubtitleRendition], numberedFrom number: Int) -> [SubtitleRendition] {
        guard case .upstream(let upstream, let keepsMade) = self else { return earlier }
        var (rest, next) = (earlier, number)
        let listed = upstream.map { rendition in
            let new = SubtitleRendition(number: next, publishing: rendition)
            if let known = rest.firstIndex(where: { $0.isSameRendition(as: new) }) { return rest.remove(at: known) }
            next += 1
            return new
        }
        return listed + (keepsMade ? rest.filter { $0.source != nil } : [])
    }
}
