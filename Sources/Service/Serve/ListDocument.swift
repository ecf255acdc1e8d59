import ChannelList
import Fetch
import Guide
import Support
import Tracker

/// A text read from a file or fetched from a URL: a list of channels, or a configuration.
struct ListDocument: Sendable {
    let location: String
    let requests: CurlConfiguration

    /// The location without its secrets.
    var name: String { isURL ? URIReference.redacted(location) : location }

    var isURL: Bool { location.contains("://") }

    /// Reads the list of an account or an M3U list as it is now.
    func list() async -> Result<M3UChannelList, RelayError> {
        let limits = ChannelListLimits()
        do throws(RelayError) {
            guard let account = XtreamAccount(listURL: location) else { return .success(try await playlist(limits)) }
            switch try await list(of: account, limits) {
            case .list(let list): return .success(list)
            case .noAccount(let complaint):
                // A panel may still offer a list. If it does not, its first answer is more informative.
                do throws(RelayError) { return .success(try await playlist(limits)) } catch {
                    throw complaint.map { error.following("The panel of \(name) answers player_api.php with \($0)") }
                        ?? error
                }
            }
        } catch { return .failure(error) }
    }

    /// Reads an M3U list.
    private func playlist(_ limits: ChannelListLimits) async throws(RelayError) -> M3UChannelList {
        var (bytes, url) = try await bytes(limit: limits.bytes)
        if bytes.starts(with: [0x1F, 0x8B]), case .whole(let list) = Gzip.decompress(bytes, limit: limits.bytes) {
            bytes = list
        }
        do throws(ChannelListError) {
            var list = try M3UChannelListParser.parse(bytes, url: url, limits: limits)
            if isURL { list.withholdCredentials(outside: location) }
            return list
        } catch { throw RelayError(error, list: name) }
    }

    /// At most `limit` + 1 bytes, and the URL after redirects; an empty URL for a file.
    func bytes(limit: Int) async throws(RelayError) -> (bytes: [UInt8], url: String) {
        isURL ? try await fetch(location, limit: limit) : (try file(limit: limit), "")
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

    private func fetch(_ url: String, limit: Int) async throws(RelayError) -> (bytes: [UInt8], url: String) {
        switch await answer(to: url, limit: limit) {
        case .success(let answer) where answer.isSuccess: return (answer.body, answer.finalURL)
        case .success(let answer):
            throw RelayError(
                .upstreamUnavailable, "The list \(name) answers with status \(answer.status)",
                advice: "Check its URL, and whether it needs a --header")
        case .failure(let error): throw RelayError(TrackerError(error, url: name))
        }
    }

    private func answer(to url: String, limit: Int) async -> FetchOutcome {
        var requests = requests
        requests.playlistLimits = .init(bodyBytes: limit, idle: .seconds(20), total: .seconds(120))
        do throws(FetchError) {
            return try await CurlFetcher(upstream: location, configuration: requests)
                .fetch(FetchRequest(.multivariantPlaylist, url: url))
        } catch { return .failure(error) }
    }
}

// MARK: - Accounts

extension ListDocument {
    private enum AccountAnswer {
        case list(M3UChannelList)
        /// The panel does not offer the API. The text describes its answer; nil if it does not answer.
        case noAccount(String?)
    }

    /// The list of an account, read through the panel's API.
    private func list(
        of account: XtreamAccount, _ limits: ChannelListLimits
    ) async throws(RelayError) -> AccountAnswer {
        // A panel may refuse by an HTTP status and explain the refusal in the body.
        guard case .success(let answer) = await answer(to: account.url(of: .account), limit: Self.accountLimit) else {
            return .noAccount(nil)
        }
        let state: XtreamAccountState?
        do throws(XtreamRefusal) { state = try XtreamAccountState(answer.body, of: account) } catch {
            throw RelayError(error, list: name)
        }
        guard let state else {
            return .noAccount(XtreamAccountState.complaint(about: answer.body, status: answer.status, of: account))
        }
        // If the categories cannot be fetched, channels have no groups.
        let categories = try? await fetch(account.url(of: .categories), limit: limits.bytes).bytes
        let streams = try await fetch(account.url(of: .streams), limit: limits.bytes).bytes
        do throws(ChannelListError) {
            var list = try XtreamListing.list(
                of: account, state, categories: categories, streams: streams, limits: limits)
            list.withholdCredentials(outside: location)
            return .list(list)
        } catch { throw RelayError(error, list: name) }
    }

    /// The largest answer about an account, in bytes.
    private static let accountLimit = 1 << 20
}
