import ChannelList
import HTTPSyntax

/// What the viewers of many channels may see. The health, the files of the page and the API, which has a token of its
/// own, are open. The metrics and the guide name every channel: if there is any token, only the server's opens them.
struct ServeAccess: AccessPolicy {
    let host: ChannelHost

    var hasTokens: Bool { host.directory.hasTokens }

    func knows(_ token: TokenDigest) -> Bool { host.directory.knows(token) }

    func permits(_ target: RequestTarget) -> Bool {
        let viewer = target.viewer
        if viewer.reach == .everything { return true }
        let directory = host.directory
        switch ServeRequest(target) {
        case .health, .readiness, .api: return true
        case .pageFile: return PageFile(path: target.path) != nil || directory.isListed(to: viewer)
        case .page, .channelList, .status: return directory.isListed(to: viewer)
        case .tuner(.stream(let number, _)): return directory.channel(numbered: number, for: viewer) != nil
        case .tuner: return directory.isListed(to: viewer)
        case .guide, .folder("metrics"), .notFound: return false
        case .folder(let name): return directory.isOpen(name, to: viewer)
        case .channel(let name, let path, _): return PageFile(path: path) != nil || directory.isOpen(name, to: viewer)
        }
    }
}
