import Foundation
import Playlist
import TestSupport
import Testing

@testable import ChannelList
@testable import Support

/// The channels of a configuration in one line each, or its mistakes.
private func dump(
    yaml: String, from origin: ConfigurationOrigin = .file(environment: ["TOKEN": "abc", "EMPTY": ""])
) -> [String] {
    do throws(ConfigurationError) {
        let configuration = try ChannelConfiguration(yaml: yaml, from: origin)
        return configuration.lists.map { list in "list \(list.location)" + (list.account.map { " of \($0)" } ?? "") }
            + configuration.accounts.sorted { $0.key < $1.key }.map { "account \($0.key) \($0.value)" }
            + configuration.guides.map { "guide \($0)" }
            + configuration.channels.map { "/\($0.slug) " + dump($0, defaultURL: "http://h/1") }
    } catch { return error.issues.map(\.text) }
}

private let readRows: [(when: String, yaml: String, says: [String])] = [
    ("a URL by name", "channels:\n  BBC One: http://h/1", ["/bbc-one BBC One"]),
    (
        "a URL and its backups", "channels:\n  news: [http://h/1, http://h/2]",
        ["/news news · http://h/2"]
    ),
    (
        "a channel with a name of its own", "channels:\n  news: {url: http://h/1, name: News HD, number: 7}",
        ["/news News HD · no=7"]
    ),
    ("a list of channels", "channels:\n- {name: News HD, url: http://h/1}", ["/news-hd News HD"]),
    ("a number with a point", "channels: {a: {url: http://h/1, number: 5.10}}", ["/a a · no=5.10"]),
    (
        "what guides read",
        "channels: {a: {url: http://h/1, tvg-id: a.uk, tvg-name: A, tvg-shift: -4.5, logo: http://l/1, group: [UK, News]}}",
        ["/a a · id=a.uk · tvg=A · logo=http://l/1 · groups=UK;News · shift=-4.5"]
    ),
    ("one group", "channels: {a: {url: http://h/1, group: UK}}", ["/a a · groups=UK"]),
    ("radio", "channels: {a: {url: http://h/1, radio: yes}}", ["/a a · radio"]),
    (
        "headers", "channels: {a: {url: http://h/1, user-agent: X/1, headers: {referer: http://r/}, cookie: a=1; b=2}}",
        ["/a a · http://h/1 {User-Agent: X/1; Referer: http://r/; Cookie: a=1; b=2}"]
    ),
    (
        "headers of a backup",
        "channels: {a: {url: http://h/1, headers: {X: a}, backups: [http://h/2, {url: http://h/3, headers: {X: b}, proxy: socks5://p:1}]}}",
        ["/a a · http://h/1 {X: a} · http://h/2 {X: a} · http://h/3 {X: b} via socks5://p:1"]
    ),
    (
        "headers of the primary alone", "channels: {a: {url: {url: http://h/1, headers: {X: a}}, backups: http://h/2}}",
        ["/a a · http://h/1 {X: a} · http://h/2"]
    ),
    (
        "headers of all channels",
        "defaults: {user-agent: U, headers: {X: a}, group: G}\nchannels: {a: http://h/1, b: {url: http://h/1, headers: {X: b}, group: H}}",
        [
            "/a a · groups=G · http://h/1 {User-Agent: U; X: a}",
            "/b b · groups=H · http://h/1 {User-Agent: U; X: b}",
        ]
    ),
    (
        "a variable", "channels: {a: \"http://h/1?t=${TOKEN}&x=$5${EMPTY}\"}", ["/a a · http://h/1?t=abc&x=$5"]
    ),
    ("a literal ${", "channels: {a: \"http://h/1?t=$${TOKEN}\"}", ["/a a · http://h/1?t=${TOKEN}"]),
    (
        "lists", "playlist: [uk.m3u, /etc/a.m3u, \"http://h/list.m3u?t=${TOKEN}\"]\nguide: http://g/x.xml",
        ["list conf/uk.m3u", "list /etc/a.m3u", "list http://h/list.m3u?t=abc", "guide http://g/x.xml"]
    ),
    ("an anchor", "x: 1", ["1:1: there is no key “x”"]),
    (
        "a merge key",
        "channels:\n  a: &a {url: http://h/1, number: 1, group: G}\n  b: {<<: *a, number: 2}",
        ["/a a · no=1 · groups=G", "/b b · no=2 · groups=G"]
    ),
    (
        "multicast", "channels: {a: [\"udp://@239.1.1.1:1\", \"rtp://10.0.0.1@[ff3e::1]:5004\"]}",
        ["/a a · udp://@239.1.1.1:1 · rtp://10.0.0.1@[ff3e::1]:5004"]
    ),
    (
        "an account", "xtream: {url: \"http://tv.example:8080/\", username: anna, password: 12}",
        ["list http://tv.example:8080/get.php?username=anna&password=12&type=m3u_plus of tv.example"]
    ),
    (
        "an account with another form and a name, and one on the same host",
        "playlist: \"http://h/get.php?username=b&password=c\"\nxtream:\n- {url: http://h, username: a@b, password: \"${TOKEN}\", output: m3u8, account: home}\n- {url: http://h, username: d, password: e}\n- {url: http://h/, username: d, password: e}",
        [
            "list http://h/get.php?username=b&password=c of h",
            "list http://h/get.php?username=a%40b&password=abc&type=m3u_plus&output=m3u8 of home",
            "list http://h/get.php?username=d&password=e&type=m3u_plus of h-2",
            "list http://h/get.php?username=d&password=e&type=m3u_plus of h-2",
        ]
    ),
    (
        "lists of an account", "accounts: {home: {connections: 2}}\nplaylist: [{url: a.m3u, account: home}, b.m3u]",
        ["list conf/a.m3u of home", "list conf/b.m3u", "account home 2"]
    ),
    (
        "a channel of an account",
        "accounts: {home: {connections: 1}}\nchannels: {a: {url: http://h/1, account: home}}",
        ["account home 1", "/a a"]
    ),
    ("the largest memory", "channels: {a: {url: http://h/1, memory-limit: 1024GiB}}", ["/a a"]),
    ("a byte order mark and CRLF", "\u{FEFF}channels:\r\n  a: http://h/1\r\n", ["/a a"]),
]

private let mistakeRows: [(when: String, yaml: String, says: [String])] = [
    (
        "more bytes than any machine has", "channels: {a: {url: http://h/1, memory-limit: 9999GiB}}",
        ["1:47: channels.a.memory-limit: the value is not at most 1024GiB"]
    ),
    ("nothing", "", ["neither “channels” nor “playlist” lists a channel"]),
    ("a comment", "# channels", ["neither “channels” nor “playlist” lists a channel"]),
    ("no channel", "channels: {}", ["neither “channels” nor “playlist” lists a channel"]),
    ("a text", "http://h/1", ["1:1: the value is not a map with the keys channels, playlist and defaults"]),
    (
        "no YAML", "channels:\n  a: [http://h/1",
        ["3:1: the YAML cannot be read: did not find expected ',' or ']'"]
    ),
    (
        "a tab", "channels:\n\ta: http://h/1",
        ["2:1: the YAML cannot be read: found character that cannot start any token"]
    ),
    (
        "two documents", "channels: {a: http://h/1}\n---\nchannels: {}\n",
        ["2:1: the YAML cannot be read: but found another document"]
    ),
    (
        "a key of the top level", "chanels:\n  a: http://h/1",
        ["1:1: there is no key “chanels”; did you mean “channels”?"]
    ),
    (
        "a key of a channel", "channels:\n  a:\n    url: http://h/1\n    user_agent: x",
        ["4:5: channels.a: there is no key “user_agent”; did you mean “user-agent”?"]
    ),
    (
        "a key nobody knows", "channels: {a: {url: http://h/1, zzzzzz: 1}}",
        ["1:33: channels.a: there is no key “zzzzzz”"]
    ),
    (
        "a key of a channel in defaults", "defaults: {url: http://h/1}\nplaylist: a",
        ["1:12: defaults: “url” belongs to a channel or one of its URLs"]
    ),
    (
        "two channels with one key", "channels:\n  a: http://h/1\n  a: http://h/2",
        ["2:3: the YAML cannot be read: the key “a” is there more than once"]
    ),
    (
        "two channels with one name in paths", "channels:\n  BBC One: http://h/1\n  bbc-one: http://h/2",
        ["3:3: channels.bbc-one: another channel is /bbc-one already, in line 2"]
    ),
    (
        "two channels of a list with one name",
        "channels:\n- {name: A, url: http://h/1}\n- {name: a, url: http://h/2}",
        ["3:3: channels.1: another channel is /a already, in line 2"]
    ),
    ("a path of the server", "channels: {API: http://h/1}", ["1:12: channels.API: /api is a path of the server"]),
    ("a channel without URL", "channels:\n  a: {number: 1}", ["2:6: channels.a: the key “url” is missing"]),
    ("a channel without value", "channels:\n  a:", ["2:5: channels.a: the key has no value"]),
    ("a channel without name", "channels: [http://h/1]", ["1:12: channels.0: the key “name” is missing"]),
    ("no URLs at all", "channels: {a: []}", ["1:15: channels.a: the key has no value"]),
    (
        "a path as URL", "channels: {a: news/live.m3u8}",
        [
            "1:15: channels.a: the value is not \(ConfigurationPattern.source.expected)"
        ]
    ),
    (
        "a token that is too short", "channels: {a: {url: http://h/1, token: secret}}",
        ["1:40: channels.a.token: the value is not a token: 16 to 1024 visible ASCII characters"]
    ),
    (
        "another scheme", "channels: {a: {url: http://h/1, backups: [http://h/2, \"ftp://@239.1.1.1:1\"]}}",
        [
            "1:55: channels.a.backups.1: the value is not \(ConfigurationPattern.source.expected)"
        ]
    ),
    (
        "a duration", "channels: {a: {url: http://h/1, idle: 30sec}}",
        ["1:39: channels.a.idle: “30sec” is not a duration such as 90, 90s, 15m, 2h or 1d"]
    ),
    (
        "a negative duration", "defaults: {patience: -1}\nplaylist: a",
        ["1:22: defaults.patience: “-1” is not a duration such as 90, 90s, 15m, 2h or 1d"]
    ),
    (
        "a rewind", "channels: {a: {url: http://h/1, rewind: sometimes}}",
        ["1:41: channels.a.rewind: “sometimes” is not a duration such as 90, 90s, 15m, 2h or 1d"]
    ),
    (
        "an archive of minutes, and one of a few bytes",
        "channels: {a: {url: http://h/1, archive: 59m}, b: {url: http://h/1, archive: 367d, archive-size: 1MiB}}",
        [
            "1:42: channels.a.archive: the value is not a duration from 1h to 366d",
            "1:78: channels.b.archive: the value is not a duration from 1h to 366d",
            "1:98: channels.b.archive-size: the value is not at least 64MiB",
        ]
    ),
    (
        "a size", "defaults: {max-segment: 64 MB}\nplaylist: a",
        ["1:25: defaults.max-segment: “64 MB” is not a number of bytes such as 4096, 64MiB or 1GiB"]
    ),
    (
        "too little memory", "defaults: {memory-limit: 64MiB}\nplaylist: a",
        ["1:26: defaults.memory-limit: the value is not at least 96MiB"]
    ),
    (
        "too little memory for a segment", "defaults: {memory-limit: 256MiB, max-segment: 64MiB}\nplaylist: a",
        ["1:47: defaults.max-segment: the value is not possible with less than 464MiB of memory-limit"]
    ),
    (
        "a Boolean", "channels: {a: {url: http://h/1, always: maybe}}",
        ["1:41: channels.a.always: “maybe” is not true or false"]
    ),
    (
        "a choice", "defaults: {audio: uniforms}\nplaylist: a",
        ["1:19: defaults.audio: “uniforms” is not one of copy, bridge, uniform, drop; did you mean “uniform”?"]
    ),
    (
        "an account that is not described", "channels: {a: {url: http://h/1, account: home}}",
        ["channels.a.account: “home” is not an account of “accounts” or “xtream”"]
    ),
    (
        "accounts that are not described",
        "defaults: {account: a}\nplaylist: {url: http://h/l, account: b}\naccounts: {c: {connections: 1}}",
        [
            "defaults.account: “a” is not an account of “accounts” or “xtream”",
            "playlist.0.account: “b” is not an account of “accounts” or “xtream”",
        ]
    ),
    (
        "connections of an account", "accounts: {a: {connections: 0}, b: {}, c: 2, d: {limit: 1}}\nplaylist: a",
        [
            "1:29: accounts.a.connections: “0” is not a whole number from 1 to 1000",
            "1:33: accounts.b: the key “connections” is missing",
            "1:43: accounts.c: the value is not a map with the key connections",
            "1:50: accounts.d: there is no key “limit”",
        ]
    ),
    (
        "zones of lists",
        "playlist: {url: http://h/l, catchup-zone: Europe/Pariss}\nxtream: {url: http://h, username: a, password: b, catchup-zone: GMT 2}",
        [
            "1:43: playlist.catchup-zone: “Europe/Pariss” is not a time zone such as Europe/London",
            "2:65: xtream.catchup-zone: “GMT 2” is not a time zone such as Europe/London",
        ]
    ),
    (
        "an account without a password", "xtream: {url: http://h, username: a}",
        ["1:9: xtream: the key “password” is missing"]
    ),
    (
        "an account that is a URL", "xtream: http://h/?password=secret",
        ["1:9: xtream: the value is not a map with the keys url, username and password"]
    ),
    (
        "a password that cannot be one", "xtream: {url: http://h, username: a, password: s3 cret}",
        ["1:48: xtream.password: the value is not a user name or a password without spaces"]
    ),
    (
        "a hold that is too long", "defaults: {hold: 31s}\nplaylist: a",
        ["1:18: defaults.hold: “31s” is not a duration of at most 30s, such as 3s"]
    ),
    (
        "a program of no stream", "defaults: {program: 65536}\nplaylist: a",
        ["1:21: defaults.program: “65536” is not a whole number from 1 to 65535"]
    ),
    (
        "a number that is too large", "defaults: {max-connections: 5000}\nplaylist: a",
        ["1:29: defaults.max-connections: “5000” is not a whole number from 1 to 1000"]
    ),
    (
        "a channel number", "channels: {a: {url: http://h/1, number: five}}",
        ["1:41: channels.a.number: “five” is not a channel number such as 7 or 5.1"]
    ),
    (
        "a map where text was expected", "channels: {a: {url: http://h/1, name: {x: 1}}}",
        ["1:39: channels.a.name: the value is not text of 1 to 200 characters in one line"]
    ),
    (
        "text where a map was expected", "channels: {a: {url: http://h/1, headers: \"X: 1\"}}",
        ["1:42: channels.a.headers: the value is not a map of header names and values"]
    ),
    (
        "headers as a list", "defaults: [1]\nplaylist: a", ["1:11: defaults: the value is not a map of keys"]
    ),
    (
        "a header of the client itself", "channels: {a: {url: http://h/1, headers: {Range: bytes=0-}}}",
        ["1:43: channels.a.headers.Range: the header “Range” cannot be sent"]
    ),
    (
        "a header of two lines", "channels: {a: {url: http://h/1, headers: {X: \"a\\r\\nY: b\"}}}",
        ["1:46: channels.a.headers.X: the value is not a header's value: ASCII characters in one line"]
    ),
    (
        "an address", "defaults: {allow-address: [10.0.0.1, \"::1\", 10.0.0.256]}\nplaylist: a",
        ["1:45: defaults.allow-address.2: “10.0.0.256” is not an IP address"]
    ),
    (
        "a variable that is missing", "channels:\n  a: http://h/1?t=${TOKNE}",
        ["2:6: channels.a: the environment has no variable TOKNE"]
    ),
    (
        "a variable without end", "channels:\n  a: http://h/1?t=${TOKEN",
        ["2:6: channels.a: “${” without a name and “}”; a literal “${” is written “$${”"]
    ),
    (
        "a secret is not repeated", "channels: {a: \"http ://h/${TOKEN}\"}",
        [
            "1:15: channels.a: the value is not \(ConfigurationPattern.source.expected)"
        ]
    ),
    ("a list of lists", "playlist: [[a.m3u]]", ["1:12: playlist.0: the value is not a file or a URL of an M3U list"]),
    (
        "all at once", "defaults: {idl: 1}\nchannels:\n  a: {url: h, always: 2}\n  B: {name: x}",
        [
            "1:12: defaults: there is no key “idl”; did you mean “idle”?",
            "3:12: channels.a.url: the value is not \(ConfigurationPattern.source.expected)",
            "3:23: channels.a.always: “2” is not true or false", "4:6: channels.B: the key “url” is missing",
        ]
    ),
]

@Suite struct ChannelConfigurationTests {
    @Test(arguments: readRows) func reads(when: String, yaml: String, says: [String]) {
        #expect(
            dump(
                yaml: yaml,
                from: .file(directory: "conf", environment: ["TOKEN": "abc", "EMPTY": ""])) == says, "\(when)")
    }

    @Test(arguments: mistakeRows) func names(when: String, yaml: String, says: [String]) {
        #expect(dump(yaml: yaml) == says, "\(when)")
    }

    @Test func readsEveryOption() throws {
        let yaml = """
            accounts: {home: {connections: 2}}
            channels:
              a:
                url: http://h/1
                variant: 720
                account: home
                program: 5
                hold: 3s
                multicast-interface: eth0
                max-connections: 3
                polite: true
                memory-limit: 1GiB
                max-segment: 64MiB
                max-playlist: 4096
                deny-private: true
                allow-address: 10.0.0.1
                give-up: 0
                patience: 9s
                audio: bridge
                fill-silence: false
                require: video
                slate: slate.mp4
                window: 1m
                rewind: 2h
                archive: 30d
                archive-size: 500GiB
                burst: 10
                spool: /var/spool
                capture: captures
                token: 0123456789abcdef
                tokens: [0123456789abcdeg, 0123456789abcdeh]
                always: false
                idle: 45
            """
        var options = ChannelOptions()
        (options.variant, options.maxConnections, options.isPolite) = (.height(720), 3, true)
        options.account = "home"
        (options.program, options.hold, options.multicastInterface) = (5, .seconds(3), "eth0")
        options.memoryLimitBytes = 1 << 30
        (options.maxSegmentBytes, options.maxPlaylistBytes) = (64 << 20, 4096)
        (options.deniesPrivate, options.permittedAddresses) = (true, ["10.0.0.1"])
        (options.giveUp, options.patience) = (.zero, .seconds(9))
        (options.audio, options.fillsSilence, options.requiredMedia) = ("bridge", false, "video")
        (options.slate, options.window, options.burst) = ("/etc/slate.mp4", .seconds(60), .seconds(10))
        (options.rewind, options.keepsRewind) = (.seconds(7200), true)
        (options.archive, options.archiveSize) = (.seconds(30 * 86_400), 500 << 30)
        options.tokens = ["0123456789abcdef", "0123456789abcdeg", "0123456789abcdeh"]
        (options.spool, options.capture) = ("/var/spool", "/etc/captures")
        (options.isAlways, options.idle) = (false, .seconds(45))
        let configuration = try ChannelConfiguration(yaml: yaml, from: .file(directory: "/etc"))
        #expect(configuration.channels.first?.options == options)
    }

    @Test(arguments: [
        ("nothing", "{url: http://h/1}", false), ("always", "{url: http://h/1, always: true}", true),
        ("a rewind", "{url: http://h/1, rewind: 2h}", true),
        ("a rewind of watched channels", "{url: http://h/1, dvr: 2h}", false),
        ("an archive", "{url: http://h/1, archive: 7d}", true),
        ("an archive of bytes", "{url: http://h/1, archive-size: 1GiB}", true),
        ("a capture", "{url: http://h/1, capture: a}", true),
        ("a capture of what is watched", "{url: http://h/1, capture: a, always: false}", false),
    ]) func runsAlways(when: String, channel: String, isAlways: Bool) throws {
        let configuration = try ChannelConfiguration(yaml: "channels: {a: \(channel)}")
        #expect(configuration.channels.map(\.options.runsAlways) == [isAlways], "\(when)")
    }

    @Test(arguments: [
        ("a URL", "s3://bucket/p", StoreOptions(url: "s3://bucket/p")),
        (
            "a map",
            "{url: 's3://bucket/p', proxy: 'http://p:8080', certificates: ca.pem, credentials: /k, connections: 4}",
            {
                var store = StoreOptions(url: "s3://bucket/p")
                (store.proxy, store.certificates, store.credentials) = ("http://p:8080", "/etc/ca.pem", "/k")
                store.connections = 4
                return store
            }()
        ),
    ]) func archiveStore(when: String, written: String, store: StoreOptions) throws {
        let yaml = "channels: {a: {url: http://h/1, proxy: 'http://q:1', archive-store: \(written)}}"
        let configuration = try ChannelConfiguration(yaml: yaml, from: .file(directory: "/etc"))
        #expect(configuration.channels.first?.options.archiveStore == store, "\(when)")
    }

    @Test func rewindOfDefaultsWhenWatched() throws {
        let yaml = "defaults: {rewind: 2h}\nchannels: {a: http://h/1, b: {url: http://h/1, rewind: when-watched}}"
        let channels = try ChannelConfiguration(yaml: yaml).channels
        #expect(channels.map(\.options.runsAlways) == [true, false])
        #expect(channels.map(\.options.rewind) == [.seconds(7200), .seconds(7200)])
    }

    @Test func channelsOfListsHaveDefaultsAndOtherNames() throws {
        let yaml = "defaults: {user-agent: U, idle: 9, group: G}\nplaylist: a.m3u\nchannels: {news: http://h/1}"
        let list = ChannelSlug.assign(to: [
            ListedChannel(name: "News", groups: ["X"], sources: [ListedSource(url: "http://l/1")]),
            ListedChannel(
                name: "Sport",
                sources: [ListedSource(url: "http://l/2", headers: [ListedHeader(name: "User-Agent", value: "V")])]),
        ])
        let channels = try ChannelConfiguration(yaml: yaml).channels(with: [list])
        #expect(channels.map(\.slug) == ["news", "news-2", "sport"])
        #expect(channels.map { $0.sources[0].headers.map(\.value) } == [["U"], ["U"], ["V"]])
        #expect(channels.map(\.groups) == [["G"], ["X"], ["G"]])
        #expect(channels.allSatisfy { $0.options.idle == .seconds(9) })
    }

    /// The zone of a list counts more than what its panel says.
    @Test(arguments: [
        ("{url: http://h, username: a, password: b, catchup-zone: Asia/Tokyo}", "2100"),
        ("{url: http://h, username: a, password: b}", "0700"),
    ]) func zone(list: String, says: String) throws {
        let configuration = try ChannelConfiguration(yaml: "xtream: \(list)")
        var channel = ListedChannel(name: "A", sources: [])
        channel.providerArchive = try ProviderArchive(of: "http://h/a") { (names: String...) in
            ["catchup": "append", "catchup-source": "/{H}{M}"][names[0]]
        }
        channel.providerArchive?.clock = LocalClock(zone: "America/Toronto")
        let archive = configuration.channels(with: [[channel]]).first?.providerArchive
        let noon: Int64 = 1_767_355_200
        #expect(archive?.url(of: "http://h/a", from: noon, lasting: 60, at: noon + 60) == "http://h/a/" + says)
    }

    /// What the configuration says of an account counts more than what its panel says.
    @Test(
        arguments: [
            ("the panel", "", [2, nil], ["h": 2]),
            ("two lists of one account", "", [3, 2], ["h": 2]),
            ("the configuration", "accounts: {h: {connections: 5}}\n", [2, 2], ["h": 5]),
            ("nobody", "", [nil, nil], [:]),
            ("another account", "accounts: {x: {connections: 5}}\n", [1, nil], ["h": 1, "x": 5]),
        ] as [(String, String, [Int?], [String: Int])])
    func connections(by whom: String, accounts: String, limits: [Int?], are expected: [String: Int]) throws {
        let list = "{url: http://h, username: a, password: b}"
        let configuration = try ChannelConfiguration(yaml: "\(accounts)xtream: [\(list), \(list)]")
        #expect(configuration.connections(of: limits) == expected, "\(whom)")
        let channels = configuration.channels(
            with: [[ListedChannel(name: "A", sources: [])], [ListedChannel(name: "B", sources: [])]])
        #expect(channels.map(\.options.account) == ["h", "h"])
    }

    @Test func mistakesAreBounded() {
        let channels = (0..<500).map { "  c\($0): {url: x}\n" }.joined()
        do throws(ConfigurationError) {
            _ = try ChannelConfiguration(yaml: "channels:\n" + channels)
            Issue.record("it was read")
        } catch { #expect(error.issues.count == 100 && error.count == 500) }
    }

    @Test(arguments: fetchedRows) func fetchedConfiguration(when: String, yaml: String, says: [String]) {
        #expect(dump(yaml: yaml, from: .fetched) == says, "\(when)")
    }

    @Test(arguments: ["[", "{a: ", "- ", "? ", "[{a: "]) func depthIsBounded(level: String) {
        let says = dump(yaml: "channels: {}\nx: " + String(repeating: level, count: 200_000))
        #expect(says.count == 1 && says[0].contains("the YAML cannot be read"), "\(says.first?.prefix(200) ?? "")")
        #expect(!dump(yaml: String(repeating: level, count: 200_000)).isEmpty)
    }

    /// An alias in a key would be compared with other keys value by value.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "*l10: 1", "? *l10\n: 1", "? [*l10]\n: 1", "{*l10, b}", "[*l10: 1]", "[*l10:1]", "{*l10 : 1, *l9 : 1}",
            "- {a: {*l10 : 1}}",
        ])
    func keysAreText(text: String) {
        let levels = (1...10).map { level in
            "- &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ","))]\n"
        }
        let says = dump(yaml: "x:\n- &l0 [a]\n\(levels.joined())y:\n  \(text.replacing("\n", with: "\n  "))\n")
        #expect(says.count == 1 && says[0].contains("a key has to be text"), "\(says)")
    }

    @Test func asterisksInTextStay() {
        #expect(dump(yaml: "channels:\n  a: &a {url: http://h/1, name: '*A* & *B'}") == ["/a *A* & *B"])
        #expect(dump(yaml: "channels: {a: {url: http://h/1, name: A *B* C}} # *x") == ["/a A *B* C"])
    }

    @Test func aliasesOfAliasesAreBounded() {
        let levels = (1...12).map { level in
            "l\(level): &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ","))]\n"
        }
        #expect(
            dump(yaml: "l0: &l0 [a]\n" + levels.joined()).first?.contains("there are too many values") == true)
    }
}

/// What a configuration from a URL may not say, because it is its operator's alone.
private let fetchedRows: [(when: String, yaml: String, says: [String])] = [
    ("channels and lists", "channels: {a: http://h/1}\nplaylist: http://h/l.m3u", ["list http://h/l.m3u", "/a a"]),
    ("tokens", "channels: {a: {url: http://h/1, token: 0123456789abcdef}}", ["/a a"]),
    (
        "a list in a file", "playlist: /etc/passwd",
        ["1:11: playlist: the value is not \(ConfigurationPattern.url.expected)"]
    ),
    (
        "files and directories",
        "channels: {a: {url: http://h/1, capture: /r, spool: /s, slate: /l.mp4}}",
        ["capture", "spool", "slate"].map { "1:\(columns[$0] ?? 0): channels.a.\($0): \(onlyHere($0))" }
    ),
    (
        "an interface", "defaults: {multicast-interface: eth0}\nchannels: {a: http://h/1}",
        ["1:33: defaults.multicast-interface: \(onlyHere("multicast-interface"))"]
    ),
    (
        "a protected address, for all channels",
        "defaults: {allow-address: 10.0.0.1}\nchannels: {a: http://h/1}",
        ["1:27: defaults.allow-address: \(onlyHere("allow-address"))"]
    ),
    (
        "a variable", "channels: {a: \"http://h/${TOKEN}\"}",
        ["1:15: channels.a: the environment has no variable TOKEN"]
    ),
]
private let columns = ["capture": 42, "spool": 53, "slate": 64]

private func onlyHere(_ key: String) -> String { "“\(key)” can be given in a configuration file on this machine only" }

private let requestRows: [(when: String, node: ConfigurationNode, says: [String])] = [
    ("a URL", map(("url", "http://h/1")), ["a"]),
    (
        "text where JSON has Booleans", map(("url", "http://h/1"), ("always", "true")),
        ["always: the value is not true or false"]
    ),
    ("no expansion", map(("url", "http://h/1?${TOKEN}")), ["a · http://h/1?${TOKEN}"]),
    (
        "a file of the server", map(("url", "http://h/1"), ("capture", "/etc")),
        ["capture: “capture” can be given in a configuration file on this machine only"]
    ),
    (
        "a token", map(("url", "http://h/1"), ("token", "0123456789abcdef")),
        ["token: “token” can be given in a configuration file on this machine only"]
    ),
    (
        "permission for an address", map(("url", "http://h/1"), ("allow-address", "10.0.0.1")),
        ["allow-address: “allow-address” can be given in a configuration file on this machine only"]
    ),
    ("no URL", map(("name", "x")), ["the key “url” is missing"]),
    ("a list", ConfigurationNode(.list([])), ["the value is not an object"]),
]

private func map(_ entries: (String, String)...) -> ConfigurationNode {
    ConfigurationNode(.map(entries.map { .init(key: $0, value: ConfigurationNode(.scalar($1, .text))) }))
}

@Test(arguments: requestRows) func channelOfRequest(when: String, node: ConfigurationNode, says: [String]) throws {
    let configuration = ChannelConfiguration(playlist: "x")
    do throws(ConfigurationError) {
        #expect([dump(try configuration.channel(slug: "a", node))] == says, "\(when)")
    } catch { #expect(error.issues.map(\.text) == says, "\(when)") }
}

@Test(arguments: [
    ("news", nil), ("bbc-one-2", nil), ("api", "/api is a path of the server"), ("BBC", "is not a name of a-z"),
    ("a--b", "is not a name of a-z"), ("", "is not a name of a-z"), ("a/b", "is not a name of a-z"),
]) func slugOfRequest(slug: String, says: String?) {
    let refusal = ChannelConfiguration.refusal(ofSlug: slug)
    #expect((refusal == nil) == (says == nil) && says.map { refusal?.text.contains($0) == true } ?? true)
}

/// The first columns of docs/lists.md name each key of a channel once.
@Test func everyKeyIsDocumented() throws {
    let document = try String(contentsOf: PackageRoot.url.appending(path: "docs/lists.md"), encoding: .utf8)
    let table = try #require(document.split(separator: "| key of a channel | value |\n|---|---|\n").last)
    let rows = try #require(table.split(separator: "\n\n").first).split(separator: "\n")
    let keys = rows.flatMap { $0.split(separator: "|")[0].matches(of: /`([a-z-]+)`/).map { String($0.1) } }
    #expect(keys.sorted() == ConfigurationKey.allCases.map(\.rawValue).sorted())
}
