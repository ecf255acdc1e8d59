/// A header field that a list asks to send with the requests for a source.
package struct ListedHeader: Hashable, Sendable {
    /// A token (RFC 9110 §5.6.2). Well-known names have their usual spelling: `User-Agent`, `Referer`.
    package let name: String
    /// Without control characters and without surrounding white space.
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// One URL under which a channel can be fetched, and how to ask for it.
package struct ListedSource: Hashable, Sendable {
    /// An absolute `http` or `https` URL, without header fields and labels.
    package var url: String
    /// At most one field of each name, compared without case.
    package var headers: [ListedHeader]
    /// The proxy's URL.
    package var proxy: String?
    /// The words after `$` in `http://host/path$label`: names the source for people.
    package var label: String?
    /// Whether the credentials that the process was given for all sources stay away from this one.
    package var withholdsCredentials = false

    package init(url: String, headers: [ListedHeader] = [], proxy: String? = nil, label: String? = nil) {
        self.url = url
        self.headers = headers
        self.proxy = proxy
        self.label = label
    }
}
