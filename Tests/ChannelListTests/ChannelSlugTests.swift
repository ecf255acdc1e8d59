import TestSupport
import Testing

@testable import ChannelList

private let rows: [(name: String, slug: String)] = [
    ("BBC One", "bbc-one"), ("BBC One HD", "bbc-one-hd"), ("  BBC   One  ", "bbc-one"), ("A&E", "aande"),
    ("Canal+", "canalplus"), ("US: A&E / East (HD) [1080p]", "us-aande-east-hd-1080p"),
    ("Télé Montréal", "tele-montreal"),
    ("Te\u{301}le\u{301}", "tele"), ("ÖRF Straße", "orf-strasse"), ("Šport TV", "sport-tv"), ("Łódź", "lodz"),
    ("80'S ᴴᴰ", "80-s-hd"), ("ＣＮＮ", "cnn"), ("𝐁𝐁𝐂 𝟏", "bbc-1"), ("Sport ①", "sport-1"), ("4K⁴", "4k4"),
    ("Первый канал", "pervyi-kanal"), ("Матч! ТВ", "match-tv"), ("ΣΚΑΪ", "skai"), ("İstanbul", "istanbul"),
    ("🔴 Live", "live-2"), ("api", "api-2"), ("BBC\u{200B} One", "bbc-one"), ("---", "channel-"),
    ("CCTV-1 综合", "cctv-1-"), ("الجزيرة", "channel-"), ("!!!", "channel-"), ("", "channel-"),
]

@Suite("Slugs of channels") struct ChannelSlugTests {
    private func slugs(_ names: [String]) -> [String] {
        ChannelSlug.assign(to: names.map { ListedChannel(name: $0, sources: []) }).map(\.slug)
    }

    @Test(arguments: rows) func slug(name: String, slug: String) {
        let found = slugs([name])[0]
        #expect(
            slug.hasSuffix("-") ? found.hasPrefix(slug) && found.count == slug.count + 6 : found == slug, "\(found)")
    }

    @Test("Names that differ only in foreign letters have slugs of their own, whatever their order") func foreign() {
        let names = ["CCTV-1 综合", "CCTV-1 高清", "综合", "高清"]
        #expect(Set(slugs(names)).count == 4)
        #expect(slugs(names) == slugs(names.reversed()).reversed())
    }

    @Test("A long name ends in a hash") func long() {
        let names = (0..<3).map { String(repeating: "word ", count: 30) + "\($0)" }
        let found = slugs(names)
        #expect(Set(found).count == 3)
        #expect(found.allSatisfy { $0.count <= ChannelSlug.longest + 7 })
    }

    @Test("Names with a number keep it before channels that get one") func numbered() {
        #expect(slugs(["A", "A", "A 2", "A", "a"]) == ["a", "a-3", "a-2", "a-4", "a-5"])
    }

    @Test("Of two channels with one name, the second keeps its number when the first goes") func keptNumber() {
        func channel(_ url: String) -> ListedChannel { ListedChannel(name: "A", sources: [ListedSource(url: url)]) }
        let before = ChannelSlug.assign(to: [channel("http://h/1?t=1"), channel("http://h/2?t=1")])
        #expect(before.map(\.slug) == ["a", "a-2"])
        #expect(ChannelSlug.assign(to: [channel("http://h/2?t=2")], keeping: before).map(\.slug) == ["a-2"])
        let more = [channel("http://h/3"), channel("http://h/2?t=2"), channel("http://h/1?t=9")]
        #expect(ChannelSlug.assign(to: more, keeping: before).map(\.slug) == ["a-3", "a-2", "a"])
    }

    @Test("Slugs are unique, fit paths, and stay over reloads", arguments: UInt64(1)...60)
    func properties(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let old = ChannelSlug.assign(to: (0..<40).map { Self.channel(number: $0, &random) })
        #expect(Set(old.map(\.slug)).count == old.count)
        for channel in old {
            #expect(channel.slug.utf8.allSatisfy { 97...122 ~= $0 || 48...57 ~= $0 || $0 == 45 }, "\(channel.slug)")
            #expect(
                !channel.slug.isEmpty && !channel.slug.hasPrefix("-") && !ChannelSlug.reserved.contains(channel.slug))
        }
        // Some go, some come, the order changes, the tokens change: who stays keeps its slug.
        var new = old.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        let kept = Dictionary(uniqueKeysWithValues: new.map { (ListEntry.name(ofURL: $0.sources[0].url), $0.slug) })
        for index in new.indices { new[index].sources[0].url += "&t=\(seed)" }
        new += (40..<50).map { Self.channel(number: $0, &random) }
        new.shuffle(using: &random)
        let reloaded = ChannelSlug.assign(to: new, keeping: old)
        #expect(Set(reloaded.map(\.slug)).count == reloaded.count)
        for channel in reloaded {
            guard let slug = kept[ListEntry.name(ofURL: channel.sources[0].url)] else { continue }
            #expect(channel.slug == slug, "\(channel.name)")
        }
        #expect(ChannelSlug.assign(to: old) == old)
    }

    /// A channel whose name many others have, with a path of its own.
    private static func channel(number: Int, _ random: inout SeededGenerator) -> ListedChannel {
        let words = ["News", "news", "Спорт", "综合", "HD", "2", "3", "+", "api", "🎬"]
        let name = (0..<Int.random(in: 1...2, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
        return ListedChannel(
            name: name.joined(separator: " "), sources: [ListedSource(url: "http://h/path/c\(number).m3u8?a=1")])
    }
}
