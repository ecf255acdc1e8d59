package import Media
import Support

/// One `emsg` of a segment (ISO/IEC 23009-1 §5.10.3.3).
package struct EventMessageBox: Equatable, Sendable {
    enum PresentationTime: Equatable, Sendable {
        /// Version 0: relative to the earliest presentation time in the segment.
        case relativeToSegment(UInt32)
        /// Version 1: on the movie's timeline, edit lists applied.
        case onMovieTimeline(UInt64)
    }

    let timescale: Timescale
    let presentationTime: PresentationTime
    package let message: EventMessage

    private static let section = "ISO/IEC 23009-1 §5.10.3.3"
    private static let unknownDuration = UInt32.max

    package init(_ emsg: Box) throws(MediaError) {
        var fields = BoxFields(emsg.body)
        let version = try fields.versionAndFlags().version
        guard version <= 1 else { throw Self.fault("version", emsg) }
        let leading = version == 0 ? try fields.schemeAndValue() : nil
        guard let timescale = Timescale(try fields.u32()) else { throw Self.fault("timescale", emsg) }
        self.timescale = timescale
        presentationTime = version == 0 ? .relativeToSegment(try fields.u32()) : .onMovieTimeline(try fields.u64())
        let duration = try fields.u32()
        let number = try fields.u32()
        let (scheme, value) = if let leading { leading } else { try fields.schemeAndValue() }
        message = EventMessage(
            scheme: scheme, value: value,
            duration: duration == Self.unknownDuration ? nil : Ticks(units: UInt64(duration), timescale: timescale),
            number: number, data: Array(fields.rest))
    }

    private static func fault(_ field: String, _ emsg: Box) -> MediaError {
        MediaError(.badParameterSet(field: field), offset: emsg.start, section: section)
    }

    /// Returns the presentation time as on the wire, 0 ..< 2³³.
    /// - Parameter start: the earliest presentation time in the segment, as on the wire.
    package func time(from start: Ticks?) -> Ticks? {
        switch presentationTime {
        case .relativeToSegment(let delta):
            start.map { ($0 + Ticks(units: UInt64(delta), timescale: timescale)).wire }
        case .onMovieTimeline(let time): Ticks(units: time, timescale: timescale).wire
        }
    }
}

extension BoxFields {
    fileprivate mutating func schemeAndValue() throws(MediaError) -> (scheme: String, value: String) {
        (try nullTerminatedString(), try nullTerminatedString())
    }

    private mutating func nullTerminatedString() throws(MediaError) -> String {
        guard let end = rest.firstIndex(of: 0) else { throw truncated }
        let bytes = try bytes(end - index)
        try skip(1)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MediaError(
                .badParameterSet(field: "scheme_id_uri"), offset: bytes.startIndex, section: BoxReader.section)
        }
        return text
    }
}

/// The `emsg` boxes of one segment, at any position.
extension [Box] {
    /// The largest message in bytes.
    private static var maxMessageSize: Int { 1 << 20 }

    /// - Parameter start: the earliest presentation time in the segment, as on the wire.
    func timedMessages(from start: Ticks?, counts: inout Counts<DemuxCount>) -> [TimedMetadata] {
        var messages: [TimedMetadata] = []
        StepCounter.add(count)
        for box in self where box.type == "emsg" {
            guard messages.count < DemuxLimits.messages, box.body.count <= Self.maxMessageSize else {
                counts[.excessEventMessages] += 1
                continue
            }
            do throws(MediaError) {
                let read = try EventMessageBox(box)
                let splice = Self.splice(in: read.message, counts: &counts)
                messages.append(TimedMetadata(.message(read.message, splice), at: read.time(from: start)))
            } catch {
                counts[.badBoxes] += 1
            }
        }
        return messages
    }

    private static func splice(in message: EventMessage, counts: inout Counts<DemuxCount>) -> SpliceInfoSection? {
        guard message.scheme == EventMessage.spliceScheme else { return nil }
        do throws(MediaError) {
            return try SpliceInfoSection(message.data)
        } catch {
            counts[.badSections] += 1
            return nil
        }
    }

    /// The track of the segment index, whose earliest presentation time is the segment's: reference_ID of the first
    /// `sidx` (ISO/IEC 14496-12 §8.16.3). Its time is ignored, because some writers omit edit lists from it.
    var indexedTrack: UInt32? {
        guard let sidx = first("sidx"), sidx.body.count >= 8 else { return nil }
        return sidx.body.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
