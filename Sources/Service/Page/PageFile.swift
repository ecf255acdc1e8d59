import CEmbed
import HTTP

/// A file of the web page. The page works below any path, because its URLs are relative.
enum PageFile: String, CaseIterable {
    case overview = "overview.html"
    case channel = "channel.html"
    case token = "token.html"
    case style = "page.css"
    case overviewScript = "overview.js"
    case channelScript = "channel.js"
    case bar = "bar.js"
    case player = "player.js"
    case playhead = "playhead.js"
    case guide = "guide.js"
    case playlist = "playlist.js"
    case subtitles = "subtitles.js"
    case track = "track.js"
    case words = "words.js"
    case recordings = "recordings.js"
    case viewsStyle = "views.css"
    case list = "list.js"
    case grid = "grid.js"
    case events = "events.js"
    case record = "record.js"
    case api = "api.js"
    case connect = "connect.js"
    case viewers = "viewers.js"
    case icon = "icon.svg"

    /// The folder of the files in paths, for one channel and for many: `/web/page.css`, `/news/web/page.css`.
    static let folder = "/web/"

    /// The file for a path; nil for any other path. The two documents have paths of their own.
    init?(path: String) {
        guard path.hasPrefix(Self.folder) else { return nil }
        self.init(rawValue: String(path.dropFirst(Self.folder.count)))
        if isDocument { return nil }
    }

    var bytes: [UInt8] { EmbeddedFile.bytes(named: rawValue) }

    private var isDocument: Bool { rawValue.hasSuffix(".html") }
}

/// A file embedded in the executable, because a resource bundle would be found only by a path of the build.
enum EmbeddedFile {
    /// - Parameter name: the name of a file of CEmbed, without the folder.
    static func bytes(named name: String) -> [UInt8] {
        guard let file = unsafe liverelay_embedded_file(name) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: file.pointee.bytes, count: file.pointee.count))
    }
}

/// The answers for the files of the page, each compressed once.
enum Page {
    /// The page loads nothing from other origins except the logos of channels, which may have any URL in the list.
    static let policy =
        "default-src 'self'; img-src 'self' http: https: data:; media-src 'self' blob:; base-uri 'none'; form-action 'self'"

    static let overview = document(.overview)
    static let channel = document(.channel)
    /// The page of a channel of a list. With a guide, it has a place for programs from the beginning.
    static func listedChannel(hasGuide: Bool) -> Response { hasGuide ? channelWithGuide : channelWithoutGuide }
    private static let channelWithoutGuide = document(.channel, replacing: "data-list=\"\"", with: "data-list=\"../\"")
    private static let channelWithGuide = document(
        .channel, replacing: "data-list=\"\"", with: "data-list=\"../\" data-guide")

    /// The page that asks for a token, and the one that asks again.
    static let token = document(.token)
    static let wrongToken = document(.token, replacing: " hidden", with: "")

    /// Answers a request for a file of the page; nil if the path names no file.
    static func response(at path: String) -> Response? { PageFile(path: path).flatMap { files[$0] } }

    private static let files = Dictionary(
        uniqueKeysWithValues: PageFile.allCases.map { ($0, response($0.bytes, MimeType(fileName: $0.rawValue))) })

    /// Clients revalidate the file on each use, because a page must not mix files of two versions.
    private static func response(_ bytes: [UInt8], _ type: MimeType?) -> Response {
        Response(
            contentType: type, cacheControl: .maxAge(seconds: 0), etag: EntityTag.ofContent(bytes),
            body: .bytes(bytes, gzip: LazyGzip(bytes)),
            extraHeaders: [
                HeaderField(name: "Content-Security-Policy", value: policy),
                HeaderField(name: "X-Content-Type-Options", value: "nosniff"),
                HeaderField(name: "Referrer-Policy", value: "no-referrer"),
            ])
    }

    private static func document(_ file: PageFile, replacing mark: String = "", with text: String = "") -> Response {
        var document = String(decoding: file.bytes, as: UTF8.self)
        if let range = document.firstRange(of: mark) { document.replaceSubrange(range, with: text) }
        return response(Array(document.utf8), .html)
    }
}
