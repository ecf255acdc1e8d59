import Playlist

/// One transfer as the curl thread is asked to run it: all decisions made, nothing of C in it.
struct CurlJob: Equatable, Sendable {
    static let maxRedirects = 10

    let request: FetchRequest
    let url: String
    let login: HTTPURL.UserInfo?
    /// As CURLOPT_HTTPHEADER takes them.
    let headerLines: [String]
    /// `first-last`; nil for the whole resource.
    let range: String?
    let configuration: CurlConfiguration
    let cookieLines: [String]
    /// Bodies are handed on as they come, whatever is claimed of them, and no encoding is asked for.
    let usesIdentityEncoding: Bool
    /// libcurl follows redirects. Otherwise one is an answer, and whoever follows it shows the next host what is for it.
    let followsRedirects: Bool
    private let origin: HTTPURL.Origin

    /// - Parameter address: the request's, or where a redirect has led.
    init(
        _ request: FetchRequest, to address: HTTPURL, headers: RequestHeaders, configuration: CurlConfiguration,
        isPlain: Bool = false
    ) throws(FetchError) {
        let range = request.byteRange?.firstAndLast
        guard request.byteRange == nil || range != nil else {
            throw FetchError(.other, url: request.url, message: "empty byte range")
        }
        self.request = request
        self.url = address.text
        self.origin = try HTTPURL(request.url).origin
        self.followsRedirects = headers.mayFollowRedirects(from: address)
        self.login = headers.login(for: address)
        self.usesIdentityEncoding = isPlain || range != nil
        self.headerLines = headers.lines(for: address)
        self.range = range
        self.configuration = configuration
        self.cookieLines = headers.cookieLines
    }

    var limits: CurlConfiguration.Limits { configuration.limits(for: request) }

    /// The address after redirects, with the request's own user information as long as that is for it: what its relative
    /// addresses are resolved against has to be asked in the same name.
    func finalURL(_ effective: String?) -> String {
        let effective = effective ?? url
        guard let asked = URIReference.authority(of: request.url), let at = asked.lastIndex(of: "@"),
            let host = URIReference.authority(of: effective), !host.contains("@"),
            (try? HTTPURL(effective))?.origin == origin
        else { return effective }
        return URIReference.replacingAuthority(of: effective, by: asked[...at] + host)
    }
}

extension ByteRange {
    /// As in a Range header (RFC 9110 §14.1.2), without the unit; nil when it names no byte or ends beyond 2⁶⁴ − 1.
    fileprivate var firstAndLast: String? {
        let (end, overflow) = offset.addingReportingOverflow(length)
        return length > 0 && !overflow ? "\(offset)-\(end - 1)" : nil
    }
}
