package import WebServer

/// The access to a process of many channels. The health, the files of the page and the API, which has a token of its
/// own, are open. The metrics and the guide name every channel: if there is any token, only the server's opens them.
extension ChannelDirectory: AccessPolicy {
    package func permits(_ route: Route, to viewer: Viewer) -> Bool {
        switch route {
        case .health, .readiness, .api: return true
        case .pageFile(let path): return PageFile(path: path) != nil || isListed(to: viewer)
        case .page, .channelList, .status, .tuner: return isListed(to: viewer)
        case .tunerStream(let number, _): return channel(numbered: number, for: viewer) != nil
        case .guide, .library, .metrics, .notFound: return false
        case .xtream(let request): return permits(request.resource, to: viewer)
        case .folder(let name): return isOpen(name, to: viewer)
        case .channel(_, .pageFile(let path)) where PageFile(path: path) != nil: return true
        case .channel(let name, _): return name.map { isOpen($0, to: viewer) } ?? false
        }
    }

    private func permits(_ resource: XtreamRequest.Resource, to viewer: Viewer) -> Bool {
        switch resource {
        case .guide: false
        case .stream(let number, _), .archive(let number, _):
            channel(ofStream: number, for: viewer) != nil
        default: isListed(to: viewer)
        }
    }
}
