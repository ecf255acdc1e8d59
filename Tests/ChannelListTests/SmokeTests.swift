import Testing
@testable import ChannelList
@Test func readsAChannel() throws {
    let list = try M3UChannelListParser.parse(Array("#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",A\nhttp://h/a.m3u8\n".utf8))
    #expect(list.channels.map(\.slug) == ["a"])
}
