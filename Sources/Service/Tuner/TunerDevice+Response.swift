import ChannelList
import WebServer

extension TunerDevice {
    /// The document for a request; nil for the lineup, which has all channels.
    /// - Parameter baseURL: the URL of this server as the client sees it.
    /// - Parameter query: that the URLs in the document carry; nil: nothing.
    func response(to request: Route.Tuner, baseURL: String, query: String? = nil) -> Response? {
        switch request {
        case .discovery: .document(.json, discoverJSON(baseURL: baseURL, query: query))
        case .description: .document(.xml, deviceXML(baseURL: baseURL))
        case .lineupStatus: .document(.json, Self.lineupStatusJSON)
        case .scan: Response(cacheControl: .noStore, body: .empty)
        case .lineup, .lineupList: nil
        }
    }
}

extension Response {
    /// A text that is made for each request.
    static func document(_ type: MimeType, _ text: String) -> Response {
        Response(contentType: type, cacheControl: .noStore, body: .bytes(Array(text.utf8), gzip: nil))
    }
}
