import Playlist

/// One transfer as the curl thread is asked to run it: all decisions made, nothing of C in it.
struct CurlJob: Equatable, Sendable {
    static let maxRedirects = 10

    let request: FetchRequest
    let address: String
    /// As CURLOPT_HTTPHEADER takes them.
    let headerLines: [String]
    /// `first-last`; nil for the whole resource.
    let range: String?
    let configuration: CurlConfiguration
    let cookieLines: [String]

    init(_ request: FetchRequest, headers: ChannelHeaders, configuration: CurlConfiguration) throws(FetchError) {
        let address = try HTTPAddress(request.url)
        let range = request.byteRange?.firstAndLast
        guard request.byteRange == nil || range != nil else {
            throw FetchError(.other, url: request.url, message: "empty byte range")
        }
        self.request = request
        self.address = address.text
        self.headerLines = headers.lines(for: address)
        self.range = range
        self.configuration = configuration
        self.cookieLines = headers.cookieLines
    }

    var limits: CurlConfiguration.Limits { configuration.limits(for: request.purpose) }
}

extension ByteRange {
    /// As in a Range header (RFC 9110 §14.1.2), without the unit; nil when it names no byte or ends beyond 2⁶⁴ − 1.
    fileprivate var firstAndLast: String? {
        let (end, overflow) = offset.addingReportingOverflow(length)
        return length > 0 && !overflow ? "\(offset)-\(end - 1)" : nil
    }
}
