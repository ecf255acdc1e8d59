import Support

/// A tag that carries an ad marker and that no section of the draft defines.
///
/// Several forms are in use. Their common content is parsed, and the line is passed on even if nothing was understood.
package struct CueTag: Equatable, Sendable {
    package enum Meaning: Equatable, Sendable {
        /// An ad break begins at the next segment; `duration` is the planned duration.
        case out(duration: Duration?)
        /// An ad break began `elapsed` before the next segment.
        case continues(elapsed: Duration?, duration: Duration?)
        /// The ad break ends at the next segment.
        case `in`
        /// The tag accompanies one of the others, or its meaning is unknown.
        case other
    }

    /// The line verbatim, without line end.
    package let line: String
    package let meaning: Meaning
    /// The splice_info_section (SCTE 35 §9.2) in the tag.
    package let section: [UInt8]?

    /// nil if `line` is not a cue tag.
    package init?(_ line: String) {
        guard PlaylistLine.isCueTag(line.utf8) else { return nil }
        let colon = line.firstIndex(of: ":") ?? line.endIndex
        let value = line[colon...].dropFirst()
        let attributes = CueAttributes(value)
        self.line = line
        switch line[..<colon] {
        case "#EXT-X-CUE-OUT": (meaning, section) = (.out(duration: attributes.planned), attributes.section)
        case "#EXT-X-CUE-OUT-CONT":
            (meaning, section) = (.continues(elapsed: attributes.elapsed, duration: attributes.whole), nil)
        case "#EXT-X-CUE-IN": (meaning, section) = (.in, attributes.section)
        case "#EXT-OATCLS-SCTE35", "#EXT-X-SPLICEPOINT-SCTE35":
            (meaning, section) = (.other, SpliceSectionText.decode(value))
        case "#EXT-X-SCTE35", "#EXT-X-CUE": (meaning, section) = (attributes.meaning, attributes.section)
        default: (meaning, section) = (.other, nil)
        }
    }
}

extension MediaSegment {
    /// The cue tags among the unknown tags of the segment, in order.
    package var cueTags: [CueTag] { unknownTags.compactMap { CueTag($0) } }
}

/// The text after the colon of a cue tag: seconds, `elapsed/whole`, or attributes whose names differ in case.
private struct CueAttributes {
    private let text: Substring
    private let values: [String: String]

    init(_ text: Substring) {
        self.text = text
        let parsed = (try? AttributeList(parsing: text, line: 0, tag: "")) ?? AttributeList()
        values = Dictionary(parsed.attributes.map { ($0.name.uppercased(), $0.value) }, uniquingKeysWith: { $1 })
    }

    private func seconds(_ name: String) -> Duration? { values[name].flatMap { DecimalSeconds.duration($0) } }

    /// The numbers before the first attribute.
    private var numbers: [Duration] {
        let plain = text.prefix { $0 != "," }
        let numbers = plain.split(separator: "/").map { DecimalSeconds.duration(String($0)) }
        return numbers.contains(nil) ? [] : numbers.compactMap(\.self)
    }

    var planned: Duration? { seconds("DURATION") ?? numbers.first }

    /// The time since the break began. A single number means the elapsed time.
    var elapsed: Duration? { seconds("ELAPSEDTIME") ?? seconds("ELAPSED") ?? numbers.first }

    var whole: Duration? { seconds("DURATION") ?? numbers.dropFirst().first }

    var section: [UInt8]? { (values["CUE"] ?? values["SCTE35"]).flatMap { SpliceSectionText.decode($0) } }

    /// The meaning of tags whose attributes state it.
    var meaning: CueTag.Meaning {
        if values["CUE-IN"] == "YES" || values["CUE-OUT"] == "IN" || values["TYPE"] == "SpliceIn" { return .in }
        if values["CUE-OUT"] == "CONT" { return .continues(elapsed: elapsed, duration: whole) }
        if values["CUE-OUT"] == "YES" || values["TYPE"] == "SpliceOut" { return .out(duration: seconds("DURATION")) }
        return .other
    }
}
