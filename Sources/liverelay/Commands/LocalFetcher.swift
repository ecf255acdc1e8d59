import Fetch
import Foundation
import Support

/// Reads the files of a playlist on disk. Files outside the playlist's directory and other URLs are not read.
struct LocalFetcher: Fetcher {
    /// The URL of the directory, with its slash.
    private let directory: String

    init(playlist url: String) { directory = String(url[...(url.lastIndex(of: "/") ?? url.startIndex)]) }

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let url = URIReference.withoutQuery(request.url)
        guard url.hasPrefix(directory), let path = FileURL(url)?.path else {
            return .failure(FetchError(.unsupportedScheme, url: request.url))
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            return .success(FetchAnswer(status: 404, finalURL: request.url, body: []))
        }
        guard let range = request.byteRange?.range else {
            return .success(FetchAnswer(status: 200, finalURL: request.url, body: Array(data)))
        }
        let end = min(UInt64(data.count), range.upperBound)
        let start = min(end, range.lowerBound)
        return .success(FetchAnswer(status: 206, finalURL: request.url, body: Array(data[Int(start)..<Int(end)])))
    }
}
