import ChannelList
import HTTPSyntax

extension TunerDevice {
    /// The document for a request.
    /// - Parameter baseURL: the URL of this server as the client sees it.
    /// - Parameter query: that the URLs in the document carry; nil: nothing.
    func response(
        to request: Route.Tuner, channels: [ListedChannel], baseURL: String, query: String? = nil
    ) -> Response {
        switch request {
        case .discovery: .document(.json, discoverJSON(baseURL: baseURL, query: query))
        case .description: .document(.xml, deviceXML(baseURL: baseURL))
        case .lineup: .document(.json, Self.lineupJSON(channels, baseURL: baseURL, query: query))
        case .lineupStatus: .document(.json, Self.lineupStatusJSON)
        case .lineupList:
            .document(.channelList, ChannelListWriter(baseURL: baseURL, format: .ts, query: query).write(channels))
        case .scan: Response(cacheControl: .noStore, body: .empty)
        }
    }
}

extension Response {
    /// A text that is made for each request.
    static func document(_ type: MimeType, _ text: String) -> Response {
        Response(contentType: type, cacheControl: .noStore, body: .bytes(Array(text.utf8), gzip: nil))
    }
}
