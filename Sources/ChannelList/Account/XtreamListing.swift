import Playlist
import Support

/// Reads the live channels of an account from the panel's answers to `get_live_categories` and `get_live_streams`.
///
/// Panels differ in the type of every member, and may omit any of them. A stream without an id does not affect the
/// others.
package enum XtreamListing {
    /// Returns the list of the account. An issue contains the stream's number in place of a line number.
    /// - Parameter categories: nil if they could not be fetched; the channels then have no groups.
    /// - Throws: `.notAList` if the streams are not JSON, `.noChannels` if there are none.
    package static func list(
        of account: XtreamAccount, _ state: XtreamAccountState, categories: [UInt8]?, streams: [UInt8],
        limits: ChannelListLimits = ChannelListLimits()
    ) throws(ChannelListError) -> M3UChannelList {
        let groups = groupNames(categories ?? [], limit: limits.channels)
        let output = state.output(of: account)
        var (merger, issues, count) = (ChannelMerger(limits: limits), IssueLog(capacity: limits.issues), 0)
        if state.hasContradictoryClock { issues.record(.contradictoryClock, line: 1) }
        let isList = LooseJSON.forEachElement(of: streams) { entry in
            count += 1
            guard let id = usableID(entry) else {
                let name = (entry["name"].text ?? "").prefix(40)
                return issues.record(.missingURL(name: account.redacting(String(name))), line: count)
            }
            let channel = channel(entry, id: id, groups: groups, url: account.url(ofStream: id, output), state.clock)
            if let limit = merger.append(channel, line: count) { issues.record(.limit(limit), line: count) }
        }
        guard isList else { throw .notAList(DocumentKind(foreign: streams) ?? .json, line: 1) }
        guard !merger.channels.isEmpty else { throw .noChannels(firstIssue: issues.issues.first) }
        return M3UChannelList(
            guides: [account.url(of: .guide)], channels: ChannelSlug.assign(to: merger.channels, keeping: []),
            issues: issues.issues, issueCount: issues.count, connections: state.connections)
    }

    private static func groupNames(_ json: [UInt8], limit: Int) -> [String: String] {
        var names: [String: String] = [:]
        _ = LooseJSON.forEachElement(of: json) { entry in
            if names.count < limit, let id = entry["category_id"].text, let name = line(entry["category_name"]) {
                names[id] = name
            }
        }
        return names
    }

    /// The id of a stream if it can be a path component.
    private static func usableID(_ entry: LooseJSON) -> String? {
        guard let id = entry["stream_id"].text, id.utf8.count <= 64 else { return nil }
        let isPlain = id.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
        }
        return isPlain ? id : nil
    }

    private static func channel(
        _ entry: LooseJSON, id: String, groups: [String: String], url: String, _ clock: LocalClock?
    ) -> ListedChannel {
        let categories = [entry["category_id"]] + entry["category_ids"].elements
        let names = categories.compactMap { $0.text.flatMap { groups[$0] } }
        let number = entry["num"].text.flatMap { $0 != "0" && ListEntry.isNumber($0) ? $0 : nil }
        var channel = ListedChannel(
            name: line(entry["name"]) ?? "Channel \(id)", number: number, logo: logo(entry["stream_icon"]),
            groups: names.prefix(ListEntry.mostGroups).reduce(into: []) { if !$0.contains($1) { $0.append($1) } },
            guideID: line(entry["epg_channel_id"]),
            isRadio: entry["stream_type"].text?.lowercased().contains("radio") == true,
            sources: [ListedSource(url: url)])
        if entry["tv_archive"].text == "1", let days = entry["tv_archive_duration"].text.flatMap({ Int($0) }), days > 0
        {
            channel.providerArchive = ProviderArchive(.xtream, days: days, clock: clock)
        }
        return channel
    }

    private static let longestLogo = 4096

    /// An absolute URL without spaces.
    private static func logo(_ value: LooseJSON) -> String? {
        guard let text = value.text, text.utf8.count <= longestLogo, SourceURL.isAbsolute(text) else { return nil }
        return text.replacing(" ", with: "%20")
    }

    /// A text in one line, no longer than a name may be; nil if the result is empty.
    private static func line(_ value: LooseJSON) -> String? {
        guard let text = value.text else { return nil }
        let line = text.inOneLine.trimmingWhiteSpace.prefix(ListEntry.longestName)
        return line.isEmpty ? nil : String(line)
    }
}
