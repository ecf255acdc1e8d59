@testable import ChannelList

/// A channel in one line, without what the list does not say. The default URL is left out.
func dump(_ channel: ListedChannel, defaultURL: String = "http://h/1") -> String {
    var parts = [channel.name]
    func add(_ key: String, _ value: String?) { if let value { parts.append("\(key)=\(value)") } }
    add("id", channel.guideID)
    add("tvg", channel.guideName)
    add("no", channel.number)
    add("logo", channel.logo)
    add("groups", channel.groups.isEmpty ? nil : channel.groups.joined(separator: ";"))
    add("shift", channel.guideShift)
    if channel.isRadio { parts.append("radio") }
    for attribute in channel.stationAttributes { add(attribute.name, attribute.value) }
    parts += channel.sources.map(dump).filter { $0 != defaultURL }
    return parts.joined(separator: " · ")
}

private func dump(_ source: ListedSource) -> String {
    var text = source.url
    if !source.headers.isEmpty {
        text += " {" + source.headers.map { "\($0.name): \($0.value)" }.joined(separator: "; ") + "}"
    }
    if let proxy = source.proxy { text += " via \(proxy)" }
    if let label = source.label { text += " $\(label)" }
    return text
}

func dump(_ issue: ListIssue) -> String { "\(issue.line) \(issue.kind)" }

/// The channels and issues of a list, or its error.
func dump(list: [UInt8], url: String = "") -> [String] {
    do throws(ChannelListError) {
        let list = try M3UChannelListParser.parse(list, url: url)
        return list.channels.map { dump($0) } + list.issues.map(dump)
    } catch { return ["\(error)"] }
}
