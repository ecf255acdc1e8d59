import ChannelList
import WebServer

/// The access to a process of many channels. The health, the files of the page and the API, which has a token of its
/// own, are open. The metrics and the guide name every channel: if there is any token, only the server's opens them.
struct ServeAccess: AccessPolicy {
    let host: ChannelHost

    var hasTokens: Bool { host.directory.hasTokens }

    func knows(_ token: TokenDigest) -> Bool { host.directory.knows(token) }

    func permits(_ route: Route, to viewer: Viewer) -> Bool {
        if viewer.reach == .everything { return true }
        let directory = host.directory
        switch route {
        case .health, .readiness, .api: return true
        case .pageFile(let path): return PageFile(path: path) != nil || directory.isListed(to: viewer)
        case .page, .channelList, .status, .tuner: return directory.isListed(to: viewer)
        case .tunerStream(let number, _): return directory.channel(numbered: number, for: viewer) != nil
        case .guide, .metrics, .notFound: return false
        case .xtream(let request): return permits(request.resource, to: viewer, in: directory)
        case .folder(let name): return directory.isOpen(name, to: viewer)
        case .channel(_, _, .pageFile(let path)) where PageFile(path: path) != nil: return true
        case .channel(let name, _, _): return name.map { directory.isOpen($0, to: viewer) } ?? false
        }
    }

    private func permits(
        _ resource: XtreamRequest.Resource, to viewer: Viewer, in directory: ChannelDirectory
    ) -> Bool {
        switch resource {
        case .guide: false
        case .stream(let number, _), .archive(let number, _):
            directory.channel(ofStream: number, for: viewer) != nil
        default: directory.isListed(to: viewer)
        }
    }
}
