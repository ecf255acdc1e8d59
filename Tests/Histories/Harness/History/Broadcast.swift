/// The media of a history: what was broadcast, segment by segment.
struct Broadcast {
    struct Segment {
        let index: Int
        /// Milliseconds since the channel began; `end` is when it is listed.
        let start: Int
        let end: Int
        var parts: [TransportMultiplex.Part]
        /// Whether the playlist has EXT-X-DISCONTINUITY before it, and from when on.
        var isTagged = false
        var taggedFrom = Int.min
        /// Whether something changes before it: another program or creative, or another clock.
        var isSplice = false
        /// Number of the key; nil: it is not encrypted.
        var key: Int?
        /// The thing that happens to it.
        var fault: Event?
        /// Broadcast media is missing before it.
        var isAfterPause = false
        /// Cue tags and date ranges before it.
        var cues: [String] = []
        /// The command that says what begins or ends with it.
        var splice: SpliceSignal?
        /// Tags of its numbering before it.
        var tagCount = 0
        /// Bodies of the variants.
        var bodies: [[UInt8]] = []
        var body: [UInt8] { bodies.first ?? [] }
        /// Bodies of the audio renditions.
        var audioBodies: [AudioRendition: [UInt8]] = [:]
        /// The renditions whose segment is gone.
        var goneAudio: Set<Int> = []
        /// The name of its init section; nil: it needs none.
        var initSection: String?
        /// The break that begins with it, if a manifest announces it.
        var eventSplice: (event: Int, seconds: Int)?

        var duration: Int { end - start }
    }

    /// Numbers and names of segments from a time on.
    struct Era {
        let at: Int
        var name: Int
        var numberOffset: Int
        /// The first segment that it lists.
        var firstSegment: Int
        /// Whether the playlist before it ended.
        var followsEnd = false
    }

    let history: History
    private(set) var segments: [Segment] = []
    private(set) var eras: [Era]
    private(set) var initSections: [String: InitSection] = [:]
    /// The periods of a manifest; empty for playlists.
    private(set) var periods: [Range<Int>] = []
    /// When EXT-X-ENDLIST comes; nil: never.
    private(set) var endsAt: Int?
    /// All of it, if the upstream is one stream.
    private(set) var stream: BroadcastStream?

    private var program: Program
    private var ads: [Ad] = []
    private var muxes: [[Int: TransportMultiplex]] = []
    private var tagCount = 0
    private var audioMuxes: [AudioRendition: TransportMultiplex] = [:]
    private var nextGone: [Thing: [Int]] = [:]
    private var breaks = 0
    private var isReturning = false
    private var nextIsTagged = false
    private var nextTaggedFrom = Int.min
    private var nextIsSplice = false
    private var nextIsAfterPause = false
    /// How often the packager has renamed its init sections, and until when those that it names are gone.
    private var renames = 0
    private var goneUntil = Int.min

    /// Content of the creatives; programs count from 1.
    static let firstCreative = 0x100
    /// Groups and format of each creative.
    private static let creatives: [(groups: Int, format: Int)] = [(5, 2), (4, 0), (2, 3), (5, 1), (3, 4), (3, 0)]

    private struct Program {
        var content = 1
        var format: Int
        /// The next frame, at the beginning of a group.
        var next = 0
        var clock: Int
        /// The loop: first frame, frames, rounds that remain.
        var loop: (first: Int, count: Int, rounds: Int)?
    }

    private struct Ad {
        let creative: Int
        var clock: Int
        let isTagged: Bool
        let taggedFrom: Int
        /// Whether its clock, and that of the program after it, go on where the media before them ended.
        let isRestamped: Bool
        /// Seconds of the break that it begins; nil: it begins none.
        var breakDuration: Int?
        var group = 0
        /// Frames of the program before its first frame in the same segment.
        var inside = 0
    }

    init(_ history: History) {
        self.history = history
        program = Program(format: history.programFormat, clock: Int(history.seed % (1 << 33)))
        let window = (history.window + 2) * history.targetDuration * 1000
        eras = [Era(at: -1_000_000, name: 0, numberOffset: 100, firstSegment: 0)]
        endsAt = history.all(.ended).first?.at
        var waiting = history.events.filter { !$0.thing.isTrait && !$0.thing.isOfSegment }
        for event in history.events { nextGone[event.thing, default: []].append(event.at) }
        var faults = history.events.filter { $0.thing.isOfSegment }
        var time = -window
        let end = endsAt ?? history.length + 1000
        while time < end {
            while let event = waiting.first, event.at <= time {
                waiting.removeFirst()
                time = apply(event, at: time)
            }
            append(at: time)
            time = segments[segments.count - 1].end
            for (thing, rendition) in [
                (Thing.lostCompanionSegment, AudioRendition.companion), (.lostLanguageSegment, .second),
            ] {
                guard let at = nextGone[thing]?.first, at <= time else { continue }
                nextGone[thing]?.removeFirst()
                segments[segments.count - 1].goneAudio.insert(rendition.rawValue)
            }
            if let fault = faults.first, fault.at <= time {
                faults.removeFirst()
                segments[segments.count - 1].fault = fault
            }
        }
        if endsAt != nil { endsAt = segments.last?.end }
        muxes = Array(repeating: [:], count: history.variantCount)
        if history.has(.dash) { periods = madePeriods() }
        if history.has(.rawStream) { stream = BroadcastStream() }
        for index in segments.indices {
            write(index)
            segments[index].addPrefix(history)
        }
    }

    // MARK: - Things

    /// Returns the time at which the next segment begins.
    private mutating func apply(_ event: Event, at time: Int) -> Int {
        switch event.thing {
        case .taggedBreak, .untaggedBreak, .lateTaggedBreak, .insideBreak, .repeatedAd, .restampedBreak:
            beginBreak(event, at: time)
        case .falseTag: nextIsTagged = true
        case .clockRestart: restartClock(event.pick(0...(1 << 33 - 1)), isTagged: true)
        case .untaggedRestart: restartClock(event.pick(0...(1 << 33 - 1)), isTagged: false)
        case .clockWrap: restartClock(1 << 33 - event.pick(1...5) * 90_000 - 45_000, isTagged: event.pick(0...1) == 0)
        case .clockJump: moveClock(event.pick(11...2000) * 90_000)
        case .clockBack: moveClock(-event.pick(1...2000) * 90_000)
        case .programChange:
            program = Program(
                content: program.content + 1, format: event.pick(0...(MediaFormat.all.count - 1)),
                clock: event.pick(0...1, 1) == 0 ? program.clock : event.pick(0...(1 << 33 - 1), 2))
            keepClockPositive()
            (nextIsSplice, nextIsTagged) = (true, event.pick(0...1, 3) == 0)
        case .loop:
            let group = MediaFormat.all[program.format].group
            program.loop = (program.next, event.pick(3...8) * group * 2, event.pick(1...3, 1))
        case .encoderPause:
            (nextIsAfterPause, nextIsSplice) = (true, true)
            program.clock += event.duration * 90
            for index in ads.indices where ads[index].group > 0 { ads[index].clock += event.duration * 90 }
            return max(time, event.end)
        case .encoderRestart, .endedAndRestarted:
            restartClock(event.pick(0...(1 << 33 - 1)), isTagged: false)
            (nextIsAfterPause, nextIsTagged, isReturning) = (true, false, false)
            ads = []
            appendEra(event, at: time)
            return max(time, event.end)
        // Nothing tells which media of another variant is known that has no dates and other numbers.
        case .renumbered where history.has(.undated) && history.has(.variants): break
        case .renumbered, .renamed: appendEra(event, at: time)
        case .zeroClock: restartClock(0, isTagged: event.pick(0...1) == 0)
        case .refusedMap: renames += 1
        case .goneMap: (renames, goneUntil) = (renames + 1, time + event.duration)
        default: break
        }
        return time
    }

    private mutating func beginBreak(_ event: Event, at time: Int) {
        let isTagged = event.thing == .taggedBreak || event.thing == .lateTaggedBreak || event.pick(0...1, 9) == 0
        let late = event.thing == .lateTaggedBreak ? time + 3 * history.segmentDuration : Int.min
        let count = event.thing == .repeatedAd ? 2 : event.pick(1...4)
        let isFirst = ads.isEmpty
        var ticks = 0
        for number in 0..<count {
            let creative = event.pick(
                0...(Self.creatives.count - 1), event.thing == .repeatedAd ? 1 : UInt64(number + 1))
            var ad = Ad(
                creative: creative,
                clock: event.pick(0...1, 20) == 0 ? 126_000 : event.pick(0...(1 << 33 - 1), UInt64(30 + number)),
                isTagged: event.thing != .insideBreak && isTagged, taggedFrom: late,
                isRestamped: event.thing == .restampedBreak)
            if event.thing == .insideBreak, number == 0, ads.isEmpty { ad.inside = event.pick(3...12) * 2 - 1 }
            ads.append(ad)
            ticks += Self.creatives[creative].groups * MediaFormat.all[Self.creatives[creative].format].groupDuration
        }
        if isFirst, ads[0].inside == 0 { ads[0].breakDuration = (ticks + 45_000) / 90_000 }
    }

    private mutating func restartClock(_ clock: Int, isTagged: Bool) {
        program.clock = clock - program.next * MediaFormat.all[program.format].frameDuration
        nextIsSplice = true
        nextIsTagged = nextIsTagged || isTagged
    }

    private mutating func moveClock(_ ticks: Int) {
        program.clock += ticks
        keepClockPositive()
        nextIsSplice = true
    }

    /// Fragments have no times before 0.
    private mutating func keepClockPositive() {
        guard history.has(.fragmented) else { return }
        program.clock = max(program.clock, -program.next * MediaFormat.all[program.format].frameDuration)
    }

    private mutating func appendEra(_ event: Event, at time: Int) {
        var era = eras[eras.count - 1]
        era = Era(
            at: event.at, name: eras.count, numberOffset: event.pick(0...2000, 5) - segments.count + 100,
            firstSegment: era.firstSegment)
        switch event.thing {
        case .renumbered: era.name = eras[eras.count - 1].name
        case .renamed: break
        default:
            era.firstSegment = segments.count
            era.numberOffset = -segments.count
            era.followsEnd = event.thing == .endedAndRestarted
            tagCount = 0
        }
        eras.append(era)
    }

    // MARK: - Segments

    private mutating func append(at time: Int) {
        var isTagged = nextIsTagged
        var taggedFrom = nextTaggedFrom
        var isSplice = nextIsSplice
        let isAfterPause = nextIsAfterPause
        (nextIsTagged, nextIsSplice, nextIsAfterPause, nextTaggedFrom) = (false, false, false, .min)
        var parts: [TransportMultiplex.Part] = []
        var cues: [String] = []
        var splice: SpliceSignal?
        var eventSplice: (event: Int, seconds: Int)?
        if isReturning, ads.isEmpty {
            if !history.has(.dash) { cues = ["#EXT-X-CUE-IN"] }
            splice = signal(.in)
        }
        if ads.isEmpty { isReturning = false }
        if ads.first?.isRestamped == true, ads[0].group == 0 { ads[0].clock = lastEnd }
        if let ad = ads.first {
            if ad.group == 0 {
                if let seconds = ad.breakDuration {
                    cues += beginCue(seconds, at: time)
                    splice = signal(.out, lasting: seconds)
                    if history.has(.dash), history.has(.cueTags) { eventSplice = (breaks, seconds) }
                }
                isSplice = true
                if ad.inside > 0 {
                    parts.append(programPart(frames: ad.inside))
                    separateClocks(after: parts[0])
                }
                if ad.isTagged { (isTagged, taggedFrom) = (true, ad.taggedFrom) }
            }
            parts.append(nextPart(of: ads[0]))
        } else {
            parts.append(nextProgramPart())
        }
        if isTagged { tagCount += 1 }
        let ticks = parts.reduce(0) { $0 + $1.frames.count * $1.format.frameDuration }
        var segment = Segment(
            index: segments.count, start: time, end: time + (ticks + 45) / 90, parts: parts, isTagged: isTagged,
            taggedFrom: taggedFrom, isSplice: isSplice, isAfterPause: isAfterPause,
            cues: history.has(.cueTags) ? cues : [], splice: splice, tagCount: tagCount)
        segment.eventSplice = eventSplice
        if let event = history.all(.encrypted).first {
            let period = event.pick(3...8)
            let number = segments.count / period
            segment.key = event.pick(0...2, UInt64(number)) == 0 ? nil : number
        }
        if history.has(.fragmented), let part = parts.first {
            let isGone = time < goneUntil
            let name = "\(part.content)-\(renames)\(isGone ? "-gone" : "")"
            segment.initSection = name
            if initSections[name] == nil { initSections[name] = InitSection(of: part, history, isGone: isGone) }
        }
        segments.append(segment)
    }

    /// Moves the clock of the first ad, if it is as near to that of the program as after a gap (docs/timeline.md).
    private mutating func separateClocks(after part: TransportMultiplex.Part) {
        let end = part.clock + part.frames.upperBound * part.format.frameDuration
        if (ads[0].clock - end) & (1 << 33 - 1) < 11 * 90_000 { ads[0].clock += 1 << 32 }
    }

    private mutating func beginCue(_ seconds: Int, at time: Int) -> [String] {
        isReturning = true
        breaks += 1
        guard !history.has(.dash) else { return ["#EXT-X-DATERANGE:ID=\"scte35-\(breaks)-"] }
        guard history.isDated else { return ["#EXT-X-CUE-OUT:\(seconds)"] }
        return [
            "#EXT-X-CUE-OUT:\(seconds)",
            "#EXT-X-DATERANGE:ID=\"break-\(breaks)\",START-DATE=\"\(Origin.date(time))\",PLANNED-DURATION=\(seconds)",
        ]
    }

    /// Announces a splice in the part before it.
    private mutating func signal(_ kind: SpliceSignal.Kind, lasting seconds: Int? = nil) -> SpliceSignal? {
        guard let trait = history.all(.spliceCommands).first, let segment = segments.indices.last,
            let index = segments[segment].parts.indices.last
        else { return nil }
        let style = SpliceSignal.Style(rawValue: trait.pick(0...2)) ?? .insert
        if kind == .in, style == .autoReturn { return nil }
        let part = segments[segment].parts[index]
        let signal = SpliceSignal(
            kind: kind, event: 1000 + breaks, style: style,
            time: part.clock + part.frames.upperBound * part.format.frameDuration,
            duration: seconds.map { $0 * 90_000 })
        segments[segment].parts[index].sections.append(signal.section)
        return signal
    }

    /// Groups of the next segment of the nominal duration.
    private func groups(_ format: MediaFormat) -> Int {
        let nominal = max(1, history.segmentDuration * 90 / format.groupDuration)
        guard let event = history.all(.unevenSegments).first else { return nominal }
        return max(1, event.pick(1...(nominal * 2), UInt64(segments.count)))
    }

    private mutating func nextProgramPart() -> TransportMultiplex.Part {
        let format = MediaFormat.all[program.format]
        if var loop = program.loop, program.next >= loop.first + loop.count {
            loop.rounds -= 1
            program.next = loop.first
            program.loop = loop.rounds > 0 ? loop : nil
            keepClockPositive()
            nextIsSplice = true
        }
        return programPart(frames: groups(format) * format.group)
    }

    /// The next frames of the program, which goes on with a group.
    private mutating func programPart(frames count: Int) -> TransportMultiplex.Part {
        let format = MediaFormat.all[program.format]
        let frames = program.next..<program.next + count
        program.next = (frames.upperBound + format.group - 1) / format.group * format.group
        return part(program.content, format, frames, program.clock)
    }

    private mutating func nextPart(of ad: Ad) -> TransportMultiplex.Part {
        let creative = Self.creatives[ad.creative]
        let format = MediaFormat.all[creative.format]
        let first = ad.group
        let last = min(creative.groups, first + max(1, history.segmentDuration * 90 / format.groupDuration))
        if last == creative.groups { endAd(creative.groups * format.groupDuration, ad) } else { ads[0].group = last }
        return part(
            Self.firstCreative + ad.creative, format, first * format.group..<last * format.group, ad.clock)
    }

    private mutating func endAd(_ ticks: Int, _ ad: Ad) {
        ads.removeFirst()
        let format = MediaFormat.all[program.format]
        // The program has gone on behind the ad, or was held.
        if ad.creative % 2 == 0 { program.next += ticks / format.groupDuration * format.group }
        nextIsSplice = true
        if ads.isEmpty, ad.isTagged { (nextIsTagged, nextTaggedFrom) = (true, ad.taggedFrom) }
        if ads.isEmpty, ad.isRestamped {
            let end = ad.clock + Self.creatives[ad.creative].groups * ticksOfGroup(ad)
            program.clock = end - program.next * format.frameDuration
        }
    }

    private func ticksOfGroup(_ ad: Ad) -> Int { MediaFormat.all[Self.creatives[ad.creative].format].groupDuration }

    /// The time at which the newest media ends on the clock of its source.
    private var lastEnd: Int {
        guard let part = segments.last?.parts.last else { return program.clock }
        return part.clock + part.frames.upperBound * part.format.frameDuration
    }

    private func part(_ content: Int, _ format: MediaFormat, _ frames: Range<Int>, _ clock: Int)
        -> TransportMultiplex.Part
    {
        let first = format.audioFrame(from: frames.lowerBound * format.frameDuration)
        let last = format.audioFrame(from: frames.upperBound * format.frameDuration)
        return TransportMultiplex.Part(
            content: content, format: format, frames: frames, audio: first..<last, clock: clock,
            isVideoOnly: history.renditions.contains(.companion), hasSecondAudio: history.has(.multiplexedLanguage),
            hasSections: history.has(.spliceCommands), repeatsTables: history.has(.rawStream))
    }

    /// Makes the bytes of a segment. A program has one multiplex, and each showing of a creative a new one.
    private mutating func write(_ index: Int) {
        guard !history.has(.fragmented) else { return segments[index].writeFragments(history) }
        let bodies = muxes.indices.map { body(of: segments[index], variant: $0) }
        segments[index].bodies = bodies.map(\.bytes)
        stream?.append(bodies[0].bytes, bodies[0].units, from: segments[index].start, to: segments[index].end)
        for rendition in history.renditions {
            var audio: [UInt8] = []
            var mux = audioMuxes[rendition] ?? TransportMultiplex()
            for part in segments[index].parts { mux.appendAudio(of: part, isSecond: rendition == .second, to: &audio) }
            audioMuxes[rendition] = mux
            segments[index].audioBodies[rendition] = audio
        }
    }
}

extension Broadcast {
    private mutating func body(
        of segment: Segment, variant: Int
    ) -> (bytes: [UInt8], units: [[BroadcastStream.Unit]]) {
        let goesOn = history.has(.countersGoOn)
        var units: [[BroadcastStream.Unit]] = []
        var body: [UInt8] = []
        body.reserveCapacity(24_000)
        for part in segment.parts {
            let name = goesOn ? 0 : part.content
            var mux = muxes[variant][name] ?? TransportMultiplex()
            if !goesOn, part.content >= Self.firstCreative, part.frames.lowerBound == 0 { mux = TransportMultiplex() }
            mux.append(part.resized(for: variant), to: &body)
            units.append(mux.units)
            muxes[variant][name] = mux
        }
        return (body, units)
    }

    /// Segments listed by `time`.
    func edge(at time: Int) -> Int { segments.boundary { $0.end > time } }

    func era(at time: Int) -> Int { eras.lastIndex { $0.at <= time } ?? 0 }
}
