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
        case .api(.events, _): .events
        case .api: .api
        case .tuner: .tuner
        case .tunerStream: .stream
        case .xtream(let request): request.kind
        case .channel(_, let resource): resource.traits.kind
        case .folder, .notFound: .other
        }
    }
}

extension Route {
    /// How a request for a resource affects its channel.
    package enum Use: Equatable, Sendable {
        /// Needs the channel running, and starts it.
        case watch(isStream: Bool)
        /// Counts as a sign of a viewer.
        case presence
        /// Neither starts the channel nor counts as viewing.
        case description
    }
}

extension Route.Resource {
    /// What the server knows of a resource beside its answer: how its requests are counted, and what they do to the
    /// channel.
    package var traits: (kind: Route.Kind, use: Route.Use) {
        switch self {
        case .page, .pageFile: (.page, .description)
        case .playlist: (.playlist, .watch(isStream: false))
        case .endlessStream: (.stream, .watch(isStream: true))
        case .initSection, .segment, .trackFile, .extract, .subtitles, .transportSegment: (.segment, .presence)
        case .transportClip: (.stream, .presence)
        case .clip: (.other, .presence)
        case .still, .stillSheet, .stillTrack: (.still, .description)
        case .status, .breaks, .programs: (.status, .description)
        case .health, .readiness: (.health, .description)
        case .badQuery, .notFound: (.other, .description)
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
