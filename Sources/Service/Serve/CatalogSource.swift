import Channel
package import ChannelList
import Export
package import Fetch
import Foundation
package import Support

/// The source of a process's channels: an M3U list, or a configuration with its lists.
package struct CatalogSource: Sendable {
    /// File or URL. A configuration is recognized by its extension, `.yaml` or `.yml`.
    package let location: String
    let requests: CurlConfiguration
    /// The options of the command line.
    private let defaults: ChannelOptions
    private let environment: [String: String]
    /// The only channel; nil: the channels are at `location`.
    private let channel: ListedChannel?

    /// - Parameter defaults: the options of the command line, for channels that do not say otherwise.
    package init(
        location: String, requests: CurlConfiguration, defaults: ChannelOptions = ChannelOptions(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        (self.location, self.requests, self.defaults) = (location, requests, defaults)
        (self.environment, channel) = (environment, nil)
    }

    /// The source of a process of one channel.
    package init(channel: ListedChannel, requests: CurlConfiguration) {
        (location, self.requests, defaults) = ("", requests, channel.options)
        (environment, self.channel) = ([:], channel)
    }

    /// The largest configuration, in bytes.
    private static let configurationLimit = 4 << 20

    /// The location without its secrets.
    package var name: String { document.name }

    private var document: ListDocument { ListDocument(location: location, requests: requests) }

    /// Reads the configuration and its lists as they are now.
    /// - Parameters:
    ///   - previous: the previous catalog. A list that cannot be read now keeps its content from there.
    ///   - channels: the previous channels, whose slugs are kept.
    package func read(
        after previous: ChannelCatalog? = nil, keeping channels: [ListedChannel] = []
    ) async throws(CatalogError) -> ChannelCatalog {
        try await read(configuration(), after: previous, keeping: channels)
    }

    /// Reads the lists of a configuration as they are now.
    func read(
        _ configuration: ChannelConfiguration, after previous: ChannelCatalog?, keeping channels: [ListedChannel]
    ) async throws(CatalogError) -> ChannelCatalog {
        var lists: [ChannelCatalog.IncludedList] = []
        for listed in configuration.lists {
            let document = ListDocument(location: listed.location, requests: requests)
            let result: Result<M3UChannelList, RelayError> = await document.list()
            switch result {
            case .success(let list): lists.append(.init(name: document.name, list: list))
            case .failure(let error):
                let isAlone = configuration.lists.map(\.location) == [location]
                guard !isAlone, let known = previous?.lists.first(where: { $0.name == document.name }) else {
                    throw .other(error)
                }
                lists.append(.init(name: known.name, list: known.list, staleness: error))
            }
        }
        let catalog = ChannelCatalog(configuration, lists: lists, keeping: channels)
        do throws(RelayError) {
            for path in Set(catalog.channels.compactMap(\.options.slate)).sorted() { _ = try SlateSource.open(path) }
        } catch { throw .other(error) }
        return catalog
    }

    private var isConfiguration: Bool {
        let path = document.isURL ? URIReference.withoutQuery(location) : location
        return [".yaml", ".yml"].contains { path.lowercased().hasSuffix($0) }
    }

    /// Reads the configuration without its lists.
    func configuration() async throws(CatalogError) -> ChannelConfiguration {
        if let channel { return ChannelConfiguration(channel: channel) }
        guard isConfiguration else { return ChannelConfiguration(playlist: location, defaults: defaults) }
        let bytes: [UInt8]
        do { (bytes, _) = try await document.bytes(limit: Self.configurationLimit) } catch { throw .other(error) }
        guard bytes.count <= Self.configurationLimit, let text = String(validating: bytes, as: UTF8.self) else {
            throw .other(
                RelayError(
                    .badConfiguration, "\(name) is not a YAML text in UTF-8 of at most 4 MiB",
                    advice: "Give a channels.yaml or an M3U list"))
        }
        do throws(ConfigurationError) {
            let directory = URL(filePath: location).deletingLastPathComponent().path
            return try ChannelConfiguration(
                yaml: text, from: document.isURL ? .fetched : .file(directory: directory, environment: environment),
                defaults: defaults)
        } catch { throw .configuration(error, file: name) }
    }
}

extension CatalogSource {
    /// `liverelay serve --check`: prints the channels of a configuration and its mistakes, line by line.
    /// - Parameter isStrict: whether a list line that was not understood is a mistake.
    /// - Throws: `.badConfiguration` for mistakes, or the error of a list that cannot be read.
    package func check(
        isStrict: Bool = false, write: (String) -> Void = { print($0) }
    ) async throws(RelayError) {
        let catalog: ChannelCatalog
        do throws(CatalogError) { catalog = try await read() } catch {
            for line in error.lines { write(line) }
            throw error.summary
        }
        for channel in catalog.channels { write(Self.line(channel)) }
        for issue in catalog.issues(perList: .max) { write(issue) }
        let found = [
            catalog.channels.count.counted("channel"), catalog.lists.count.counted("list"),
            catalog.issueCount == 0 ? "no mistake" : "\(catalog.issueCount.counted("line")) not understood as written",
        ].joined(separator: ", ")
        write("\(name): \(found)")
        guard isStrict, catalog.issueCount > 0 else { return }
        throw RelayError(
            .badConfiguration, "\(name): \(catalog.issueCount.counted("line")) not understood as written",
            advice: "Correct them, or check without --strict")
    }

    /// `/news  News HD  2 sources  always  rewind 7200 s`
    private static func line(_ channel: ListedChannel) -> String {
        let options = channel.options
        var parts = ["/\(channel.slug)", channel.name]
        parts.append(channel.sources.count == 1 ? "1 source" : "\(channel.sources.count) sources")
        if let number = channel.number { parts.append("number \(number)") }
        if options.runsAlways { parts.append("always") }
        if let rewind = options.rewind { parts.append("rewind \(rewind.secondsText)") }
        if let capture = options.capture { parts.append("captures in \(capture)") }
        if let path = options.recordTo { parts.append("records to \(path.text)") }
        if let slate = options.slate { parts.append("slate \(slate)") }
        return parts.joined(separator: "  ")
    }
}

extension Int {
    /// `1 channel`, `2 channels`.
    fileprivate func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
