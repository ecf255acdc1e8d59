package import Foundation

/// A capture on disk: `index.json` and the bodies it names.
package struct CaptureDirectory: Sendable {
    package static let indexName = "index.json"

    package let url: URL
    package let index: CaptureIndex

    /// - Throws: `.unreadable`, or `.malformedIndex` with the place in the JSON.
    package init(_ url: URL) throws(CaptureError) {
        let path = url.appending(path: Self.indexName).path
        let data: Data
        do { data = try Data(contentsOf: url.appending(path: Self.indexName)) } catch {
            throw CaptureError(.unreadable, path: path, message: error.localizedDescription)
        }
        do {
            self.init(url, index: try JSONDecoder().decode(CaptureIndex.self, from: data))
        } catch {
            throw CaptureError(.malformedIndex, path: path, message: Self.place(of: error))
        }
    }

    /// - Parameter index: made in memory; `url` is where the files it names lie, if it names any.
    package init(_ url: URL, index: CaptureIndex) {
        self.url = url
        self.index = index
    }

    /// - Throws: `.foreignPath` for a file outside of the directory, `.unreadable` for one that is not there.
    package func bytes(of body: CapturedAnswer.Body) throws(CaptureError) -> [UInt8] {
        switch body {
        case .text(let text): return Array(text.utf8)
        case .file(let path):
            guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else {
                throw CaptureError(.foreignPath, path: path)
            }
            do { return Array(try Data(contentsOf: url.appending(path: path))) } catch {
                throw CaptureError(.unreadable, path: path, message: error.localizedDescription)
            }
        }
    }

    private static func place(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return error.localizedDescription }
        switch error {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            let place = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            return "\(place): \(context.debugDescription)"
        @unknown default: return error.localizedDescription
        }
    }
}
