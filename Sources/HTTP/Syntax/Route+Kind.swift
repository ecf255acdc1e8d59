extension Route {
    /// The kind of resource by which requests are counted.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A playlist of one channel.
        case playlist
        /// A segment, an init section or a subtitle segment.
        case segment
        /// An endless transport stream.
        case stream
        /// A still, a sheet of stills, or their times.
        case still
        /// The list of channels, its guide, and both in the forms of Xtream Codes.
        case list
        /// A document for HDHomeRun clients.
        case tuner
        case status
        /// `/healthz` and `/readyz`.
        case health
        case metrics
        case events
        /// Other paths below `/api/`.
        case api
        case page
        case other
    }

    package var kind: Kind {
        switch self {
        case .page, .pageFile: .page
        case .channelList, .guide, .library: .list
        case .status: .status
        case .metrics: .metrics
        case .health, .readiness: .health
        case .api(.events): .events
        case .api: .api
        case .tuner: .tuner
        case .tunerStream: .stream
        case .xtream(let request): request.kind
        case .channel(_, let resource): resource.kind
        case .folder, .notFound: .other
        }
    }
}

extension Route.Resource {
    fileprivate var kind: Route.Kind {
        switch self {
        case .page, .pageFile: .page
        case .playlist: .playlist
        case .initSection, .segment, .trackFile, .extract, .subtitles, .transportSegment: .segment
        case .endlessStream, .transportClip: .stream
        case .still, .stillSheet, .stillTrack: .still
        case .status, .breaks, .programs: .status
        case .health, .readiness: .health
        case .clip, .badQuery, .notFound: .other
        }
    }
}

extension XtreamRequest {
    fileprivate var kind: Route.Kind {
        switch resource {
        case .account, .categories, .streams, .nothing, .shortGuide, .guideTable, .panel, .list, .guide: .list
        case .stream(_, .playlist): .playlist
        case .archive(_, .success(let address)) where address.form != .transportStream: .playlist
        case .stream, .archive: .stream
        }
    }
}
