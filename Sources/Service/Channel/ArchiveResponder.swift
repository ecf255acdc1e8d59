package import ArchiveStore
import Channel
import Export
import Foundation
import HTTP
import LiveRing
import Media
import Support
import Synchronization

/// Answers requests for media that only the archive in a store contains.
package final class ArchiveResponder: Sendable {
    /// The part of the store that must be read.
    private enum Need {
        case range(ProgramDateTime, ProgramDateTime)
        /// A segment, or another file of a segment.
        case segment(String)
        /// A file that segments of all hours may use.
        case shared(String)
    }

    private struct Kept {
        let version: String
        let responder: ChannelResponder
    }

    /// The number of parts that are cached with the responders made from them.
    private static let keptCount = 4
    private static let hour: Int64 = 3_600_000

    private let reader: ArchiveReader
    private let rewind: Int64
    private let channel: String?
    private let offersStills: Bool
    private let kept = Mutex<[Kept]>([])

    /// - Parameter rewind: the duration of `dvr.m3u8`.
    package init(_ reader: ArchiveReader, rewind: Duration?, channel: String?, offersStills: Bool) {
        (self.reader, self.channel, self.offersStills) = (reader, channel, offersStills)
        self.rewind = (rewind?.components.seconds ?? 7200) * 1000
    }

    /// - Parameter local: the ring of the channel; nil: this process has none.
    /// - Returns: nil if the ring contains the resource, or the store cannot contain it.
    func answer(
        to resource: Route.Resource, _ target: RequestTarget, local: RingSnapshot?, ads: ArchivedAds
    ) -> Answer? {
        guard let need = need(of: resource, local) else { return nil }
        return .later { [self] in
            do throws(StoreError) {
                if case .shared(let name) = need { return try await shared(name, resource, ads) }
                guard let responder = try await responder(for: need, local, ads) else {
                    return .nothingInRange(local)
                }
                return await responder.answer(to: resource, target).response()
            } catch {
                return Self.refusal(error)
            }
        }
    }

    private func responder(
        for need: Need, _ local: RingSnapshot?, _ ads: ArchivedAds
    ) async throws(StoreError) -> ChannelResponder? {
        switch need {
        case .range(let start, let end):
            try await reader.part(from: start, to: end, with: local).map { responder(of: $0, ads) }
        case .segment(let name):
            if let part = try await reader.part(ofFile: name) {
                responder(of: part, ads)
            } else {
                try await responder(ofSlate: name, ads)
            }
        case .shared: nil
        }
    }

    /// The responder for the segment that the slate's segment called `name` replaces; nil if there is none.
    private func responder(ofSlate name: String, _ ads: ArchivedAds) async throws(StoreError) -> ChannelResponder? {
        guard ads.hasSlate else { return nil }
        let segment = SpoolName.segment(ofTransportStream: name) ?? name
        for part in try await reader.parts(ofNumberIn: name) {
            let responder = responder(of: part, ads)
            _ = await responder.state.loadBreakSlate()
            if responder.breakEntry(segment) != nil { return responder }
        }
        return nil
    }

    private func responder(of part: ArchiveReader.Part, _ ads: ArchivedAds) -> ChannelResponder {
        let slate = ads.slate(for: part.snapshot)
        return kept.withLock { kept in
            let known = kept.firstIndex { $0.version == part.version && $0.responder.state.breakSlate === slate }
            if let known {
                kept.append(kept.remove(at: known))
                return kept[kept.count - 1].responder
            }
            let responder = ChannelResponder(
                ChannelState(archived: part.snapshot, ads: ads), channel: channel, offersStills: offersStills)
            kept.append(Kept(version: part.version, responder: responder))
            if kept.count > Self.keptCount { kept.removeFirst() }
            return responder
        }
    }

    /// An init section, or one track of an init section.
    private func shared(
        _ name: String, _ resource: Route.Resource, _ ads: ArchivedAds
    ) async throws(StoreError) -> Response {
        if let bytes = ads.initialization(named: name) {
            return ChannelResponder.response(toInitSection: bytes, named: name, resource)
        }
        do throws(RingError) {
            let path = try await reader.files.path(ofShared: name)
            guard let data = FileManager.default.contents(atPath: path) else { return .notFound(name) }
            return ChannelResponder.response(toInitSection: Array(data), named: name, resource)
        } catch {
            // Another process may have listed a slate that was not read here yet.
            if let bytes = try await slateInitialization(named: name, ads) {
                return ChannelResponder.response(toInitSection: bytes, named: name, resource)
            }
            return .unavailable("\(name) cannot be had from the store: see the log.")
        }
    }

    private func slateInitialization(named name: String, _ ads: ArchivedAds) async throws(StoreError) -> [UInt8]? {
        guard ads.hasSlate, let part = try await reader.newestPart() else { return nil }
        _ = await responder(of: part, ads).state.loadBreakSlate()
        return ads.initialization(named: name)
    }

    private static func refusal(_ error: StoreError) -> Response {
        switch error.reason {
        case .tooLong: .text(.badRequest, error.viewerText)
        case .noObject: .text(.notFound, error.viewerText)
        // The message names the bucket.
        default: .unavailable("The store of the archive does not answer as it should.", retryAfter: 2)
        }
    }
}

// MARK: - Needs

extension ArchiveResponder {
    private func need(of resource: Route.Resource, _ local: RingSnapshot?) -> Need? {
        switch resource {
        case .playlist(.rewind(_, let range)), .breaks(let range), .stillTrack(let range), .clip(let range, _),
            .transportClip(let range):
            return need(of: range, local)
        case .playlist(.master(_, let range)): return range.flatMap { need(of: $0, local) }
        case .endlessStream(let stream): return stream.range == .whole ? nil : need(of: stream.range, local)
        case .still(let still):
            return still.date.flatMap { need(of: .between(start: $0, end: $0.advanced(byMilliseconds: 1000)), local) }
        case .stillSheet(let name):
            return StillSheet(name: name).flatMap { sheet in
                let start = ProgramDateTime(millisecondsSince1970: sheet.start * 1000)
                let length = sheet.interval * 1000 * Int64(StillSheet.rows * StillSheet.columns)
                return need(of: .between(start: start, end: start.advanced(byMilliseconds: length)), local)
            }
        case .segment(let name), .trackFile(let name): return has(name, local) ? nil : .segment(name)
        case .transportSegment(let name):
            return local?.index.entry(ofTransportStream: name) == nil ? .segment(name) : nil
        case .initSection(let name), .extract(_, let name):
            if has(name, local) { return nil }
            return SpoolName.isInitialization(name) ? .shared(name) : .segment(name)
        case .page, .pageFile, .playlist, .subtitles, .programs, .status, .health, .readiness, .badQuery, .notFound:
            return nil
        }
    }

    private func has(_ name: String, _ local: RingSnapshot?) -> Bool {
        guard let index = local?.index else { return false }
        return index.segmentFile(named: name) != nil || index.trackFile(named: name) != nil
            || index.initializationFile(named: name) != nil
    }

    private func need(of range: RewindRange, _ local: RingSnapshot?) -> Need? {
        let now = reader.now
        let newest = max(now, local?.dates?.end ?? now)
        switch range {
        case .whole: return local == nil ? .range(newest.advanced(byMilliseconds: -rewind), newest) : nil
        case .last(let span), .delayed(let span):
            // A delayed window ends `span` ago, so it begins earlier.
            let start = newest.advanced(byMilliseconds: -span - (range == .last(milliseconds: span) ? 0 : Self.hour))
            if let dates = local?.dates, span + 60_000 <= dates.end.milliseconds(since: dates.first) { return nil }
            return .range(start, newest)
        case .between(let start, let end):
            guard let start = start ?? (local == nil ? end?.advanced(byMilliseconds: -Self.hour) : nil) else {
                return nil
            }
            if let first = local?.dates?.first, first <= start { return nil }
            return .range(start, end.map { min($0, newest) } ?? newest)
        }
    }
}
