import Support

/// A transfer for the curl thread, without C values.
struct CurlJob: Sendable {
    static let maxRedirects = 10

    let request: FetchRequest
    /// The URL of the request, or of a redirect.
    let url: HTTPURL
    let headers: RequestHeaders
    let configuration: CurlConfiguration
    /// Whether the origin's bodies contradict their Content-Encoding.
    var isMislabeled = false
    /// Whether the origin asks for Digest authentication (RFC 7616) and knows no Basic.
    var usesDigest = false
    /// The body that is sent; nil: the request is a GET.
    var content: RequestContent?
    /// The file for the body and the further header fields; nil: the body goes into memory.
    var download: Download?
    /// Further header fields, which no other host may read: redirects of such a request are not followed.
    var fields: [FetchAnswer.Header] = []
    /// The destination of a body that is recognized as a stream; nil: streams are not accepted.
    var stream: StreamBuffer?

    /// `first-last`; nil: the whole resource.
    var range: String? { request.byteRange?.firstAndLast }

    /// Whether libcurl follows redirects. If not, `CurlFetcher` follows them, with other headers for another host.
    ///
    /// A redirect of a request with content may change the method (RFC 9110 §15.4), so it is not followed.
    var followsRedirects: Bool { content == nil && fields.isEmpty && headers.mayFollowRedirects(from: url) }

    /// Whether no encoding is requested, and the body is passed on as it is, whatever its Content-Encoding.
    ///
    /// Media is compressed already. Asking for no encoding leaves no body to be decompressed on the curl thread.
    var usesIdentityEncoding: Bool {
        isMislabeled || range != nil || [.segment, .key, .map].contains(request.purpose)
    }

    /// In the format of CURLOPT_HTTPHEADER.
    var headerLines: [String] {
        headers.lines(for: url) + (request.revalidation?.headerLines ?? [])
            + (content.map { ["Content-Type: \($0.type)", "Expect:"] } ?? [])
            + (fields + (content?.fields ?? [])).map { "\($0.name): \($0.value)" }
            + (download?.fields.map { "\($0.name): \($0.value)" } ?? [])
    }

    var limits: CurlConfiguration.Limits { download?.limits ?? configuration.limits(for: request) }

    /// Returns the URL after redirects, with the request's user information if the origin is the same.
    ///
    /// Relative URIs are resolved against this URL, and must be requested with the same user information.
    func finalURL(_ effective: String?) -> String {
        let effective = effective ?? url.text
        guard let authority = URIReference.authority(of: request.url), let at = authority.lastIndex(of: "@"),
            let host = URIReference.authority(of: effective), !host.contains("@"),
            let requested = try? HTTPURL(request.url), (try? HTTPURL(effective))?.origin == requested.origin
        else { return effective }
        return URIReference.replacingAuthority(of: effective, by: authority[...at] + host)
    }
}

extension ByteRange {
    /// The value of a Range header without its unit (RFC 9110 §14.1.2); nil if it is empty or ends above 2⁶⁴ − 1.
    var firstAndLast: String? {
        range.flatMap { $0.isEmpty ? nil : "\($0.lowerBound)-\($0.upperBound - 1)" }
    }
}
