/// Decides from which guide each channel gets its programs, and writes them.
package struct GuideMerge: Sendable {
    private let matcher: GuideMatcher
    private let limits: GuideLimits
    /// Of each guide: the channels that get the programs of one of its ids.
    private let targets: [[String: [Int]]]
    private let icons: [Int: String]
    /// The `channel` of each channel's programs, as it is written.
    private let ids: [[UInt8]]

    /// What was written.
    package struct Counts: Equatable, Sendable {
        package var channels = 0
        package var programs = 0
        /// Programs without a usable start time.
        package var withoutTime = 0
        /// Programs beyond the limits.
        package var beyondLimit = 0

        package init() {}
    }

    package private(set) var counts = Counts()
    private var writtenBytes = 0
    private var last: (raw: ArraySlice<UInt8>, targets: [Int]) = ([], [])

    /// - Parameter indexes: of all guides, in their order: of two that know a channel equally well, the first counts.
    package init(_ matcher: GuideMatcher, _ indexes: [GuideIndex], limits: GuideLimits = GuideLimits()) {
        self.matcher = matcher
        self.limits = limits
        let candidates = indexes.map(\.candidates)
        var targets = Array(repeating: [String: [Int]](), count: indexes.count)
        for channel in matcher.channels.indices {
            let known = candidates.enumerated().compactMap { guide, found in found[channel].map { (guide, $0) } }
            guard let best = known.min(by: { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }) else { continue }
            targets[best.0][best.1.key, default: []].append(channel)
        }
        self.targets = targets
        icons = indexes.reduce(into: [:]) { $0.merge($1.icons) { first, _ in first } }
        ids = matcher.channels.map { Array(DocumentText.xml($0.id).utf8) }
    }

    /// The beginning of the document, with all channels that have programs.
    package mutating func head() -> [UInt8] {
        let channels = Set(targets.flatMap { $0.values.flatMap(\.self) }).sorted()
        counts.channels = channels.count
        let elements = channels.map { matcher.channels[$0].text(icon: icons[$0]) }
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tv generator-info-name=\"liverelay\">\n"
        return Array((head + elements.joined()).utf8)
    }

    package static let tail = Array("</tv>\n".utf8)

    /// Appends a program of a guide, for each channel that gets it.
    /// - Parameter guide: index of the guide.
    package mutating func append(_ element: GuideElement, of guide: Int, to output: inout [UInt8]) {
        guard element.kind == .program, let raw = element.rawID else { return }
        if raw != last.raw {
            last = (Array(raw)[...], targets[guide][GuideMatcher.key(GuideText.decoded(raw))] ?? [])
        }
        for target in last.targets {
            guard counts.programs < limits.programs, writtenBytes < limits.writtenBytes else {
                counts.beyondLimit += 1
                continue
            }
            let start = output.count
            if GuideElementWriter.append(element, channel: ids[target], to: &output, limits: limits) {
                counts.programs += 1
                writtenBytes += output.count - start
            } else {
                counts.withoutTime += 1
            }
        }
    }

    /// Begins with the next guide, whose ids are others.
    package mutating func beginGuide() { last = ([], []) }
}
