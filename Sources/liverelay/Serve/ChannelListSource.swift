import ChannelList
import Compression
import Foundation
import Glibc
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
    /// - Parameter previous: the channels before, whose slugs are kept.
    func read(keeping previous: [ListedChannel] = []) async throws(RelayError) -> M3UChannelList {
        let limits = ChannelListLimits()
        var (bytes, url) = isURL ? try await fetch(limit: limits.bytes) : (try file(limit: limits.bytes), "")
        if bytes.starts(with: [0x1F, 0x8B]), case .whole(let list) = Gzip.decompress(bytes, limit: limits.bytes) {
            bytes = list
        }
        do throws(ChannelListError) {
            return try M3UChannelListParser.parse(bytes, url: url, keeping: previous, limits: limits)
        } catch { throw RelayError(error, list: name) }
    }

    private func file(limit: Int) throws(RelayError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: location))
            return Array(try file.read(upToCount: limit + 1) ?? Data())
        } catch {
            let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue ?? errno
            let reason = unsafe String(cString: strerror(code))
            throw RelayError(
                .notAPlaylist, "The list \(location) cannot be read: \(reason)",
                advice: "Give a file or a URL of an M3U list")
        }
    }

    private func fetch(limit: Int) async throws(RelayError) -> (bytes: [UInt8], url: String) {
        var requests = requests
        requests.playlistLimits = .init(bodyBytes: limit, idle: .seconds(20), total: .seconds(120))
        let outcome: FetchOutcome
        do throws(FetchError) {
            outcome = try await CurlFetcher(upstream: location, configuration: requests)
                .fetch(FetchRequest(.multivariantPlaylist, url: location))
        } catch { outcome = .failure(error) }
        switch outcome {
        case .success(let answer) where answer.isSuccess: return (answer.body, answer.finalURL)
        case .success(let answer):
            throw RelayError(
                .upstreamUnavailable, "The list \(name) answers with status \(answer.status)",
                advice: "Check its URL, and whether it needs a --header")
        case .failure(let error): throw RelayError(TrackerError(error, url: name))
        }
    }
}
