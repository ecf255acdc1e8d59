import Support

/// The record that makes a node the owner of a channel, or of a connection of an account, in one epoch. It is created
/// once and never changed. The record of the highest epoch counts.
///
/// The versions of a shared text are such records too, with the text in place of an owner.
package struct OwnerRecord: Equatable, Sendable {
    static let version = 1

    /// The slug of a channel, or the name of a connection.
    package let subject: String
    package let epoch: UInt64
    /// `NodeRecord.node` of the owner.
    package let node: String
    /// Differs for each attempt of the node to take the subject.
    package let attempt: UInt64
    /// The least media sequence number of the epoch.
    package let base: UInt64
    /// The text of a version of a shared text, which has no owner; nil for other subjects.
    package let content: String?

    package init(
        subject: String, epoch: UInt64, node: String, attempt: UInt64, base: UInt64, content: String? = nil
    ) {
        (self.subject, self.epoch, self.node, self.attempt, self.base) = (subject, epoch, node, attempt, base)
        self.content = content
    }

    package var text: [UInt8] {
        var object = JSONObject()
        object.add("version", Self.version)
        object.add("subject", subject)
        object.add("epoch", epoch)
        object.add("node", node)
        object.add("attempt", attempt)
        object.add("base", base)
        if let content { object.add("content", content) }
        return Array(object.text.utf8)
    }

    /// nil if the text is no record, or one of a higher version.
    package init?(_ text: [UInt8]) {
        guard let json = LooseJSON(text),
            json.number("version").map({ (1...Int64(Self.version)).contains($0) }) == true,
            let subject = json["subject"].text, let epoch = json.unsigned("epoch"), let node = json["node"].text,
            let attempt = json.unsigned("attempt"), let base = json.unsigned("base")
        else { return nil }
        self.init(
            subject: subject, epoch: epoch, node: node, attempt: attempt, base: base, content: json["content"].scalar)
    }
}

/// The owner of a subject in its highest epoch.
package struct Ownership: Equatable, Sendable {
    package let epoch: UInt64
    /// nil: the record cannot be read, or is of a higher version. The subject is left alone.
    package let record: OwnerRecord?

    package init(epoch: UInt64, record: OwnerRecord?) { (self.epoch, self.record) = (epoch, record) }
}

/// The records of an engine, read after the node's own record was written.
package struct FleetView: Equatable, Sendable {
    /// The counter of the node's own record when the records were read.
    package let counter: UInt64
    /// When the request that wrote the node's own record was sent.
    package let sentAt: Duration
    /// By `NodeRecord.node`; nil: a record that cannot be read, or of a higher version.
    package let nodes: [String: NodeRecord?]
    package let owners: [String: Ownership]

    package init(
        counter: UInt64, sentAt: Duration, nodes: [String: NodeRecord?], owners: [String: Ownership]
    ) {
        (self.counter, self.sentAt, self.nodes, self.owners) = (counter, sentAt, nodes, owners)
    }
}
