package import ChannelList
import Dispatch
package import Fleet
import Foundation
package import Support

/// Changes the channels of a process while it runs: by reading its configuration again, and by requests.
///
/// Changes by requests override the configuration until the process ends, also across reloads. Nodes of a fleet share them,
/// and a new process has them too. The time of a change
/// grows with the length of the list, so the actor has a thread of its own: neither event loops nor channels wait for
/// it.
package actor CatalogUpdater {
    /// The outcome of an update for the channels.
    package struct Outcome: Sendable {
        package let difference: ChannelListDifference
        /// The number of running channels that end because they left the list or are relayed differently.
        package let endedCount: Int
        /// The reasons why lists keep their previous content.
        package var staleLists: [RelayError] = []
    }

    private let thread = ThreadExecutor(label: "liverelay.catalog")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    private let source: CatalogSource
    private let host: ChannelHost
    private var catalog: ChannelCatalog
    /// The channels put by requests; nil for a channel that a request deleted.
    private var changes: [String: ListedChannel?] = [:]
    /// The configuration that was last read, and its number.
    private var newest: (configuration: ChannelConfiguration, number: Int)
    private var readCount = 0
    private var catalogNumber = 0
    private var runningReload: Task<Result<Outcome, CatalogError>, Never>?
    /// A reload that has not begun. Further requests for a reload share it.
    private var nextReload: Task<Result<Outcome, CatalogError>, Never>?
    private let observe: @Sendable (Result<Outcome, CatalogError>) -> Void
    private let publish: Publication

    /// Receives the channels, and the URLs of the guides.
    package typealias Publication = @Sendable (_ channels: [ListedChannel], _ guides: [String]) -> Void

    /// The most channels that requests may put.
    static let mostChanges = 10_000

    /// - Parameters:
    ///   - publish: called after each change.
    ///   - observe: called after each reload.
    package init(
        _ catalog: ChannelCatalog, from source: CatalogSource, host: ChannelHost,
        publish: @escaping Publication = { _, _ in },
        observe: @escaping @Sendable (Result<Outcome, CatalogError>) -> Void = { _ in }
    ) {
        self.catalog = catalog
        newest = (catalog.configuration, 0)
        self.source = source
        self.host = host
        self.observe = observe
        self.publish = publish
    }

    /// Reloads the configuration and its lists, and applies the changes. If that fails, nothing changes, except that
    /// the tokens of a configuration without mistakes take effect at once, before its lists are read.
    @discardableResult
    package func reload() async -> Result<Outcome, CatalogError> {
        readCount += 1
        let number = readCount
        do throws(CatalogError) {
            let configuration = try await source.configuration()
            if number > newest.number { newest = (configuration, number) }
        } catch {
            observe(.failure(error))
            return .failure(error)
        }
        _ = apply()
        return await joinNextReload().value
    }

    /// The next reload, which begins after the current one.
    private func joinNextReload() -> Task<Result<Outcome, CatalogError>, Never> {
        if let nextReload { return nextReload }
        let before = runningReload
        let reload = Task {
            _ = await before?.value
            (runningReload, nextReload) = (nextReload, nil)
            return await readLists()
        }
        nextReload = reload
        return reload
    }

    private func readLists() async -> Result<Outcome, CatalogError> {
        let result: Result<Outcome, CatalogError>
        let (configuration, number) = newest
        do throws(CatalogError) {
            let next = try await source.read(configuration, after: catalog, keeping: catalog.channels)
            (catalog, catalogNumber) = (next, number)
            var outcome = apply()
            outcome.staleLists = next.lists.compactMap(\.staleness)
            result = .success(outcome)
        } catch { result = .failure(error) }
        observe(result)
        return result
    }

    /// Why a channel could not be changed.
    package enum Failure: Error {
        case configuration(ConfigurationError)
        case fleet(SharedTexts.Failure)
    }

    /// Adds a channel, or replaces one.
    /// - Parameter node: the keys of a channel.
    /// - Returns: whether the channel is new.
    func put(_ slug: String, _ node: ConfigurationNode) async throws(Failure) -> Bool {
        if let refusal = ChannelConfiguration.refusal(ofSlug: slug) {
            throw .configuration(ConfigurationError(issues: [refusal]))
        }
        do throws(ConfigurationError) { _ = try catalog.configuration.channel(slug: slug, node) } catch {
            throw .configuration(error)
        }
        let isNew = host.directory[slug] == nil
        try await change(ChannelChange(slug: slug, node: node))
        return isNew
    }

    /// - Returns: false if the channel does not exist.
    func delete(_ slug: String) async throws(Failure) -> Bool {
        guard host.directory[slug] != nil else { return false }
        try await change(ChannelChange(slug: slug, node: nil))
        return true
    }

    /// Makes a change here, or on all nodes of the fleet.
    private func change(_ change: ChannelChange) async throws(Failure) {
        let isListed = catalog.channels.contains { $0.slug == change.slug }
        let add = { (known: [ChannelChange]) -> Result<[ChannelChange], Failure> in
            let next = change.added(to: known, isListed: isListed)
            guard next.count <= max(Self.mostChanges, known.count) else {
                let issue = ConfigurationIssue(.tooMany("channels of requests", limit: Self.mostChanges))
                return .failure(.configuration(ConfigurationError(issues: [issue])))
            }
            return .success(next)
        }
        var next = add(requestedChanges)
        if let texts {
            do throws(SharedTexts.Failure) {
                next = try await texts.change(.channels) { text in
                    let next = add(ChannelChange.list(text))
                    return (next, (try? next.get()).map { ChannelChange.text(of: $0) })
                }
            } catch { throw .fleet(error) }
        }
        adopt(try next.get(), reading: change.slug)
    }

    private var texts: SharedTexts? { host.fleet?.texts }

    /// Makes the changes that the nodes of the fleet have made by now.
    package func adoptChanges() {
        if let text = texts?.newest(.channels) { repeatChanges(ChannelChange.list(text)) }
    }

    /// The requested changes, for the next process.
    package private(set) var requestedChanges: [ChannelChange] = []

    /// Repeats the requested changes of an earlier process, or of all nodes, in place of those before. Those that the present
    /// configuration does not permit are left out.
    package func repeatChanges(_ changes: [ChannelChange]) {
        if changes != requestedChanges { adopt(changes) }
    }

    /// - Parameter slug: the channel that is read again though its keys are the same.
    private func adopt(_ changes: [ChannelChange], reading slug: String? = nil) {
        let known = Dictionary(requestedChanges.map { ($0.slug, $0) }) { first, _ in first }
        requestedChanges = changes.filter { change in
            guard let node = change.node else {
                self.changes[change.slug] = .some(nil)
                return true
            }
            if change.slug != slug, known[change.slug] == change { return true }
            guard let channel = try? catalog.configuration.channel(slug: change.slug, node) else { return false }
            self.changes[change.slug] = .some(channel)
            return true
        }
        let slugs = Set(requestedChanges.map(\.slug))
        self.changes = self.changes.filter { slugs.contains($0.key) }
        _ = apply()
    }

    /// Applies the requested changes to the present configuration. Values that only files may set always come from the
    /// present files, so a token that was removed from a file opens nothing.
    private func apply() -> Outcome {
        var channels = catalog.channels.compactMap { listed in
            if let change = changes[listed.slug] { change?.keepingWhatOnlyFilesSay(of: listed) } else { listed }
        }
        let listed = Set(catalog.channels.map(\.slug))
        channels += requestedChanges.map(\.slug).filter { !listed.contains($0) }.compactMap { slug in
            var channel = changes[slug] ?? nil
            channel?.options.tokens = catalog.configuration.defaultTokens
            channel?.options.isTemporary = true
            return channel
        }
        if newest.number != catalogNumber { applyNewestTokens(to: &channels) }
        publish(channels, catalog.guides)
        let (difference, endedCount) = host.replace(ChannelDirectory(channels, connections: catalog.connections))
        return Outcome(difference: difference, endedCount: endedCount)
    }

    /// Gives the channels the tokens of a configuration whose lists are not read yet. If a channel is not in the
    /// configuration any more, none of its own tokens opens it.
    private func applyNewestTokens(to channels: inout [ListedChannel]) {
        let own = Dictionary(newest.configuration.channels.map { ($0.slug, $0.options.tokens) }) { first, _ in first }
        let former = Set(catalog.configuration.channels.map(\.slug))
        for index in channels.indices {
            let slug = channels[index].slug
            let others = former.contains(slug) ? [] : newest.configuration.defaultTokens
            channels[index].options.tokens = own[slug] ?? others
        }
    }
}

extension ListedChannel {
    /// The channel with the values that requests cannot set.
    fileprivate func keepingWhatOnlyFilesSay(of listed: ListedChannel) -> ListedChannel {
        var channel = self
        channel.stationAttributes = listed.stationAttributes
        channel.options = channel.options.keepingWhatOnlyFilesSay(of: listed.options)
        return channel
    }
}

/// A channel that a request put or deleted.
package struct ChannelChange: Codable, Equatable, Sendable {
    let slug: String
    /// The keys of the channel; nil: it was deleted.
    let node: ConfigurationNode?

    /// The changes after this one, with one of each channel, in the order of their first PUT.
    /// - Parameter isListed: whether the configuration has the channel.
    func added(to changes: [ChannelChange], isListed: Bool) -> [ChannelChange] {
        if node != nil, let index = changes.firstIndex(where: { $0.slug == slug }) {
            var changes = changes
            changes[index] = self
            return changes
        }
        let others = changes.filter { $0.slug != slug }
        return node != nil || isListed ? others + [self] : others
    }

    /// Reads changes that nodes share; none if they cannot be read.
    static func list(_ text: String?) -> [ChannelChange] {
        (try? JSONDecoder().decode([ChannelChange].self, from: Data((text ?? "").utf8))) ?? []
    }

    static func text(of changes: [ChannelChange]) -> String {
        (try? JSONEncoder().encode(changes)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}

/// Runs the jobs of an actor one after the other on a thread of their own, which neither channels nor event loops share.
final class ThreadExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }
}
