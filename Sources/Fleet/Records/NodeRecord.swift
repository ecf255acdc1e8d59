import Support

/// The newest published entry of a channel, as its owner records it before the entry becomes visible.
package struct PublishedMark: Equatable, Sendable {
    /// Media sequence number.
    package var number: UInt64
    /// Discontinuity sequence number.
    package var discontinuity: UInt64
    /// The end of the entry by EXT-X-PROGRAM-DATE-TIME, in milliseconds since 1970.
    package var end: Int64
    /// The text with which another node continues after the entry.
    package var resume: String

    package init(number: UInt64, discontinuity: UInt64, end: Int64, resume: String) {
        (self.number, self.discontinuity, self.end, self.resume) = (number, discontinuity, end, resume)
    }
}

/// The entry in the record of a node for a channel that it owns or owned.
package struct ChannelMark: Equatable, Sendable {
    package var epoch: UInt64
    /// Whether the node publishes nothing more in this epoch.
    package var isReleased: Bool
    /// Whether the upstream does not answer the node, which owns the channel.
    package var isUnanswered = false
    /// kbit/s.
    package var rate: Int
    /// nil: nothing was published in any epoch that the node knows.
    package var published: PublishedMark?

    package init(epoch: UInt64, isReleased: Bool = false, rate: Int, published: PublishedMark? = nil) {
        (self.epoch, self.isReleased, self.rate, self.published) = (epoch, isReleased, rate, published)
    }
}

/// The record that one run of a node writes again and again. The run alone writes it.
package struct NodeRecord: Equatable, Sendable {
    /// The version of the format. A record of a higher version is left alone.
    static let version = 1

    /// The name of the node and its run: `NAME.RUN`.
    package var node: String
    /// Raised with each write. Other nodes judge the node by changes of its counter.
    package var counter: UInt64
    /// The URL at which other nodes and viewers reach the node, without a slash at its end.
    package var address: String
    /// The version of the program.
    package var program: String
    /// A hash of the list of channels.
    package var list: String
    /// kbit/s.
    package var load: Int
    /// kbit/s.
    package var capacity: Int
    /// Whether the node hands its channels over and takes none.
    package var isLeaving: Bool
    package var channels: [String: ChannelMark]

    package init(
        node: String, counter: UInt64 = 0, address: String, program: String = "", list: String = "", load: Int = 0,
        capacity: Int, isLeaving: Bool = false, channels: [String: ChannelMark] = [:]
    ) {
        (self.node, self.counter, self.address, self.program) = (node, counter, address, program)
        (self.list, self.load, self.capacity, self.isLeaving) = (list, load, capacity, isLeaving)
        self.channels = channels
    }

    package var text: [UInt8] {
        var object = JSONObject()
        object.add("version", Self.version)
        object.add("node", node)
        object.add("counter", counter)
        object.add("address", address)
        object.add("program", program)
        object.add("list", list)
        object.add("load", load)
        object.add("capacity", capacity)
        if isLeaving { object.add("leaving", true) }
        var marks = JSONObject()
        for (channel, mark) in channels.sorted(by: { $0.key < $1.key }) { marks.add(channel, mark.object) }
        object.add("channels", marks)
        return Array(object.text.utf8)
    }

    /// nil if the text is no record, or one of a higher version.
    package init?(_ text: [UInt8]) {
        guard let json = LooseJSON(text),
            json.number("version").map({ (1...Int64(Self.version)).contains($0) }) == true,
            let node = json["node"].text, let counter = json.unsigned("counter"),
            case .object(let members) = json["channels"]
        else { return nil }
        self.init(
            node: node, counter: counter, address: json["address"].text ?? "", program: json["program"].text ?? "",
            list: json["list"].text ?? "", load: Int(json.number("load") ?? 0),
            capacity: Int(json.number("capacity") ?? 0), isLeaving: json["leaving"].text == "true")
        for member in members {
            guard let mark = ChannelMark(member.value) else { return nil }
            channels[member.name] = mark
        }
    }
}

extension ChannelMark {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("epoch", epoch)
        if isReleased { object.add("released", true) }
        if isUnanswered { object.add("unanswered", true) }
        object.add("rate", rate)
        if let published {
            object.add("number", published.number)
            object.add("discontinuity", published.discontinuity)
            object.add("end", published.end)
            object.add("resume", published.resume)
        }
        return object
    }

    fileprivate init?(_ json: LooseJSON) {
        guard let epoch = json.unsigned("epoch") else { return nil }
        self.init(
            epoch: epoch, isReleased: json["released"].text == "true", rate: Int(json.number("rate") ?? 0))
        isUnanswered = json["unanswered"].text == "true"
        if let number = json.unsigned("number"), let end = json.number("end") {
            published = PublishedMark(
                number: number, discontinuity: json.unsigned("discontinuity") ?? 0, end: end,
                resume: json["resume"].scalar ?? "")
        }
    }
}

extension LooseJSON {
    func number(_ name: String) -> Int64? { self[name].text.flatMap { Int64($0) } }
    func unsigned(_ name: String) -> UInt64? { self[name].text.flatMap { UInt64($0) } }
}
