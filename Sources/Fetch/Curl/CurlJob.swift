import Support

/// A transfer for the curl thread, with all decisions made and no C values.
struct CurlJob: Equatable, Sendable {
    static let maxRedirects = 10

    let request: FetchRequest
    let url: String
    let userInfo: HTTPURL.UserInfo?
    /// In the format of CURLOPT_HTTPHEADER.
    let headerLines: [String]
    /// `first-last`; nil: the whole resource.
    let range: String?
    /// The body that is sent; nil: the request is a GET.
    let content: RequestContent?
    let configuration: CurlConfiguration
    let cookieLines: [String]
    /// Whether no encoding is requested, and the body is passed on as it is, whatever its Content-Encoding.
    let usesIdentityEncoding: Bool
    /// Whether libcurl follows redirects. Otherwise `CurlFetcher` does, with other headers for another host.
    let followsRedirects: Bool
    /// Where the body goes, and what else is asked; nil: into memory.
    let download: Download?
    /// Where a body goes that is recognized as a stream; nil: no stream is accepted.
    let stream: StreamBuffer?
    private let origin: HTTPURL.Origin

    /// - Parameter url: the request's URL, or that of a redirect.
    init(
        _ request: FetchRequest, to url: HTTPURL, headers: RequestHeaders, configuration: CurlConfiguration,
        usesIdentityEncoding: Bool = false, content: RequestContent? = nil, download: Download? = nil,
        stream: StreamBuffer? = nil
    ) throws(FetchError) {
        let range = request.byteRange?.firstAndLast
        guard request.byteRange == nil || range != nil else {
            throw FetchError(.other, url: request.url, message: "empty byte range")
        }
        self.request = request
        self.url = url.text
        self.origin = try HTTPURL(request.url).origin
        // A redirect of such a request may or may not ask for another one (RFC 9110 §15.4).
        self.followsRedirects = content == nil && headers.mayFollowRedirects(from: url)
        self.userInfo = headers.userInfo(for: url)
        // Media is compressed already. Asking for no encoding leaves no body to be decompressed on the curl thread.
        let isMedia = [.segment, .key, .map].contains(request.purpose)
        self.usesIdentityEncoding = usesIdentityEncoding || isMedia || range != nil
        self.headerLines =
            headers.lines(for: url) + (content.map { ["Content-Type: \($0.type)", "Expect:"] } ?? [])
            + (download?.fields.map { "\($0.name): \($0.value)" } ?? [])
        self.download = download
        self.stream = stream
        self.range = range
        self.content = content
        self.configuration = configuration
        self.cookieLines = headers.cookieLines
    }

    var limits: CurlConfiguration.Limits { download?.limits ?? configuration.limits(for: request) }

    /// Returns the URL after redirects, with the request's user information if the origin is the same.
    ///
    /// Relative URIs are resolved against this URL, and must be requested with the same user information.
    func finalURL(_ effective: String?) -> String {
        let effective = effective ?? url
        guard let authority = URIReference.authority(of: request.url), let at = authority.lastIndex(of: "@"),
            let host = URIReference.authority(of: effective), !host.contains("@"),
            (try? HTTPURL(effective))?.origin == origin
        else { return effective }
        return URIReference.replacingAuthority(of: effective, by: authority[...at] + host)
    }
}

extension ByteRange {
    /// The value of a Range header without its unit (RFC 9110 §14.1.2); nil if it is empty or ends above 2⁶⁴ − 1.
    fileprivate var firstAndLast: String? {
        range.flatMap { $0.isEmpty ? nil : "\($0.lowerBound)-\($0.upperBound - 1)" }
    }
}
