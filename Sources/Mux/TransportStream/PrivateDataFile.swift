package import Media

/// The private data of a segment, stored in a file of its own: event messages, in order of time.
package enum PrivateDataFile {
    package static func write(_ messages: [PlacedMessage]) -> [UInt8] {
        var writer = BoxWriter()
        for message in messages { message.write(to: &writer) }
        return writer.bytes
    }

    /// - Returns: the packets of the streams in `streams`. Packets of other streams are left out.
    package static func read(
        _ bytes: [UInt8], of streams: [PrivateDataStream]
    ) throws(MediaError) -> [TransportMedia.PrivateDataPacket] {
        let indices = Dictionary(streams.enumerated().map { ($1.text, $0) }, uniquingKeysWith: { first, _ in first })
        return try BoxReader.boxes(in: bytes[...]).compactMap { box in
            guard box.type == "emsg", let placed = PlacedMessage(box),
                placed.message.scheme == EventMessage.privateDataScheme, let index = indices[placed.message.value]
            else { return nil }
            return TransportMedia.PrivateDataPacket(time: placed.time, stream: index, payload: placed.message.data)
        }
    }
}

extension PlacedMessage {
    /// Reads an `emsg` of version 1 that `write(to:)` wrote; nil if the box has other fields.
    init?(_ emsg: Box) {
        var fields = BoxFields(emsg.body)
        do throws(MediaError) {
            try fields.skip(8)  // version, flags, timescale
            let time = try fields.u64()
            try fields.skip(8)  // event_duration, id
            let texts = fields.rest.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            guard texts.count == 3, let time = Int64(exactly: time), Ticks.timeline.contains(time) else { return nil }
            let message = EventMessage(
                scheme: String(decoding: texts[0], as: UTF8.self), value: String(decoding: texts[1], as: UTF8.self),
                data: Array(texts[2]))
            self.init(message: message, time: Ticks(time))
        } catch {
            return nil
        }
    }
}
