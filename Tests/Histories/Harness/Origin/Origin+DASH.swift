import Fetch
import Foundation
import Support

// MARK: - A manifest in the place of playlists

extension Origin {
    /// How a manifest names and times segments.
    private enum Addressing: Int {
        /// A timeline, by times and by numbers.
        case times, numbers
        /// Numbers of one duration, which the clock counts.
        case clock
    }

    private var addressing: Addressing {
        let drawn = history.all(.dash).first.flatMap { Addressing(rawValue: $0.pick(0...2)) } ?? .times
        return drawn == .clock && history.has(.unevenSegments) ? .numbers : drawn
    }

    /// What the server's clock says, in milliseconds since the channel began.
    private func serverTime(at time: Int) -> Int {
        guard let event = history.all(.clockDrift).first else { return time }
        return time + history.clockLead + time * event.pick(-10...10, 1) / 1000
    }

    /// - Parameters:
    ///   - listed: the segments of all periods.
    ///   - number: of the era.
    func manifest(of listed: Range<Int>, _ number: Int, hasEnded: Bool, at time: Int) -> String {
        let era = broadcast.eras[number]
        let origin = broadcast.segments[era.firstSegment].start
        let last = broadcast.segments[listed.upperBound - 1]
        let interval = history.segmentDuration / (history.all(.dash).first?.pick(1...2, 1) ?? 1)
        // What is listed is not older than the depth says, also after a pause.
        let depth = last.end - broadcast.segments[listed.lowerBound].start
        var attributes = "publishTime=\"\(Self.date(time))\""
        if hasEnded {
            // A clock counts from the beginning of a period, whose first segments have gone.
            let type = addressing == .clock ? "dynamic" : "static"
            attributes += " type=\"\(type)\" mediaPresentationDuration=\"\(Self.seconds(last.end - origin))\""
        } else {
            attributes += " type=\"dynamic\" minimumUpdatePeriod=\"\(Self.seconds(interval))\""
        }
        attributes += " availabilityStartTime=\"\(Self.date(origin))\" timeShiftBufferDepth=\"\(Self.seconds(depth))\""
        var text = "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" \(attributes)>\n"
        if active(.excessLines, at: time) != nil { text += String(repeating: "<!-- c --><c/>\n", count: 3000) }
        text += timing(at: time)
        for period in broadcast.periods where period.overlaps(listed) {
            text += self.period(period, listed, era, origin, at: time, isLast: hasEnded)
        }
        return text + "</MPD>\n"
    }

    private static func seconds(_ milliseconds: Int) -> String { "PT\(Double(milliseconds) / 1000)S" }

    private func timing(at time: Int) -> String {
        let scheme = "urn:mpeg:dash:utc:"
        return switch history.all(.dash).first?.pick(0...3, 2) {
        case 1:
            "<UTCTiming schemeIdUri=\"\(scheme)direct:2014\" value=\"\(Self.date(serverTime(at: time)))\"/>\n"
        case 2: "<UTCTiming schemeIdUri=\"\(scheme)http-iso:2014\" value=\"\(Self.host)/time\"/>\n"
        case 3: "<UTCTiming schemeIdUri=\"\(scheme)http-head:2014\" value=\"\(Self.host)/time\"/>\n"
        default: ""
        }
    }

    /// The Date of an answer, in whole seconds.
    private func dateHeader(at time: Int) -> FetchAnswer.Header {
        let text = Self.date(serverTime(at: time))
        let day = text.hasPrefix("2026-03-01") ? "Sun, 01 Mar 2026" : "Sat, 28 Feb 2026"
        return FetchAnswer.Header(name: "Date", value: "\(day) \(text.dropFirst(11).prefix(8)) GMT")
    }

    /// The answer to a request for a manifest.
    func manifest(_ text: String, _ request: FetchRequest, at time: Int) -> FetchOutcome {
        .success(
            FetchAnswer(
                status: 200, finalURL: request.url, headers: [dateHeader(at: time)], body: Array(text.utf8)))
    }

    /// The answer to a request for the time; nil for another request.
    func time(_ request: FetchRequest, at time: Int) -> FetchOutcome? {
        guard request.url == "\(Self.host)/time" else { return nil }
        return manifest(Self.date(serverTime(at: time)), request, at: time)
    }

    // MARK: - Periods

    private func period(
        _ period: Range<Int>, _ listed: Range<Int>, _ era: Broadcast.Era, _ origin: Int, at time: Int, isLast: Bool
    ) -> String {
        let range = period.clamped(to: listed)
        let (first, last) = (broadcast.segments[period.lowerBound], broadcast.segments[period.upperBound - 1])
        var attributes = "id=\"\(era.name)-\(period.lowerBound)\" start=\"\(Self.seconds(first.start - origin))\""
        // The packager knows of the next period when that begins.
        let next = period.upperBound < broadcast.segments.count ? broadcast.segments[period.upperBound] : nil
        let isOver = next.map { $0.start <= time + history.lead && $0.start == last.end } ?? false
        if period.upperBound < listed.upperBound || isOver || isLast {
            let end = broadcast.segments[isLast ? range.upperBound - 1 : period.upperBound - 1].end
            attributes += " duration=\"\(Self.seconds(end - first.start))\""
        }
        var text = "<Period \(attributes)>\n" + events(in: period, at: time)
        text += adaptationSet(period, range, era, nil, at: time)
        for rendition in history.renditions { text += adaptationSet(period, range, era, rendition, at: time) }
        return text + "</Period>\n"
    }

    /// The breaks that a period announces: its own, or the one after it.
    private func events(in period: Range<Int>, at time: Int) -> String {
        var events = ""
        for (index, isNext) in [(period.lowerBound, false), (period.upperBound, true)] {
            guard index < broadcast.segments.count, let splice = broadcast.segments[index].eventSplice else { continue }
            let segment = broadcast.segments[index]
            // Every second break is announced some seconds before it begins, in the period before it.
            let isAlone = broadcast.eras.contains { $0.firstSegment == index }
            guard (splice.event % 2 == 0 && !isAlone) == isNext, segment.start - 3000 <= time else { continue }
            let offset = segment.start - broadcast.segments[period.lowerBound].start
            let signal = SpliceSignal(
                kind: .out, event: splice.event, style: .autoReturn, time: nil, duration: splice.seconds * 90_000)
            let section = Data(signal.wholeSection)
            events +=
                "<Event presentationTime=\"\(offset)\" duration=\"\(splice.seconds * 1000)\" id=\"\(splice.event)\"><Signal xmlns=\"http://www.scte.org/schemas/35/2016\"><Binary>\(section.base64EncodedString())</Binary></Signal></Event>\n"
        }
        guard !events.isEmpty else { return "" }
        let attributes = "schemeIdUri=\"urn:scte:scte35:2014:xml+bin\" timescale=\"1000\""
        return "<EventStream \(attributes)>\n\(events)</EventStream>\n"
    }

    private func adaptationSet(
        _ period: Range<Int>, _ range: Range<Int>, _ era: Broadcast.Era, _ rendition: AudioRendition?, at time: Int
    ) -> String {
        guard let part = broadcast.segments[period.lowerBound].parts.first,
            let section = broadcast.segments[period.lowerBound].initSection
        else { return "" }
        let format = part.format
        let prefix = rendition.map { "audio-\($0.rawValue)-" } ?? ""
        let name = addressing == .times ? "$Time$" : "$Number$"
        let query = history.has(.signedURLs) ? "?signature=\(time)" : ""
        var template =
            "initialization=\"\(prefix)\(era.name)-init-\(section).mp4\" media=\"\(prefix)\(era.name)-\(period.lowerBound)-seg-\(name).m4s\(query)\" timescale=\"\(timescale(format, rendition))\" presentationTimeOffset=\"\(mediaTime(of: part, at: part.frames.lowerBound, rendition))\""
        let first = addressing == .clock ? period.lowerBound : range.lowerBound
        if addressing != .times { template += " startNumber=\"\(first + numberOffset(of: era))\"" }
        if history.lead > 0 { template += " availabilityTimeOffset=\"\(Double(history.lead) / 1000)\"" }
        if addressing == .clock {
            let ticks = max(1, history.segmentDuration * 90 / format.groupDuration) * format.groupDuration
            template += " duration=\"\(ticks * timescale(format, rendition) / 90_000)\""
        }
        let kind = rendition == nil ? "video" : "audio"
        let codecs = rendition == nil ? "avc1.4d001e" : "mp4a.40.2"
        let size = rendition == nil ? " width=\"\(format.width * 16)\" height=\"\(format.height * 16)\"" : ""
        let language = rendition.map { " lang=\"\($0 == .second ? "de" : "en")\"" } ?? ""
        let role = rendition == .companion ? "<Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"main\"/>" : ""
        return """
            <AdaptationSet contentType="\(kind)" mimeType="\(kind)/mp4"\(language)>\(role)
            <SegmentTemplate \(template)>\(addressing == .clock ? "" : timeline(range, rendition))</SegmentTemplate>
            <Representation id="\(kind)" bandwidth="300000" codecs="\(codecs)"\(size)/>
            </AdaptationSet>

            """
    }

    private func timeline(_ range: Range<Int>, _ rendition: AudioRendition?) -> String {
        let spans = range.compactMap { span(of: broadcast.segments[$0], rendition) }
        let entries = spans.map { "<S t=\"\($0.start)\" d=\"\($0.duration)\"/>" }
        return "<SegmentTimeline>\(entries.joined())</SegmentTimeline>"
    }

    // MARK: - Times and names

    private func timescale(_ format: MediaFormat, _ rendition: AudioRendition?) -> Int {
        guard rendition == nil else { return format.sampleRate }
        return FragmentMultiplex(style: history.fragmentStyle).videoClock(format).timescale
    }

    /// The media time at which a frame of a part is presented.
    private func mediaTime(of part: TransportMultiplex.Part, at frame: Int, _ rendition: AudioRendition?) -> Int {
        let multiplex = FragmentMultiplex(style: history.fragmentStyle)
        let scale = timescale(part.format, rendition)
        return max(0, multiplex.origin(of: part, scale) + frame * part.format.frameDuration * scale / 90_000)
    }

    private func span(of segment: Broadcast.Segment, _ rendition: AudioRendition?) -> (start: Int, duration: Int)? {
        guard let part = segment.parts.first else { return nil }
        guard rendition != nil else {
            let times = [part.frames.lowerBound, part.frames.upperBound].map { mediaTime(of: part, at: $0, nil) }
            return (times[0], times[1] - times[0])
        }
        let origin = FragmentMultiplex(style: history.fragmentStyle).origin(of: part, part.format.sampleRate)
        return (max(0, origin + part.audio.lowerBound * 1024), part.audio.count * 1024)
    }

    private func numberOffset(of era: Broadcast.Era) -> Int { max(era.numberOffset, -era.firstSegment) }

    /// The segment that a URL of a template names; nil if it is none of its period.
    func templateIndex(_ request: FetchRequest, _ rendition: AudioRendition?) -> Int? {
        guard let value = Self.number(in: request.url, after: "-seg-"), let mark = request.url.ranges(of: "-seg-").last
        else { return nil }
        let words = request.url[..<mark.lowerBound].split { "/-".contains($0) }.suffix(2).compactMap { Int($0) }
        guard words.count == 2, let era = broadcast.eras.first(where: { $0.name == words[0] }) else { return nil }
        let period = broadcast.period(of: words[1])
        guard addressing == .times else {
            let index = value - numberOffset(of: era)
            return period.contains(index) ? index : nil
        }
        return period.first { span(of: broadcast.segments[$0], rendition)?.start == value }
    }
}

extension History {
    /// Milliseconds by which a segment is there before it ends.
    var lead: Int {
        all(.earlyAvailability).first.map { segmentDuration * $0.pick(1...4) / 4 } ?? 0
    }

    /// Milliseconds by which the clock of the server is fast when the channel begins.
    var clockLead: Int { all(.clockDrift).first?.pick(-2500...2500) ?? 0 }
}
