import Fetch
import Support
import Testing

@testable import ArchiveStore
@testable import ChannelList
@testable import Service

/// What the requests to a store have of the configuration of a channel.
struct ArchiveSettingsTests {
    private static let upstream = """
        url: {url: 'http://h/1', headers: {X-Token: t}, cookie: a=b, user-agent: U, proxy: 'http://q:1'}
            memory-limit: 128MiB
            max-segment: 8MiB
            deny-private: true
        """

    private static let rows: [(what: String, store: String, proxy: String?, certificates: String?, connections: Int)] =
        [
            ("a URL", "'s3://bucket/p?endpoint=http://192.168.1.2:9000'", nil, nil, 16),
            (
                "a map", "{url: 's3://bucket/p', proxy: 'http://p:8080', certificates: /ca.pem, connections: 4}",
                "http://p:8080", "/ca.pem", 4
            ),
        ]

    @Test(arguments: rows.indices) func haveNothingOfTheUpstream(row: Int) throws {
        let row = Self.rows[row]
        let yaml = "channels:\n  a:\n    \(Self.upstream)\n    archive: 7d\n    archive-store: \(row.store)\n"
        let channel = try #require(try ChannelConfiguration(yaml: yaml).channels.first)
        let settings = try #require(ArchiveSettings(channel))
        #expect(settings.url.prefix == "p/a/" && settings.retention == .seconds(7 * 86_400), "\(row.what)")
        var expected = CurlConfiguration()
        (expected.proxy, expected.certificateAuthorities) = (row.proxy.map { Secret($0) }, row.certificates)
        #expect(settings.requests == expected, "\(row.what)")
        #expect(settings.connections == row.connections, "\(row.what)")
    }
}
