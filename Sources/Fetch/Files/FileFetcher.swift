import Support
import Synchronization

/// Reads one file on disk as an origin with byte ranges would serve it.
package final class FileFetcher: Fetcher {
    /// Size of the answer to a request for the whole file, in bytes: enough to recognize the file.
    static let beginningBytes: UInt64 = 1 << 16

    private let url: String
    private let path: String
    private let configuration: CurlConfiguration
    /// The version of the file that is being read. A request for the whole file opens the newest version.
    private let file = Mutex<LocalFile?>(nil)

    /// - Parameters:
    ///   - url: the only URL that is answered.
    ///   - configuration: with private addresses denied, nothing is read.
    package init(_ url: String, configuration: CurlConfiguration) throws(FetchError) {
        (self.url, self.configuration) = (url, configuration)
        guard let file = FileURL(url) else {
            throw FetchError(.other, url: url, message: "no path, such as file:///directory/movie.mp4")
        }
        path = file.path
    }

    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        guard request.url == url, !configuration.deniesPrivate else {
            return .failure(
                FetchError(.unsupportedScheme, url: request.url, message: "files of this channel alone are read"))
        }
        do throws(LocalFileError) { return .success(try answer(request)) } catch {
            return error.reason == .system(2)
                ? .success(FetchAnswer(status: 404, finalURL: url, body: []))
                : .failure(FetchError(.other, url: url, message: error.reason.message))
        }
    }

    private func answer(_ request: FetchRequest) throws(LocalFileError) -> FetchAnswer {
        let file = try open(anew: request.byteRange == nil)
        let wanted = request.byteRange?.range ?? 0..<Self.beginningBytes
        let range = min(wanted.lowerBound, file.byteCount)..<min(wanted.upperBound, file.byteCount)
        let isPart = request.byteRange != nil
        let headers =
            isPart
            ? [("Content-Range", "bytes \(range.lowerBound)-\(max(1, range.upperBound) - 1)/\(file.byteCount)")]
            : [("Accept-Ranges", "bytes"), ("Content-Length", "\(file.byteCount)")]
        guard !isPart || !range.isEmpty, range.count <= configuration.limits(for: request).bodyBytes else {
            return FetchAnswer(status: 416, finalURL: url, body: [])
        }
        return FetchAnswer(
            status: isPart ? 206 : 200, finalURL: url, headers: headers.map { .init(name: $0.0, value: $0.1) },
            body: try file.read([range]))
    }

    private func open(anew isAnew: Bool) throws(LocalFileError) -> LocalFile {
        if !isAnew, let file = file.withLock({ $0 }) { return file }
        let opened = try LocalFile(path)
        file.withLock { $0 = opened }
        return opened
    }
}

extension LocalFileError.Reason {
    fileprivate var message: String {
        switch self {
        case .system(let code): "it cannot be read (errno \(code))"
        case .notAFile: "it is no file"
        case .changed: "it was written over while it was read"
        }
    }
}
