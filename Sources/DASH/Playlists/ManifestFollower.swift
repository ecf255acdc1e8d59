import Media
package import Playlist
package import Support

/// Derives the media playlists of a channel from its manifests, one after the other, and from the time.
///
/// The follower has no clock. Session times are passed in, and a date says which UTC time one of them was.
package struct ManifestFollower: Sendable {
    package enum Input: Sendable {
        case manifest(DASHManifest)
        /// The time of the server. An inexact one may be late, and gives way to an exact one.
        case date(ProgramDateTime, isExact: Bool)
        case index(SegmentIndexRequest, SegmentIndex)
    }

    package enum Listing: Equatable, Sendable {
        case playlist(MediaPlaylist)
        /// Indexes that have to be passed in first, and more after them.
        case needsIndexes([SegmentIndexRequest])
        /// The date has to be passed in first.
        case needsDate
    }

    private struct Estimate: Sendable {
        let date: ProgramDateTime
        let at: Duration
        let isExact: Bool
    }

    /// The longest list of a live channel, however much the manifest has.
    private static let longestWindow = Duration.seconds(600)
    /// Manifests in a row that are older than the last one, which are ignored.
    private static let mostStaleManifests = 3
    /// Indexes that are kept: those of all periods of some tracks. Those that a manifest does not name any more give way.
    private static let mostIndexes = 16 * DASHManifestParser.largestPeriodCount
    /// References of all indexes that are kept, 32 bytes each.
    private static let mostReferences = 1_000_000
    /// Indexes of one track that are asked for at once.
    private static let indexesAtOnce = 64
    /// How long a date is extrapolated while others are told. Clocks drift by a second in some hours.
    package static let longestEstimate = Duration.seconds(1200)

    private let choice: VariantChoice
    private let longest: Int
    package private(set) var manifest = DASHManifest()
    private var acceptedAt = Duration.zero
    private var staleManifests = 0
    private var wasDynamic = false
    /// The start of the presentation timeline.
    private var origin = ProgramDateTime(millisecondsSince1970: 0)
    private var estimate: Estimate?
    private var indexes: [SegmentIndexRequest: SegmentIndex] = [:]
    private var referenceCount = 0
    /// Indexes for which there was no room. Lists end before their periods.
    private var droppedIndexes: Set<SegmentIndexRequest> = []
    /// The representation of each period, for the tracks that were listed of this manifest.
    private var representations: [ManifestTrack: [DASHManifest.Representation?]] = [:]
    private var numberings: [ManifestTrack: SegmentNumbering] = [:]
    private var periodNumbers: [String: UInt64] = [:]
    private var nextPeriodNumber: UInt64 = 0
    /// Each track has its own: the segments of audio are often a little longer than those of video.
    private var targetDurations: [ManifestTrack: Duration] = [:]
    /// When the clock alone adds a segment to each list, on the presentation timeline.
    private var nextAvailability: [ManifestTrack: Duration] = [:]
    /// Later than the exact time, so that no rounding delays the segment until the next look.
    private static let margin = Duration.milliseconds(5)

    package init(choice: VariantChoice, limits: PlaylistLimits = .standard) {
        self.choice = choice
        longest = limits.segments
    }

    /// - Parameter now: session time.
    /// - Returns: whether the lists may have changed; false for a manifest that is older than the last one.
    package mutating func handle(_ input: Input, at now: Duration) -> Bool {
        switch input {
        case .manifest(let manifest): return accept(manifest, at: now)
        case .date(let date, let isExact):
            if let estimate, !isExact, now - estimate.at < Self.longestEstimate {
                guard !estimate.isExact, self.date(estimate, at: now) < date else { return false }
            }
            estimate = Estimate(date: date, at: now, isExact: isExact)
        case .index(let request, let index): keep(index, of: request)
        }
        return true
    }

    private mutating func keep(_ index: SegmentIndex, of request: SegmentIndexRequest) {
        let hasRoom = { (follower: ManifestFollower) in
            follower.indexes.count < Self.mostIndexes
                && follower.referenceCount + index.entries.count <= Self.mostReferences
        }
        if !hasRoom(self) { removeUnnamedIndexes() }
        guard hasRoom(self) else {
            droppedIndexes.insert(request)
            return
        }
        referenceCount += index.entries.count - (indexes[request]?.entries.count ?? 0)
        indexes[request] = index
    }

    /// Removes the indexes that are not those of the newest manifest.
    private mutating func removeUnnamedIndexes() {
        let named = Set(
            manifest.periods.flatMap { ($0.video + $0.audio).flatMap(\.representations) }.flatMap(\.indexRequests))
        indexes = indexes.filter { named.contains($0.key) }
        referenceCount = indexes.values.reduce(0) { $0 + $1.entries.count }
    }

    private mutating func accept(_ manifest: DASHManifest, at now: Duration) -> Bool {
        if let old = self.manifest.publishTime, let new = manifest.publishTime, new < old,
            staleManifests < Self.mostStaleManifests
        {
            staleManifests += 1
            return false
        }
        staleManifests = 0
        self.manifest = manifest
        (representations, droppedIndexes) = ([:], [])
        acceptedAt = now
        wasDynamic = wasDynamic || manifest.isDynamic
        if let start = manifest.availabilityStartTime, manifest.isDynamic || !wasDynamic {
            // A packager that was restarted writes other indexes under the names of the last ones.
            if start != origin { indexes = [:] }
            origin = start
        }
        for case .date(let date) in manifest.clocks { _ = handle(.date(date, isExact: false), at: now) }
        numberPeriods()
        return true
    }

    /// Gives each new period the next number, in the order of the manifest.
    private mutating func numberPeriods() {
        for period in manifest.periods where periodNumbers[period.key] == nil {
            periodNumbers[period.key] = nextPeriodNumber
            nextPeriodNumber += 1
        }
        guard periodNumbers.count > 2 * DASHManifestParser.largestPeriodCount else { return }
        let keys = Set(manifest.periods.map(\.key))
        periodNumbers = periodNumbers.filter { keys.contains($0.key) }
    }

    package var master: MultivariantPlaylist { manifest.master(choice) }

    /// The time between two loads of the manifest, at least; nil: it does not change.
    package var updateInterval: Duration? {
        manifest.minimumUpdatePeriod.map { min(max($0, .milliseconds(500)), .seconds(3600)) }
    }

    /// The session time at which the clock alone adds a segment to a list; nil if it does not.
    package var nextChange: Duration? {
        guard let estimate, let next = nextAvailability.values.min() else { return nil }
        return estimate.at + next - presentationTime(of: estimate.date) + Self.margin
    }

    private func date(_ estimate: Estimate, at now: Duration) -> ProgramDateTime {
        estimate.date.advanced(byMilliseconds: (now - estimate.at).wholeMilliseconds)
    }

    private func presentationTime(of date: ProgramDateTime) -> Duration {
        .milliseconds(date.milliseconds(since: origin))
    }

    /// The media that is available now. A manifest says nothing of the time after its next update.
    private func available(at now: Duration) -> Duration? {
        guard manifest.isDynamic, let estimate else { return nil }
        let time = presentationTime(of: date(estimate, at: now))
        return min(time, horizon ?? time)
    }

    /// The end of the time that the manifest says something of; nil: it does not change.
    private var horizon: Duration? {
        guard let estimate, let interval = manifest.minimumUpdatePeriod else { return nil }
        return presentationTime(of: date(estimate, at: acceptedAt)) + interval
    }

    // MARK: - Lists

    package mutating func listing(of track: ManifestTrack, at now: Duration) -> Listing {
        nextAvailability[track.numbering] = nil
        let available = available(at: now)
        var parts = parts(of: track, available)
        if manifest.isDynamic, available == nil, parts.contains(where: \.needsDate) { return .needsDate }
        let lower = manifest.isDynamic ? lowerBound(of: parts, available) : nil
        if let lower { parts.removeAll { $0.missingIndex != nil && $0.period.end.map { $0 <= lower } ?? false } }
        let missing = parts.compactMap(\.missingIndex).filter { !droppedIndexes.contains($0) }
        guard missing.isEmpty else { return .needsIndexes(Array(missing.prefix(Self.indexesAtOnce))) }
        let dropped = parts.firstIndex { $0.missingIndex != nil }
        if let dropped { parts.removeSubrange(dropped...) }
        var segments: [PresentedSegment] = []
        for part in parts where !part.append(to: &segments, after: lower, limit: longest) { break }
        let next = parts.compactMap(\.nextAvailability).filter { $0 > available ?? $0 }.min()
        nextAvailability[track.numbering] = next.flatMap { $0 <= horizon ?? $0 ? $0 : nil }
        var playlist = playlist(of: segments, track, isWhole: isWhole(segments, parts))
        if dropped != nil { playlist.dropped[.segments] = 1 }
        return .playlist(playlist)
    }

    /// The media of a track in the periods that have it.
    private mutating func parts(of track: ManifestTrack, _ available: Duration?) -> [PeriodSegments] {
        let chosen =
            representations[track.numbering]
            ?? manifest.periods.map { $0.representation(of: track, choice: choice) }
        representations[track.numbering] = chosen
        return zip(manifest.periods, chosen).compactMap { period, representation in
            StepCounter.add(1)
            guard let representation else { return nil }
            var part = PeriodSegments(
                period: period, representation: representation, alternative: track.alternative, available: available)
            part.index = part.indexRequest.flatMap { indexes[$0] }
            return part
        }
    }

    /// The time before which segments of a live channel are not listed.
    private func lowerBound(of parts: [PeriodSegments], _ available: Duration?) -> Duration? {
        let edges = [parts.compactMap(\.edge).max(), available.map { $0 + PeriodSegments.clockTolerance }]
        let window = min(manifest.timeShiftBufferDepth ?? Self.longestWindow, Self.longestWindow)
        return edges.compactMap { $0 }.min().map { $0 - window }
    }

    /// Whether nothing will be added: the manifest is static, or does not change any more and is listed to its end.
    private func isWhole(_ segments: [PresentedSegment], _ parts: [PeriodSegments]) -> Bool {
        guard manifest.isDynamic else { return true }
        guard let last = parts.last, let listed = segments.last, last.isComplete,
            let edge = last.edge, listed.end >= edge - listed.duration / 2
        else { return false }
        let reachesEnd = manifest.presentationDuration.map { listed.end >= $0 - listed.duration / 2 } ?? false
        return manifest.minimumUpdatePeriod == nil || reachesEnd
    }

    private mutating func playlist(of segments: [PresentedSegment], _ track: ManifestTrack, isWhole: Bool)
        -> MediaPlaylist
    {
        let origin = Duration.milliseconds(origin.millisecondsSince1970)
        let dated = segments.map { segment in
            var segment = segment
            segment.start += origin
            return segment
        }
        let entries = numberings[track.numbering, default: SegmentNumbering()].update(with: dated, since: origin)
        let longest = entries.map { DecimalSeconds.roundedUp($0.segment.duration) }.max() ?? .zero
        let targetDuration = max(targetDurations[track.numbering] ?? .seconds(1), longest)
        targetDurations[track.numbering] = targetDuration
        var playlist = MediaPlaylist(
            targetDuration: min(targetDuration, .seconds(Int64(PlaylistNumber.targetDuration.range.upperBound))),
            mediaSequence: entries.first?.mediaSequence ?? 0, segments: entries.map(mediaSegment))
        playlist.discontinuitySequence = playlist.segments.first?.discontinuitySequence
        playlist.hasEndList = isWhole
        if case .main = track { playlist.irregularities = manifest.irregularities }
        if track.isVideo, wasDynamic { attachEvents(to: &playlist) }
        return playlist
    }

    private func mediaSegment(_ entry: SegmentNumbering.Entry) -> MediaSegment {
        let source = entry.segment
        var segment = MediaSegment(
            uri: source.url, duration: source.duration, mediaSequence: entry.mediaSequence,
            discontinuitySequence: (periodNumbers[source.period] ?? 0) + entry.restarts)
        segment.isDiscontinuous = entry.isDiscontinuous
        segment.isGap = entry.isGap
        segment.byteRange = source.byteRange
        segment.map = source.map
        segment.keys = source.keys
        if wasDynamic {
            segment.programDateTime = ProgramDateTime(millisecondsSince1970: source.start.wholeMilliseconds)
        }
        return segment
    }

    /// Adds the splice commands of the periods, each to the first segment that ends after it. One whose break has begun
    /// before the list goes to the first segment.
    private func attachEvents(to playlist: inout MediaPlaylist) {
        let events = manifest.periods.flatMap(\.events).sorted { $0.time < $1.time }
        var index = 0
        for event in events {
            StepCounter.add(1)
            let date = origin.advanced(byMilliseconds: event.time.wholeMilliseconds)
            while index < playlist.segments.count, playlist.segments[index].end.map({ $0 <= date }) ?? true {
                index += 1
            }
            guard index < playlist.segments.count else { return }
            // What was over before the list begins is not told again.
            guard let begin = playlist.segments[0].programDateTime,
                date >= begin || date.advanced(by: event.duration ?? .zero) > begin
            else { continue }
            playlist.segments[index].dateRanges.append(
                DateRange(spliceCommand: event.section, at: date, plannedDuration: event.duration))
        }
    }
}

extension MediaSegment {
    fileprivate var end: ProgramDateTime? {
        programDateTime.map { $0.advanced(byMilliseconds: duration.wholeMilliseconds) }
    }
}

extension ManifestTrack {
    fileprivate var alternative: Int {
        switch self {
        case .main(let index), .variant(_, let index): index
        case .audio: 0
        }
    }

    /// The track under which the numbers of a list are kept. They are the same at every base URL.
    fileprivate var numbering: ManifestTrack {
        switch self {
        case .main: .main(alternative: 0)
        case .variant(let identity, _): .variant(identity, alternative: 0)
        case .audio: self
        }
    }

    /// Whether it may be the leading track, whose list has the markers.
    fileprivate var isVideo: Bool { if case .audio = self { false } else { true } }
}
