import Testing

@testable import ChannelList
@testable import Support

private let account = XtreamAccount(panel: "http://tv.example:8080/", username: "anna", password: "s3cret/1")

/// What the panel says about the account: its connections and the form of its streams, or why it is refused.
private let stateRows: [(when: String, info: String, says: String)] = [
    ("texts", #""auth":"1","status":"Active","max_connections":"2","allowed_output_formats":["ts","m3u8"]"#, "2 ts"),
    ("numbers", #""auth":1,"status":"Active","max_connections":2,"allowed_output_formats":["m3u8","ts"]"#, "2 ts"),
    ("Booleans and nulls", #""auth":true,"status":null,"max_connections":null,"exp_date":null"#, "nil ts"),
    ("no limit", #""auth":1,"max_connections":"0""#, "nil ts"),
    ("a limit below zero", #""auth":1,"max_connections":-1"#, "nil ts"),
    ("a limit beyond all numbers", #""auth":1,"max_connections":"99999999999999999999""#, "nil ts"),
    ("more than is possible", #""auth":1,"max_connections":100000"#, "1000 ts"),
    ("playlists only", #""auth":1,"allowed_output_formats":["m3u8"]"#, "nil m3u8"),
    ("RTMP too", #""auth":1,"allowed_output_formats":["m3u8","rtmp"]"#, "nil m3u8"),
    ("forms by number", #""auth":1,"allowed_output_formats":{"0":"m3u8"}"#, "nil m3u8"),
    ("no forms", #""auth":1,"allowed_output_formats":[]"#, "nil ts"),
    ("a form that is no text", #""auth":1,"allowed_output_formats":[1,null]"#, "nil ts"),
    ("a text where a list was", #""auth":1,"allowed_output_formats":"ts""#, "nil ts"),
    ("another state", #""auth":1,"status":"Trial""#, "nil ts"),
    ("a wrong password", #""auth":0"#, "refused"),
    ("a wrong password as text", #""auth":"0","message":"Invalid login""#, "refused Invalid login"),
    ("a wrong password as Boolean", #""auth":false"#, "refused"),
    ("expired", #""auth":1,"status":"Expired","exp_date":"1767398400""#, "Expired 2026-01-03"),
    ("expired, the date as number", #""auth":0,"status":"expired","exp_date":1767398400"#, "expired 2026-01-03"),
    ("expired, no date", #""auth":1,"status":"Expired","exp_date":"never""#, "Expired"),
    ("expired, a date beyond all", #""auth":1,"status":"Expired","exp_date":9223372036854775807"#, "Expired"),
    (
        "banned, in its own words",
        #""auth":1,"status":"Banned","message":"anna:\u0073\u00333cret/1 was\nshared s3cret/1""#,
        "Banned …:s33cret/1 was shared …"
    ),
    ("disabled", #""auth":1,"status":"Disabled","exp_date":null"#, "Disabled"),
    ("nothing", "", "no account"),
    ("other members", #""username":"anna""#, "no account"),
]

/// A stream of `get_live_streams`, and the channel that it is.
private let streamRows: [(when: String, stream: String, says: String)] = [
    (
        "texts",
        #""num":"7","name":"News","stream_id":"12","stream_icon":"http://l/1.png","epg_channel_id":"news.uk","category_id":"3""#,
        "News · id=news.uk · no=7 · logo=http://l/1.png · groups=UK; News"
    ),
    (
        "numbers",
        #""num":7,"name":"News","stream_id":12,"stream_icon":"http://l/1.png","epg_channel_id":"news.uk","category_id":3"#,
        "News · id=news.uk · no=7 · logo=http://l/1.png · groups=UK; News"
    ),
    (
        "nulls", #""num":null,"name":null,"stream_id":12,"stream_icon":null,"epg_channel_id":null,"category_id":null"#,
        "Channel 12"
    ),
    ("nothing but its id", #""stream_id":12"#, "Channel 12"),
    ("empty texts", #""name":"","stream_id":"12","stream_icon":"","epg_channel_id":"","category_id":"""#, "Channel 12"),
    (
        "several categories", #""name":"A","stream_id":12,"category_id":"4","category_ids":[3,4,"5"]"#,
        "A · groups=Sport;UK; News"
    ),
    ("a category nobody named", #""name":"A","stream_id":12,"category_id":"99""#, "A"),
    ("a number of zero", #""num":0,"name":"A","stream_id":12"#, "A"),
    ("a number with a point", #""num":"5.1","name":"A","stream_id":12"#, "A · no=5.1"),
    ("a logo that is a path", #""name":"A","stream_id":12,"stream_icon":"/logos/1.png""#, "A"),
    (
        "a logo with a space", #""name":"A","stream_id":12,"stream_icon":"http://l/a b.png""#,
        "A · logo=http://l/a%20b.png"
    ),
    ("a name of two lines", #""name":" A\r\nB\u0000 ","stream_id":12"#, "A  B"),
    ("a name in other letters", #""name":"\u041f\u0435\u0440\ud83d\udcfa","stream_id":12"#, "Пер📺"),
    ("half of a surrogate pair, and a letter", #""name":"\ud83d\u0041","stream_id":12"#, "\u{FFFD}A"),
    ("radio", #""name":"A","stream_id":12,"stream_type":"radio_streams""#, "A · radio"),
    ("a list as name", #""name":["A"],"stream_id":12"#, "Channel 12"),
]

private let brokenStreamRows: [(when: String, stream: String)] = [
    ("no id", #"{"name":"A"}"#), ("an id of nothing", #"{"name":"A","stream_id":null}"#), ("a text", "\"A\""),
    ("a list", "[1]"), ("nothing", "null"), ("an id that is a path", #"{"stream_id":"../../x"}"#),
]

/// The clock of a panel, and the date by which it is asked for 2026-11-28, 01:19:30 UTC.
private let clockRows: [(when: String, info: String, date: String, isContradictory: Bool)] = [
    ("a zone", #""timezone":"America/Toronto""#, "2026-11-27:20-19", false),
    (
        "a zone and its clock",
        #""timezone":"America/Toronto","timestamp_now":1782993600,"time_now":"2026-07-02 08:00:00""#,
        "2026-11-27:20-19", false
    ),
    (
        "a zone and another clock",
        #""timezone":"America/Toronto","timestamp_now":1782993600,"time_now":"2026-07-02 12:00:01""#,
        "2026-11-27:20-19", true
    ),
    (
        "a clock without a zone", #""timestamp_now":"1782993600","time_now":"2026-07-02 17:30:02""#,
        "2026-11-28:06-49", false
    ),
    (
        "a clock behind UTC, and a zone that is none",
        #""timezone":"UTC-3","timestamp_now":1782993600,"time_now":"2026-07-02 08:59:58""#, "2026-11-27:22-19", false
    ),
    ("a zone in spaces", #""timezone":" Europe/Berlin ""#, "2026-11-28:02-19", false),
    (
        "a clock of another year", #""timestamp_now":1782993600,"time_now":"2020-07-02 12:00:00""#, "2026-11-28:01-19",
        false
    ),
    ("a clock that is no date", #""timestamp_now":1782993600,"time_now":"now""#, "2026-11-28:01-19", false),
    ("nothing", "", "2026-11-28:01-19", false),
]

private let documentRows: [(when: String, streams: String, says: String)] = [
    ("numbered by an object", #"{"1":{"name":"A","stream_id":1},"2":{"name":"B","stream_id":2}}"#, "A B"),
    ("a byte order mark and white space", "\u{FEFF} [ {\"name\" : \"A\" ,\n\"stream_id\" : 1 } ]\n", "A"),
    (
        "a stream that comes twice is a backup",
        #"[{"name":"A","epg_channel_id":"a","stream_id":1},{"name":"A","epg_channel_id":"a","stream_id":2}]"#, "A"
    ),
    ("nothing", "", "it is empty"), ("an empty list", "[]", "no channel"), ("an empty object", "{}", "no channel"),
    ("a page", "<html><body>Error</body></html>", "a web page"),
    ("half a list", #"[{"name":"A","stream_id":1},{"na"#, "JSON"),
    ("a text", "\"no\"", "JSON"), ("a comma too many", #"[{"name":"A","stream_id":1},]"#, "JSON"),
    ("lists in lists", String(repeating: "[", count: 100_000), "JSON"),
    ("Latin-1", "[{\"name\":\"T\u{FFFD}l\u{FFFD}\",\"stream_id\":1}]", "T\u{FFFD}l\u{FFFD}"),
]

private let listURLRows: [(when: String, url: String, stream: String?)] = [
    (
        "as providers give it", "http://h:80/get.php?username=u&password=p&type=m3u_plus&output=ts",
        "http://h:80/live/u/p/1.ts"
    ),
    ("MPEG-TS by name", "http://h/get.php?username=u&password=p&output=mpegts", "http://h/live/u/p/1.ts"),
    ("HLS by name", "http://h/get.php?username=u&password=p&type=m3u&output=hls", "http://h/live/u/p/1.m3u8"),
    ("HLS by its extension", "http://h/get.php?password=p&output=m3u8&username=u", "http://h/live/u/p/1.m3u8"),
    ("an unknown form", "http://h/get.php?username=u&password=p&output=rtmp", "http://h/live/u/p/1.ts"),
    ("a panel below a path", "https://h/tv/get.php?username=u&password=p", "https://h/tv/live/u/p/1.ts"),
    ("percent-coded", "http://h/get.php?username=a%40b&password=p%2Fq", "http://h/live/a%40b/p%2Fq/1.ts"),
    ("no password", "http://h/get.php?username=u", nil),
    ("an empty password", "http://h/get.php?username=u&password=", nil),
    ("a list", "http://h/list.m3u?username=u&password=p", nil), ("a file", "lists/get.php", nil),
    ("another scheme", "ftp://h/get.php?username=u&password=p", nil),
]

@Suite struct XtreamListingTests {
    private func state(_ info: String = #""auth":1"#) throws -> XtreamAccountState {
        try #require(try XtreamAccountState(Array("{\"user_info\":{\(info)}}".utf8), of: account))
    }

    private func list(_ streams: String) throws(ChannelListError) -> M3UChannelList {
        let categories =
            #"[{"category_id":"3","category_name":"UK; News"},{"category_id":4,"category_name":"Sport"},{"category_id":5},null]"#
        let none = XtreamAccountState(connections: 3)
        return try XtreamListing.list(
            of: account, none, categories: Array(categories.utf8), streams: Array(streams.utf8))
    }

    @Test(arguments: stateRows) func accountIs(when: String, info: String, says: String) {
        let json = info.isEmpty ? "[]" : "{\"user_info\":{\(info)},\"server_info\":{}}"
        let said: String
        do throws(XtreamRefusal) {
            let state = try XtreamAccountState(Array(json.utf8), of: account)
            said =
                state.map { state in
                    "\(state.connections.map { "\($0)" } ?? "nil") \(state.output(of: account).rawValue)"
                } ?? "no account"
        } catch {
            said = [error.status ?? (error.expiry == nil ? "refused" : nil), error.expiry, error.message]
                .compactMap(\.self).joined(separator: " ")
        }
        #expect(said == says, "\(when)")
    }

    @Test(arguments: clockRows) func archiveIsAskedByThePanelsClock(
        when: String, info: String, date: String, isContradictory: Bool
    ) throws {
        let json = "{\"user_info\":{\"auth\":1},\"server_info\":{\(info)}}"
        let state = try #require(try XtreamAccountState(Array(json.utf8), of: account))
        let stream = #"[{"name":"A","stream_id":7,"tv_archive":1,"tv_archive_duration":"3"}]"#
        let list = try XtreamListing.list(of: account, state, categories: nil, streams: Array(stream.utf8))
        let channel = try #require(list.channels.first)
        let start: Int64 = 1_795_828_770
        let url = channel.providerArchive?.url(of: channel.sources[0].url, from: start, lasting: 3600, at: start + 7200)
        #expect(url == "http://tv.example:8080/timeshift/anna/s3cret%2F1/60/\(date)/7.ts", "\(when)")
        #expect(list.issues.map(\.kind) == (isContradictory ? [.contradictoryClock] : []), "\(when)")
    }

    @Test(arguments: streamRows) func streamIs(when: String, stream: String, says: String) throws {
        let list = try list("[{\(stream)}]")
        let url = "http://tv.example:8080/live/anna/s3cret%2F1/12.ts"
        #expect(list.channels.map { dump($0, defaultURL: url) } == [says], "\(when)")
        #expect(list.connections == 3 && list.issues.isEmpty)
    }

    @Test(arguments: brokenStreamRows) func streamWithoutIDCostsItself(when: String, stream: String) throws {
        let list = try list("[\(stream),{\"name\":\"B\",\"stream_id\":2}]")
        #expect(list.channels.map(\.name) == ["B"], "\(when)")
        #expect(list.issues.map(\.line) == [1] && list.issueCount == 1, "\(when)")
    }

    @Test(arguments: documentRows) func documents(when: String, streams: String, says: String) {
        let said: String
        do throws(ChannelListError) { said = try list(streams).channels.map(\.name).joined(separator: " ") } catch {
            said =
                switch error {
                case .notAList(let kind, _): "it is \(kind)"
                case .noChannels: "no channel"
                case .tooLarge: "too large"
                }
        }
        #expect(said.contains(says), "\(when): \(said)")
    }

    @Test func bytesThatAreNotUTF8() throws {
        let bytes = Array("[{\"name\":\"T".utf8) + [0xE9] + Array("l\",\"stream_id\":1}]".utf8)
        let list = try XtreamListing.list(
            of: account, XtreamAccountState(connections: nil), categories: nil, streams: bytes)
        #expect(list.channels.map(\.name) == ["T\u{FFFD}l"])
    }

    @Test(arguments: listURLRows) func listURL(when: String, url: String, stream: String?) {
        let account = XtreamAccount(listURL: url)
        #expect(account?.url(ofStream: "1", account?.output ?? .ts) == stream, "\(when)")
        if let account { #expect(XtreamAccount(listURL: account.listURL) == account, "\(when)") }
    }

    @Test(arguments: ["http://h", "http://h/", "http://h/player_api.php", "http://h/get.php?username=x", "http://h//"])
    func panelIsGivenInManyWays(panel: String) {
        let account = XtreamAccount(panel: panel, username: "u", password: "p")
        #expect(account.url(of: .account) == "http://h/player_api.php?username=u&password=p")
        #expect(account.url(of: .guide) == "http://h/xmltv.php?username=u&password=p")
        #expect(account.url(of: .streams).hasSuffix("&action=get_live_streams"))
    }

    /// What logs, status and lists have of an account does not open it.
    @Test func redactedTextsDoNotOpenIt() throws {
        let list = try list(#"[{"name":"","stream_id":12},{"name":"s3cret","stream_id":"a b"}]"#)
        let url = list.channels[0].sources[0].url
        let texts = [
            URIReference.redacted(url), URIReference.redacted(account.listURL), list.channels[0].name,
            list.channels[0].slug, URIReference.redacted(list.guides[0]), "\(account)", "\(list.issues)",
        ]
        for text in texts { #expect(!text.contains("s3cret/1") && !text.contains("s3cret%2F1"), "\(text)") }
        #expect(texts[0] == "http://tv.example:8080/live/…/…/12.ts")
    }
}
