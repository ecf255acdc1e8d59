import WebServer

/// The access to a process of one channel. Open without a token are its health and the files of the page, which are
/// the same everywhere.
struct ChannelAccess: AccessPolicy {
    var hasTokens: Bool { false }

    func knows(_ token: TokenDigest) -> Bool { false }

    func permits(_ route: Route, to viewer: Viewer) -> Bool {
        if viewer.reach == .everything { return true }
        switch route {
        case .channel(_, _, .health), .channel(_, _, .readiness): return true
        case .channel(_, _, .pageFile(let path)): return PageFile(path: path) != nil
        default: return false
        }
    }
}
