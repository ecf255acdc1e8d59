import DASH
import Fetch
import Playlist
import Support

/// Requests what a DASH manifest needs beside itself, and derives its playlists.
///
/// The manifest is loaded as the main playlist is. The time of its server and the indexes of its representations are
/// requested as they are needed.
struct ManifestIntake: Sendable {
    /// How often the time is asked for, since clocks drift.
    private static let clockInterval = ManifestFollower.longestEstimate / 2
    private static let mostIndexesInFlight = 4

    private var follower: ManifestFollower
    private var clockDue: Duration?
    private var isClockInFlight = false
    /// In the order in which they are requested: some for each track.
    private var neededIndexes: [SegmentIndexRequest] = []
    /// The indexes that a track waits for. It is listed again when all of them have come or failed.
    private var awaitedIndexes: [ManifestTrack: Set<SegmentIndexRequest>] = [:]
    private var indexesInFlight: Set<SegmentIndexRequest> = []
    /// The freshness and the start of a load that no playlist was derived from yet.
    var unlisted: (freshness: CacheFreshness, began: Duration)?

    init(_ choice: VariantChoice) { follower = ManifestFollower(choice: choice) }

    /// The variants of the newest manifest.
    /// - Throws: if it has no representation that can be followed, why the first one was left out.
    func master(at url: String) throws(TrackerError) -> MultivariantPlaylist {
        let master = follower.master
        guard master.variants.isEmpty else { return master }
        let fault =
            follower.manifest.mediaFault
            ?? PlaylistError(
                reason: .missingAttribute("Representation"), tag: "Period", line: 1, section: "ISO/IEC 23009-1 §5.3.2")
        throw TrackerError(.malformedPlaylist(fault), url: url, section: fault.section)
    }

    var location: String? { follower.manifest.location }

    var updateInterval: Duration? { follower.updateInterval }

    /// The longest time in which nothing is added, if only another manifest adds anything; nil: the clock does, or nothing.
    var growthInterval: Duration? { follower.nextChange == nil ? follower.updateInterval : nil }

    var deadlines: [Duration?] { [follower.nextChange, isClockInFlight ? nil : clockDue] }

    /// Whether time alone has changed the lists.
    func hasChanged(at now: Duration) -> Bool { follower.nextChange.map { $0 <= now } ?? false }

    /// Records a manifest. The Date of its answer, or else the driver's clock, is the time until the server tells it.
    ///
    /// - Parameter isMainLoad: whether the load of the main playlist brought it.
    mutating func accept(
        _ manifest: DASHManifest, _ answer: SessionRequests.Answer, startDate: ProgramDateTime?, isMainLoad: Bool,
        at now: Duration
    ) {
        if isMainLoad { unlisted = (answer.outcome.cacheFreshness, now - answer.took) }
        guard follower.handle(.manifest(manifest), at: now) else { return }
        (neededIndexes, awaitedIndexes) = ([], [:])
        guard manifest.isDynamic else { return }
        let driverDate = startDate.map { $0.advanced(byMilliseconds: now.wholeMilliseconds) }
        if let date = answer.outcome.date ?? driverDate ?? manifest.publishTime {
            _ = follower.handle(.date(date, isExact: false), at: now)
        }
        if clockDue == nil, clockRequest != nil { clockDue = now }
    }

    /// The request for the time of the server; nil if the manifest names none.
    private var clockRequest: FetchRequest? {
        for case .body(let url) in follower.manifest.clocks { return FetchRequest(.mediaPlaylist, url: url) }
        for case .header(let url) in follower.manifest.clocks { return FetchRequest(.mediaPlaylist, url: url) }
        return nil
    }

    mutating func start(_ requests: inout SessionRequests, at now: Duration) {
        if let due = clockDue, due <= now, !isClockInFlight, let request = clockRequest,
            requests.admits(request.url, at: now)
        {
            isClockInFlight = true
            requests.start(request, for: .clock, byteLimit: 4096, at: now)
        }
        for index in neededIndexes where indexesInFlight.count < Self.mostIndexesInFlight {
            guard !indexesInFlight.contains(index), requests.admits(index.url, at: now) else { continue }
            indexesInFlight.insert(index)
            requests.start(index.request, for: .segmentIndex(index), at: now)
        }
    }

    /// - Returns: a fault of an answer that another one stands in for.
    mutating func settle(
        _ answer: SessionRequests.Answer, at now: Duration
    ) throws(TrackerError) -> FetchFault? {
        switch answer.target {
        case .clock:
            isClockInFlight = false
            clockDue = now + Self.clockInterval
            // The server told it about when half of the time had passed. Without an answer the other dates have to do.
            guard let date = answer.outcome.bodyDate ?? answer.outcome.date else { return nil }
            _ = follower.handle(.date(date, isExact: true), at: now - answer.took / 2)
            let isRead = answer.outcome.bodyDate != nil || !tellsTimeInBody
            return isRead ? nil : .malformedPlaylist
        case .segmentIndex(let index):
            indexesInFlight.remove(index)
            neededIndexes.removeAll { $0 == index }
            for track in Array(awaitedIndexes.keys) { awaitedIndexes[track]?.remove(index) }
            do throws(FetchFailure) {
                let bytes = try index.request.media(in: answer.outcome).body
                guard let parsed = try? SegmentIndexParser.parse(bytes, at: index.byteRange) else { throw .notMedia }
                _ = follower.handle(.index(index, parsed), at: now)
            } catch { throw TrackerError(error, url: index.url) }
        default: break
        }
        return nil
    }

    private var tellsTimeInBody: Bool {
        follower.manifest.clocks.contains { if case .body = $0 { true } else { false } }
    }

    /// The playlist at a URL whose fragment names the track; nil while something is missing that was requested.
    mutating func playlist(at url: String, at now: Duration) -> MediaPlaylist? {
        guard let track = URIReference.fragment(of: url).flatMap({ ManifestTrack(fragment: $0) }),
            awaitedIndexes[track]?.isEmpty ?? true
        else { return nil }
        switch follower.listing(of: track, at: now) {
        case .playlist(let playlist): return playlist
        case .needsDate: return nil
        case .needsIndexes(let indexes):
            awaitedIndexes[track] = Set(indexes)
            neededIndexes += indexes.filter { !neededIndexes.contains($0) }
            return nil
        }
    }
}

extension SegmentIndexRequest {
    fileprivate var request: FetchRequest { FetchRequest(.map, url: url, byteRange: byteRange) }
}

extension TrackerError {
    /// The error of a part of a manifest that did not arrive.
    fileprivate init(_ failure: FetchFailure, url: String) {
        switch failure {
        // Named, because FetchFailure has a case of this name, and this initializer would call itself.
        case .refused(let status): self.init(Reason.refused(status: status), url: url)
        case .unreachable(let reason, let ipAddress):
            self.init(Reason.unreachable(reason), url: url, ipAddress: ipAddress)
        case .notMedia, .empty, .shortRange, .wrongRange, .truncated, .tooShort:
            let error = PlaylistError(reason: .missing, tag: "sidx", line: 1, section: "ISO/IEC 14496-12 §8.16.3")
            self.init(.malformedPlaylist(error), url: url, section: error.section)
        }
    }
}

extension FetchOutcome {
    /// The Date header of a success, with the time that a cache has held the answer.
    fileprivate var date: ProgramDateTime? {
        guard case .success(let answer) = self, answer.isSuccess, let text = answer.header("Date"),
            let date = ProgramDateTime(httpDate: text)
        else { return nil }
        return date.advanced(byMilliseconds: answer.cacheFreshness.age.wholeMilliseconds)
    }

    fileprivate var bodyDate: ProgramDateTime? {
        guard case .success(let answer) = self, answer.isSuccess else { return nil }
        return ProgramDateTime(
            parsing: answer.body.prefix(64)[...].trimmingWhiteSpace().prefix { $0 != ASCII.lineFeed })
    }
}
