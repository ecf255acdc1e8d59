/// What is written about one channel, or in `defaults`.
struct ChannelEntry {
    var name: String?
    var groups: [String] = []
    var logo: String?
    var number: String?
    var guideID: String?
    var guideName: String?
    var guideShift: String?
    var isRadio: Bool?
    var requests = RequestOptions()
    var sources: [Source] = []
    var backups: [Source] = []
    var options = ChannelOptions()

    /// A URL of a channel, and what is written about it alone.
    struct Source {
        var url: String
        var requests = RequestOptions()
    }

    /// - Parameters:
    ///   - slug: of the channel.
    ///   - key: what it is called, unless it has a name.
    func channel(slug: String, key: String, defaults: ChannelEntry) -> ListedChannel {
        let common = requests.filled(from: defaults.requests)
        return ListedChannel(
            slug: slug, name: name ?? key, number: number, logo: logo,
            groups: groups.isEmpty ? defaults.groups : groups, guideID: guideID, guideName: guideName,
            guideShift: guideShift ?? defaults.guideShift, isRadio: isRadio ?? defaults.isRadio ?? false,
            sources: (sources + backups).map { source in
                let requests = source.requests.filled(from: common)
                return ListedSource(url: source.url, headers: requests.headers, proxy: requests.proxy)
            },
            options: options.filled(from: defaults.options))
    }

    /// A channel of an included list, with these values as its defaults.
    func completing(_ channel: ListedChannel) -> ListedChannel {
        var channel = channel
        if channel.groups.isEmpty { channel.groups = groups }
        channel.guideShift = channel.guideShift ?? guideShift
        channel.isRadio = channel.isRadio || isRadio == true
        channel.options = channel.options.filled(from: options)
        for index in channel.sources.indices {
            var own = RequestOptions(channel.sources[index])
            own = own.filled(from: requests)
            (channel.sources[index].headers, channel.sources[index].proxy) = (own.headers, own.proxy)
        }
        return channel
    }
}
