import Foundation
import Playlist
import Tracker

/// Where a list of channels comes from: a file, or a URL.
struct ChannelListSource: Sendable {
    let location: String
    let requests: CurlConfiguration

    /// The location without its secrets.
    var name: String { isURL ? URIReference.redacted(location) : location }

    private var isURL: Bool { location.contains("://") }

    /// Reads the list as it is now.
    func channels() async throws(RelayError) -> [ListedChannel] {
        let text = String(decoding: try await bytes(), as: UTF8.self)
        var channels: [ListedChannel] = []
        var name = ""
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("#EXTINF") {
                name = line.split(separator: ",").last.map(String.init) ?? ""
            } else if !line.hasPrefix("#") {
                let slug = String(name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" })
                channels.append(ListedChannel(slug: slug, name: name, sources: [ListedSource(url: String(line))]))
            }
        }
        return channels
    }

    private func bytes() async throws(RelayError) -> [UInt8] {
        guard isURL else {
            do { return Array(try Data(contentsOf: URL(filePath: location))) } catch {
                throw RelayError(
                    .notAPlaylist, "The list \(location) cannot be read: \(error.localizedDescription)",
                    advice: "Give a file or a URL of an M3U list")
            }
        }
        let outcome: FetchOutcome
        do throws(FetchError) {
            outcome = try await CurlFetcher(upstream: location, configuration: requests)
                .fetch(FetchRequest(.multivariantPlaylist, url: location))
        } catch { outcome = .failure(error) }
        switch outcome {
        case .success(let answer) where answer.isSuccess: return answer.body
        case .success(let answer):
            throw RelayError(
                .upstreamUnavailable, "The list \(name) answers with status \(answer.status)",
                advice: "Check its URL, and whether it needs a --header")
        case .failure(let error): throw RelayError(TrackerError(error, url: name))
        }
    }
}
