package import Support

/// The channels for clients of Xtream Codes: categories and streams, with the types that their parsers require.
///
/// A stream belongs to the category of the channel's first group. The lists of its other groups' categories contain it
/// too.
package struct XtreamCatalog {
    private struct Category {
        let name: String
        let number: Int
    }

    private let channels: [ListedChannel]
    private let streamNumbers: [Int]
    private let positions: [Int]
    private let defaultRewind: Duration?
    /// In the order of their first occurrence.
    private let categories: [Category]
    private let numbers: [String: Int]

    /// - Parameters:
    ///   - streamNumbers: one number for each channel.
    ///   - guideNumbers: for each channel, its number in the lineup.
    ///   - defaultRewind: the rewind of channels without a setting of their own; nil: unlimited.
    package init(
        _ channels: [ListedChannel], streamNumbers: [Int], guideNumbers: [String], defaultRewind: Duration?
    ) {
        self.defaultRewind = defaultRewind
        self.channels = channels
        self.streamNumbers = streamNumbers
        positions = guideNumbers.enumerated().map { Int($1) ?? $0 + 1 }
        var names: [String] = []
        var known: Set<String> = []
        for channel in channels {
            for group in Self.groups(of: channel) where known.insert(group).inserted { names.append(group) }
        }
        let numbers = StableHash.numbers(of: names)
        self.numbers = numbers
        categories = names.map { Category(name: $0, number: numbers[$0, default: 0]) }
    }

    /// The stream number of each channel, derived from its slug, which stays the same when lists change. Clients store
    /// favorites and the guide under it.
    package static func streamNumbers(of channels: [ListedChannel]) -> [Int] {
        let numbers = StableHash.numbers(of: Set(channels.map(\.slug)))
        return channels.map { numbers[$0.slug, default: 0] }
    }

    /// A number for a program, by which clients distinguish it from others.
    package static func number(ofProgramAt start: Int64, of guideID: String) -> UInt32 {
        StableHash.of("\(start) \(guideID)")
    }

    /// The category of channels that are in no group.
    private static let noGroup = "Other"

    private static func groups(of channel: ListedChannel) -> [String] {
        channel.groups.isEmpty ? [noGroup] : channel.groups
    }

    /// The answer to `get_live_categories`.
    package var categoriesJSON: String { JSONObject.text(of: categories.lazy.map(Self.object)) }

    /// The answer to `get_live_streams`.
    /// - Parameter category: the number of a category; nil: all channels.
    package func streamsJSON(category: String? = nil) -> String {
        JSONObject.text(
            of: channels.indices.lazy.compactMap { index in
                let listed = Self.groups(of: channels[index]).map { String(numbers[$0, default: 0]) }
                guard let number = category ?? listed.first, listed.contains(number) else { return nil }
                return stream(index, category: number)
            })
    }

    /// The answer of `panel_api.php`.
    package func panelJSON(_ account: JSONObject) -> String {
        var panel = account
        var lists = JSONObject()
        lists.add("movie", list: [])
        lists.add("live", list: categories.map(Self.object))
        lists.add("series", list: [])
        panel.add("categories", lists)
        var streams = JSONObject()
        for index in channels.indices {
            let group = Self.groups(of: channels[index])[0]
            var stream = stream(index, category: String(numbers[group, default: 0]))
            stream.add("category_name", group)
            stream.add("type_name", "Live Streams")
            stream.add("live", "1")
            stream.addNull("container_extension")
            streams.add(String(streamNumbers[index]), stream)
        }
        panel.add("available_channels", streams)
        return panel.text
    }

    private static func object(_ category: Category) -> JSONObject {
        var object = JSONObject(["category_id": String(category.number), "category_name": category.name])
        object.add("parent_id", 0)
        return object
    }

    private func stream(_ index: Int, category: String) -> JSONObject {
        let channel = channels[index]
        var object = JSONObject()
        object.add("num", positions[index])
        object.add("name", channel.name)
        object.add("stream_type", "live")
        object.add("stream_id", streamNumbers[index])
        object.add("stream_icon", ChannelListWriter.logo(channel.logo) ?? "")
        object.add("epg_channel_id", ChannelListWriter.guideID(of: channel))
        object.add("added", "0")
        object.add("category_id", category)
        object.add("custom_sid", "")
        let days = channel.catchupDays(defaultRewind: defaultRewind)
        object.add("tv_archive", days == nil ? 0 : 1)
        object.add("direct_source", "")
        object.add("tv_archive_duration", days ?? 0)
        return object
    }
}

// MARK: - Accounts

extension XtreamCatalog {
    /// The account and the server as clients of Xtream Codes read them.
    ///
    /// Numbers are texts where panels use texts. Some clients fail if `active_cons` is missing, if there are further
    /// fields, or if an account never expires.
    /// - Parameters:
    ///   - connections: the most concurrent streams.
    ///   - baseURL: the URL of this server as the client sees it.
    package static func account(
        user: Secret, password: Secret, connections: Int, baseURL: String, at time: ProgramDateTime
    ) -> JSONObject {
        var info = JSONObject(["username": user.value, "password": password.value])
        info.add("auth", 1)
        info.add("status", "Active")
        info.add("exp_date", latestDate)
        info.add("is_trial", "0")
        info.add("active_cons", "0")
        info.add("created_at", "0")
        info.add("max_connections", String(connections))
        info.add("allowed_output_formats", texts: ["ts", "m3u8"])
        var object = JSONObject()
        object.add("user_info", info)
        object.add("server_info", serverInfo(baseURL, at: time))
        return object
    }

    /// 2038-01-19, the latest date that 32-bit clients can read.
    private static let latestDate = "2147483647"

    private static func serverInfo(_ baseURL: String, at time: ProgramDateTime) -> JSONObject {
        let isSecure = URIReference.scheme(of: baseURL) == "https"
        let host = URIReference.host(of: baseURL) ?? ""
        let authority = URIReference.authority(of: baseURL) ?? ""
        let port = authority.dropFirst(host.count).drop { $0 == ":" }
        let usual = isSecure ? "443" : "80"
        var info = JSONObject(["url": host, "port": port.isEmpty ? usual : String(port)])
        // Some clients use this port if it is present.
        if isSecure { info.add("https_port", port.isEmpty ? usual : String(port)) }
        info.add("server_protocol", isSecure ? "https" : "http")
        info.add("rtmp_port", "0")
        info.add("timezone", "UTC")
        info.add("timestamp_now", time.millisecondsSince1970 / 1000)
        info.add("time_now", text(time))
        info.add("process", true)
        return info
    }

    /// A time in UTC as `2026-01-02 03:04:05`.
    package static func text(_ time: ProgramDateTime) -> String {
        String(time.text.prefix(19)).replacing("T", with: " ")
    }
}
