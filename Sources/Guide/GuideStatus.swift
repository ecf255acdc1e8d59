import Support

/// The guide in `/status.json` of a process of many channels. Times are seconds.
package struct GuideStatus: Encodable, Sendable {
    struct Source: Encodable, Sendable {
        /// Redacted. Only operators see the URL.
        let url: String
        /// `pending`, `fetched`, or `failed`. A guide fetched before a failure stays in use.
        let state: String
        /// The reason of the failure; nil in any other state.
        let reason: String?
        /// Seconds since the guide was last confirmed to be current; nil: never.
        let secondsSinceFetch: Double?
        let channels: Int
        let programs: Int
        /// Elements that were dropped because they have no end, or are too long.
        let damagedElements: Int

        private enum CodingKeys: String, CodingKey {
            case url, state, reason, secondsSinceFetch, channels, programs, damagedElements
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            if Audience(of: encoder) == .operators { try container.encode(url, forKey: .url) }
            try container.encode(state, forKey: .state)
            try container.encodeIfPresent(reason, forKey: .reason)
            try container.encodeIfPresent(secondsSinceFetch, forKey: .secondsSinceFetch)
            try container.encode(channels, forKey: .channels)
            try container.encode(programs, forKey: .programs)
            try container.encode(damagedElements, forKey: .damagedElements)
        }
    }

    /// The number of channels in the served guide.
    let channels: Int
    let programs: Int
    let bytes: Int
    /// Programs that were left out because they have no usable start time, or the guide would be too long.
    let programsWithoutTime: Int
    let programsBeyondLimit: Int
    /// Seconds since the served guide was made; nil: no guide is served.
    let secondsSinceUpdate: Double?
    let sources: [Source]

    init(_ sources: [GuideSource], _ published: PublishedGuide?, at now: ContinuousClock.Instant) {
        let written = published?.built.written
        channels = written?.channels ?? 0
        programs = written?.programs ?? 0
        bytes = published?.built.byteCount ?? 0
        programsWithoutTime = written?.withoutTime ?? 0
        programsBeyondLimit = written?.beyondLimit ?? 0
        secondsSinceUpdate = published.map { ($0.made.duration(to: now)).inSeconds }
        self.sources = sources.map { source in
            Source(
                url: source.redactedLocation,
                state: source.fault != nil ? "failed" : source.fetched == nil ? "pending" : "fetched",
                reason: source.fault?.message, secondsSinceFetch: source.fetched.map { $0.duration(to: now).inSeconds },
                channels: source.counts.channels, programs: source.counts.programs,
                damagedElements: source.counts.damaged)
        }
    }
}
