import ChannelList
import Fetch
import Guide
import Observability
import Playlist
import Support
import Tracker

/// A text that is read from a file or fetched from a URL: a list of channels, or a configuration.
struct ListDocument: Sendable {
    let location: String
    let requests: CurlConfiguration

    /// The location without its secrets.
    var name: String { isURL ? URIReference.redacted(location) : location }

    var isURL: Bool { location.contains("://") }

    /// Reads an M3U list as it is now.
    func list() async -> Result<M3UChannelList, RelayError> {
        let limits = ChannelListLimits()
        do throws(RelayError) {
            var (bytes, url) = try await bytes(limit: limits.bytes)
            if bytes.starts(with: [0x1F, 0x8B]), case .whole(let list) = Gzip.decompress(bytes, limit: limits.bytes) {
                bytes = list
            }
            do throws(ChannelListError) {
                var list = try M3UChannelListParser.parse(bytes, url: url, limits: limits)
                if isURL { list.withholdCredentials(outside: location) }
                return .success(list)
            } catch { throw RelayError(error, list: name) }
        } catch { return .failure(error) }
    }

    /// The bytes, one more than `limit` at most, and the URL after redirects; an empty one for a file.
    func bytes(limit: Int) async throws(RelayError) -> (bytes: [UInt8], url: String) {
        isURL ? try await fetch(limit: limit) : (try file(limit: limit), "")
    }

    private func file(limit: Int) throws(RelayError) -> [UInt8] {
        do throws(RegularFile.Failure) {
            return Array(try RegularFile(location).read(limit: limit + 1))
        } catch {
            throw RelayError(
                .notAPlaylist, "The list \(location) cannot be read: \(error.message)",
                advice: "Give a file or a URL of an M3U list, or a channels.yaml")
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
