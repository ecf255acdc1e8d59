import ChannelList
import Guide
import HTTP
import LiveRing
import Support

// The documents about all channels. They are long, so each is made on a thread of documents.

extension ServeResponder {
    /// Makes a response, off the event loops.
    typealias Work = @Sendable () async -> Response

    /// The list of all channels, or of one group, with URLs of this server.
    /// - Parameter format: the format in the query; nil: HLS, and for archives the form that most players handle best.
    func channelList(_ format: StreamFormat?, group: String?, for target: RequestTarget) -> Work {
        let base = base(of: target)
        let guideURL = mayReadGuide(target.viewer) && guide?.hasSources == true ? base + "/epg.xml" : nil
        let writer = ChannelListWriter(
            baseURL: base, format: format ?? .hls, archiveFormat: format ?? .ts, guideURL: guideURL,
            query: target.viewer.query?.value,
            defaultRewind: host.defaultRewind)
        let name = "playlist.m3u \(format?.rawValue ?? "") \(guideURL != nil) \(group.map { "group " + $0 } ?? "")"
        return list(name, .channelList, for: target) { Array(writer.write($0.channels, group: group).utf8) }
    }

    /// `/lineup.m3u`
    func lineupList(for target: RequestTarget) -> Work {
        let writer = ChannelListWriter(baseURL: base(of: target), format: .ts, query: target.viewer.query?.value)
        return list("lineup.m3u", .channelList, for: target) { Array(writer.write($0.channels).utf8) }
    }

    /// `/lineup.json`
    func lineup(for target: RequestTarget) -> Work {
        list("lineup.json", .json, for: target) { [base = base(of: target)] directory in
            let text = TunerDevice.lineupJSON(
                directory.channels, numbers: directory.guideNumbers, baseURL: base, query: target.viewer.query?.value)
            return Array(text.utf8)
        }
    }

    /// `/<channel>/programs.json`: the programs of the guide in a range.
    func programs(of name: String, in range: RewindRange, _ target: RequestTarget) -> Answer {
        guard let guide, guide.hasSources, let channel = host.directory[name] else {
            return .now(.document(.json, "{\"programs\":[]}"))
        }
        let (start, end) = range.seconds(before: WallClock.milliseconds)
        // The same for every viewer of the channel.
        let key = DocumentCache.Key(name: "programs.json \(name) \(start ?? 0) \(end ?? 0)")
        return .later { [programs] in
            await programs.response(key, .json, version: nil, to: target) {
                let listings = guide.listings(of: channel, from: start).prefix { program in
                    end.map { program.start < $0 } ?? true
                }
                var document = JSONObject()
                document.add(
                    "programs",
                    list: listings.map { program in
                        JSONObject([
                            "title": program.title, "start": Self.text(program.start), "end": Self.text(program.stop),
                        ])
                    })
                return Array(document.text.utf8)
            }
        }
    }

    private static func text(_ seconds: Int64) -> String {
        ProgramDateTime(millisecondsSince1970: seconds * 1000).text
    }

    /// `/web/channels.json`
    func channelNames(for target: RequestTarget) -> Work {
        list("channels.json", .json, for: target) { StatusDocument.json(of: ListedChannels($0.channels)) }
    }

    /// `/web/channels.html`: the list for browsers without scripts.
    func plainList(for target: RequestTarget) -> Work {
        let query = target.viewer.query.map { "?\($0.value)" } ?? ""
        return list("channels.html", .html, for: target, credentials: target.viewer.query) { directory in
            let rows = directory.channels.map { channel in
                let path = "../" + PercentEncoding.encode(channel.slug)
                return """
                    <li>\(DocumentText.xml(channel.name)): <a href="\(path)/live.m3u8\(query)" target="_top">HLS</a>, \
                    <a href="\(path)/live.ts\(query)" target="_top">MPEG-TS</a></li>
                    """
            }
            let head = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Channels</title>"
            let style = "<meta name=\"color-scheme\" content=\"light dark\">"
            return Array((head + style + "\n<ul>\n" + rows.joined(separator: "\n") + "\n</ul>\n</html>\n").utf8)
        }
    }

    /// `/library.zip`
    func library(for target: RequestTarget) -> Work {
        let (viewer, base) = (target.viewer, base(of: target))
        let key = DocumentCache.Key(name: "library.zip", baseURL: base, query: viewer.query)
        return { [host, guide, programs] in
            await programs.response(key, .zip, version: nil, to: target) {
                let library = ProgramLibrary(
                    baseURL: base, query: viewer.query?.value, now: WallClock.milliseconds / 1000)
                let channels = host.directory.channels.compactMap { channel in
                    channel.archive(defaultRewind: host.defaultRewind).map { (channel, archive: $0) }
                }
                return library.zip(channels) { guide?.listings(of: $0) ?? [] }
            }
        }
    }

    /// `/web/overview.json`
    func overview(for target: RequestTarget) -> Work {
        let features = ServeOverview.Features(
            hasGuide: guide?.hasSources == true, hasAPI: hasAPI && mayReadGuide(target.viewer),
            hasRecordings: recordings != nil)
        return moment("overview.json", for: target) { StatusDocument.json(of: ServeOverview($0, features)) }
    }

    /// `/web/health.json`: the last 24 hours of each channel.
    func healthHistory(for target: RequestTarget) -> Work {
        moment("health.json", for: target) { [health] overview in
            StatusDocument.json(of: health.document { overview.directory.lists($0) })
        }
    }

    /// `/web/recordings.json`: the recordings of the channels that the viewer may watch.
    func recordingList(for target: RequestTarget) -> Work {
        moment("recordings.json", for: target) { [recordings, host] overview in
            StatusDocument.json(
                of: RecordingDocument.List(recordings, host.continuousRecordings) {
                    overview.directory[$0] != nil
                })
        }
    }

    /// `/status.json`
    func status(for target: RequestTarget) -> Work {
        let isWhole = mayReadGuide(target.viewer)
        return moment("status.json", for: target) { [clients, guide] overview in
            StatusDocument.json(of: ServeStatus(overview, clients: clients(), guide: isWhole ? guide?.status : nil))
        }
    }

    /// A document that changes only with the list.
    /// - Parameter credentials: the viewer's credentials, if the document contains them; nil: as in `Viewer`.
    func list(
        _ name: String, _ type: MimeType, for target: RequestTarget, credentials: Secret? = nil,
        write: @escaping @Sendable (ChannelDirectory) -> [UInt8]
    ) -> Work {
        let (directory, viewer) = (host.directory, target.viewer)
        let key = DocumentCache.Key(
            name: name, baseURL: base(of: target), reach: directory.reach(of: viewer),
            query: credentials ?? viewer.query)
        return { [host, lists] in
            await lists.response(key, type, version: directory.version, to: target) {
                write(host.directory.opened(to: viewer))
            }
        }
    }

    /// A document about the present moment.
    func moment(
        _ name: String, for target: RequestTarget, credentials: Secret? = nil,
        write: @escaping @Sendable (ChannelHost.Overview) -> [UInt8]
    ) -> Work {
        let viewer = target.viewer
        let key = DocumentCache.Key(
            name: name, baseURL: credentials == nil ? "" : base(of: target), reach: host.directory.reach(of: viewer),
            query: credentials)
        return { [host, moments] in
            await moments.response(key, .json, version: nil, to: target) { write(host.overview.seen(by: viewer)) }
        }
    }

    /// Whether a viewer may read the guide, which names all channels; as in `ChannelDirectory.permits`.
    func mayReadGuide(_ viewer: Viewer) -> Bool { viewer.reach == .everything }
}

extension RewindRange {
    /// The bounds of the range in seconds since 1970. A range that ends now has only a start.
    fileprivate func seconds(before now: Int64) -> (start: Int64?, end: Int64?) {
        switch self {
        case .whole: (nil, nil)
        case .between(let start, let end):
            (start.map { $0.millisecondsSince1970 / 1000 }, end.map { $0.millisecondsSince1970 / 1000 })
        case .last(let span), .delayed(let span): ((now - span) / 1000, nil)
        }
    }
}
