import Testing

@testable import ChannelList

private let agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Safari/537.36"

/// Lines after `#EXTINF:-1,N`, and the sources and issues that they give.
private let rows: [(when: String, lines: String, says: [String])] = [
    ("https", "https://h/a.m3u8", ["https://h/a.m3u8"]),
    ("a port and a query", "http://h:8080/a/b.m3u8?token=x%20y&e=1", ["http://h:8080/a/b.m3u8?token=x%20y&e=1"]),
    ("user and password", "http://u:p@h:80/a", ["http://u:p@h:80/a"]),
    ("an IPv6 address", "http://[2409:8087::11]:6410/a.m3u8", ["http://[2409:8087::11]:6410/a.m3u8"]),
    ("a scheme in capitals", "HTTP://h/a.m3u8", ["http://h/a.m3u8"]),
    ("a host in capitals", "http://HOST/a", ["http://HOST/a"]),
    ("a path in Chinese", "http://h/央视.m3u8", ["http://h/央视.m3u8"]),
    ("a space in the path", "http://h/my channel.m3u8", ["http://h/my%20channel.m3u8"]),
    ("white space around the URL", "  http://h/a.m3u8 \t", ["http://h/a.m3u8"]),
    ("quotes around the URL", "\"http://h/a.m3u8\"", ["http://h/a.m3u8"]),
    ("no path", "http://h", ["http://h"]),
    ("an ad template", "http://h/a.m3u8?did=[DEVICE_ID]&w={W}&c=$CB", ["http://h/a.m3u8?did=[DEVICE_ID]&w={W}&c=$CB"]),
    (
        "a space in the host", "https:// someurl.su/mono.m3u8",
        ["noChannels 3 malformedURL(\"https:// someurl.su/mono.m3u8\")"]
    ),
    ("no host", "http:///a.m3u8", ["noChannels 3 malformedURL(\"http:///a.m3u8\")"]),
    ("only a port", "http://:80/a", ["noChannels 3 malformedURL(\"http://:80/a\")"]),
    ("multicast", "udp://@239.1.21.73:1234", ["udp://@239.1.21.73:1234"]),
    ("RTP", "rtp://239.1.21.73:1234", ["rtp://239.1.21.73:1234"]),
    ("RTSP", "rtsp://h/a", ["noChannels 3 unsupportedScheme(\"rtsp\")"]),
    ("RTMP", "rtmp://h/live/a live=1", ["noChannels 3 unsupportedScheme(\"rtmp\")"]),
    (
        "a pipe", "pipe://ffmpeg -i http://h/a -c copy -f mpegts pipe:1", ["http://h/a", "3 unwrappedCommand"]
    ),
    (
        "a pipe to a path, with quotes and an option of two dashes",
        "pipe:///usr/bin/ffmpeg -loglevel fatal -re --i x -i \"http://h/a?b=1&c=2|3\" -c copy -f mpegts pipe:1",
        ["http://h/a?b=1&c=2|3", "3 unwrappedCommand"]
    ),
    (
        "a pipe with metadata in quotes",
        "pipe://ffmpeg -i 'https://h/a b.m3u8' -metadata service_name=\"A -i B\" -f mpegts pipe:1",
        ["https://h/a%20b.m3u8", "3 unwrappedCommand"]
    ),
    (
        "a pipe with headers",
        "pipe://ffmpeg -user_agent \"A 1\" -referer http://r/ -headers \"X-A: b\\r\\nCookie: c=d\\r\\n\" -i http://h/a -f mpegts -",
        ["http://h/a {User-Agent: A 1; Referer: http://r/; X-A: b; Cookie: c=d}", "3 unwrappedCommand"]
    ),
    (
        "headers of what the command writes", "pipe://ffmpeg -i http://h/a -user_agent B -f mpegts http://o/",
        ["http://h/a", "3 unwrappedCommand"]
    ),
    ("a pipe of multicast", "pipe://ffmpeg -i udp://@239.1.1.1:1 -", ["udp://@239.1.1.1:1", "3 unwrappedCommand"]),
    ("a pipe of RTSP", "pipe://ffmpeg -i rtsp://h/a -", ["noChannels 3 unsupportedScheme(\"pipe\")"]),
    (
        "a pipe of a file", "pipe://ffmpeg -headers 'Authorization: x' -i /etc/passwd -",
        ["noChannels 3 unsupportedScheme(\"pipe\")"]
    ),
    ("a pipe without input", "pipe://cat /etc/passwd", ["noChannels 3 unsupportedScheme(\"pipe\")"]),
    ("a pipe that ends with -i", "pipe://ffmpeg -i", ["noChannels 3 unsupportedScheme(\"pipe\")"]),
    (
        "a pipe and a backup", "pipe://ffmpeg -i http://h/a -\n#http://h/b",
        ["http://h/a", "http://h/b", "3 unwrappedCommand"]
    ),
    ("a plugin", "plugin://plugin.video.x/?a=1", ["noChannels 3 unsupportedScheme(\"plugin\")"]),
    ("a relative URL of a file", "a/b.m3u8", ["noChannels 3 malformedURL(\"a/b.m3u8\")"]),
    ("multicast with a backup", "udp://@239.1.1.1:1\n#https://h/a", ["udp://@239.1.1.1:1", "https://h/a"]),
    ("multicast, then a URL", "udp://@239.1.1.1:1\nhttp://h/a", ["udp://@239.1.1.1:1", "http://h/a"]),

    // Headers after a vertical bar.
    ("a user agent", "http://h/a|User-Agent=VLC", ["http://h/a {User-Agent: VLC}"]),
    (
        "percent-coded", "http://h/a|User-Agent=A%2F1%20%28x%29&Referer=http%3A%2F%2Fe%2F%3Fa%3D1%26b",
        ["http://h/a {User-Agent: A/1 (x); Referer: http://e/?a=1&b}"]
    ),
    (
        "in quotes", "https://h/a.m3u8|Referer=\"http://e.com/\"&user-agent=\"\(agent)\"",
        ["https://h/a.m3u8 {Referer: http://e.com/; User-Agent: \(agent)}"]
    ),
    (
        "raw", "https://h/a.m3u8|User-Agent=Mozilla/5.0&Referer=https://a/b.php?x=1",
        ["https://h/a.m3u8 {User-Agent: Mozilla/5.0; Referer: https://a/b.php?x=1}"]
    ),
    (
        "raw with a query of two", "https://h/a|Referer=https://a/b.php?x=1&y=2&User-Agent=B",
        ["https://h/a {Referer: https://a/b.php?x=1&y=2; User-Agent: B}"]
    ),
    ("a bare user agent", "https://h|FooBar/1.2.3", ["https://h {User-Agent: FooBar/1.2.3}"]),
    ("a bare user agent with spaces", "https://h/a|\(agent)", ["https://h/a {User-Agent: \(agent)}"]),
    ("spaces around the bar", "http://h/a | User-Agent=B", ["http://h/a {User-Agent: B}"]),
    ("nothing after the bar", "http://h/a|", ["http://h/a"]),
    ("an exclamation mark", "http://h/a|!X-Token=1", ["http://h/a {X-Token: 1}"]),
    (
        "options of Kodi", "http://h/a|User-Agent=B&verifypeer=false&seekable=0",
        ["http://h/a {User-Agent: B}", "3 unknownOption(\"verifypeer\")", "3 unknownOption(\"seekable\")"]
    ),
    (
        "names without case", "http://h/a|USER-AGENT=B&referer=http://r/&COOKIE=a=b; c=d",
        ["http://h/a {User-Agent: B; Referer: http://r/; Cookie: a=b; c=d}"]
    ),
    (
        "an own header", "http://h/a|X-Forwarded-For=1.2.3.4&Authorization=Bearer%20x",
        ["http://h/a {X-Forwarded-For: 1.2.3.4; Authorization: Bearer x}"]
    ),
    ("the query before the bar", "http://h/a?b=1|Origin=http://o", ["http://h/a?b=1 {Origin: http://o}"]),
    ("a second bar", "http://h/a|User-Agent=B|Referer=http://r/", ["http://h/a {User-Agent: B; Referer: http://r/}"]),
    (
        "a line break in a value", "http://h/a|User-Agent=B%0D%0AX-Y:%201",
        ["http://h/a", "3 malformedHeader(\"User-Agent\")"]
    ),
    (
        "a header that only a client may set", "http://h/a|Range=bytes%3D0-&User-Agent=B",
        ["http://h/a {User-Agent: B}", "3 malformedHeader(\"Range\")"]
    ),
    ("a broken percent sign", "http://h/a|User-Agent=100%", ["http://h/a {User-Agent: 100%}"]),
    ("a field after a space", "http://h/a User-Agent=B/1", ["http://h/a {User-Agent: B/1}"]),

    // EXTVLCOPT.
    ("http-user-agent", "#EXTVLCOPT:http-user-agent=\(agent)\nhttp://h/a", ["http://h/a {User-Agent: \(agent)}"]),
    ("http-referrer", "#EXTVLCOPT:http-referrer=https://e/\nhttp://h/a", ["http://h/a {Referer: https://e/}"]),
    (
        "http-referer, misspelled as in the RFC", "#EXTVLCOPT:http-referer=https://e/\nhttp://h/a",
        ["http://h/a {Referer: https://e/}"]
    ),
    (
        "http-origin and http-cookie", "#EXTVLCOPT:http-origin=https://o\n#EXTVLCOPT:http-cookie=a=b; c=d\nhttp://h/a",
        ["http://h/a {Origin: https://o; Cookie: a=b; c=d}"]
    ),
    ("http-proxy", "#EXTVLCOPT:http-proxy=http://p:3128\nhttp://h/a", ["http://h/a via http://p:3128"]),
    (
        "three options",
        "#EXTVLCOPT:http-origin=https://o\n#EXTVLCOPT:http-referrer=https://r/\n#EXTVLCOPT:http-user-agent=B\nhttp://h/a",
        ["http://h/a {Origin: https://o; Referer: https://r/; User-Agent: B}"]
    ),
    (
        "typographic quotes around a value", "#EXTVLCOPT:http-user-agent=“Foobot/1.2.3”\nhttp://h/a",
        ["http://h/a {User-Agent: Foobot/1.2.3}"]
    ),
    (
        "quotes around a value", "#EXTVLCOPT:http-user-agent=\"Foo bot\"\nhttp://h/a",
        ["http://h/a {User-Agent: Foo bot}"]
    ),
    ("spaces in the option", "#EXTVLCOPT: http-user-agent = Foo bot\nhttp://h/a", ["http://h/a {User-Agent: Foo bot}"]),
    ("lower case", "#extvlcopt:HTTP-User-Agent=B\nhttp://h/a", ["http://h/a {User-Agent: B}"]),
    ("a colon before the option", "#EXTVLCOPT::http-user-agent=B\nhttp://h/a", ["http://h/a {User-Agent: B}"]),
    ("http-header", "#EXTVLCOPT:http-header=X-A: b\nhttp://h/a", ["http://h/a {X-A: b}"]),
    (
        "an option without value", "#EXTVLCOPT:http-user-agent=\nhttp://h/a",
        ["http://h/a", "3 malformedHeader(\"User-Agent\")"]
    ),
    (
        "options of the player", "#EXTVLCOPT:network-caching=1000\n#EXTVLCOPT:program=5\nhttp://h/a",
        ["http://h/a", "3 unknownOption(\"network-caching\")", "4 unknownOption(\"program\")"]
    ),
    (
        "reconnect with two dashes", "#EXTVLCOPT--http-reconnect=true\nhttp://h/a",
        ["http://h/a", "3 unknownDirective(\"#EXTVLCOPT--HTTP-RECONNECT\")"]
    ),
    (
        "a header twice", "#EXTVLCOPT:http-user-agent=A\n#EXTVLCOPT:http-user-agent=B\nhttp://h/a",
        ["http://h/a {User-Agent: B}"]
    ),
    ("an option and a bar", "#EXTVLCOPT:http-user-agent=A\nhttp://h/a|User-Agent=B", ["http://h/a {User-Agent: B}"]),

    // KODIPROP, EXTHTTP and others.
    (
        "stream_headers",
        "#KODIPROP:inputstream.adaptive.stream_headers=User-Agent=A%2F1&Referer=https%3A%2F%2Fr%2F\nhttp://h/a",
        ["http://h/a {User-Agent: A/1; Referer: https://r/}"]
    ),
    (
        "manifest_headers", "#KODIPROP:inputstream.adaptive.manifest_headers=Origin=https://o\nhttp://h/a",
        ["http://h/a {Origin: https://o}"]
    ),
    (
        "both",
        "#KODIPROP:inputstream.adaptive.manifest_headers=User-Agent=A\n#KODIPROP:inputstream.adaptive.stream_headers=User-Agent=A&X-B=c\nhttp://h/a",
        ["http://h/a {User-Agent: A; X-B: c}"]
    ),
    (
        "the choice of an input stream",
        "#KODIPROP:inputstream=inputstream.adaptive\n#KODIPROP:mimetype=application/x-mpegURL\n#KODIPROP:inputstream.adaptive.manifest_type=hls\nhttp://h/a",
        ["http://h/a"]
    ),
    (
        "a license", "#KODIPROP:inputstream.adaptive.license_type=com.widevine.alpha\nhttp://h/a",
        ["http://h/a", "3 unknownOption(\"inputstream.adaptive.license_type\")"]
    ),
    (
        "JSON",
        "#EXTHTTP:{\"User-Agent\":\"A\",\"Referer\":\"https://r/\",\"cookie\":\"a=b; c=\\\"d\\\"\"}\nhttp://h/a",
        ["http://h/a {User-Agent: A; Referer: https://r/; Cookie: a=b; c=\"d\"}"]
    ),
    (
        "JSON with spaces and a number", "#EXTHTTP: { \"X-A\" : 1 , \"X-B\" : \"\\u00e4\\ud83d\\ude00\" }\nhttp://h/a",
        ["http://h/a {X-A: 1; X-B: ä😀}"]
    ),
    ("JSON with a Boolean", "#EXTHTTP:{\"X-A\":true}\nhttp://h/a", ["http://h/a {X-A: true}"]),
    ("empty JSON", "#EXTHTTP:{}\nhttp://h/a", ["http://h/a"]),
    ("broken JSON", "#EXTHTTP:{\"User-Agent\":\"A\nhttp://h/a", ["http://h/a", "3 malformedHeader(\"#EXTHTTP\")"]),
    (
        "JSON with an object inside", "#EXTHTTP:{\"a\":{\"b\":1}}\nhttp://h/a",
        ["http://h/a", "3 malformedHeader(\"#EXTHTTP\")"]
    ),
    (
        "JSON with a line break in a value", "#EXTHTTP:{\"X-A\":\"b\\r\\nX-C: d\"}\nhttp://h/a",
        ["http://h/a", "3 malformedHeader(\"X-A\")"]
    ),
    (
        "an unknown directive", "#EXTATTRFROMURL:http://x/\nhttp://h/a",
        ["http://h/a", "3 unknownDirective(\"#EXTATTRFROMURL\")"]
    ),
    (
        "a property of a web player", "#WEBPROP:web-regex=x\nhttp://h/a",
        ["http://h/a", "3 unknownDirective(\"#WEBPROP\")"]
    ),
    ("comments", "# a comment\n##\n#PLAYLIST:x\nhttp://h/a", ["http://h/a"]),
    (
        "all spellings together",
        "#EXTVLCOPT:http-referrer=https://r/\n#KODIPROP:inputstream.adaptive.stream_headers=X-A=1\n#EXTHTTP:{\"X-B\":\"2\"}\nhttp://h/a|X-C=3",
        ["http://h/a {Referer: https://r/; X-A: 1; X-B: 2; X-C: 3}"]
    ),

    // Backups.
    ("two URLs with labels", "https://e/s$线路1\nhttps://e/s$线路2", ["https://e/s $线路1", "https://e/s $线路2"]),
    ("a label in ASCII", "https://e/s.m3u8$HD", ["https://e/s.m3u8 $HD"]),
    ("a dollar sign in a query", "https://e/s?t=a$b", ["https://e/s?t=a$b"]),
    ("a dollar sign in a path", "https://e/$s/a.m3u8", ["https://e/$s/a.m3u8"]),
    ("a commented URL below", "http://h/a\n#https://b/a", ["http://h/a", "https://b/a"]),
    ("a commented URL with a space", "http://h/a\n# https://b/a", ["http://h/a", "https://b/a"]),
    ("a commented URL above", "#http://old/a\nhttp://h/a", ["http://h/a", "http://old/a"]),
    ("three URLs", "http://h/a\nhttp://h/b\nhttp://h/c", ["http://h/a", "http://h/b", "http://h/c"]),
    (
        "headers hold for backups",
        "#EXTVLCOPT:http-user-agent=A\nhttp://h/a\n#http://b/a\nhttp://c/a|Referer=http://r/",
        ["http://h/a {User-Agent: A}", "http://c/a {User-Agent: A; Referer: http://r/}", "http://b/a {User-Agent: A}"]
    ),
    (
        "headers of one backup", "http://h/a|X-A=1\nhttp://h/b|X-A=2\nhttp://h/c",
        ["http://h/a {X-A: 1}", "http://h/b {X-A: 2}", "http://h/c {X-A: 1}"]
    ),
    (
        "a URL broken into two lines", "http://h/a?x=%7BAPP_NA\nME%7D&ads.coppa=0",
        ["http://h/a?x=%7BAPP_NA", "4 unexpectedText(\"ME%7D&ads.coppa=0\")"]
    ),
    ("a separator's URL", "http://###### VIP ######", ["noChannels 3 malformedURL(\"http://\")"]),
]

@Suite("Sources in lists") struct SourceLineTests {
    @Test(arguments: rows)
    func source(when: String, lines: String, says: [String]) {
        let bytes = Array("#EXTM3U\n#EXTINF:-1,N\n\(lines)\n".utf8)
        let found: [String]
        do throws(ChannelListError) {
            let list = try M3UChannelListParser.parse(bytes)
            let sources = list.channels[0].sources.map {
                dump(ListedChannel(name: "", sources: [$0]), defaultURL: "-").replacing(
                    " · ", with: "", maxReplacements: 1)
            }
            found = sources + list.issues.map(dump)
        } catch .noChannels(let issue) {
            found = ["noChannels \(issue.map(dump) ?? "")"]
        } catch { found = ["\(error)"] }
        #expect(found == says, "\(when)")
    }

    @Test("There are enough rows") func rowCount() { #expect(rows.count >= 80) }
}
