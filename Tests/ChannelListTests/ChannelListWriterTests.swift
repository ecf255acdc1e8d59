import Foundation
import Testing

@testable import ChannelList

private let text = """
    #EXTM3U
    #EXTINF:-1 tvg-id="bbc1.uk" tvg-chno="101" tvg-logo="http://l/a,b.png" group-title="UK;News" tvg-shift="1",BBC One
    http://up/1?token=secret|User-Agent=x
    #EXTINF:-1 tvc-guide-stationid="9" group-title="Music, Pop" radio="true",Rock "n" Roll, That's - All
    http://up/2
    #EXTINF:-1 tvg-chno="101" tvg-logo="data:image/png;base64,AA",央视 <&> "1"
    http://up/3

    """

@Suite("Documents for other programs") struct ChannelListWriterTests {
    private let channels: [ListedChannel]

    init() throws { channels = try M3UChannelListParser.parse(Array(text.utf8)).channels }

    @Test("A list of transport streams") func transportStreams() {
        let slug = channels[2].slug
        let writer = ChannelListWriter(
            baseURL: "http://tv.example:8080", format: .ts, guideURL: "http://tv.example:8080/epg.xml")
        #expect(
            writer.write(channels) == """
                #EXTM3U x-tvg-url="http://tv.example:8080/epg.xml" url-tvg="http://tv.example:8080/epg.xml"
                #EXTINF:-1 tvg-id="bbc1.uk" tvg-name="BBC One" tvg-logo="http://l/a%2Cb.png" tvg-chno="101" tvg-shift="1" group-title="UK;News",BBC One
                #KODIPROP:mimetype=video/mp2t
                http://tv.example:8080/bbc-one/live.ts
                #EXTINF:-1 tvg-id="rock-n-roll-that-s-all.liverelay" tvg-name="Rock n Roll That’s - All" radio="true" tvc-guide-stationid="9" group-title="Music Pop",Rock n Roll That’s – All
                #KODIPROP:mimetype=video/mp2t
                http://tv.example:8080/rock-n-roll-that-s-all/live.ts
                #EXTINF:-1 tvg-id="\(slug).liverelay" tvg-name="央视 <&> 1" tvg-chno="101",央视 <&> 1
                #KODIPROP:mimetype=video/mp2t
                http://tv.example:8080/\(slug)/live.ts

                """)
    }

    @Test("Our own reader finds everything again", arguments: StreamFormat.allCases)
    func readBack(format: StreamFormat) throws {
        let writer = ChannelListWriter(baseURL: "https://h/tv/", format: format, guideURL: "https://h/tv/epg.xml")
        let list = try M3UChannelListParser.parse(Array(writer.write(channels).utf8))
        #expect(list.issues.isEmpty)
        #expect(list.guides == ["https://h/tv/epg.xml"])
        #expect(list.channels.map(\.slug) == channels.map(\.slug))
        #expect(list.channels.map(\.name) == channels.map(ChannelListWriter.displayName))
        #expect(list.channels.map(\.number) == channels.map(\.number))
        #expect(list.channels.map(\.groups) == [["UK", "News"], ["Music Pop"], []])
        #expect(list.channels.map(\.isRadio) == [false, true, false])
        #expect(
            list.channels.map(\.sources)
                == channels.map { [ListedSource(url: "https://h/tv/" + format.path(ofSlug: $0.slug))] })
        #expect(!writer.write(channels).contains("secret"))
    }

    @Test("No name has a dash between spaces", arguments: ["A - B", "A - - B", "A - - - B", "A  -\t- B -", "- A"])
    func dashes(name: String) {
        let channel = ListedChannel(slug: "a", name: name, sources: [])
        #expect(!" \(ChannelListWriter.displayName(of: channel)) ".contains(" - "))
    }

    @Test("One group") func group() {
        let written = ChannelListWriter(baseURL: "http://h", format: .hls).write(channels, group: "news")
        #expect(written.split(separator: "\n").filter { !$0.hasPrefix("#") } == ["http://h/bbc-one/live.m3u8"])
        #expect(written.hasPrefix("#EXTM3U\n"))
    }

    /// When a channel is listed with catch-up, and of how many days.
    static let archives: [(when: String, rewind: Int64?, keepsRewind: Bool?, isAlways: Bool?, days: Int?)] = [
        ("a channel that runs for its viewers", nil, nil, nil, nil),
        ("a long rewind that is there while somebody watches", 604_800, nil, nil, nil),
        ("a rewind that is always there", 7200, true, nil, 1),
        ("shorter than an hour", 3599, true, nil, nil),
        ("a day and a half", 129_600, true, nil, 1),
        ("seven days", 604_800, true, nil, 7),
        ("always, with a rewind of its own", 604_800, nil, true, 7),
        ("always, with the common rewind", nil, nil, true, 2),
        ("longer than clients ask for", 400 * 86_400, true, nil, 366),
        ("taken back", 604_800, false, false, nil),
    ]

    static let longArchives: [(when: String, archive: Int64?, size: Int?, days: Int)] = [
        ("an archive", 604_800, nil, 7),
        ("an archive, shorter than the common rewind", 86_400, nil, 2),
        ("bytes alone: how long the archive is, nobody knows", nil, 1 << 39, 2),
        ("both", 2_592_000, 1 << 39, 30),
    ]

    @Test("An archive takes the place of a shorter rewind", arguments: longArchives)
    func archive(when: String, archive: Int64?, size: Int?, days: Int) {
        var channel = ListedChannel(slug: "news", name: "News", sources: [])
        (channel.options.archive, channel.options.archiveSize) = (archive.map { .seconds($0) }, size)
        #expect(channel.catchupDays(defaultRewind: .seconds(2 * 86_400)) == days, "\(when)")
    }

    @Test("Catch-up is listed where there is an archive", arguments: archives)
    func catchup(when: String, rewind: Int64?, keepsRewind: Bool?, isAlways: Bool?, days: Int?) throws {
        var channel = ListedChannel(slug: "news", name: "News", sources: [])
        channel.options.rewind = rewind.map { .seconds($0) }
        channel.options.keepsRewind = keepsRewind
        channel.options.isAlways = isAlways
        let (playlist, file) = ("ts/archive-{utc}-{duration}.m3u8", "archive-{utc}-{duration}.ts")
        let paths: [(StreamFormat, archive: StreamFormat?, isRedirected: Bool, String)] = [
            (.hls, nil, false, playlist), (.ts, nil, false, file), (.hls, .ts, false, file),
            (.hls, .ts, true, playlist),
        ]
        for (format, archive, isRedirected, path) in paths {
            channel.options.redirectsArchive = isRedirected
            let writer = ChannelListWriter(
                baseURL: "http://h:8080", format: format, archiveFormat: archive, query: "token=t",
                defaultRewind: .seconds(2 * 86_400))
            let written = days.map {
                "catchup=\"default\" catchup-days=\"\($0)\" "
                    + "catchup-source=\"http://h:8080/news/\(path)?token=t\""
            }
            #expect(writer.write([channel]).contains("catchup") == (days != nil), "\(when)")
            if let written { #expect(writer.write([channel]).contains(" \(written),News\n"), "\(when)") }
        }
    }

    @Test("discover.json, lineup.json and lineup_status.json are what clients read") func tunerDocuments() throws {
        let device = TunerDevice(
            name: "Wohn\"zimmer\"\n", deviceID: TunerDevice.deviceID(seed: "host"), tunerCount: 3)
        let discover = try object(device.discoverJSON(baseURL: "http://h:1/"))
        #expect(discover["TunerCount"] as? Int == 3)
        #expect(discover["BaseURL"] as? String == "http://h:1")
        #expect(discover["LineupURL"] as? String == "http://h:1/lineup.json")
        #expect(discover["FriendlyName"] as? String == "Wohn\"zimmer\"\n")
        #expect(discover["DeviceID"] as? String == device.deviceID)
        #expect((discover["ModelNumber"] as? String)?.uppercased().contains("HDTC") == false)
        for key in ["FirmwareName", "FirmwareVersion", "DeviceAuth", "Manufacturer"] {
            #expect(discover[key] is String)
        }
        let status = try object(TunerDevice.lineupStatusJSON)
        #expect(status["ScanInProgress"] as? Int == 0)
        #expect(status["SourceList"] as? [String] == ["Cable"])
        let lineup = TunerDevice.lineupJSON(
            channels, numbers: TunerDevice.guideNumbers(of: channels), baseURL: "http://h:1")
        let entries = try #require(JSONSerialization.jsonObject(with: Data(lineup.utf8)) as? [[String: String]])
        #expect(entries.map { $0["GuideName"] } == channels.map(\.name))
        #expect(entries.map { $0["URL"] } == channels.map { "http://h:1/\($0.slug)/live.ts" })
        let numbers = entries.compactMap { $0["GuideNumber"] }
        #expect(numbers[0] == "101" && Set(numbers).count == 3 && !numbers.contains { $0.contains("_") })
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("A guide number does not depend on the channels before it") func guideNumbers() {
        let all = TunerDevice.guideNumbers(of: channels)
        #expect(TunerDevice.guideNumbers(of: [channels[0], channels[2]]) == [all[0], all[2]])
        #expect(TunerDevice.guideNumbers(of: channels.reversed())[1] == all[1])
    }

    @Test("Device IDs have the check digit of libhdhomerun")
    func deviceIDs() {
        for id in ["1C0FFEEC", "1050F003", "10439EFD"] { #expect(TunerDevice.isValid(deviceID: id)) }
        for id in ["12345678", "1C0FFEED", "1C0FFEE", "1C0FFEECX", ""] { #expect(!TunerDevice.isValid(deviceID: id)) }
        let made = (0..<200).map { TunerDevice.deviceID(seed: "host \($0)") }
        #expect(made.allSatisfy { TunerDevice.isValid(deviceID: $0) && $0.hasPrefix("105") })
        #expect(Set(made).count > 190)
    }

    @Test("device.xml is well-formed") func deviceXML() {
        let xml = TunerDevice(name: "A & <B>", tunerCount: 1).deviceXML(baseURL: "http://h/")
        #expect(xml.contains("<friendlyName>A &amp; &lt;B&gt;</friendlyName>"))
        #expect(xml.contains("<URLBase>http://h</URLBase>"))
        #expect(xml.contains("<UDN>uuid:6c697665-7265-8c61-8000-0000"))
    }
}
