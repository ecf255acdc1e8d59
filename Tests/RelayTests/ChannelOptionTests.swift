import ArgumentParser
import Playlist
import TestSupport
import Testing

@testable import ChannelList
@testable import Service
@testable import liverelay

/// A value of each form of an option.
private func value(of form: ConfigurationKey.Form) -> String? {
    switch form {
    case .flag: nil
    case .span, .hours: "2h"
    case .shortSpan: "3s"
    case .path: "x.mp4"
    case .variant: "720"
    case .count: "7"
    case .bytes, .storage: "1GiB"
    case .text(.variants): "all"
    case .text(.audioTracks): "de"
    case .text: "eth0"
    case .choice(let words): words.last
    case .addresses: "10.0.0.5"
    case .rewind: "2h"
    case .recording: "/r/{channel}.mkv"
    case .split: "day"
    case .store: "s3://bucket/prefix"
    case .zone: "Europe/Berlin"
    case .headers, .tokens, .texts, .sources: ""
    }
}

private let keys = ConfigurationKey.allCases.filter { $0.row.section != nil }

/// The table of the keys is the table of the command line's options.
@Test(arguments: keys) func eachOptionIsThatOfItsRow(_ key: ConfigurationKey) throws {
    let words = ["--\(key.optionName)"] + (value(of: key.row.form).map { [$0] } ?? [])
    let options = try ServeCommand.parse(["list.m3u"] + words).defaults
    #expect(options[key == .rewind ? .dvr : key] != nil, "\(words)")
    #expect(try ServeCommand.parse(["list.m3u"]).defaults[key] == nil)
    guard key.row.section != .running else { return }
    // Recordings alone have no row without a pattern.
    let others = key.row.section == .recordings ? ["--record-to", "/r/{channel}.mkv"] : []
    let slate = key == .ads ? ["--slate", "x.mp4"] : []
    #expect(try RelayCommand.parse(["http://h/"] + words + others + slate).options[key] != nil)
}

@Test func flagsHaveBothForms() throws {
    #expect(try ServeCommand.parse(["list.m3u", "--no-stills", "--no-record-slate"]).defaults.offersStills == false)
    #expect(try ServeCommand.parse(["list.m3u", "--stills"]).defaults.offersStills == true)
}

/// The nearest wins: the channel, then `defaults`, then the command line.
@Test func optionsOfServeAreDefaults() throws {
    let line = try ServeCommand.parse(["x", "--slate", "line.mp4", "--window", "40s", "--variant", "720"]).defaults
    let yaml = """
        defaults: {window: 50s, slate: file.mp4}
        channels:
          a: {url: http://h/a, slate: own.mp4}
          b: http://h/b
        """
    let configuration = try ChannelConfiguration(yaml: yaml, from: .file(directory: "/d"), defaults: line)
    #expect(configuration.channels.map(\.options.slate) == ["/d/own.mp4", "/d/file.mp4"])
    #expect(configuration.channels.map(\.options.window) == [.seconds(50), .seconds(50)])
    #expect(configuration.channels.map { $0.options.variant?.text } == ["720", "720"])
    let listed = ListedChannel(slug: "c", name: "c", sources: [ListedSource(url: "http://h/c")])
    let list = ChannelConfiguration(playlist: "list.m3u", defaults: line)
    #expect(list.channels(with: [[listed]]).map(\.options.slate) == ["line.mp4"])
}

/// A recording of all channels makes all of them run.
@Test func channelsRunAsTheCommandLineSays() throws {
    #expect(try ServeCommand.parse(["x", "--record-to", "/r/{channel}.mkv"]).defaults.runsAlways)
    #expect(try !ServeCommand.parse(["x", "--dvr", "2h"]).defaults.runsAlways)
    #expect(try ServeCommand.parse(["x", "--rewind", "2h"]).defaults.runsAlways)
}

@Test(arguments: [
    (["record", "http://h/", "d"], ["capture", "http://h/", "d"], "“record” is called “capture”"),
    (["http://h/", "--record", "d"], ["http://h/", "--capture", "d"], "“--record” is called “--capture”"),
    (["http://h/", "--record=d"], ["http://h/", "--capture=d"], "“--record” is called “--capture”"),
    (["serve", "record", "--record-to", "d"], ["serve", "record", "--record-to", "d"], nil),
]) func formerWordsAreAccepted(words: [String], present: [String], notice: String?) {
    let replaced = FormerWords.replaced(in: words)
    #expect(replaced.words == present)
    #expect(notice.map { replaced.notice?.contains($0) == true } ?? (replaced.notice == nil))
}

@Test func formerKeyIsAccepted() throws {
    let configuration = try ChannelConfiguration(yaml: "channels: {a: {url: http://h/1, record: /c}}")
    #expect(configuration.channels.map(\.options.capture) == ["/c"])
    #expect(configuration.notices == ["the key “record” is called “capture” now"])
    #expect(try ChannelConfiguration(yaml: "channels: {a: {url: http://h/1, capture: /c}}").notices.isEmpty)
}
