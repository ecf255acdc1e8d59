import Support

/// Writes the programs of each channel from the guide chosen for the channel.
struct GuideMerge: Sendable {
    private let matcher: GuideMatcher
    private let limits: GuideLimits
    /// For each guide in use, the ids in it, and for each id the channels that get its programs.
    private let targets: [Int: [String: [Int]]]
    /// The `channel` attribute of each channel's programs, escaped.
    private let ids: [[UInt8]]

    /// Counts of what was written and left out.
    struct Counts: Equatable, Sendable {
        var channels = 0
        var programs = 0
        /// Programs without a usable start time.
        var withoutTime = 0
        /// Programs beyond the limits.
        var beyondLimit = 0
    }

    private(set) var counts = Counts()
    /// The positions of the programs in the document.
    private(set) var schedule = GuideSchedule()
    private var writtenBytes = 0
    private var headBytes = 0
    private var last: (raw: ArraySlice<UInt8>, targets: [Int]) = ([], [])

    init(_ matcher: GuideMatcher, _ selection: GuideSelection, limits: GuideLimits = GuideLimits()) {
        self.matcher = matcher
        self.limits = limits
        var targets: [Int: [String: [Int]]] = [:]
        for channel in matcher.channels.indices {
            guard let best = selection.best[channel] else { continue }
            targets[best.guide, default: [:]][best.candidate.key, default: []].append(channel)
        }
        self.targets = targets
        ids = matcher.channels.map { Array(DocumentText.xml($0.id).utf8) }
    }

    /// The beginning of the document, with all channels that have programs.
    mutating func head() -> [UInt8] {
        let channels = Set(targets.values.flatMap { $0.values.flatMap(\.self) }).sorted()
        counts.channels = channels.count
        let elements = channels.map { matcher.channels[$0].text }
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tv generator-info-name=\"liverelay\">\n"
        let bytes = Array((head + elements.joined()).utf8)
        headBytes = bytes.count
        return bytes
    }

    static let tail = Array("</tv>\n".utf8)

    /// Appends a program of a guide, once for each channel that gets it.
    /// - Parameter guide: index of the guide.
    mutating func append(_ element: GuideElement, of guide: Int, to output: inout [UInt8]) {
        guard element.kind == .program, let raw = element.rawID else { return }
        if raw != last.raw {
            last = (Array(raw)[...], targets[guide]?[GuideMatcher.key(GuideText.decoded(raw))] ?? [])
        }
        guard !last.targets.isEmpty else { return }
        guard let program = GuideElementWriter.program(element, limits: limits) else {
            counts.withoutTime += last.targets.count
            return
        }
        for target in last.targets {
            let id = ids[target]
            append(to: matcher.channels[target].id, start: program.start, &output) {
                program.append(channel: id, to: &$0)
            }
        }
    }

    /// Appends a program of the guide that was served before, as it was written.
    /// - Parameter start: seconds since 1970.
    mutating func append(_ program: [UInt8], start: Int64, to channel: String, _ output: inout [UInt8]) {
        append(to: channel, start: start, &output) { $0 += program }
    }

    private mutating func append(
        to channel: String, start: Int64, _ output: inout [UInt8], write: (inout [UInt8]) -> Void
    ) {
        guard counts.programs < limits.programs, writtenBytes < limits.writtenBytes else {
            counts.beyondLimit += 1
            return
        }
        let offset = output.count
        write(&output)
        let length = output.count - offset
        counts.programs += 1
        schedule.append(to: channel, start: start, offset: headBytes + writtenBytes, length: length)
        writtenBytes += length
    }

    /// Begins the next guide, whose ids are different.
    mutating func beginGuide() { last = ([], []) }
}

/// Chooses for each of our channels the guide that its programs are taken from, one guide at a time. Of each guide,
/// only data about our channels is kept.
struct GuideSelection: Sendable {
    private(set) var best: [Int: (guide: Int, candidate: GuideIndex.Candidate)] = [:]

    /// - Parameter guide: index of the guide, greater than all earlier ones. Of two guides that match a channel equally
    ///   well, the first wins.
    mutating func add(_ index: GuideIndex, guide: Int) {
        for (channel, candidate) in index.candidates
        where best[channel].map({ candidate.rank < $0.candidate.rank }) ?? true {
            best[channel] = (guide, candidate)
        }
    }
}
