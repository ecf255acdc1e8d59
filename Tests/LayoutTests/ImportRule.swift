/// The arrows: who may import what. Bytes go one way, from the upstream to the viewer, and no module imports one
/// that comes after it; a C library is seen by one folder only.
enum ImportRule {
    /// A module, and the folders or files of Sources that may import it. One that is not here may be imported nowhere.
    static let importers: [String: [String]] = [
        "Playlist": [
            "Tracker/", "Capture/", "Decrypt/", "LiveRing/", "HTTPSyntax/", "ChannelList/", "Channel/", "liverelay/",
        ],
        "Tracker": ["Capture/", "Channel/", "liverelay/"],
        "Capture": ["Channel/", "liverelay/"],
        "Compression": ["Tracker/Fetch/Curl/", "liverelay/"],
        "Decrypt": ["Channel/", "liverelay/"],
        "Metering": [
            "Playlist/", "Tracker/", "ChannelList/", "Media/", "Demux/", "Mux/", "Splice/", "LiveRing/",
        ],
        "Media": ["Demux/", "Transcode/", "Mux/", "Splice/", "Channel/", "Conformance/", "liverelay/"],
        "Demux": ["Splice/", "Channel/", "liverelay/"],
        "Transcode": ["Splice/", "Channel/", "liverelay/"],
        "Mux": ["Splice/", "Channel/", "liverelay/"],
        "Splice": ["Channel/", "liverelay/"],
        "LiveRing": ["HTTPSyntax/", "Channel/", "liverelay/"],
        "HTTPSyntax": ["liverelay/"],
        "ChannelList": ["liverelay/"],
        "Channel": ["liverelay/"],
        "Conformance": ["liverelay/"],

        "CCurl": ["Tracker/Fetch/Curl/"],
        "CCrypto": ["Decrypt/AES128CBC.swift", "Decrypt/KeyedDigest.swift"],
        "CLibAV": ["Transcode/LibAV/"],
        "CSpawn": ["liverelay/Events/ChildProcess.swift"],
        "CZlib": ["Compression/"],
        "CLzma": ["Compression/"],

        "Yams": ["ChannelList/Configuration/YAMLDocument.swift"],

        "NIOSSL": ["liverelay/TLS/"],
        "NIOHTTP2": ["liverelay/TLS/"],
        "NIOTLS": ["liverelay/TLS/"],
        "NIOCore": ["liverelay/HTTP/", "liverelay/TLS/", "liverelay/Tuner/DiscoveryServer.swift"],
        "NIOPosix": ["liverelay/HTTP/", "liverelay/Tuner/DiscoveryServer.swift"],
        "NIOHTTP1": ["liverelay/HTTP/"],
        "ArgumentParser": ["liverelay/"],
        "Logging": ["liverelay/"],

        "Foundation": ["Capture/", "liverelay/"],
        "Glibc": [
            "Tracker/Fetch/Curl/", "LiveRing/Spool/", "Channel/Slate/SlateFile.swift",
            "Channel/TransportStream/TransportStreamThreads.swift", "liverelay/",
        ],
        "Dispatch": ["Channel/TransportStream/TransportStreamThreads.swift", "liverelay/"],
        "Synchronization": [""],
    ]

    /// The line's own modules: each import of one anywhere in Sources is an arrow of this table.
    static let modules = [
        "Compression", "Playlist", "Tracker", "Capture", "Decrypt", "Metering", "Media", "Demux", "Transcode", "Mux",
        "Splice", "LiveRing", "HTTPSyntax", "ChannelList", "Channel", "Conformance", "liverelay",
    ]

    static func findings(in file: SourceFile) -> [String] {
        guard file.module != nil else { return [] }
        let place = file.path.dropFirst("Sources/".count)
        return imports(of: file).compactMap { name, line in
            guard let allowed = importers[name] else {
                return file.finding(line, "imports \(name), which no row of ImportRule allows")
            }
            if allowed.contains(where: { place.hasPrefix($0) }) { return nil }
            return file.finding(line, "imports \(name), which only \(allowed.joined(separator: ", ")) may")
        }
    }

    /// `import X`, `import struct X.Y` and `@_exported import X` alike name X.
    private static func imports(of file: SourceFile) -> [(name: String, line: Int)] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "actor"]
        return file.tokens.indices.filter { file.tokens[$0].text == "import" }.compactMap { index in
            let name = file.tokens[(index + 1)...].first { !kinds.contains($0.text) }
            return name.map { ($0.text, file.tokens[index].line) }
        }
    }
}
