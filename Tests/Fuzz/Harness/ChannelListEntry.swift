import ChannelList

/// Entry for lists of channels from strangers.
enum ChannelListEntry {
    static let entry = FuzzEntry(
        "channel-list", "a list of channels, and the list that is written of it", largest: 8192,
        dictionary: [
            "#EXTM3U", "#EXTINF:-1 ", "tvg-id=\"", "tvg-name=\"", "tvg-logo=\"", "tvg-chno=\"", "group-title=\"",
            "x-tvg-url=\"",
            "catchup=\"", "\",", "#EXTGRP:", "#EXTVLCOPT:http-user-agent=", "#EXTVLCOPT:http-proxy=", "#EXTHTTP:{\"",
            "#KODIPROP:inputstream.adaptive.stream_headers=", "http://h/", "#https://h/", "|User-Agent=", "&Referer=",
            "$", "\\u00", "catchup-source=\"?", "{utc:YmdHMS}", "${(b)yyyyMMddHHmmss|UTC}", "{duration:60}", "{offset}",
            "catchup-correction=\"",
            "“", "”", "\u{FEFF}", "\r\n",
        ],
        seeds: { _ in lists.map { Array($0.utf8) } },
        run: { bytes in
            let list: M3UChannelList
            do throws(ChannelListError) {
                list = try M3UChannelListParser.parse(bytes, url: "http://list/a/b.m3u")
            } catch { return }
            try demand(!list.channels.isEmpty, "a list without channels")
            try demand(Set(list.channels.map(\.slug)).count == list.channels.count, "slugs are not unique")
            try list.channels.forEach(check)
            let again = try? M3UChannelListParser.parse(bytes, url: "http://list/a/b.m3u", keeping: list.channels)
            try demand(again == list, "a reload of the same bytes is different")
            try checkWritten(list.channels)
        })

    private static func check(_ channel: ListedChannel) throws {
        try demand(!channel.sources.isEmpty, "\(channel.name) has no source")
        try demand(channel.slug.utf8.allSatisfy { 97...122 ~= $0 || 48...57 ~= $0 || $0 == 45 }, channel.slug)
        if let archive = channel.providerArchive {
            let url = archive.url(of: channel.sources[0].url, from: 1_767_355_200, lasting: 3600, at: 1_767_366_000)
            try demand(url != nil, "an archive without a URL")
        }
        for source in channel.sources {
            let schemes = ["http://", "https://", "udp://", "rtp://"]
            try demand(schemes.contains { source.url.hasPrefix($0) }, "the URL \(source.url)")
            let text = source.headers.map { $0.name + $0.value }.joined() + source.url
            try demand(!text.utf8.contains { $0 < 32 || $0 == 127 }, "control characters in \(text)")
        }
    }

    private static func checkWritten(_ channels: [ListedChannel]) throws {
        let text = ChannelListWriter(baseURL: "http://h", format: .ts).write(channels)
        let again: M3UChannelList
        do throws(ChannelListError) { again = try M3UChannelListParser.parse(Array(text.utf8)) } catch {
            throw FuzzFinding(description: "the written list cannot be read: \(error)\n\(text)")
        }
        try demand(again.channels.count <= channels.count, "more channels than were written:\n\(text)")
        let urls = again.channels.flatMap(\.sources).map(\.url)
        try demand(Set(urls) == Set(channels.map { "http://h/\($0.slug)/live.ts" }), "other URLs in\n\(text)")
        let numbers = TunerDevice.guideNumbers(of: channels)
        try demand(Set(numbers).count == channels.count, "guide numbers are not unique")
        _ = TunerDevice.lineupJSON(channels, numbers: numbers, baseURL: "http://h")
    }

    private static let lists = [
        """
        #EXTM3U x-tvg-url="http://g/e.xml.gz" tvg-shift="1"
        #EXTINF:-1 tvg-id="a" tvg-name="A, "b"" tvg-logo="http://l/a,b.png" tvg-chno="5.1" group-title="G;H",A, b
        #EXTVLCOPT:http-user-agent=Mozilla/5.0 (X11)
        #KODIPROP:inputstream.adaptive.stream_headers=Referer=http%3A%2F%2Fr%2F&X-A=b
        #EXTHTTP:{"Cookie":"a=b; c=\\"d\\""}
        http://h/a.m3u8|User-Agent="Foo"&Referer=http://r/?a=1&b=2
        #https://backup/a.m3u8$Backup
        #EXTGRP:News
        #EXTINF:-1 tvg-id='a' catchup="append" catchup-days=7 catchup-source="?b={utc:YmdHMS}&e=${(e)yyyyMMddHHmmss}&d={duration:60}",A, b
        relative/path.m3u8
        """,
        "\u{FEFF}#EXTM3U\r\n#EXTINF:-1,Первый\r\nhttps://h/s$线路1\r\nhttps://h/s$线路2\r\n#EXTINF:-1,Первый\r\nudp://@239.1.1.1:1\r\n",
        "http://h/a.m3u8\nhttp://h/b.m3u8\n",
    ]
}
