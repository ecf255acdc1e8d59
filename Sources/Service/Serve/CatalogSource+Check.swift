import ChannelList
package import Support

extension CatalogSource {
    /// `liverelay serve --check`: writes what a configuration lists and what is wrong with it, line by line.
    /// - Throws: `.badConfiguration` if it has mistakes, or the error of a list that cannot be read.
    package func check(write: (String) -> Void = { print($0) }) async throws(RelayError) {
        let catalog: ChannelCatalog
        do throws(CatalogError) { catalog = try await read() } catch {
            for line in error.lines { write(line) }
            throw error.summary
        }
        for channel in catalog.channels { write(Self.line(channel)) }
        for issue in catalog.issues(perList: .max) { write(issue) }
        write("\(name): \(catalog.channels.count) channels, \(catalog.lists.count) lists, no mistake")
    }

    /// `/news  News HD  2 sources  always  rewind 7200 s`
    private static func line(_ channel: ListedChannel) -> String {
        let options = channel.options
        var parts = ["/\(channel.slug)", channel.name]
        parts.append(channel.sources.count == 1 ? "1 source" : "\(channel.sources.count) sources")
        if let number = channel.number { parts.append("number \(number)") }
        if options.runsAlways { parts.append("always") }
        if let rewind = options.rewind { parts.append("rewind \(rewind.secondsText)") }
        if let record = options.record { parts.append("records in \(record)") }
        if let path = options.recordTo { parts.append("records to \(path.text)") }
        if let slate = options.slate { parts.append("slate \(slate)") }
        return parts.joined(separator: "  ")
    }
}
