// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every Swift target, tests included.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Whether the build is this project's own: `./run`, `./test` and `deploy` say so (`.ci/prepare`). SwiftPM may refuse to depend
/// on a package with unsafe flags, so no other build has them.
let isOwnBuild = Context.environment["LIVERELAY_OWN_BUILD"] != nil

/// Keeps the bodies of a module's functions out of other modules, which costs a release two fifths of the compiler's time.
/// The modules of small values, whose functions are called for each byte and each line, share theirs.
let closed = strict + (isOwnBuild ? [.unsafeFlags(["-disable-cmo"], .when(configuration: .release))] : [])
let shared: Set = ["Support", "Media"]

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: shared.contains(name) ? strict : closed)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// Code that a test target and a driver share.
func support(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// An executable that only tests use: `swift build --build-tests` builds it, so that it cannot break unseen.
func driver(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// The files of the web page, which are part of the program.
let pageFiles = [
    "overview.html", "channel.html", "token.html", "page.css", "views.css", "overview.js", "list.js", "grid.js",
    "recordings.js", "events.js", "record.js", "api.js", "connect.js", "channel.js", "viewers.js", "bar.js",
    "player.js", "playhead.js", "guide.js", "playlist.js", "subtitles.js", "track.js", "words.js", "icon.svg",
]

let package = Package(
    name: "liverelay",
    products: [.executable(name: "liverelay", targets: ["liverelay"])],
    traits: [.trait(name: "TLS", description: "https and HTTP/2: --tls-cert and --tls-key")],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        // Fetched and built with the trait TLS alone.
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        // Only the headers of libav are needed: it is opened when a channel needs it.
        .target(name: "CLibAV", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLzma", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"])]),
        .systemLibrary(name: "CSpawn"),
        .systemLibrary(name: "CFileSystem"),
        .target(name: "CEmbed"),
        module("Support", ["CCrypto", "CZlib", "CLzma"]),
        module("Playlist", ["Support"]),
        module("Media", ["Support"]),
        module("DASH", ["Support", "Playlist", "Media"]),
        module("Demux", ["Support", "Media"]),
        module("Fetch", ["Support", "Media", "CCurl"]),
        module("Tracker", ["Support", "Playlist", "DASH", "Fetch", "Media", "Demux"]),
        module("Capture", ["Support", "Playlist", "DASH", "Fetch", "Tracker"]),
        module("Decrypt", ["Support", "Playlist", "CCrypto"]),
        module("Transcode", ["Media", "CLibAV"]),
        module("Mux", ["Support", "Media"]),
        module("Splice", ["Support", "Media", "Demux", "Transcode", "Mux"]),
        module("LiveRing", ["Support", "Playlist", "CFileSystem"]),
        module("ArchiveStore", ["Support", "Playlist", "Fetch", "Media", "LiveRing"]),
        module("Fleet", ["Support", "Fetch", "ArchiveStore"]),
        module("Conformance", ["Support", "Playlist", "Decrypt", "Media", "Demux"]),
        module("Inspect", ["Support", "Fetch", "Capture", "Conformance"]),
        module("ChannelList", ["Support", "Playlist", .product(name: "Yams", package: "Yams")]),
        module(
            "Export", ["Support", "Playlist", "Media", "Demux", "Transcode", "Mux", "Splice", "LiveRing"]),
        module(
            "Channel",
            [
                "Support", "Playlist", "Fetch", "Tracker", "Capture", "Decrypt", "Media", "Demux", "Transcode", "Mux",
                "Splice", "LiveRing", "Export", "Conformance",
            ]),
        module("Record", ["Support", "Playlist", "Media", "Mux", "LiveRing", "Export", "Channel"]),
        module("HTTP", ["Support", "Playlist", "LiveRing"]),
        module(
            "WebServer",
            [
                "Support", "HTTP",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["TLS"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"])),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["TLS"])),
                .product(name: "Logging", package: "swift-log"),
            ]),
        module(
            "Observability",
            [
                "Support", "Playlist", "Fetch", "Tracker", "Media", "Demux", "Splice", "LiveRing", "Export", "Channel",
                "Conformance", "HTTP", "CSpawn",
                .product(name: "Logging", package: "swift-log"),
            ]),
        module(
            "Guide", ["Support", "Fetch", "ChannelList", "HTTP", .product(name: "Logging", package: "swift-log")]),
        .target(
            name: "Service",
            dependencies: [
                "Support", "Playlist", "Fetch", "Tracker", "Capture", "Media", "Transcode", "Mux", "Splice", "LiveRing",
                "Export", "Conformance", "Channel", "Record", "ArchiveStore", "Fleet",
                "ChannelList", "HTTP", "Observability", "Guide", "CEmbed", "CFileSystem",
                .product(name: "Logging", package: "swift-log"),
            ],
            // CEmbed has them.
            exclude: pageFiles.map { "Page/\($0)" },
            swiftSettings: closed),
        .executableTarget(
            name: "liverelay",
            dependencies: [
                "Support", "Playlist", "Fetch", "Tracker", "Capture", "Media", "Demux", "Transcode", "LiveRing",
                "ArchiveStore", "Fleet", "Export", "Channel", "ChannelList", "Conformance", "Inspect", "HTTP",
                "WebServer",
                "Observability",
                "Guide", "Record",
                "Service",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: closed),
        // Needs no module that is compiled for testing, so that a driver is as fast as a release.
        support("PlaylistRules", path: "Tests/PlaylistRules", ["Support", "Conformance"]),
        .target(
            name: "TestSupport", dependencies: ["Support", "Playlist", "Media", "Demux", "PlaylistRules"],
            path: "Tests/TestSupport", swiftSettings: strict),
        tests("PlaylistTests", ["Support", "Playlist", "TestSupport"]),
        tests("DASHTests", ["Support", "Playlist", "Media", "DASH", "TestSupport"]),
        tests("FetchTests", ["Support", "Playlist", "Fetch", "Tracker", "TestSupport"]),
        support("TrackerTestSupport", path: "Tests/TrackerTestSupport", ["Support", "Playlist", "Fetch", "Tracker"]),
        tests(
            "TrackerTests",
            [
                "Support", "Media", "Demux", "Fetch", "Tracker", "Playlist", "MediaTestSupport", "TrackerTestSupport",
                "TestSupport",
            ]),
        tests("CaptureTests", ["Capture", "Support", "Playlist", "Fetch", "Tracker", "TestSupport"]),
        tests("DecryptTests", ["Decrypt", "Support", "Playlist", "TestSupport"]),
        .systemLibrary(
            name: "CLibAVFormat", path: "Tests/CLibAVFormat", pkgConfig: "libavformat libavcodec libavutil",
            providers: [.apt(["libavformat-dev"])]),
        .target(
            name: "MediaTestSupport",
            dependencies: ["Support", "Media", "Demux", "Transcode", "Mux", "Splice", "CLibAVFormat", "TestSupport"],
            path: "Tests/MediaTestSupport", swiftSettings: strict),
        tests("MediaTests", ["Media", "Mux", "MediaTestSupport", "TestSupport"]),
        tests("DemuxTests", ["Support", "Media", "Demux", "Transcode", "Mux", "MediaTestSupport", "TestSupport"]),
        tests(
            "TranscodeTests",
            ["Media", "Demux", "Transcode", "Mux", "Splice", "CLibAV", "MediaTestSupport", "TestSupport"]),
        tests("MuxTests", ["Support", "Media", "Demux", "Mux", "MediaTestSupport", "TestSupport"]),
        tests(
            "SpliceTests",
            ["Support", "Media", "Demux", "Transcode", "Mux", "Splice", "MediaTestSupport", "TestSupport"]),
        // Clients and servers on loopback.
        support("WebTestSupport", path: "Tests/WebTestSupport", ["HTTP", "WebServer"]),
        tests("SupportTests", ["Support", "TestSupport"]),
        tests(
            "WebServerTests",
            [
                "HTTP", "WebServer", "Support", "LiveRing", "TestSupport", "WebTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        tests(
            "ObservabilityTests",
            [
                "Observability", "Conformance", "HTTP", "WebServer", "Capture", "Export", "Channel", "Fetch", "Demux",
                "LiveRing",
                "Media",
                "Splice",
                "Support", "Tracker", "TestSupport", "WebTestSupport", .product(name: "Logging", package: "swift-log"),
            ]),
        tests(
            "GuideTests",
            [
                "Guide", "ChannelList", "Fetch", "Service", "HTTP", "WebServer", "Support", "TestSupport",
                "WebTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        tests("ChannelListTests", ["Support", "ChannelList", "Guide", "Playlist", "TestSupport"]),
        tests(
            "ConformanceTests",
            ["Conformance", "Inspect", "Capture", "Fetch", "Playlist", "Media", "Support", "TestSupport", "TestCipher"]),
        support(
            "StoreTestSupport", path: "Tests/StoreTestSupport", ["ArchiveStore", "Support", "TestSupport"]),
        tests(
            "ArchiveStoreTests",
            [
                "ArchiveStore", "LiveRing", "Fetch", "Media", "Playlist", "Support", "StoreTestSupport", "TestSupport",
            ]),
        support("FleetHarness", path: "Tests/Fleets/Harness", ["Fleet", "PlaylistRules"]),
        tests("FleetTests", ["Fleet", "FleetHarness", "Fetch", "ArchiveStore", "Support", "StoreTestSupport"]),
        driver("fleets", path: "Tests/Fleets/Driver", ["FleetHarness"]),
        tests("LiveRingTests", ["LiveRing", "Playlist", "Media", "Support", "TestSupport"]),
        .target(
            name: "ChannelTestSupport",
            dependencies: [
                "Channel", "Conformance", "Export", "Support", "Playlist", "Fetch", "Tracker", "Capture", "Media",
                "Demux",
                "Splice", "LiveRing", "TrackerTestSupport", "TestSupport",
            ],
            path: "Tests/ChannelTestSupport", swiftSettings: strict),
        tests(
            "ChannelTests",
            [
                "Channel", "Support", "Playlist", "Fetch", "Tracker", "Capture", "Decrypt", "Media", "Demux",
                "Transcode", "Mux", "Splice",
                "LiveRing", "Export", "Conformance", "TestSupport", "ChannelTestSupport",
            ]),
        tests(
            "ExportTests",
            [
                "Export", "Channel", "Support", "Playlist", "Capture", "Media", "Demux", "Transcode", "Mux", "Splice",
                "LiveRing", "Conformance", "TestSupport", "ChannelTestSupport",
            ]),
        tests(
            "RecordTests",
            [
                "Record", "Export", "Channel", "Support", "Playlist", "Media", "Demux", "Mux", "LiveRing",
                "TestSupport", "ChannelTestSupport",
            ]),
        tests(
            "ServiceTests",
            [
                "Service", "HTTP", "WebServer", "Export", "Channel", "ChannelList", "ArchiveStore", "Fetch", "Playlist",
                "Media",
                "Demux",
                "Transcode", "Mux", "LiveRing", "Support", "TestSupport", "ChannelTestSupport", "WebTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        tests(
            "RelayTests",
            [
                "liverelay", "Service", "Observability", "Guide", "HTTP", "WebServer", "Conformance", "Export",
                "Channel", "Record",
                "ChannelList", "Fleet",
                "ArchiveStore", "Playlist", "Fetch", "Tracker", "Capture",
                "Support",
                "Decrypt",
                "Media", "Demux",
                "Mux", "Splice", "LiveRing", "TestSupport", "ChannelTestSupport", "WebTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        support(
            "FuzzEntries", path: "Tests/Fuzz/Harness",
            [
                "HTTP", "WebServer", "Playlist", "DASH", "Support", "ChannelList", "Guide", "Fetch", "Tracker", "Media",
                "Conformance", "Demux",
                "Transcode", "Mux", "Splice", "LiveRing", "TrackerTestSupport", "TestSupport",
            ]),
        .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        driver("fuzz", path: "Tests/Fuzz/Driver", ["FuzzEntries", "CFuzzer"]),
        tests("FuzzTests", ["Support", "FuzzEntries", "Media", "Demux", "LiveRing", "TestSupport"]),
        support("TestCipher", path: "Tests/TestCipher", ["CCrypto"]),
        support(
            "HistoryHarness", path: "Tests/Histories/Harness",
            [
                "Channel", "Support", "Playlist", "Fetch", "Tracker", "Media", "Splice", "LiveRing", "ArchiveStore",
                "PlaylistRules", "TestCipher",
            ]),
        driver("histories", path: "Tests/Histories/Driver", ["HistoryHarness"]),
        .testTarget(
            name: "HistoryTests", dependencies: ["HistoryHarness", "Support", "TestSupport"], exclude: ["rows.txt"],
            swiftSettings: strict),
        tests("LayoutTests", ["TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

/// `./test MODULE…` names the tests to build: they, and what they need, are all that is left then.
if let chosen = Context.environment["LIVERELAY_TEST_TARGETS"] {
    var needed: Set<String> = []
    var pending = chosen.split(separator: " ").map(String.init)
    while let name = pending.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        pending += target.dependencies.compactMap { dependency in
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): name
            default: nil
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
