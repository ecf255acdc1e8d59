import ChannelList

/// Entry for configurations of channels, which may come from a URL.
enum ConfigurationEntry {
    static let entry = FuzzEntry(
        "configuration", "a configuration of channels in YAML", largest: 4096,
        dictionary: ConfigurationKey.allCases.map { "\($0.rawValue): " } + words,
        // libyaml's parser begins with buffers of its own, and its events are strings.
        bounds: FuzzBounds(
            heldBytes: FuzzBound(base: 4 << 20, perByte: 256), allocations: FuzzBound(base: 40_000, perByte: 64)),
        seeds: { _ in texts.map { Array($0.utf8) } },
        run: { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let configuration: ChannelConfiguration
            do throws(ConfigurationError) {
                configuration = try ChannelConfiguration(
                    yaml: text, from: .file(directory: "/c", environment: ["T": "x"]))
            } catch {
                try demand(!error.issues.isEmpty && error.issues.count <= 100, "\(error.issues.count) issues")
                return
            }
            let channels = configuration.channels
            try demand(!channels.isEmpty || !configuration.lists.isEmpty, "nothing is listed")
            try demand(Set(channels.map(\.slug)).count == channels.count, "slugs are not unique")
            for source in channels.flatMap(\.sources) {
                let text = source.headers.map { $0.name + $0.value }.joined() + source.url + (source.proxy ?? "")
                try demand(text.utf8.allSatisfy { (32..<127).contains($0) }, "control characters in \(text)")
            }
        })

    private static let words: [FuzzWord] = [
        "channels:\n", "defaults:\n", "playlist: ", "xtream: {url: ", "username: ", "password: ", "accounts:\n",
        "account: ", "http://h/", "${T}", "$${", "&a ", "*a", "<<: *a", "- ", "{", "[",
        "\"\\u0000\"", "when-watched", "---\n", "!!binary ", "|\n", ">-\n",
    ]

    private static let texts = [
        "channels:\n  BBC One: http://h/1\n  news: [http://h/1, http://h/2]\n",
        "defaults: {user-agent: U, rewind: 2h}\nplaylist: [a.m3u, \"http://h/${T}\"]\nchannels: {a: &a {url: http://h/, idle: 9}, b: {<<: *a, always: yes}}",
        "accounts: {home: {connections: 2}}\nxtream: {url: \"http://h\", username: a, password: b}\nplaylist: {url: a.m3u, account: home}\n",
        "channels:\n- name: A\n  url: {url: http://h/, headers: {X: \"1\"}, cookie: a=1}\n  backups: []\n  audio: drop\n",
    ]
}
