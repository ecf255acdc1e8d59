import ChannelList
import Foundation
import Guide
import HTTP
import LiveRing
import Support

// Answers to clients of Xtream Codes. The password is the viewer's token, and was checked before.

extension ServeResponder {
    func answer(to request: XtreamRequest, _ target: RequestTarget) -> Answer {
        let credentials = XtreamCredentials(user: request.user, password: request.password)
        switch request.resource {
        case .account: return .now(.document(.json, account(of: request, target).text))
        case .nothing: return .now(.document(.json, "[]"))
        case .categories:
            return .later(
                list("live categories", .json, for: target) { [self] in Array(catalog($0).categoriesJSON.utf8) })
        case .streams(let category):
            return .later(
                list("live streams \(category ?? "")", .json, for: target) { [self] in
                    Array(catalog($0).streamsJSON(category: category).utf8)
                })
        case .panel:
            return .later(
                moment("panel", for: target, credentials: credentials.query) { [self] overview in
                    Array(catalog(overview.directory).panelJSON(account(of: request, target)).utf8)
                })
        case .list(let output, let isPlain):
            return .later(xtreamList(output, isPlain: isPlain, credentials, for: target))
        case .guide: return guideAnswer(to: target, asGzipFile: false)
        case .shortGuide(let stream, let limit): return programs(of: stream, upcoming: limit, target)
        case .guideTable(let stream): return programs(of: stream, target)
        case .stream(let number, .transportStream): return media(.endlessStream(.live), of: number, target)
        case .stream(let number, .playlist): return media(.playlist(.live(.fragmentedMP4)), of: number, target)
        case .archive(let number, .success(let address)): return media(Route.Resource(address), of: number, target)
        case .archive(let number, .failure(let error)): return media(.badQuery(error), of: number, target)
        }
    }

    /// Milliseconds since 1970.
    private static var now: Int64 { WallClock.milliseconds }

    private func catalog(_ directory: ChannelDirectory) -> XtreamCatalog {
        XtreamCatalog(
            directory.channels, streamNumbers: directory.streamNumbers, guideNumbers: directory.guideNumbers,
            defaultRewind: host.defaultRewind)
    }

    private func account(of request: XtreamRequest, _ target: RequestTarget) -> JSONObject {
        XtreamCatalog.account(
            user: request.user, password: request.password, connections: tuner.tunerCount,
            baseURL: base(of: target), at: ProgramDateTime(millisecondsSince1970: Self.now))
    }

    private func xtreamList(
        _ output: XtreamRequest.Output, isPlain: Bool, _ credentials: XtreamCredentials, for target: RequestTarget
    ) -> Work {
        let base = base(of: target)
        let hasGuide = mayReadGuide(target.viewer) && guide?.hasSources == true
        let writer = ChannelListWriter(
            baseURL: base, format: output == .playlist ? .hls : .ts,
            guideURL: hasGuide ? "\(base)/xmltv.php?\(credentials.query.value)" : nil, credentials: credentials,
            isPlain: isPlain)
        let name = "get.php \(output) \(isPlain) \(hasGuide)"
        return list(name, .channelList, for: target, credentials: credentials.query) {
            Array(writer.write($0.channels, streamNumbers: $0.streamNumbers).utf8)
        }
    }

    private func media(_ resource: Route.Resource, of number: Int, _ target: RequestTarget) -> Answer {
        guard let channel = host.directory.channel(ofStream: number, for: target.viewer) else {
            return .now(.refusedStream(.notFound, reason: "There is no stream of this number."))
        }
        // The path is replaced, because it contains the password and an answer may repeat it. URIs lead below the
        // channel.
        return answer(of: channel.slug, resource, to: target.at("/\(channel.slug)/live.ts"))
    }
}

// MARK: - The guide

extension ServeResponder {
    /// The programs of a channel: at most `limit` of those that have not ended, or all.
    private func programs(of number: Int, upcoming limit: Int? = nil, _ target: RequestTarget) -> Answer {
        guard let guide, let channel = host.directory.channel(ofStream: number, for: target.viewer) else {
            return .now(.document(.json, Self.programs([])))
        }
        let archive = channel.archive(defaultRewind: host.defaultRewind)
        // The same for every viewer of the channel.
        let key = DocumentCache.Key(name: "programs \(number) \(limit ?? 0)")
        return .later { [programs] in
            await programs.response(key, .json, version: nil, to: target) {
                let now = Self.now / 1000
                let listings =
                    limit.map { guide.listings(of: channel, from: now, limit: $0) } ?? guide.listings(of: channel)
                return Array(
                    Self.programs(listings.lazy.map { Self.object($0, of: channel, archive: archive, at: now) }).utf8)
            }
        }
    }

    private static func programs(_ objects: some Sequence<JSONObject>) -> String {
        var object = JSONObject()
        object.add("epg_listings", list: objects)
        return object.text
    }

    private static func object(
        _ listing: GuideListing, of channel: ListedChannel, archive: Duration?, at now: Int64
    ) -> JSONObject {
        let id = ChannelListWriter.guideID(of: channel)
        let archiveStart = now - (archive?.components.seconds ?? 0)
        var object = JSONObject([
            "id": "\(XtreamCatalog.number(ofProgramAt: listing.start, of: id))", "epg_id": id,
            "title": base64(listing.title),
            "lang": listing.language, "start": time(listing.start), "end": time(listing.stop),
            "description": base64(listing.description), "channel_id": id, "start_timestamp": "\(listing.start)",
            "stop_timestamp": "\(listing.stop)",
        ])
        object.add("now_playing", listing.start <= now && now < listing.stop ? 1 : 0)
        object.add("has_archive", listing.stop <= now && listing.start >= archiveStart ? 1 : 0)
        return object
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static func time(_ seconds: Int64) -> String {
        XtreamCatalog.text(ProgramDateTime(millisecondsSince1970: seconds * 1000))
    }
}
