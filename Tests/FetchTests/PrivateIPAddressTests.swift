import Playlist
import TestSupport
import Testing

@testable import Fetch
@testable import Support

// The IP addresses that --deny-private denies, after name resolution.

private let publicAddresses = [
    "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.167.1.1", "193.0.0.1",
    "198.17.255.255", "198.20.0.1", "223.255.255.255", "169.253.1.1", "2606:4700::1111", "2a00:1450::1", "2400::1",
    "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "::8.8.8.8",
]

private let privateAddresses = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1", "100.127.255.255", "192.0.0.8",
    "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "192.88.99.1", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1",
    "fd12:3456::1", "ff02::1", "ff0e::1", "2001:db8::1", "2001::1", "3fff::1", "100::1", "64:ff9b:1::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1",
    "2002:7f00:1::", "2002:c0a8:101::1", "::10.0.0.1", "4000::1", "::ffff:0:8.8.8.8",
]

@Test(arguments: publicAddresses) func isPublic(address: String) throws {
    #expect(try #require(IPAddress(address)).isPublic)
}

@Test(arguments: privateAddresses) func isPrivate(address: String) throws {
    #expect(try !#require(IPAddress(address)).isPublic)
}

@Test(arguments: [
    "", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::g", "[::1]", "127.0.0.1:80", "fe80::1%lo", "1.2.3.4\0",
])
func isNotAnIPAddress(text: String) { #expect(IPAddress(text) == nil) }

@Test func textOfAnIPAddressIsTheTextRead() {
    for text in ["192.0.2.1", "2001:db8:0:0:0:0:0:1"] { #expect(IPAddress(text)?.text == text) }
    #expect(IPAddress([1, 2, 3]) == nil)
}

private func denying(_ permitted: String...) -> CurlConfiguration {
    var configuration = loopbackConfiguration()
    configuration.deniesPrivate = true
    configuration.permittedIPAddresses = Set(permitted.compactMap { IPAddress($0) })
    return configuration
}

private func refusal(_ outcome: FetchOutcome) -> FetchError? {
    if case .failure(let error) = outcome { error } else { nil }
}

@Test(arguments: [
    "127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "[::ffff:127.0.0.1]", "[::1]",
    "[::ffff:7f00:1]", "user@127.0.0.1",
])
func privateAddressIsDeniedAfterNameResolution(host: String) async throws {
    let server = try LoopbackServer { _ in [.answer()] }
    let upstream = try CurlFetcher(upstream: "http://example.com/", configuration: denying())
    let url = "http://\(host):\(server.port)/"
    let error = refusal(await upstream.fetch(FetchRequest(.segment, url: url)))
    #expect(error?.reason == .privateAddress, "\(String(describing: error))")
    #expect(error.flatMap { IPAddress($0.message) }?.isPublic == false, "the message is the IP address")
    #expect(server.connectionCount == 0)
}

@Test func redirectToAPrivateAddressIsDenied() async throws {
    let inner = try LoopbackServer { _ in [.answer()] }
    let target = inner.url.replacing("127.0.0.1", with: "127.0.0.2")
    let origin = try LoopbackServer { _ in [.redirect(to: target)] }
    let upstream = try CurlFetcher(upstream: origin.url, configuration: denying("127.0.0.1"))
    let error = refusal(await upstream.fetch(FetchRequest(.mediaPlaylist, url: origin.url)))
    #expect(error?.reason == .privateAddress)
    #expect(error?.message == "127.0.0.2")
    #expect(inner.connectionCount == 0)
}

@Test func permittedAddressIsNotDenied() async throws {
    let server = try LoopbackServer { _ in [.answer(body: [1])] }
    let upstream = try CurlFetcher(upstream: server.url, configuration: denying("127.0.0.1"))
    #expect(try await upstream.fetch(FetchRequest(.segment, url: server.url)).get().body == [1])
}

@Test func connectionOfAnotherChannelIsNotUsed() async throws {
    let server = try LoopbackServer { _ in [.answer()] }
    let unrestricted = try upstream(server)
    let request = FetchRequest(.segment, url: server.url)
    #expect(try await unrestricted.fetch(request).get().status == 200)
    let restricted = try CurlFetcher(upstream: server.url, configuration: denying())
    #expect(refusal(await restricted.fetch(request))?.reason == .privateAddress)
    #expect(try await unrestricted.fetch(request).get().status == 200)
    #expect(server.requests.count == 2)
}

@Test func denyingPrivateAddressesWithAProxyFails() {
    var configuration = denying()
    configuration.proxy = "http://127.0.0.1:3128"
    #expect(throws: FetchError.self) { try CurlFetcher(upstream: "http://h/", configuration: configuration) }
}
