/// A tag by which ad markers reach players, in no section of the draft: what it says, and its line as it was written.
///
/// Several forms are in use; what is common to them is read, and the line is passed on whatever was understood of it.
package struct CueTag: Equatable, Sendable {
    package enum Meaning: Equatable, Sendable {
        /// A break begins at the next segment; `duration` is what is planned.
        case out(duration: Duration?)
        /// The next segment is `elapsed` into a break.
        case continues(elapsed: Duration?, duration: Duration?)
        /// The break is over at the next segment.
        case `in`
        /// It stands beside one of the others, or says something else.
        case aside
    }

    /// Verbatim, without line end.
    package let line: String
    package let meaning: Meaning
    /// The splice_info_section (SCTE 35 §9.2) it carries.
    package let section: [UInt8]?

    /// nil when `line` is none.
    package init?(_ line: String) {
        guard PlaylistLine.isCueMark(line.utf8) else { return nil }
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
            (meaning, section) = (.aside, SpliceSectionText.decode(value))
        case "#EXT-X-SCTE35", "#EXT-X-CUE": (meaning, section) = (attributes.meaning, attributes.section)
        default: (meaning, section) = (.aside, nil)
        }
    }
}

extension MediaSegment {
    /// Those of its marks that are cue marks, in order.
    package var cueTags: [CueTag] { unknownTags.compactMap { CueTag($0) } }
}

/// What stands behind the colon of a cue tag: seconds, `elapsed/whole`, or attributes whose names differ in case.
private struct CueAttributes {
    private let text: Substring
    private let values: [String: String]

    init(_ text: Substring) {
        self.text = text
        let list = (try? AttributeList(parsing: text, line: 0, tag: "")) ?? AttributeList()
        values = Dictionary(list.attributes.map { ($0.name.uppercased(), $0.value) }, uniquingKeysWith: { $1 })
    }

    private func seconds(_ name: String) -> Duration? { values[name].flatMap { DecimalSeconds.duration($0) } }

    /// Numbers in front of any attribute.
    private var numbers: [Duration] {
        let plain = text.prefix { $0 != "," }
        let numbers = plain.split(separator: "/").map { DecimalSeconds.duration(String($0)) }
        return numbers.contains(nil) ? [] : numbers.compactMap(\.self)
    }

    var planned: Duration? { seconds("DURATION") ?? numbers.first }

    /// One number alone is how much of the break has passed.
    var elapsed: Duration? { seconds("ELAPSEDTIME") ?? seconds("ELAPSED") ?? numbers.first }

    var whole: Duration? { seconds("DURATION") ?? numbers.dropFirst().first }

    var section: [UInt8]? { (values["CUE"] ?? values["SCTE35"]).flatMap { SpliceSectionText.decode($0) } }

    /// Of tags that say by an attribute what they are.
    var meaning: CueTag.Meaning {
        if values["CUE-IN"] == "YES" || values["CUE-OUT"] == "IN" || values["TYPE"] == "SpliceIn" { return .in }
        if values["CUE-OUT"] == "CONT" { return .continues(elapsed: elapsed, duration: whole) }
        if values["CUE-OUT"] == "YES" || values["TYPE"] == "SpliceOut" { return .out(duration: seconds("DURATION")) }
        return .aside
    }
}
